"""What a check costs with the answers of an earlier one, beside a cold check of the same files:

    python benchmarks/cache_speed.py FOLDER FILE

FOLDER is copied; then it is checked cold, again, and again with a line more in FILE (relative to
FOLDER), each in a process of its own with one job. CPU seconds are user and system time of that
process. The exit code is 1 when a check with the cache says anything else than one without, or when
the one after the edit costs more than a twentieth of the cold one.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from result_file import run

MOST = 1 / 20  # of a cold check's CPU time, after one edited file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, cache = Path(temporary) / options.folder.name, Path(temporary) / ".cache"
        shutil.copytree(options.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
        cold, _, report = show("cold", folder, 0, "--cache-dir", cache)
        _, _, again = show("warm", folder, cold, "--cache-dir", cache)
        edited = folder / options.file
        edited.write_bytes(b"# a line more\n" + edited.read_bytes())
        _, share, after = show("after one edit", folder, cold, "--cache-dir", cache)
        _, _, wanted = show("the same, no cache", folder, cold, "--no-cache")
        size = sum(file.stat().st_size for file in cache.iterdir())
        print(f"{len(list(cache.iterdir()))} stored answers, {size / 1e6:.1f} MB")
    is_same = (again, after) == (report, wanted)
    print("the same reports" if is_same else "the reports differ")
    return 0 if is_same and share <= MOST else 1


def show(what: str, folder: Path, cold: float, *more: str | Path) -> tuple[float, float, bytes]:
    """Check, and print one line; CPU seconds, their share of the cold check's, and the report."""
    before = seconds()
    command = [sys.executable, "-m", "breakscope", "check", "--jobs", "1", "--format", "json"]
    done = subprocess.run([*command, *more, folder], capture_output=True, check=False)
    taken = seconds() - before
    share = taken / (cold or taken)
    print(f"{what:20}{taken:8.2f} CPU s{share:9.1%}", flush=True)
    return taken, share, done.stdout


def seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    run(main, "cache-speed")
