"""Other answers: what the program does where a value that decides its way were another."""

from __future__ import annotations

import ast
import time
from collections import deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch
import torch._dynamo

from breakscope import limits
from breakscope.dynamic.child.calls import Made, Plan, build, make_calls
from breakscope.dynamic.child.fake.answers import Answered, Site
from breakscope.dynamic.child.fake.session import Session, shown
from breakscope.dynamic.child.written.phases import mark_phase
from breakscope.dynamic.child.written.progress_log import Progress
from breakscope.dynamic.source_text import SourceFile
from breakscope.texts import exception_text


def explore(
    module: ModuleType,
    plan: Plan,
    job: dict,
    seconds: float,
    asked: list[Answered],
    progress: Progress,
    fake: Session,
) -> None:
    """One more first call under Dynamo for each other answer, those that new answers bring up
    included, up to the limit."""
    if not job["fake"]["explore"] or plan.drive:
        return
    waiting = deque(({}, *other) for other in _others(asked))
    known = {(site, value) for _, site, value in waiting}
    longest, done = seconds, 0
    while waiting and done < job["fake"]["explore"]:
        if job["deadline"] - time.time() < limits.FEWEST_SECONDS + longest:
            break
        before, site, value = waiting.popleft()
        forced = {**before, site: value}
        done += 1
        began = time.time()
        found, problem = _run(done, forced, module, plan, job, fake)
        longest = max(longest / 2, time.time() - began)
        reached = any(each.site == site for each in found)
        progress.note(
            "explored",
            run=done,
            forced=[[*each, shown(answer)] for each, answer in forced.items()],
            problem=problem,
            reached=reached,
        )
        for other, answer in _others(found):
            if (other, answer) not in known and other not in forced:
                known.add((other, answer))
                waiting.append((forced, other, answer))
    progress.note("unexplored", answers=[[*site, shown(value)] for _, site, value in waiting])


def _run(
    number: int,
    forced: dict[Site, Any],
    module: ModuleType,
    plan: Plan,
    job: dict,
    fake: Session,
) -> tuple[list[Answered], str]:
    torch._dynamo.reset()
    problem = ""
    once = Plan(
        plan.name, plan.calls, "", 0, plan.backward, plan.device, 1, plan.forward_only, plan.fake
    )
    try:
        target = build(module, once)
        compiled = torch.compile(target.function, backend=job["backend"])
        fake.begin(forced)
        mark_phase(f"explore {number}")
        make_calls(module, target, compiled, once, Made(), lambda what, call: None, strict=True)
    except Exception as error:  # the program refuses these answers
        problem = exception_text(error)
    finally:
        found = fake.end(number)
        mark_phase("between")
    return found, problem


def _others(asked: list[Answered]) -> Iterator[tuple[Site, Any]]:
    """What each place might have got instead; what decides a branch comes first."""
    for what in ("bool", "size", "number"):
        for each in asked:
            if each.site[2] == what and each.answers:
                for value in _instead(each):
                    yield each.site, value


def _instead(asked: Answered) -> Iterator[Any]:
    what, given = asked.site[2], asked.answers
    if what == "bool":
        yield from (value for value in (True, False) if value not in given)
    elif what == "size":
        yield from (0,) if 0 not in given else ()
    else:
        yield from _other_numbers(asked.site, given[0])


def _other_numbers(site: Site, given: Any) -> Iterator[Any]:
    """Numbers on the other side of the constants that the function compares with."""
    source = SourceFile.read(site[0])
    kind = type(given)
    if kind not in (int, float):
        return
    found = []
    for constant in _compared(source, site[1]):
        for value in (constant - 1, constant, constant + 1):
            if _sides(value, constant) != _sides(given, constant):
                found.append(kind(value))
    yield from list(dict.fromkeys(found))[: limits.MOST_OTHER_NUMBERS]


def _sides(value: float, constant: float) -> tuple[bool, bool]:
    return value < constant, value > constant


def _compared(source: SourceFile, line: int) -> list[float]:
    """The numbers that the function around a line compares with, the nearest behind it first."""
    functions = [
        node
        for node in source.enclosing(line)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if not functions:
        return []
    compares = [node for node in ast.walk(functions[-1]) if isinstance(node, ast.Compare)]
    # what was read is mostly compared on the next lines
    compares.sort(key=lambda node: (node.lineno < line, abs(node.lineno - line)))
    return [
        side.value
        for node in compares
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Constant) and type(side.value) in (int, float)
    ]
