"""Puts this folder on the path: `facts` serves the tests of all its folders."""
