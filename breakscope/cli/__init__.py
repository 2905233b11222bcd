"""The command line: parse, call a workflow, hand the report to a format.

`session` holds what every command does; `app` finds the commands, each a module of `commands`.
"""
