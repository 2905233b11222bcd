"""A report held against what was allowed, or against an earlier report."""
