"""Calls of functions in source: from the call expression to the run of the body, or what is remembered of one."""
