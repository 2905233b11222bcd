"""From paths to parsed modules: which files are checked, how imports find files, what stays in memory."""
