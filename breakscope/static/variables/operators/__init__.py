"""Operators between values of two kinds."""
