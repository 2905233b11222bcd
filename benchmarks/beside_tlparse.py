#!/usr/bin/env python3
"""Is all that tlparse lists in the report too?  beside_tlparse.py [--trace PATH ...] [PROGRAM ...]

A PROGRAM is FILE or FILE::NAME with `make()` (or NAME) returning (callable, args, kwargs), and
perhaps `calls()` or `drive(call, model)`; each is run in a process of its own under TORCH_TRACE
with the backend "eager", twice where it has neither. PATHs are traces that exist: files or folders.
tlparse comes from PATH, or from PyPI into a folder that vanishes.

For every trace tlparse's own pages are read: each break, recompile, restart and failure that it
lists for a compile has to be in the JSON of `breakscope report`: the break by a line of its
traceback, a recompile and a restart by its compile, a failure by a lost frame, a break, an error
or a recompile limit. Printed: what both list, and everything that is missing. Exit code 1 when anything
is.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from trace_speed import ROOT, find_tlparse

DRIVER = """\
import importlib.util, sys
import torch
torch.set_num_threads(1)
file, _, name = sys.argv[1].partition("::")
spec = importlib.util.spec_from_file_location("program", file)
module = importlib.util.module_from_spec(spec)
sys.modules["program"] = module
spec.loader.exec_module(module)
function, arguments, keywords = getattr(module, name or "make")()
compiled = torch.compile(function, backend="eager")
def call(*arguments, **keywords):
    try:
        return compiled(*arguments, **keywords)
    except Exception as problem:
        print(type(problem).__name__, problem, file=sys.stderr)
if hasattr(module, "drive"):
    module.drive(call, function)
elif hasattr(module, "calls"):
    for given in module.calls():
        call(*given) if isinstance(given, tuple) and not (len(given) == 2 and isinstance(given[1], dict)) else call(*given[0], **given[1])
else:
    call(*arguments, **keywords)
    call(*arguments, **keywords)
"""
FRAME = re.compile(r'File "([^"]+)", line (\d+), in|in user code at ([^\n:]+):(\d+)')
ARTIFACT = re.compile(
    r"^-_(\d+)_(\d+)_(\d+)/(dynamo_graph_break_reason|recompile_reasons)_\d+\.\w+$"
)
ROW = re.compile(r"<tr> <td>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
KINDS = ("breaks", "recompiles", "restarts", "failures")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trace", type=Path, action="append", default=[])
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    totals, missing, traces = Counter(), Counter(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tlparse = find_tlparse(folder)
        for title, file in all_traces(options, folder):
            listed, absent = compare(tlparse, file, folder)
            traces += 1
            totals += listed
            for kind, what in absent:
                missing[kind] += 1
                print(f"{title}: {kind[:-1]} missing: {what}", flush=True)
    print(
        f"{traces} traces; "
        + ", ".join(
            f"{kind} listed by tlparse {totals[kind]}, missing {missing[kind]}" for kind in KINDS
        )
    )
    return 1 if missing or not traces else 0


def all_traces(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path]]:
    for path in options.trace:
        for file in sorted(path.rglob("*.log")) if path.is_dir() else [path]:
            yield f"{file.parent.name}/{file.name}", file
    for number, program in enumerate(options.programs):
        traces = folder / f"traces{number}"
        environment = {**os.environ, "TORCH_TRACE": str(traces), "OMP_NUM_THREADS": "1"}
        subprocess.run(
            [sys.executable, "-c", DRIVER, os.path.abspath(program)],
            env=environment,
            cwd=folder,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=300,
        )
        files = list(traces.glob("*.log"))
        if not files:
            print(f"{program}: no trace")
        for file in files:
            yield Path(program).name, file


def compare(tlparse: str, file: Path, folder: Path) -> tuple[Counter, list[tuple[str, str]]]:
    """How many events of each kind tlparse lists for one trace, and those that the report has not."""
    pages = folder / "pages"
    subprocess.run(
        [tlparse, str(file), "-o", str(pages), "--overwrite", "--no-browser"],
        check=True,
        capture_output=True,
    )
    reported = subprocess.run(
        [sys.executable, "-m", "breakscope", "report", str(file.resolve()), "--format", "json"],
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    if reported.returncode == 2 and b"no report and no trace" in reported.stderr:
        report = {"findings": [], "run": {"recompiles": [], "restarts": [], "lost_frames": []}}
    else:
        report = json.loads(reported.stdout)
    listed, absent = Counter(), []
    places = {(f["path"], f["line"]) for f in report["findings"]} | {
        (link["path"], link["line"]) for f in report["findings"] for link in f["chain"]
    }
    again = {
        kind: Counter(plain(r["compile_id"]) for r in report["run"][kind])
        for kind in ("recompiles", "restarts")
    }
    # what a limit refused compiled nothing, and is a limit in the report
    refused = sum(frame["why"] == "recompile limit" for frame in report["run"]["lost_frames"])
    raised = sum(f["count"] for f in report["findings"] if f["kind"] == "error")
    broken = set()
    for kind, compile_id, text in events(pages):
        listed[kind] += 1
        named = frames(text, folder)
        if kind == "breaks":
            # below them stand Dynamo's own frames
            told_of = [place for place in named if place in places]
            broken.add((compile_id, told_of[-1] if told_of else text))
            if not told_of:
                absent.append((kind, f"[{compile_id}] {text.strip()[:100]!r}"))
        elif kind in again:
            if not again[kind][compile_id] and kind == "recompiles" and refused:
                refused -= 1
            elif not again[kind][compile_id]:
                absent.append((kind, f"[{compile_id}] {text[:100]!r}"))
        elif not places.intersection(named) and not report["run"]["lost_frames"] and raised:
            raised -= 1  # tlparse places it in Python's own code or in torch's
        elif not places.intersection(named) and not report["run"]["lost_frames"]:
            absent.append((kind, f"[{compile_id}] {text[:100]!r}"))
    counted = sum(f["count"] for f in report["findings"] if f["kind"] == "break")
    if counted < len(broken):
        absent += [("breaks", f"{len(broken)} compiles broke, {counted} events counted")]
    return listed, absent


def events(pages: Path) -> Iterator[tuple[str, str, str]]:
    """(kind, compile id without its attempt, text) of everything that tlparse lists."""
    for file in sorted(pages.rglob("*")):
        if found := ARTIFACT.match(str(file.relative_to(pages))):
            kind = "breaks" if found[4].startswith("dynamo") else "recompiles"
            yield kind, f"{found[1]}/{found[2]}", file.read_text("utf-8", "replace")
    page = pages / "failures_and_restarts.html"
    for row in ROW.findall(page.read_text("utf-8", "replace")) if page.exists() else ():
        cells = [html.unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in CELL.findall(row)]
        compile_id = cells[0].strip("[]").partition("_")[0]
        source = re.sub(r"^(.*):(\d+)$", r'File "\1", line \2, in', cells[3])
        yield (
            "restarts" if cells[1] == "RestartAnalysis" else "failures",
            compile_id,
            f"{cells[2]}\n{source}",
        )


def frames(text: str, folder: Path) -> list[tuple[str, int]]:
    return [
        (shown(path or other, folder), int(line or last))
        for path, line, other, last in FRAME.findall(text)
    ]


def shown(path: str, folder: Path) -> str:
    return path.removeprefix(f"{os.path.realpath(folder)}/")


def plain(compile_id: str) -> str:
    """Without the process and the number of resets."""
    return compile_id.rpartition(":")[2].partition("#")[0]


if __name__ == "__main__":
    from result_file import run

    run(main, "beside-tlparse")
