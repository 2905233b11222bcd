"""What the child process writes for its parent: progress, phases, and what could not be written."""
