"""Generates the tables in rules/knowledge/ from an installed torch and from what Dynamo does with
small programs.

`python -m breakscope.knowledge.build --out rules/knowledge/2.13.0` regenerates all of them.
Needs torch and numpy; nothing else in breakscope imports this package.
"""
