"""Answers to what a program asks of tensors' values, and the places that asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import Any

import torch

from breakscope import limits

OWN = os.path.dirname(os.path.abspath(__file__))
TORCH = os.path.dirname(os.path.abspath(torch.__file__))
CHILD = os.path.dirname(OWN)

Site = tuple[str, int, str]  # path, line, what is asked: "bool", "number", "size", "values"


@dataclass
class Answered:
    """What one place got: each answer once, and whether it was assumed or follows from the example
    inputs."""

    site: Site
    frames: list[list]  # outermost first: path, line, function
    answers: list[Any] = field(default_factory=list)
    assumed: bool = False
    forced: bool = False
    count: int = 0


class Answers:
    """Gives the answers. `forced` are those that exploration wants, by place."""

    def __init__(self) -> None:
        self.forced: Mapping[Site, Any] = {}
        self.listening = False  # only calls of the target count, not how it is built
        self._seen: dict[Site, Answered] = {}
        self._in_a_row: dict[Site, int] = {}

    def begin(self, forced: Mapping[Site, Any] | None = None) -> None:
        """Begin to listen afresh."""
        self.forced = forced or {}
        self._seen, self._in_a_row, self.listening = {}, {}, True

    def begin_call(self) -> None:
        self._in_a_row = {}

    def end(self) -> list[Answered]:
        """What was asked since `begin`."""
        self.listening = False
        self.forced = {}
        return list(self._seen.values())

    def answer(self, kind: str, value: Any, assumed: bool) -> Any:
        """The answer to give where `value` would be it."""
        waits = assumed and kind == "bool"  # a loop may wait for another answer, wherever it stands
        found = frames() if self.listening or waits else []
        if not found:
            return value
        site: Site = (found[-1][0], found[-1][1], kind)
        if not self.listening:
            return self._ends_loops(site, value)
        known = self._seen.setdefault(site, Answered(site, found))
        forced = site in self.forced
        if forced:
            value = self.forced[site]
        if (forced or assumed) and kind == "bool":
            value = self._ends_loops(site, value)
        known.count += 1
        known.assumed |= assumed
        known.forced |= forced
        if value not in known.answers and len(known.answers) < limits.MOST_KEPT_ANSWERS:
            known.answers.append(value)
        return value

    def _ends_loops(self, site: Site, value: bool) -> bool:
        """An assumed answer that keeps a loop going is turned round after some turns."""
        self._in_a_row[site] = self._in_a_row.get(site, 0) + 1
        if self._in_a_row[site] <= limits.MOST_SAME_ANSWERS:
            return value
        self._in_a_row[site] = 0
        return not value


def frames() -> list[list]:
    """Where the program is, without torch's frames and ours: outermost first."""
    found: list[list] = []
    columns: list[int] = []
    frame = sys._getframe(1)
    while frame is not None and len(found) < limits.MOST_ANSWER_FRAMES:
        path = frame.f_code.co_filename
        if not (path.startswith((TORCH, CHILD, "<")) or path.endswith("torch/_ops.py")):
            if not found:
                columns = _columns(frame)
            found.append([path, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    found = found[::-1]
    if found:
        found[-1] += columns
    return found


def _columns(frame: FrameType) -> list[int]:
    """The columns, in bytes, of the expression that a frame is at; none where they are not known, as
    of code that Dynamo made."""
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if positions is None or None in positions or positions[0] != positions[1]:
        return []
    return [positions[2], positions[3]] if positions[0] == frame.f_lineno else []
