"""The worker of a benchmark: one mode in one process, which steps on its parent's commands."""
