"""What --prove, --peel, --radar and --fake found, and a traced program's processes, as facts of a
run."""

from __future__ import annotations

from typing import Literal

from breakscope.report.fact import Fact, Link

Asked = Literal["bool", "number", "size", "values"]


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


class Tried(Fact):
    """What one setting did in a run of its own."""

    setting: str  # as one writes it
    gone: tuple[Link, ...] = ()  # places of breaks and recompiles that the first run has
    appeared: tuple[Link, ...] = ()  # and of those that only this run has
    left: tuple[int, int] = (0, 0)  # break sites, and recompiles
    compile_seconds: float = 0.0
    problem: str = ""  # what the run raised


class Proved(Fact):
    """What --prove did: each setting by itself, then the smallest set that leaves least, as lines
    to paste (none where no setting is better than none)."""

    tried: tuple[Tried, ...] = ()
    lines: tuple[str, ...] = ()
    before: tuple[int, int] = (0, 0)  # as `Tried.left`
    after: tuple[int, int] = (0, 0)
    compile_seconds: float = 0.0
    compile_seconds_after: float = 0.0


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


class Answer(Fact):
    """What a place got that asks for values which a fake run does not have: the truth of a tensor, a
    number of it, how many elements a result has, or all values. `assumed`: drawn; else it follows
    from the example inputs and from what is small enough to compute."""

    path: str
    line: int
    function: str
    what: Asked
    answers: tuple[str, ...] = ()
    assumed: bool = False
    count: int = 1
    code: str = ""  # of the place


class Under(Fact):
    """An answer that a finding hangs on."""

    path: str
    line: int
    what: Asked
    answer: str
    code: str = ""


class Explored(Fact):
    """A run of --explore: its answers in place of the usual ones."""

    under: tuple[Under, ...]
    breaks: int = 0  # that no run before it showed
    problem: str = ""  # what the program raised


class Fake(Fact):
    """What was fake, and what was assumed for it."""

    elements: int = 0  # of the model's parameters and buffers
    bytes: int = 0
    assumed_device: str = ""  # the GPU that torch answered for, where there is none
    answers: tuple[Answer, ...] = ()
    explored: tuple[Explored, ...] = ()
    unexplored: tuple[Under, ...] = ()
    cannot_be_faked: tuple[Link, ...] = ()  # `function`: the op
    left_out: tuple[str, ...] = ()
    world_size: int = 1
    # whether torch.export takes the target; "" when it was not tried, else what kept it from that
    export: Literal["", "taken", "refused", "left out"] = ""
    export_left_out: str = ""


class Process(Fact):
    """One process of a traced program that compiled something; `rank` is None outside of a process
    group."""

    pid: int
    rank: int | None
    compiles: int
    breaks: int  # sites
    recompiles: int
    compile_seconds: float


class RankEvent(Fact):
    """What one rank did: compiled, compiled again (`what` is the guard), broke (`what` is the GB
    id), or nothing more."""

    rank: int
    kind: Literal["compile", "recompile", "break", "nothing"]
    function: str = ""
    path: str = ""
    line: int = 0
    what: str = ""


class Divergence(Fact):
    """The first event that differs between ranks, after `position` equal ones."""

    position: int
    events: tuple[RankEvent, ...]
