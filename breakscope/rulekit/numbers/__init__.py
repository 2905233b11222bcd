"""Python numbers: where operators need them, and what to do about those that differ between calls."""
