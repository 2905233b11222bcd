"""Puts this folder on the path: `running` and `mutate` serve the tests of all its folders."""
