"""The functions of `import breakscope`: what the commands do, on what a program holds.

What is wrong with a call raises UserError, whose message is the line that a command would print.
What could not be checked or run stands in `Report.errors`, beside everything that was found.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from breakscope.config import Config, load_config
from breakscope.errors import UserError
from breakscope.report.model import Finding, Report
from breakscope.workflows.notebook import shown
from breakscope.workflows.watch import as_text, watch

if TYPE_CHECKING:
    from breakscope.dynamic import RunOptions
    from breakscope.workflows.check import CheckOptions

__all__ = ["Finding", "Report", "UserError", "as_text", "check", "fix", "run", "watch"]

ALONE = "alone"
Path = str | os.PathLike[str]
Paths = Path | Iterable[Path]
Words = str | Iterable[str]


def check(
    paths: Paths,
    *,
    entry: Words = (),
    torch: str = "",
    select: Words = (),
    ignore: Words = (),
    possible: bool = False,
    libraries: bool = True,
    follow: bool = False,
    jobs: int = 1,
    config: bool = True,
    allow_rules: bool = False,
) -> Report:
    """Read source files, and the Python files of folders, as `breakscope check` does; nothing of
    them is imported or run.

    `entry` names functions as FILE::NAME that are analysed as compiled, `torch` the version to
    assume, `select` and `ignore` codes or prefixes. `possible` adds findings that are only
    possible, `follow` those in files that the named ones lead to. `libraries=False` leaves
    installed packages alone. More than one of `jobs` starts processes. The settings of the nearest
    pyproject.toml hold unless `config` is False; rule files that it names are code of the project,
    and run only with `allow_rules`.
    """
    from breakscope.workflows import check as checking

    options = _check_options(paths, entry, torch, select, ignore, possible, libraries, follow, jobs)
    return shown(checking.check(options, _settings(config, allow_rules)))


def fix(
    paths: Paths,
    *,
    unsafe: bool = False,
    write: bool = True,
    verify: str = "",
    entry: Words = (),
    torch: str = "",
    select: Words = (),
    ignore: Words = (),
    libraries: bool = True,
    jobs: int = 1,
    config: bool = True,
    allow_rules: bool = False,
) -> Report:
    """Rewrite what has a fix, as `breakscope fix` does: `Report.fixes` says what was done, and the
    findings are those that remain.

    Safe fixes are made, with `unsafe` all. With `write=False` no file is touched, and
    `Report.fixes.files` holds the diffs. `verify` names a target, FILE::NAME, that runs in
    processes of its own, and has to prove each fix; "alone" runs each rewritten function by itself.
    """
    from breakscope.workflows import fix as fixing

    options = _check_options(paths, entry, torch, select, ignore, False, libraries, False, jobs)
    alone = verify == ALONE
    request = fixing.FixRequest(
        unsafe=unsafe,
        write=write,
        verify=_run_options(f"{ALONE}::{ALONE}" if alone else verify) if verify else None,
        alone=alone,
    )
    return shown(fixing.fix(options, request, _settings(config, allow_rules)))


def run(
    model: Callable[..., Any] | str,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    more: Sequence[Any] = (),
    backward: bool = True,
    backend: Any = None,
    rules: Sequence[str] = (),
    source: bool = True,
) -> Report:
    """Call a model or function under Dynamo, in this process: twice with `args` (a tuple, or one
    argument) and `kwargs`, then once with each arguments of `more`; with a backward pass where the
    output requires gradients.

    What is compiled already is called as it is, else it is compiled with `backend` ("eager").
    Dynamo is reset before and behind it, so that nothing of earlier calls is taken for compiled,
    and what was is compiled again by its next call. Gradients stay as they were; what the model
    itself changes (buffers, random numbers) is changed. An exception of the model is an error of
    the report. `rules` and `source` are those of `watch`.

    Of a name, FILE::NAME, it is `breakscope run`: a process of its own, whose factory gives the
    arguments.
    """
    if isinstance(model, str):
        return _run_by_name(model, args, kwargs, more, backward, backend, rules)
    from breakscope.workflows.live_run import Calls, run_here

    calls = Calls(args=args, kwargs=kwargs or {}, more=tuple(more), backward=backward)
    return run_here(model, calls, backend, tuple(rules), source)


def _run_by_name(
    name: str,
    args: Any,
    kwargs: Mapping[str, Any] | None,
    more: Sequence[Any],
    backward: bool,
    backend: Any,
    rules: Sequence[str],
) -> Report:
    from dataclasses import replace

    from breakscope.workflows.run import run as run_target

    if args != () or kwargs or more:
        raise UserError(f"run: the factory of {name!r} gives the arguments; leave them out")
    if not isinstance(backend, str | None):
        raise UserError(f"run: the backend of {name!r} is a name, not {type(backend).__name__}")
    options = replace(
        _run_options(name), backward=backward, backend=backend or "eager", rules=tuple(rules)
    )
    return shown(run_target(options))


def _run_options(target: str) -> RunOptions:
    from breakscope.dynamic import RunOptions

    file, separator, name = target.rpartition("::")
    if not (separator and file and name):
        raise UserError(f"{target!r} is no target; write FILE::NAME, such as model.py::make")
    return RunOptions(file=file, name=name)


def _check_options(
    paths: Paths,
    entry: Words,
    torch: str,
    select: Words,
    ignore: Words,
    possible: bool,
    libraries: bool,
    follow: bool,
    jobs: int,
) -> CheckOptions:
    from breakscope.workflows.check import CheckOptions
    from breakscope.workflows.choice import Choice

    named = (paths,) if isinstance(paths, str | os.PathLike) else paths
    return CheckOptions(
        paths=tuple(os.fspath(path) for path in named),
        entries=_words(entry),
        torch=torch,
        libraries=libraries,
        follow=follow,
        jobs=jobs,
        choice=Choice(select=_words(select), ignore=_words(ignore), show_possible=possible),
    )


def _words(words: Words) -> tuple[str, ...]:
    return tuple(words.split(",")) if isinstance(words, str) and words else tuple(words)


def _settings(wanted: bool, allow_rules: bool) -> Config:
    config = load_config() if wanted else Config()
    if config.rules and not allow_rules:
        raise UserError(
            f"{config.path}: `rules` names Python files of the project, which are not run unless "
            "allow_rules=True allows it"
        )
    return config
