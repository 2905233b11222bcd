"""Runs `match`: which cases an abstract subject can reach, and what their patterns bind."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Branch
from breakscope.rulekit.values import UNKNOWN, Class, Dict, Instance, Sequence, Value, options
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.classes import mro_of
from breakscope.static.definitions.fields import fields_of
from breakscope.static.interpreter.blocks import exec_path
from breakscope.static.interpreter.conditions import test_condition
from breakscope.static.machine.frames import GO_ON, RAISE, RETURN, Frame, Raised
from breakscope.static.machine.lattice import element_of, join_names
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import sureness


def exec_match(machine: Machine, node: ast.Match, frame: Frame) -> int:
    subject = machine.eval(node.subject, frame)
    before, ends = frame.names, []
    for case in node.cases:
        frame.names = dict(before)
        verdict = match_pattern(machine, case.pattern, subject, frame)
        if verdict is False:
            continue
        if case.guard is not None and test_condition(machine, case.guard, frame, "if") is False:
            continue
        end = exec_path(machine, case.body, frame)
        ends.append((end, frame.names))
        if verdict is True and case.guard is None:
            break
    else:
        ends.append((GO_ON, before))
    going_on = [names for end, names in ends if end == GO_ON]
    if not going_on:
        frame.names = ends[0][1]
        if all(end == RAISE for end, _ in ends):
            raise Raised(UNKNOWN)
        return RETURN
    frame.names = going_on[0]
    for names in going_on[1:]:
        frame.names = join_names(frame.names, names)
    return GO_ON


def match_pattern(
    machine: Machine, pattern: ast.pattern, subject: Value, frame: Frame
) -> bool | None:
    """Whether the subject matches, None when it may; binds the pattern's names."""
    if isinstance(pattern, ast.MatchValue):
        wanted = machine.eval(pattern.value, frame)
        for option in options(subject):
            if option.is_tensor or wanted.is_tensor:
                tensor = option if option.is_tensor else wanted
                machine.emit(
                    Branch,
                    pattern.value,
                    frame,
                    sureness(tensor) if option is subject else "likely",
                    test=tensor,
                    construct="match",
                )
                break
        return subject.value == wanted.value if subject.is_const and wanted.is_const else None
    if isinstance(pattern, ast.MatchSingleton):
        if subject.is_tensor:
            return False
        return subject.value is pattern.value if subject.is_const else None
    if isinstance(pattern, ast.MatchOr):
        verdicts = [match_pattern(machine, p, subject, frame) for p in pattern.patterns]
        return True if True in verdicts else None if None in verdicts else False
    if isinstance(pattern, ast.MatchAs):
        verdict = (
            match_pattern(machine, pattern.pattern, subject, frame) if pattern.pattern else True
        )
        if pattern.name:
            frame.names[pattern.name] = subject
        return verdict
    if isinstance(pattern, ast.MatchSequence | ast.MatchMapping) and subject.is_tensor:
        return False  # a tensor is neither for `match`
    if (
        isinstance(pattern, ast.MatchSequence)
        and isinstance(subject, Sequence)
        and subject.items is not None
        and not any(isinstance(p, ast.MatchStar) for p in pattern.patterns)
    ):
        return match_items(machine, pattern.patterns, subject.items, frame)
    if (
        isinstance(pattern, ast.MatchMapping)
        and isinstance(subject, Dict)
        and not subject.open
        and not pattern.rest
    ):
        keys = [machine.eval(key, frame) for key in pattern.keys]
        if not all(key.is_const and key.value in subject.items for key in keys):
            return False if all(key.is_const for key in keys) else None
        return match_items(
            machine, pattern.patterns, [subject.items[key.value] for key in keys], frame
        )
    if isinstance(pattern, ast.MatchClass) and isinstance(subject, Instance):
        return match_object(machine, pattern, subject, frame)
    for name in _names_bound(pattern):
        frame.names[name] = element_of(subject) if isinstance(subject, Sequence) else UNKNOWN
    return None


def match_object(
    machine: Machine, pattern: ast.MatchClass, subject: Instance, frame: Frame
) -> bool | None:
    """`case Point(x, y=0)`: the parts by the fields of the class."""
    wanted = machine.eval(pattern.cls, frame)
    if isinstance(wanted, Class) and wanted.info not in mro_of(machine, subject.cls.info):
        return False
    fields = [name for name, *_ in fields_of(machine, subject.cls.info)]
    names = [*fields[: len(pattern.patterns)], *pattern.kwd_attrs]
    parts = [machine.getattr(subject, name, pattern, frame) for name in names]
    verdict = match_items(machine, [*pattern.patterns, *pattern.kwd_patterns], parts, frame)
    return verdict if isinstance(wanted, Class) or verdict is False else None


def match_items(
    machine: Machine, patterns: list[ast.pattern], items: list[Value], frame: Frame
) -> bool | None:
    """Whether each item matches its pattern; the first that certainly does not ends the search."""
    if len(patterns) != len(items):
        return False
    verdict: bool | None = True
    for pattern, item in zip(patterns, items):
        found = match_pattern(machine, pattern, item, frame)
        if found is False:
            return False
        verdict = verdict if found else None
    return verdict


def _names_bound(pattern: ast.pattern) -> list[str]:
    return [n.name for n in walk(pattern) if isinstance(n, ast.MatchAs | ast.MatchStar) and n.name]
