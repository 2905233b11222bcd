"""Verdicts: one problem at one place, how a region comes there, and which of several stays."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from breakscope import limits
from breakscope.report.model import CONFIDENCES
from breakscope.rulekit.events import Event, Varies
from breakscope.rulekit.problem import Problem
from breakscope.rulekit.rule import Rule
from breakscope.static.interpreter.rarely import is_rare
from breakscope.static.machine.frames import Activation, Step
from breakscope.static.machine.given import both
from breakscope.static.project.modules import ModuleInfo

# a flag that does not hold, among what a condition asks for
UNSET = re.compile(r"(?:^| and )not ([\w.]+)(?= and |$)")
# activations and the nodes by which each enters the next
Chain = tuple[tuple[Activation, object], ...]


class Way(Struct, frozen=True):
    """How a region comes to an activation.

    `condition` is the configuration test that decides whether it is entered. What only runs while
    the program is debugged, or the like, is `doubtful`, and inside an installed library, where
    nobody can look up what it says, all that a test with an open outcome decides. An `eager` one is called by code that a break has left to Python, and Dynamo
    does not look at it. One that it only looks at as part of its caller is eager from its first
    break on. `skipped_caller`: the outermost caller that calls this where it cannot be resumed, so
    that a break in here skips its frame, and why. `apart`: Python calls it, and Dynamo begins anew
    with it. `idle`: it is called behind a break, from where nothing is computed any more. `is_repeated`: the
    program calls the region several times; `varies`: and gives it other values each time, but for the
    parameters that are `fixed`.
    """

    chain: Chain = ()
    condition: str = ""
    doubtful: bool = False
    eager: bool = False
    skipped_caller: tuple[str, str] = ("", "")
    apart: bool = False
    idle: bool = False
    is_repeated: bool = False
    varies: bool = False
    fixed: frozenset[str] = frozenset()


class Verdict(Struct, frozen=True):
    """One problem at one place, with the calls that lead there, outermost first."""

    rule: Rule
    problem: Problem
    event: Event
    module: ModuleInfo
    chain: Chain
    hidden: bool  # an earlier break in the same frame leaves this code to eager Python
    condition: str = ""  # the configuration test that decides whether this code runs
    # in an installed library: the calls from the checked code's on
    inside: Chain = ()
    doubtful: bool = False  # a test inside the library decides whether this code runs
    # why the frame of which caller is skipped too, the outermost one's
    skipped_caller: tuple[str, str] = ("", "")

    @property
    def confidence(self) -> str:
        is_seldom = self.doubtful or _is_one_of_many(self.condition)
        return "possible" if self.hidden or is_seldom else self.problem.certainty

    @property
    def place(self) -> tuple:
        """What one finding stands for: file, range and kind; what recompiles has several causes at one place."""
        node = self.problem.node
        kind = self.rule.code if self.rule.kind == "recompile" else self.rule.kind
        if self.inside:
            activation, within = self.inside[-1]
            return (
                self.module.path,
                *_range(node),
                kind,
                activation.module.path,
                *_range(within),
            )
        return (self.module.path, *_range(node), kind)


def verdict_of(
    rule: Rule, problem: Problem, event: Event, way: Way, chain: Chain, hidden: bool = False
) -> Verdict:
    module, caller = chain[-1][0].module, way.skipped_caller
    own = both(event.condition, problem.condition)
    condition, doubtful = own or way.condition, way.doubtful or _is_rare(own)
    if module.library:
        condition = way.condition or training_test(event)
        doubtful = doubtful or is_open(event)
    return Verdict(rule, problem, event, module, chain, hidden, condition, (), doubtful, caller)


def keep(verdict: Verdict, found: dict[tuple, Verdict]) -> None:
    """Keep the verdict unless a surer one is known for its place."""
    if verdict.module.library:
        verdict = at_entrance(verdict)
        if verdict is None:
            return
    old = found.get(verdict.place)
    if old is None or _order(old) > _order(verdict):
        found[verdict.place] = verdict


def at_entrance(verdict: Verdict) -> Verdict | None:
    """A verdict on an installed library's code, moved to the call in the checked code that leads
    there; None when there is no such call."""
    own = [
        i
        for i, (activation, call) in enumerate(verdict.chain)
        if call is not None and not activation.module.library
    ]
    if not own or not getattr((call := verdict.chain[own[-1]][1]), "lineno", 0):
        return None
    at = own[-1]
    inside = (*verdict.chain[at:-1], (verdict.chain[-1][0], verdict.problem.node))
    problem = replace(verdict.problem, node=call, fixable=False)
    return replace(
        verdict,
        problem=problem,
        module=verdict.chain[at][0].module,
        chain=verdict.chain[: at + 1],
        inside=inside,
    )


def _range(node: ast.AST) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _order(verdict: Verdict) -> tuple:
    certainty = CONFIDENCES.index(verdict.problem.certainty)
    return (verdict.hidden, verdict.doubtful, certainty, bool(verdict.condition), verdict.rule.code)


def is_open(part: Step | Event) -> bool:
    """True for a test whose outcome nobody outside of a library knows; that a model is trained is
    no secret."""
    return not training_test(part) and bool(part.undecided or part.condition)


def training_test(part: Step | Event) -> str:
    """The test `self.training` that decides whether a part of a library runs; "" for any other."""
    return (
        part.condition
        if part.condition.endswith(".training") and not part.condition.startswith("not ")
        else ""
    )


def _is_one_of_many(condition: str) -> bool:
    """True for code that runs where several flags do not hold: it stands behind the ways of as many other kinds."""
    flags = UNSET.findall(condition)
    return len([f for f in flags if not f.endswith(".training")]) > limits.MOST_UNSET_FLAGS


@lru_cache(maxsize=256)
def _is_rare(condition: str) -> bool:
    """True for a condition that only holds where the program is exported, or the like: of a value, too."""
    try:
        return bool(condition) and is_rare(ast.parse(condition, mode="eval").body, True)
    except SyntaxError:
        return False


def is_break(verdict: Verdict) -> bool:
    return verdict.rule.kind == "break"


def is_difference(verdict: Verdict) -> bool:
    return type(verdict.event) is Varies
