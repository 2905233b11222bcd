"""trace_program and read_result: what Dynamo did in someone else's program, now or when its trace
was written."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec

from breakscope import limits
from breakscope.dynamic.capture import compiled_modules, tried_settings
from breakscope.dynamic.capture.folders import marked, run_folder
from breakscope.dynamic.capture.injected import remove_injected
from breakscope.dynamic.capture.program import Ended, run_program
from breakscope.dynamic.findings.hints import named_switches
from breakscope.dynamic.findings.matching import make_findings
from breakscope.dynamic.findings.report_facts import shown, shown_divergence, shown_recompiles
from breakscope.dynamic.findings.restarts import shown_restarts
from breakscope.dynamic.findings.run_errors import signal_name
from breakscope.dynamic.modes.live import Live, Look
from breakscope.dynamic.observations.facts import Observations
from breakscope.dynamic.observations.module_calls import module_calls
from breakscope.dynamic.observations.traces import Traced, read_traced
from breakscope.dynamic.options import RunResult, TraceOptions
from breakscope.errors import UserError
from breakscope.report.model import ReportError, Run
from breakscope.report.summary import count
from breakscope.rulekit.loader import load_rules

SWITCHED_OFF = ("TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE")
NO_MODULE = "no module call was captured: the program called no nn.Module in a Python process that reads PYTHONPATH"
NOTHING = (
    "no compile was seen: the program compiled nothing, or it switched torch's loggers off (as logging.config does "
    "unless disable_existing_loggers is False), or it cleared its environment"
)


INCOMPLETE = (
    "the traces could not be written as a whole, so what was seen is incomplete; TMPDIR, or --keep, "
    "can name a folder with more room"
)


def trace_program(options: TraceOptions, watch: Callable[[Look], None] | None) -> RunResult:
    """Run a command, and report what Dynamo did in it and in its children, however they ended.

    `watch` receives what is new a few times a second. Raises UserError when the command cannot
    be started, or the folder for its traces not be written.
    """
    with _folder(options) as folder:
        live = Live(folder, options.rules)

        def tick() -> None:
            if watch is not None:
                watch(live.look())

        ended = run_program(
            options.command,
            folder,
            options.timeout,
            tick,
            _environment(folder, options),
            removed=() if _kept(options) else (folder,),
            silent=options.silent,
        )
        tick()
        traced = read_traced(folder)
        traced = replace(traced, seen=replace(traced.seen, ended=time.time()))
        modules = module_calls(folder, traced.seen) if options.modules else None
        left, refused = tuple(marked(folder)), tried_settings.problem(folder)
        remove_injected(folder)
        room = _has_room(folder)
    target = shlex.join(options.command)
    errors = _errors(target, ended, options.timeout)
    if refused:
        errors += (ReportError(message=refused),)
    if traced.cut or not room:
        errors += (ReportError(message=INCOMPLETE),)
    status = (
        "timeout"
        if ended.timed_out
        else "killed"
        if errors and (ended.code < 0 or ended.interrupted)
        else ("failed" if errors else "ok" if traced.seen.records else "no-capture")
    )
    idle = () if traced.seen.records else (NOTHING,) if modules is None else ()
    notes = (*switched_off(), *_still_running(left), *(idle if modules != () else (NO_MODULE,)))
    result = result_of(traced, target, status, options.rules, errors, notes, ended.exit_code)
    return replace(result, run=msgspec.structs.replace(result.run, modules=modules))


def _environment(folder: Path, options: TraceOptions) -> dict[str, str]:
    found = compiled_modules.environment(folder, options.modules) if options.modules else {}
    if options.settings:
        found |= tried_settings.environment(folder, options.settings)
    return found


def _has_room(folder: Path) -> bool:
    """False when the disk of the folder is full, so that records of a trace may be missing."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(limits.DISK_PROBE))
            return True
    except OSError:
        return False


def _still_running(left: tuple[int, ...]) -> tuple[str, ...]:
    """A note on children that outlive the program, as they do when it alone is killed."""
    if not left:
        return ()
    who = "a process" if len(left) == 1 else f"{len(left)} processes"
    verb, whose = ("runs", "it does") if len(left) == 1 else ("run", "they do")
    return (
        f"{who} of the program still {verb} (pid {', '.join(map(str, left[:8]))}): what {whose} from now on is not in this report",
    )


