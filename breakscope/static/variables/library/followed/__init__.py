"""What the code around a region has of Python's and torch's functions: it is followed step by step, and its numbers are known."""
