"""Finds the smallest program that shows what is wanted, and notes it."""

from __future__ import annotations

import time
from enum import IntEnum
from pathlib import Path

import torch

from breakscope import limits
from breakscope.dynamic.child.load import load_file, look_up, resolve
from breakscope.dynamic.child.repro.program import FORMS, Form, calling, standing_alone, whole
from breakscope.dynamic.child.repro.reduce import reduced
from breakscope.dynamic.child.repro.shows import in_fork, shows
from breakscope.dynamic.child.written.progress_log import Progress


def serve(job: dict, folder: Path, progress: Progress) -> None:
    """One note: the program, or why there is none."""
    torch.set_num_threads(1)  # GNU OpenMP hangs in a fork when the parent used its threads
    path = Path(job["file"])
    progress.note("stage", name="build")
    start = _start(path, job)
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))  # what forks need is loaded
    until = min(job["deadline"] - 5, time.time() + limits.REPRO_SECONDS)
    source = standing_alone(path, job["device"] if job["device"] not in (None, "cpu") else "")
    tried = 0

    def check(text: str, form: Form) -> bool:
        nonlocal tried
        tried += 1
        return shows(whole(text, calling(start, job, form)), job["wanted"], folder)

    form = next((form for form in FORMS if check(source, form)), None)
    if form is None:
        progress.note("no repro", tried=tried)
    else:
        small = reduced(source, lambda text: check(text, form), lambda: time.time() < until)
        text = whole(small, calling(start, job, form))
        progress.note("repro", text=text, tried=tried, of=len(source.splitlines()))
    progress.note("done")


class Kind(IntEnum):
    """What the target's name stands for; of a factory that returns a tuple plus its length."""

    CLASS = 1
    PLAIN = 2
    MADE = 3
    MADE_TUPLE = 10


def _start(path: Path, job: dict) -> str:
    """The line that makes the code to compile, and its arguments, from the target's name. Found out
    in a fork, as the programs that follow register anew what the file registers."""
    name = job["name"]

    def kind() -> int:
        module = load_file(path)
        thing = look_up(module, name)
        if isinstance(thing, type):
            return Kind.CLASS
        if resolve(module, name, bool(job["calls"] or job["drive"])).function is thing:
            return Kind.PLAIN
        made = thing()
        return Kind.MADE_TUPLE + len(made) if isinstance(made, tuple) else Kind.MADE

    found = in_fork(kind)
    if found in (Kind.CLASS, Kind.MADE):
        return f"function, args, kwargs = {name}(), (), {{}}"
    if found > Kind.MADE_TUPLE:
        names = ("function", "args", "kwargs")[: found - Kind.MADE_TUPLE]
        rest = {1: "\nargs, kwargs = (), {}", 2: "\nkwargs = {}"}.get(len(names), "")
        return f"{', '.join(names)}{',' if len(names) == 1 else ''} = {name}(){rest}"
    return f"function, args, kwargs = {name}, (), {{}}"
