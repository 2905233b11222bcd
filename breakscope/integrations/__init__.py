"""breakscope inside of other programs: pytest."""
