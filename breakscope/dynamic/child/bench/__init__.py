"""The worker of a benchmark: one mode in one process, told by its parent when to step."""
