"""One module for each command: it defines `command`, a click command of the module's name."""
