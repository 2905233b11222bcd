"""The command line: parse, call a workflow, hand the report to a format.

`session` holds what every command does and imports neither click nor rich; `app` and `commands` are the click side.
"""
