"""The small machine that abstract values are given, its state, and what it knows of libraries."""
