"""Which code of a file is a region: what a program compiles, or calls from what it compiles."""
