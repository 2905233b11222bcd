"""Functions outside the checked source that are known by name."""
