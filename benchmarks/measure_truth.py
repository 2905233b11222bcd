#!/usr/bin/env python3
"""Measure what Dynamo does with programs, and write it as a truth file for accuracy.py.

    measure_truth.py programs FOLDER OUT.json [NAME ...]
    measure_truth.py models MODELS.py OUT.json [NAME ...]

programs  every `NAME.py` of FOLDER with `make()`, which returns (callable, args, kwargs), and perhaps
          `calls()`, which returns tuples of arguments
models    the models of a library: MODELS.py has LIBRARY, `names()`, and `make(name)` as above (tiny_transformers.py);
          sites are given relative to the folder that the library is installed in

Each is measured in a process of its own, with the backend "eager", without a backward pass: a
program in three equal calls, or those of `calls()`; a model in two, and one in training mode.
breakscope takes no part in it: breaks and recompiles come from the records that torch writes to its
logger `torch.__trace`, the traced lines from TORCH_LOGS=trace_source, the executed ones from
sys.settrace in a call without torch.compile. A break stands at the innermost line of its traceback
that is not torch's or Python's own.
truth.py says what the file holds. Printed: one line for each.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

PARAMETERS = 100_000_000  # a model with more is left out, so that a small machine can measure
LIMIT = 600  # seconds for one program
FRAME = re.compile(r'^  File "(.+)", line (\d+), in', re.MULTILINE)
GB_ID = re.compile(r"/gb(\d+)\.html")
TYPE = re.compile(r"^(?:Graph Break )?Reason: (?:[^\n]*:\s*\n\s*)?([^\n]+)", re.MULTILINE)
TRACED = re.compile(r"TRACE starts_line (.+):(\d+) in ")
PLACE = re.compile(r"# \S*?([\w.-]+\.py):(\d+) in")


class Recorder(logging.Handler):
    """Keeps what Dynamo says: its breaks, recompiles, and the lines that it traces."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.breaks: list[str] = []
        self.recompiles: list[str] = []
        self.lines: set[tuple[str, int]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        name = getattr(record, "metadata", {}).get("artifact", {}).get("name")
        if name == "dynamo_graph_break_reason":
            self.breaks.append(_payload(record))
        elif name == "recompile_reasons":
            self.recompiles.append(_payload(record))
        elif found := TRACED.match(record.getMessage()):
            self.lines.add((found[1], int(found[2])))


def _payload(record: logging.LogRecord) -> str:
    payload = record.payload
    return str(payload() if callable(payload) else payload)


def measure(kind: str, source: Path, name: str) -> dict[str, Any]:
    """What Dynamo does with one program, in this process."""
    import torch

    torch.set_num_threads(1)
    module = load(source / f"{name}.py" if kind == "programs" else source)
    make = module.make if kind == "programs" else lambda: module.make(name)
    executed: dict[str, set[int]] = {}
    if kind == "programs":
        for arguments, keywords in calls_of(module, make()):
            executed_lines(make()[0], arguments, keywords, source, executed)
    made = make()
    if kind == "models":
        refuse_what_is_too_large(made[0])
        made[0](*made[1], **made[2])  # a model that fails by itself is not measured
    recorder = listen()
    compiled = torch.compile(made[0], backend="eager")
    for arguments, keywords in calls_of(module, made, 3 if kind == "programs" else 2):
        compiled(*arguments, **keywords)
    if kind == "programs":
        return told_program(name, recorder, executed, source)
    train(*made)
    return told_model(module.LIBRARY, recorder)


def train(model: Any, arguments: tuple, keywords: dict[str, Any]) -> None:
    """One call more in training mode, from a fresh Dynamo, where the model can be called like that."""
    import torch

    model.train()
    try:
        model(*arguments, **keywords)
    except Exception:
        return
    torch._dynamo.reset()
    torch.compile(model, backend="eager")(*arguments, **keywords)


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"measured_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def calls_of(module: ModuleType, made: tuple, times: int = 1) -> list[tuple[tuple, dict]]:
    """The arguments of each call."""
    if hasattr(module, "calls"):
        return [(arguments, {}) for arguments in module.calls()]
    return [(made[1], made[2])] * times


def executed_lines(
    function: Callable, arguments: tuple, keywords: dict, folder: Path, into: dict[str, set[int]]
) -> None:
    """Call it without torch.compile, and note which lines of the folder's files run."""
    inside = f"{folder}{os.sep}"

    def trace(frame: FrameType, event: str, argument: object) -> Callable | None:
        path = frame.f_code.co_filename
        if not path.startswith(inside):
            return None
        if event == "line":
            into.setdefault(os.path.relpath(path, folder), set()).add(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        function(*arguments, **keywords)
    finally:
        sys.settrace(None)


def refuse_what_is_too_large(model: Any) -> None:
    size = sum(parameter.numel() for parameter in model.parameters())
    if size > PARAMETERS:
        raise ValueError(f"{size:,} parameters are too many to be measured here")


def listen() -> Recorder:
    """A recorder of all that Dynamo does from now on."""
    import torch

    recorder = Recorder()
    torch._logging.set_logs(trace_source=True)
    for name in ("torch.__trace", "torch._dynamo.symbolic_convert.__trace_source"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [recorder], False
        logger.setLevel(logging.DEBUG)
    return recorder


def library_folder(library: str) -> Path:
    """The folder that a library is installed in."""
    return Path(importlib.util.find_spec(library).origin).parents[1]


def told_program(
    name: str, recorder: Recorder, executed: dict[str, set[int]], folder: Path
) -> dict[str, Any]:
    """The truth of one program, as truth.py reads it."""
    breaks = breaks_in(folder, recorder)
    return {
        "files": [f"{name}.py"],
        "breaks": breaks,
        "recompiles": [recompile(text, f"{name}.py") for text in recorder.recompiles],
        "executed": {file: ranges(lines) for file, lines in sorted(executed.items())},
        "verdict": "break" if breaks else "recompile" if recorder.recompiles else "clean",
    }


def told_model(library: str, recorder: Recorder) -> dict[str, Any]:
    """The truth of one model of a library."""
    root = library_folder(library)
    traced: dict[str, set[int]] = {}
    for path, line in recorder.lines:
        if file := relative(path, root):
            traced.setdefault(file, set()).add(line)
    return {
        "library": library,
        "version": metadata.version(library),
        "status": "ok",
        "breaks": breaks_in(root, recorder),
        "traced": {file: ranges(lines) for file, lines in sorted(traced.items())},
    }


def breaks_in(root: Path, recorder: Recorder) -> list[dict[str, Any]]:
    """The break sites below a folder, each once."""
    sites = {site[:3]: site for text in recorder.breaks if (site := site_of(text, root))}
    return [dict(zip(("file", "line", "gb_id", "gb_type"), sites[key])) for key in sorted(sites)]


def site_of(text: str, root: Path) -> tuple[str, int, str, str] | None:
    """File, line, id and type of a break; None for one that only torch's own lines lead to."""
    head, _, rest = text.partition("User code traceback:")
    frames = FRAME.findall(rest.partition("\nTraceback (most recent call last)")[0])
    places = [(file, int(line)) for path, line in frames if (file := relative(path, root))]
    if not places:
        return None
    gb_id, kind = GB_ID.search(head), TYPE.search(head)
    return (*places[-1], f"GB{gb_id[1].zfill(4)}" if gb_id else "", kind[1] if kind else "")


def relative(path: str, root: Path) -> str:
    """A path below the root; "" for another, and for torch's own."""
    file = os.path.relpath(os.path.realpath(path), os.path.realpath(root)).replace(os.sep, "/")
    return "" if file.startswith(("..", "torch/")) else file


def recompile(text: str, file: str) -> dict[str, Any]:
    """The newest version's failed guard, and its line where torch names one."""
    reasons = json.loads(text) if text.startswith("[") else [text]
    reason = " ".join(str(reasons[0] if reasons else "").splitlines()[0].split())
    place = PLACE.search(reason)
    return {
        "reason": reason.partition(" # ")[0],
        "file": file,
        "guard_file": place[1] if place else None,
        "guard_line": int(place[2]) if place else None,
    }


def ranges(lines: Iterable[int]) -> list[list[int]]:
    """Lines as [first, last]."""
    found: list[list[int]] = []
    for line in sorted(lines):
        if found and found[-1][1] == line - 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return found


def measured_apart(kind: str, source: Path, name: str) -> dict[str, Any]:
    """The same in a process of its own; what failed is said under "error"."""
    command = [sys.executable, __file__, kind, str(source), "-", name]
    quiet = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return {"status": "failed", "error": f"took more than {LIMIT} s"}
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return {"status": "failed", "error": said[0][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def written(kind: str, cases: dict[str, dict]) -> str:
    """The truth file, a line for each that was measured; of models also how many were not."""
    good = {name: case for name, case in cases.items() if case.get("status") != "failed"}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(case)}" for name, case in good.items())
    if kind == "programs":
        return f"{{\n{lines}\n}}\n"
    import torch

    meta = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "asked": len(cases),
        "measured": len(good),
    }
    return f'{{"meta": {json.dumps(meta)}, "models": {{\n{lines}\n}}}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["programs", "models"])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", help="the file to write; - prints one program's truth")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    source = options.source.resolve()
    if options.out == "-":
        print(json.dumps(measure(options.kind, source, options.names[0])))
        return 0
    if options.kind == "programs":
        every = sorted(file.stem for file in source.glob("*.py"))
    else:
        every = load(source).names()
    names = [name for name in every if not options.names or name in options.names]
    cases = {}
    with ThreadPoolExecutor(options.workers) as pool:
        for name, case in zip(
            names, pool.map(lambda name: measured_apart(options.kind, source, name), names)
        ):
            cases[name] = case
            number = len(case.get("breaks", ()))
            print(f"{name}: {case.get('error') or f'{number} break sites'}", flush=True)
    Path(options.out).write_text(written(options.kind, cases), encoding="utf-8")
    failed = Counter(case.get("status") == "failed" for case in cases.values())[True]
    print(f"{len(cases)} asked, {failed} could not be measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
