"""breakscope fix: rewrites what has a fix, and reports what remains."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from breakscope.config import Config
from breakscope.errors import UserError
from breakscope.fixes import Applied, Fixed, FixOptions, Proven, fixed_sources
from breakscope.fixes.commits import uncommitted
from breakscope.fixes.diff import unified_diff
from breakscope.fixes.passes import Key, key_of
from breakscope.fixes.writing import replace_file
from breakscope.report.fixes import FileDiff, FixedPlace, Fixes, NotFixedPlace
from breakscope.report.model import Finding, Report, ReportError
from breakscope.static import StaticOptions
from breakscope.static.project.files import relative_path
from breakscope.workflows.check import CheckOptions, cache_folder, report_of, static_options
from breakscope.workflows.choice import narrow
from breakscope.workflows.notebooks import located

if TYPE_CHECKING:
    from breakscope.dynamic import RunOptions


class FixRequest(Struct, frozen=True, kw_only=True):
    """`unsafe`: apply fixes, too, that may change what the program does. `write`: else the report
    has the diff, and no file is touched. `verify` is the target that has to prove each fix, or
    None; with `alone` each rewritten function is run by itself instead, with guessed arguments."""

    unsafe: bool = False
    write: bool = True
    verify: RunOptions | None = None
    alone: bool = False
    progress: Callable[[str], None] = lambda text: None


def fix(options: CheckOptions, request: FixRequest, config: Config) -> Report:
    """The report on what remains, and on what was fixed; raises UserError when the paths, a code or
    the configuration are wrong."""
    static = static_options(options, config)
    selection = options.choice.selection(config)
    wanted = FixOptions(
        unsafe=request.unsafe,
        wanted=selection.shows,
        jobs=options.jobs,
        cache=cache_folder(options, config),
        progress=request.progress,
    )
    fixed = fixed_sources(options.paths, static, wanted)
    report_of(options, fixed.before)  # nothing to fix in nothing
    done = Proven(fixed)
    if request.verify is not None:
        done = _proven(options, static, wanted, fixed, request, config)
    after = done.fixed.after
    report = narrow(report_of(options, after), selection, None if options.follow else after.asked)
    errors = [ReportError(message=done.problem)] if done.problem else []
    if request.write:
        errors += written(done.fixed)
    fixes = fixes_of(done, report, request.write)
    done_report = replace(report, errors=(*report.errors, *errors), fixes=fixes)
    return located(done_report, done.fixed.new, done.fixed.old)


def _proven(
    options: CheckOptions,
    static: StaticOptions,
    wanted: FixOptions,
    fixed: Fixed,
    request: FixRequest,
    config: Config,
) -> Proven:
    from breakscope.fixes.proof import proven, proven_alone

    def make(keys: frozenset[Key]) -> Fixed:
        def is_chosen(finding: Finding) -> bool:
            return key_of(finding) in keys and wanted.wanted(finding)

        chosen = replace(wanted, wanted=is_chosen, progress=lambda text: None)
        return fixed_sources(options.paths, static, chosen, fixed.before)

    run = dataclasses.replace(request.verify, rules=config.rules)
    prove = proven_alone if request.alone else proven
    return prove(fixed, make, run, request.progress)


def written(fixed: Fixed) -> tuple[ReportError, ...]:
    """Write what was fixed; the files that could not be written."""
    errors = []
    for path, data in fixed.new.items():
        try:
            replace_file(path, fixed.old[path], data)
        except UserError as problem:
            errors.append(ReportError(message=str(problem), path=relative_path(path)))
    return tuple(errors)


def fixes_of(done: Proven, report: Report, is_written: bool) -> Fixes:
    """What was done, for the report."""
    fixed = done.fixed
    declined = {d.finding.place(): d.reason for d in fixed.declined}
    back = {applied.key: reason for applied, reason in done.taken_back}
    return Fixes(
        written=is_written,
        files=tuple(
            FileDiff(
                path=relative_path(path),
                diff=unified_diff(relative_path(path), fixed.old[path], data),
            )
            for path, data in fixed.new.items()
        ),
        fixed=tuple(_fixed_place(applied) for applied in fixed.applied),
        not_fixed=tuple(
            _not_fixed_place(f, declined.get(f.place(), ""), back.get(key_of(f), ""))
            for f in report.findings
            if f.kind in ("break", "recompile")
        ),
        proofs=done.proofs,
        notes=tuple(_notes(fixed)),
    )


def _notes(fixed: Fixed):
    if not fixed.complete:
        yield (
            "fixes were still making room for others when the limit of passes ended them; run it again"
        )
    for path in uncommitted(fixed.old):
        yield f"{relative_path(path)} had changes that are not committed"


def _fixed_place(applied: Applied) -> FixedPlace:
    finding = applied.finding
    return FixedPlace(
        path=finding.path,
        line=finding.line,
        function=finding.function,
        code=finding.code,
        rule=finding.rule,
        message=finding.brief or finding.message,
        safety=finding.fix.safety,
        changes=finding.fix.changes,
    )


def _not_fixed_place(finding: Finding, declined: str, taken_back: str) -> NotFixedPlace:
    reason = taken_back or declined or finding.no_fix or "its rule has no fix"
    if finding.fix is not None and not (declined or taken_back):
        reason = "its fix was left for another pass"
    return NotFixedPlace(
        path=finding.path,
        line=finding.line,
        function=finding.function,
        code=finding.code,
        rule=finding.rule,
        message=finding.brief or finding.message,
        reason=reason,
        taken_back=bool(taken_back),
    )
