#!/usr/bin/env python3
"""Does a fake run see the breaks of a real one?

    fake_agreement.py programs FOLDER TRUTH.json [NAME ...]    FOLDER and TRUTH.json as for capture_corpus.py
    fake_agreement.py models [NAME ...] [--libraries DIR ...]  models of zoo_models.py, or hf/TYPE[=CLASS]

Every program is called in a fork of this process as `breakscope run --fake --no-vary` calls it, with
torch imported once; the sites (file, line) of its breaks are compared with the measured ones of the real
run, and those of a model with a real run made here. With `--real` that is done for programs too.

Printed: each program whose sites differ, with what the fake run raised, and the share of programs that
agree. Exit code 1 when that is below 97 %, or when a program with breaks is called clean.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WANTED = 0.97
MOST_SECONDS = 240  # of one run


class Silent:
    """A progress log that keeps the errors."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def note(self, event: str, **facts: object) -> None:
        if event in ("error", "unfakeable"):
            self.errors.append(
                f"{event}: {facts.get('type', facts.get('what', ''))} "
                f"{facts.get('message', facts.get('problem', ''))}"[:300]
            )


def seen(folder: Path, name: str, is_fake: bool) -> tuple[list, list[str]]:
    """The sites of one program's breaks, in this process."""
    import torch

    from breakscope.dynamic import captured_result, listening
    from breakscope.dynamic.child.calls import Made, Plan, build, make_calls
    from breakscope.dynamic.child.fake.session import faking
    from breakscope.dynamic.child.load import load_file

    progress = Silent()
    with contextlib.ExitStack() as stack:
        fake = (
            stack.enter_context(
                faking({"device": None, "fake": {"world_size": 1, "rank": 0}}, progress)
            )
            if is_fake
            else None
        )
        problem = None
        with listening() as captured:
            try:
                module = load_file(folder / f"{name}.py")
                plan = Plan(
                    "make",
                    "calls" if hasattr(module, "calls") else "",
                    "drive" if hasattr(module, "drive") else "",
                    0,
                    True,
                    torch.device("cpu"),
                    fake=fake,
                )
                target = build(module, plan)
                compiled = torch.compile(target.function, backend="eager")
                if fake:
                    fake.begin()
                make_calls(module, target, compiled, plan, Made(), lambda *_: None, strict=False)
            except BaseException as error:
                problem = error
                progress.errors.append("".join(traceback.format_exception(error))[-500:])
    found = captured_result(captured, name, (), problem)
    sites = {
        (os.path.relpath(os.path.realpath(f.path), folder.resolve()), f.line)
        for f in found.findings
        if f.kind == "break"
    }
    return sorted(sites), progress.errors


def in_fork(folder: Path, name: str, real: bool) -> tuple[list, list[str], tuple | None]:
    """What a fake run of a program saw, and a real one: each in a process of its own."""
    results = []
    for is_fake in (True, False) if real else (True,):
        reader, writer = multiprocessing.Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            signal.alarm(MOST_SECONDS)
            with tempfile.TemporaryDirectory() as work:
                os.chdir(work)
                for descriptor in (1, 2):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
                try:
                    writer.send(seen(folder, name, is_fake))
                except BaseException as problem:
                    writer.send(([], [f"{type(problem).__name__}: {problem}"]))
            os._exit(0)
        writer.close()
        try:
            results.append(reader.recv())
        except EOFError:
            results.append(([], ["the process ended"]))
        os.waitpid(pid, 0)
    fake, errors = results[0]
    return fake, errors, results[1] if real else None


class Count:
    """How many programs agree."""

    def __init__(self) -> None:
        self.all = self.agree = self.called_clean = self.broken = 0

    def program(self, name: str, sites: set, wanted: set, errors: list[str]) -> None:
        self.all += 1
        self.broken += bool(wanted)
        self.agree += sites == wanted
        if sites != wanted:
            self.called_clean += not sites and not errors
            print(f"{name}: missing {sorted(wanted - sites)}, extra {sorted(sites - wanted)}")
            for error in errors[:2]:
                print("    " + " ".join(error.split())[-280:])
        sys.stdout.flush()

    def end(self) -> int:
        share = self.agree / max(1, self.all)
        print(
            f"{self.all} programs, {self.broken} of them with breaks: the same sites on {self.agree} "
            f"({share:.1%}); with breaks and called clean: {self.called_clean}"
        )
        return 0 if share >= WANTED and not self.called_clean else 1


def programs(options: argparse.Namespace) -> int:
    truth = json.loads(options.truth.read_text(encoding="utf-8"))
    count = Count()
    for name in truth:
        if not (options.folder / f"{name}.py").is_file():
            continue
        if options.names and name not in options.names:
            continue
        fake, errors, real = in_fork(options.folder, name, options.real)
        wanted = (
            {(b["file"], b["line"]) for b in truth[name]["breaks"]} if real is None else real[0]
        )
        count.program(name, {tuple(site) for site in fake}, {tuple(s) for s in wanted}, errors)
    return count.end()


def models(options: argparse.Namespace) -> int:
    import transformers  # noqa: F401  imported before the forks
    import zoo_models

    count, left_out = Count(), []
    paths = [str(ROOT / "benchmarks"), *(str(folder.resolve()) for folder in options.libraries)]
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(options.names or zoo_models.BUILDERS):
            libraries = paths[:1] if name.startswith("hf/") else paths
            Path(folder, f"model_{number}.py").write_text(
                f"import sys\n\nsys.path += {libraries!r}\nimport zoo_models\n\n\n"
                f"def make():\n    return zoo_models.make({name!r})\n",
                encoding="utf-8",
            )
            fake, errors, real = in_fork(Path(folder), f"model_{number}", True)
            if real[1]:  # it cannot be built or called here
                left_out.append(f"{name} ({' '.join(real[1][0].split())[-120:]})")
                continue
            count.program(name, {tuple(s) for s in fake}, {tuple(s) for s in real[0]}, errors)
    print(f"{len(left_out)} left out, whose real run failed: " + "; ".join(left_out))
    return count.end()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    given = kinds.add_parser("programs")
    given.add_argument("folder", type=Path)
    given.add_argument("truth", type=Path)
    given.add_argument("names", nargs="*")
    given.add_argument("--real", action="store_true", help="make the real runs too")
    given = kinds.add_parser("models")
    given.add_argument("names", nargs="*")
    given.add_argument("--libraries", type=Path, action="append", default=[])
    options = parser.parse_args()
    os.environ.pop("TORCH_LOGS", None)
    import torch

    torch.set_num_threads(1)
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))  # imported before the forks
    torch._dynamo.reset()
    return programs(options) if options.kind == "programs" else models(options)


if __name__ == "__main__":
    from result_file import run

    run(main, "fake-agreement")
