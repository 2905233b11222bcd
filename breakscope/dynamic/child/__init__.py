"""What runs inside the child process, beside the user's program. Only this folder imports torch."""
