#!/usr/bin/env python3
"""Reading a large trace beside tlparse: trace_speed.py [--trace FILE] [--megabytes 100] [--backend
inductor]

Without --trace a small model with breaks and recompiles is trained in a process of its own under
TORCH_TRACE. Its trace is repeated, each time with compile numbers of its own, up to the wanted
size; then tlparse and breakscope read the same file, in turn, three times. tlparse comes from PATH,
or from PyPI into a folder that vanishes.

Printed: CPU seconds (user and system, of the whole process) and peak memory, as the operating
system counts them, and wall time, the least of three, for reading alone too; and what both list.
Exit code 1 when the whole command is not 10 times as quick (in CPU time), takes more than 150 MB,
or lists fewer breaks and recompiles than tlparse.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """\
import sys
import torch

torch.set_num_threads(1)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = torch.nn.Linear(32, 64), torch.nn.Linear(64, 32), torch.nn.LayerNorm(32)

    def forward(self, x, scale):
        y = self.down(torch.nn.functional.gelu(self.up(self.norm(x))))
        print(end="")
        if y.abs().max().item() > 100:
            y = y / 2
        return x + y * scale


model = torch.nn.ModuleList(Block() for _ in range(3))


@torch.compile(backend=sys.argv[1])
def step(x, scale):
    for block in model:
        x = block(x, scale)
    return x.square().mean()


for batch, scale in ((4, 1.0), (4, 0.5), (6, 0.5), (8, 0.5)):
    step(torch.randn(batch, 32), scale).backward()
"""
READER = """\
import sys, time
from pathlib import Path
from breakscope.dynamic.observations.traces import read_traced
began = time.process_time()
seen = read_traced(Path(sys.argv[1])).seen
print(time.process_time() - began, file=sys.stderr)
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trace", type=Path)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--backend", default="inductor")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = options.trace or written(folder, options.backend)
        file = folder / "large" / "dedicated_log_torch_trace_large.log"
        file.parent.mkdir()
        copies = repeat(small.read_text("utf-8", "replace"), file, options.megabytes * 1e6)
        print(
            f"{file.stat().st_size / 1e6:.0f} MB: {small.name} ({small.stat().st_size / 1e3:.0f} kB) {copies} times"
        )
        return compare(file, find_tlparse(folder), folder)


def written(folder: Path, backend: str) -> Path:
    """The trace of the small program."""
    (folder / "program.py").write_text(PROGRAM)
    environment = os.environ | {
        "TORCH_TRACE": str(folder / "small"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
    }
    subprocess.run([sys.executable, "program.py", backend], cwd=folder, env=environment, check=True)
    return max((folder / "small").glob("*.log"), key=lambda file: file.stat().st_size)


def repeat(text: str, file: Path, size: float) -> int:
    """Write the text again and again, frames numbered on."""
    frames = 1 + max(map(int, re.findall(r'"frame_id": (\d+)', text)))
    copies = 0
    with open(file, "w", encoding="utf-8") as stream:
        while stream.tell() < size:
            first = frames * copies
            moved = re.sub(
                r'"frame_id": (\d+)',
                lambda found, first=first: f'"frame_id": {int(found[1]) + first}',
                text,
            )
            stream.write(
                re.sub(
                    r'"compile_id": "(\d+)/',
                    lambda found, first=first: f'"compile_id": "{int(found[1]) + first}/',
                    moved,
                )
            )
            copies += 1
    return copies


def find_tlparse(folder: Path) -> str:
    found = shutil.which("tlparse")
    if found:
        return found
    target = folder / "tlparse"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--target",
            str(target),
            "tlparse",
        ],
        check=True,
    )
    return str(target / "bin" / "tlparse")


def compare(file: Path, tlparse: str, folder: Path) -> int:
    report = folder / "report.json"
    commands = {
        "tlparse": [tlparse, str(file), "-o", str(folder / "html"), "--overwrite", "--no-browser"],
        "breakscope": [
            sys.executable,
            "-m",
            "breakscope",
            "report",
            str(file.parent),
            "-f",
            "json",
            "-o",
            str(report),
        ],
    }
    commands["reading alone"] = [sys.executable, "-c", READER, str(file.parent)]
    best: dict[str, tuple[float, ...]] = {}
    for _ in range(3):
        for name, command in commands.items():
            *figures, said = measured(command)
            figures[0] = float(said) if name == "reading alone" else figures[0]
            best[name] = tuple(map(min, figures, best.get(name, figures)))
    for name, (seconds, wall, megabytes) in best.items():
        print(f"{name:14} {seconds:6.2f} s of CPU   {wall:6.2f} s wall   {megabytes:4.0f} MB")
    ratio, whole = (best["tlparse"][0] / best[name][0] for name in ("reading alone", "breakscope"))
    wall = best["tlparse"][1] / best["breakscope"][1]
    theirs, ours = listed_by_tlparse(folder / "html"), listed(json.loads(report.read_text()))
    print(
        f"reading is {ratio:.1f} times as quick; the whole command, with start-up, source analysis and report, {whole:.1f} times "
        f"(wall {wall:.1f}); events listed: tlparse {theirs}, breakscope {ours}"
    )
    good = (
        whole >= 10
        and best["breakscope"][2] <= 150
        and all(ours[kind] >= theirs[kind] for kind in theirs)
    )
    return 0 if good else 1


def measured(command: list[str]) -> tuple[float, float, float, str]:
    """CPU seconds, wall seconds and peak megabytes of one process, and what it said on stderr."""
    with tempfile.TemporaryFile("w+") as said, open(os.devnull, "w") as nowhere:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=nowhere, stderr=said, cwd=ROOT)
        used = os.wait4(process.pid, 0)[2]
        wall = time.monotonic() - began
        said.seek(0)
        megabytes = used.ru_maxrss / (1 if sys.platform == "linux" else 1024) / 1e3
        return used.ru_utime + used.ru_stime, wall, megabytes, said.read()


def listed_by_tlparse(folder: Path) -> dict[str, int]:
    """tlparse writes one file for each artifact; a break that restarts is listed with its attempt."""
    names = [file.name for file in folder.rglob("*") if file.is_file()]
    return {
        "breaks": sum(name.startswith("dynamo_graph_break_reason") for name in names),
        "recompiles": sum(name.startswith("recompile_reasons") for name in names),
    }


def listed(report: dict) -> dict[str, int]:
    return {
        "breaks": sum(f["count"] for f in report["findings"] if f["kind"] == "break"),
        "recompiles": len(report["run"]["recompiles"]),
    }


if __name__ == "__main__":
    from result_file import run

    run(main, "trace-speed")
