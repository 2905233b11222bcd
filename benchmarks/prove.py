#!/usr/bin/env python3
"""How often `run --prove` names a setting that helps: prove.py FOLDER [--jobs N] [--seconds N] [NAME ...]

FOLDER holds one program per file, each with `make()`, some with `calls()` or `drive(call, model)`,
as for capture_corpus.py. Whether there is a setting is decided without breakscope: in a process of
its own each program is compiled under every setting and every pair of them, and Dynamo's own
counters are read. A program counts where a setting leaves fewer breaks or recompiles than none;
`--prove` is right where its report names lines to paste and its own run of them shows fewer too.

Printed: one line for each program that breaks or recompiles, and the share of all for which a
setting exists. After --seconds no further program is begun, and how many were left out is printed. Exit
code 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ONE_PROGRAM = 300  # seconds of all settings of one program, and of its proof
SWITCHES = (
    "capture_scalar_outputs",
    "capture_dynamic_output_shape_ops",
    "allow_rnn",
    "allow_unspec_int_on_nn_module",
    "trace_autograd_ops",
    "compiled_autograd",
)
ORACLE = """\
import importlib.util, inspect, itertools, json, random, sys, warnings, logging
import torch, torch._dynamo
from torch._dynamo.utils import clear_compilation_metrics, counters, get_compilation_metrics
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
file, switches = sys.argv[1], sys.argv[2].split(",")
sys.path.insert(0, file.rpartition("/")[0])
spec = importlib.util.spec_from_file_location("target", file)


def once(settings):
    torch._dynamo.reset()
    counters.clear()
    clear_compilation_metrics()
    module = importlib.util.module_from_spec(spec)
    sys.modules["target"] = module
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    random.seed(0)
    made = module.make()
    model, args, kwargs = (*made, (), {})[:3] if isinstance(made, tuple) else (made, (), {})
    config = {name: True for name in settings if name in switches and hasattr(torch._dynamo.config, name)}
    seen = []
    hook = torch._dynamo.config.patch(**config, reorderable_logging_functions={print, warnings.warn} if "print" in settings else set())
    with hook:
        step = torch.compile(model, backend="eager", dynamic=True if "dynamic" in settings else None)
        graphs = 0
        if hasattr(module, "drive"):
            module.drive(step, model)
        elif hasattr(module, "calls"):
            for call in module.calls():
                pair = isinstance(call, tuple) and len(call) == 2 and isinstance(call[0], tuple) and isinstance(call[1], dict)
                step(*call[0], **call[1]) if pair else step(*call)
        else:
            for _ in range(3):
                step(*args, **kwargs)
    # a branch on data is counted there alone
    broken = counters["graph_break"] | counters["unimplemented"]
    # how many frames a break leaves is no recompile: a second version of the same frame is one
    again = [m for m in get_compilation_metrics() if not m.fail_type and not str(m.compile_id).endswith("/0")]
    return sum(broken.values()) + sum(counters["recompile_limit"].values()), len(again)


sys.stdout, real = sys.stderr, sys.stdout
found = {}
names = [*switches, "dynamic", "print"]
try:
    once(())  # what the first call of a process leaves behind, such as caches, is no setting's doing
except BaseException:
    pass
for settings in [(), *((n,) for n in names), *itertools.combinations(names[:4] + ["dynamic"], 2)]:
    try:
        found["+".join(settings)] = once(settings)
    except BaseException as problem:
        found["+".join(settings)] = None
print(json.dumps(found), file=real)
"""


def oracle(file: Path) -> dict[str, list[int] | None]:
    """By settings, breaks and recompiles."""
    with tempfile.TemporaryDirectory() as folder:
        done = finished([sys.executable, "-c", ORACLE, str(file), ",".join(SWITCHES)], folder)
    try:
        return json.loads(done.splitlines()[-1])
    except (ValueError, IndexError):
        return {}


def finished(command: list[str], folder: str) -> str:
    """What a command printed; nothing when it took too long."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=ONE_PROGRAM,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def proved(file: Path) -> dict:
    text = file.read_text(encoding="utf-8")
    command = [sys.executable, "-m", "breakscope", "run", f"{file}::make", "--prove", "--no-vary"]
    command += ["--no-backward", "--format", "json"]
    command += ["--calls", "calls"] if "\ndef calls(" in text else []
    command += ["--drive", "drive"] if "\ndef drive(" in text else []
    with tempfile.TemporaryDirectory() as folder:
        done = finished(command, folder)
    try:
        return json.loads(done)["run"]["proved"] or {}
    except (ValueError, KeyError, TypeError):
        return {}


def helps(found: dict[str, list[int] | None]) -> list[str]:
    """The settings that leave fewer breaks, or as many and fewer recompiles, than none does; an
    empty list when the program neither breaks nor recompiles."""
    base = found.get("")
    if not base:
        return []
    return [
        name
        for name, seen in found.items()
        if seen and name and (seen[0] < base[0] or (seen[0] == base[0] and seen[1] < base[1]))
    ]


def outcome(file: Path, until: float) -> tuple[str, list[str] | None, dict]:
    """The settings that help, None where no time was left to look, and what --prove says."""
    if time.time() > until:
        return file.stem, None, {}
    found = oracle(file)
    settings = helps(found)
    return file.stem, settings, proved(file) if settings else {}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600.0)
    options = parser.parse_intermixed_args()
    files = sorted(options.folder.resolve().glob("*.py"))
    files = [file for file in files if not options.names or file.stem in options.names]
    exist = right = left_out = 0
    until = time.time() + options.seconds
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, settings, report in pool.map(lambda file: outcome(file, until), files):
            left_out += settings is None
            if not settings:
                continue
            exist += 1
            lines = report.get("lines", [])
            good = bool(lines) and sum(report["after"]) < sum(report["before"])
            right += good
            print(
                f"{name}: {'named' if good else 'MISSED'}; exists: {settings[0]}; "
                f"pasted: {'; '.join(lines) or 'nothing'}; left {report.get('after')} of {report.get('before')}",
                flush=True,
            )
    if left_out:
        print(f"{left_out} programs left out: {options.seconds:g} s were over")
    print(
        f"{len(files) - left_out} programs; a setting helps {exist}; --prove names it for {right}"
    )
    return 0 if right == exist else 1


if __name__ == "__main__":
    from result_file import run

    run(main, "prove")
