"""The options of a run, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from breakscope.report.model import Finding, ReportError, Run


@dataclass(frozen=True, kw_only=True)
class Neutral:
    """A break to neutralise: its place (an absolute path), whether Dynamo could not decide on a
    value there, and the number of the way to take, from 0."""

    path: str
    line: int
    column: int
    end_column: int
    branch: bool
    attempt: int = 0


@dataclass(frozen=True, kw_only=True)
class Neutralised:
    """What became of the site of that number: the way taken, "" when there is none; what it raised,
    if anything."""

    number: int
    way: str
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One thing that can be set without editing the compiled code: a switch of
    `torch._dynamo.config`, a function added to one of its collections, `dynamic=True`, or
    dimensions of an argument that are marked."""

    switch: str = ""
    collection: str = ""
    member: str = ""
    dynamic: bool = False
    argument: str = ""
    dimensions: tuple[int, ...] = ()

    @property
    def line(self) -> str:
        """As one writes it."""
        if self.switch:
            return f"torch._dynamo.config.{self.switch} = True"
        if self.collection:
            return f"torch._dynamo.config.{self.collection}.add({self.member})"
        if self.dynamic:
            return "torch.compile(..., dynamic=True)"
        dims = list(self.dimensions) if len(self.dimensions) > 1 else self.dimensions[0]
        return f"torch._dynamo.mark_dynamic({self.argument}, {dims})"


@dataclass(frozen=True, kw_only=True)
class FakeOptions:
    """How to run without the hardware. `explore` is how many further runs may give other answers to
    what is asked of values; `export` also tries `torch.export`; `world_size` is how many ranks there
    are, `rank` which of them runs."""

    explore: int = 0
    export: bool = False
    world_size: int = 1
    rank: int = 0


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """One target and the way to run it.

    `calls` names a function in the file that returns the argument tuples of one sequence of calls;
    `drive` names a function `drive(call, model)` that makes the calls itself. Without them the
    target is called three times with the arguments of its factory, then (with `vary`) with two
    other batch sizes. `device` None means CUDA when there is one, else the CPU. `timeout` is in
    seconds, for the whole child process. `memory` is the limit for the child in bytes; None means
    what the machine has free, 0 means no limit. `rules` are folders of the user's own rules.
    `neutralise` are breaks that must not end a graph in this run; `peel` is how many such runs may
    follow the first one to find the breaks behind its breaks. `radar`: look for what will be
    compiled again when arguments and modes vary; `batch_dim` and `sequence_dim` are the dimensions
    to vary, None for those that the arguments suggest. `prove`: try each setting that may remove
    what was found; `settings` are those of this run. `watch` receives what is being done, a few
    times a second, as a line that begins with `phase`. `repro` is a file for the smallest program
    that shows the worst finding, or that at `repro_at` (PATH:LINE).
    """

    file: str
    name: str
    calls: str = ""
    drive: str = ""
    vary: bool = True
    backend: str = "eager"
    device: str | None = None
    timeout: float = 300.0
    backward: bool = True
    memory: int | None = None
    explain: bool = True  # run torch._dynamo.explain too
    # pass what the program prints on to our stderr instead of dropping it
    show_output: bool = False
    rules: tuple[str, ...] = ()
    neutralise: tuple[Neutral, ...] = ()
    peel: int = 0
    radar: bool = False
    batch_dim: int | None = None
    sequence_dim: int | None = None
    prove: bool = False
    repro: str = ""
    repro_at: str = ""
    settings: tuple[Setting, ...] = ()
    fake: FakeOptions | None = None  # with tensors that have no memory, on no device
    phase: str = "run"
    watch: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    @property
    def target(self) -> str:
        return f"{self.file}::{self.name}"


@dataclass(frozen=True, kw_only=True)
class CompileModules:
    """What of a program that compiles nothing is compiled: its module calls at a nesting of `depth`
    (1: the outermost), at most `per_module` calls of each class and `alike` instances that are built
    and called alike, and the functions that `entries` (FILE::NAME, globs of both) name in the modules
    that it imports."""

    depth: int = 1
    per_module: int = 32
    alike: int = 4
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TraceOptions:
    """A command to run and to trace. `timeout` is in seconds, None without one; `keep` a folder for
    the raw traces.

    `rules` are folders of the user's own rules; `modules` says what is compiled besides what the
    program itself compiles, None nothing. `prove`: run it once more with each setting that may remove
    what was found; `settings` are those of this run, which is `silent` then.
    """

    command: tuple[str, ...]
    timeout: float | None = None
    keep: str = ""
    rules: tuple[str, ...] = ()
    modules: CompileModules | None = None
    prove: bool = False
    settings: tuple[Setting, ...] = ()
    silent: bool = False


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What a run saw. `traced` maps absolute paths to the lines that Dynamo traced, by which a
    prediction there is refuted.

    Of a run that neutralised breaks: what became of each, and how its first outputs differ from
    eager's, "" when they do not.
    """

    findings: tuple[Finding, ...]
    run: Run
    errors: tuple[ReportError, ...] = ()
    traced: Mapping[str, frozenset[int]] = field(default_factory=dict)
    torch_version: str = ""
    neutralised: tuple[Neutralised, ...] = ()
    differs: str = ""
    # Dynamo's switches: those that were on, and others that its reasons and hints name
    switches: frozenset[str] = frozenset()
    named_switches: tuple[str, ...] = ()
