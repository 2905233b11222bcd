"""Puts this folder on the path: `programs` serves the tests of all its folders."""
