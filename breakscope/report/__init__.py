"""The report: its model, its joining, and one file per output format."""
