"""What a rule's pattern shows and is no break all the same."""

from __future__ import annotations

import ast

from breakscope.knowledge import kind, load
from breakscope.rulekit.events import Call
from breakscope.static.machine.frames import Step


def breaks_itself(step: Step) -> bool:
    """True for a generator expression in which a break stands, and not in what it calls: the
    statement is flagged for that."""
    if not isinstance(step.node, ast.GeneratorExp):
        return False
    problems = (pair for inner in step.child.steps for pair in inner.problems or ())
    return any(rule.kind == "break" for rule, _ in problems)


def is_traced(event: Call) -> bool:
    """True when the tables of the target version of torch contradict the rule, whose pattern another
    version showed."""
    facts = load()
    if event.name not in facts.changed_calls or (fact := facts.call(event.name)) is None:
        return False
    kinds = tuple(kind(value) for value in event.args)
    verdict = fact.verdict(kinds, {name: kind(value) for name, value in event.kwargs.items()})
    return not verdict.breaks and not verdict.fails and (fact.never or verdict.certain)
