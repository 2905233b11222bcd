"""Neutralising a break: the user's source is changed in memory, at one expression, so that Dynamo
goes on behind it.

The changed program does in eager what the original does. Under Dynamo the expression is computed
for real while the frame is traced, and its value is taken for a constant; a statement without a
value is left out.
"""
