"""What --peel and --radar found, as facts of a run."""

from __future__ import annotations

from typing import Literal

from breakscope.report.fact import Fact, Link


class Peeled(Fact):
    """What --peel did. `complete`: the last round showed nothing new, and every break found was
    neutralised."""

    rounds: int  # further runs
    complete: bool
    hidden: int = 0  # breaks that only these runs showed
    neutralised: int = 0  # places
    # breaks that could not be neutralised: what is behind them is not known
    stubborn: tuple[Link, ...] = ()
    differs: str = ""  # how the outputs of a run with breaks neutralised differ from eager's
    problem: str = ""  # what ended the last round early


class Hazard(Fact):
    """What is compiled again under a variation: a guard, at the user's line."""

    path: str
    line: int
    function: str
    family: str
    message: str  # what changed, in plain words
    guard: str  # the guard's text
    help: str  # what to write instead
    values: tuple[str, ...] = ()
    recompiles: int = 1
    compile_seconds: float = 0.0


class Variation(Fact):
    """One thing that --radar varied: a call with `base`, then one with each of `steps`, from a
    fresh Dynamo on.

    `outcome`: "none" compiled again; "settles": what was compiled serves later calls; "each time":
    up to the last step; "limit": until the recompile limit, from which on Dynamo skips the
    function; "left out": see `reason`.
    """

    name: str  # "batch", "sequence of 1", "train/eval", ...
    base: str
    outcome: Literal["none", "settles", "each time", "limit", "left out"]
    steps: tuple[str, ...] = ()
    recompiles: int = 0
    compile_seconds: float = 0.0
    hazards: tuple[Hazard, ...] = ()
    given_up: str = ""  # the function that is skipped, where the limit was reached
    reason: str = ""  # why it, or some of its steps, were left out


class Radar(Fact):
    """What --radar varied. `batch` and `sequence` name the dimensions that were taken for these, ""
    when none was."""

    batch: str
    sequence: str
    sequence_is: str = "sequence"  # of images "image size"
    variations: tuple[Variation, ...] = ()
    note: str = ""  # why there is nothing, or not all


class ModuleCalls(Fact):
    """What became of the calls of one class of modules, or of one function, under `trace --compile`."""

    name: str  # with its module
    path: str  # of the code of its forward
    line: int
    calls: int  # that were captured
    graphs: int = 0
    breaks: int = 0  # sites
    recompiles: int = 0
    eager: tuple[str, ...] = ()  # why other calls of it were left eager
