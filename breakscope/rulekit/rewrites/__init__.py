"""Rewrites that more than one shape of code needs; they import libcst, so a rule imports them inside
its rewrite function and never at its top."""