def read_result(path: Path, rules: Sequence[str], others: Sequence[Path] = ()) -> RunResult:
    """Report on a trace that exists: a TORCH_TRACE folder, one file of it, or a saved text log.

    `others` belong to the same program, such as the folders of other nodes. Raises UserError when
    they hold nothing that Dynamo wrote.
    """
    paths = list({each.resolve(): each for each in (path, *others)}.values())
    traced = read_traced(*paths)
    notes = tuple(f"{file} was cut: it ends in the middle of a record" for file in traced.cut)
    if not traced.processes:
        kind = "no .log file in it holds" if path.is_dir() else "it holds"
        raise UserError(
            f"{path} is no report and no trace: {kind} nothing that TORCH_TRACE or TORCH_LOGS writes"
        )
    result = result_of(traced, ", ".join(map(str, paths)), "ok", rules, (), notes, None)
    modules = [module for each in paths for module in module_calls(each, traced.seen)]
    return replace(result, run=msgspec.structs.replace(result.run, modules=tuple(modules) or None))


def switched_off() -> tuple[str, ...]:
    """Notes on the environment's switches that leave nothing compiled."""
    return tuple(
        f"{name} is set, so nothing is compiled"
        for name in SWITCHED_OFF
        if os.environ.get(name, "0") not in ("", "0")
    )


def result_of(
    traced: Traced,
    target: str,
    status: str,
    rules: Sequence[str],
    errors: tuple[ReportError, ...],
    notes: tuple[str, ...],
    exit_code: int | None,
) -> RunResult:
    """What traces hold, as findings and facts; `status` and what follows are how the program that
    wrote them ended."""
    here, seen = Path.cwd(), traced.seen
    run = Run(
        target=target,
        status=status,
        device="",
        backend="",
        torch_version=traced.torch_version,
        python_version=traced.python_version,
        graphs=tuple(shown(graph) for graph in seen.graphs),
        recompiles=shown_recompiles(seen),
        lost_frames=tuple(shown(frame) for frame in seen.skipped_frames),
        restarts=shown_restarts(seen.compiles),
        cuda_graphs=tuple(shown(found) for found in seen.cuda_graphs),
        compile_seconds=round(seen.compile_seconds, 6),
        capture_checked=seen.records > 0,
        processes=traced.processes,
        divergence=shown_divergence(traced.divergence),
        exit_code=exit_code,
        notes=(*notes, *traced.notes, *_without_line(seen)),
    )
    return RunResult(
        findings=make_findings(seen, load_rules(tuple(rules)), here),
        run=run,
        errors=errors,
        torch_version=traced.torch_version,
        switches=seen.switches,
        named_switches=named_switches(seen.breaks),
    )


def _without_line(seen: Observations) -> tuple[str, ...]:
    """A note on recompiles that are no finding, as no line of the user's is known for them."""
    number = sum(recompile.site is None for recompile in seen.recompiles)
    if not number:
        return ()
    what = "has" if number == 1 else "have"
    return (
        f"{count(number, 'recompile')} of functions in installed packages {what} no line of yours: what was "
        "written does not name the callers, as a TORCH_TRACE folder of torch 2.8 or later mostly does",
    )


def _errors(target: str, ended: Ended, timeout: float | None) -> tuple[ReportError, ...]:
    """How the program ended, when it did not end well."""
    after = f"after {ended.seconds:.1f} s"
    if ended.timed_out:
        return (
            ReportError(message=f"`{target}` did not end within {timeout:g} s and was stopped"),
        )
    if ended.interrupted and ended.code:
        return (ReportError(message=f"`{target}` was interrupted {after}"),)
    if ended.code < 0:
        return (
            ReportError(message=f"`{target}` was killed by {signal_name(-ended.code)} {after}"),
        )
    if ended.code:
        return (ReportError(message=f"`{target}` ended with exit code {ended.code} {after}"),)
    return ()


def _kept(options: TraceOptions) -> str:
    """The folder where the traces are to be kept; "" for none."""
    return options.keep or os.environ.get("TORCH_TRACE", "")


@contextmanager
def _folder(options: TraceOptions) -> Iterator[Path]:
    """A fresh folder for the traces, inside of the one where they are to be kept, if anywhere: they
    are there even when we are killed. At the end they move up."""
    keep = _kept(options)
    if not keep:
        with run_folder() as folder:
            yield folder
        return
    try:
        os.makedirs(keep, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="breakscope-", dir=os.path.abspath(keep)))
    except OSError as problem:
        raise UserError(f"cannot keep traces in {keep}: {problem.strerror}") from None
    try:
        yield folder
        for file in folder.iterdir():
            shutil.move(file, keep)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
