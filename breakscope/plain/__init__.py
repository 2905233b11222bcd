"""A second look at a few files, for plain model code: `is_plain(tree)` is True when the analyzer certainly finds nothing.

A small abstract interpreter of its own. Every statement and expression that a `forward` reaches must be one of the plain
ones below; every function, method and layer must be one of names.py, which is generated from what rules ask for and what
torch's tables know; whatever may be a tensor may not be asked for its truth or its value. What is not understood is not
plain, and then the analyzer looks. Imports next to nothing.
"""

from __future__ import annotations

import _ast

from breakscope.plain.calls import Calls
from breakscope.plain.expressions import Expressions
from breakscope.plain.kinds import UNKNOWN, Many, NotPlain, join
from breakscope.plain.objects import Objects
from breakscope.plain.source import Source
from breakscope.plain.statements import Statements

# A file with one of these is left to the analyzer: hooks, code that changes objects by name, tensors that are not plain.
WORDS = (b"hook", b"setattr", b"__dict__", b"globals(", b"vars(", b"exec(", b"sparse", b"Generator", b"suppress_errors",
         b"assume_constant_result")
COMPILE, HARMLESS = b"compile", (b"re.compile(", b"compiled", b"compiler")
MOST_STEPS = 60_000  # statements and expressions
MOST_ROUNDS = 8  # until constructors pass each other nothing new


class Look(Statements, Expressions, Calls, Objects):
    """The look at one file. `strict` while a region is looked at: then what is not understood raises NotPlain."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.strict = False
        self.steps = self.depth = self.version = 0
        self.selves: dict = {}
        self.known: dict = {}  # class -> attributes
        self.passed: dict = {}  # class -> what constructors get from other constructors
        self.sites: dict = {}
        self.results: dict = {}
        self.anywhere: dict = {}  # attributes that constructors set on what is not known
        self.ran: set = set()  # functions that were followed
        self.statements = self._table("run_")
        self.expressions = self._table("eval_")

    def _table(self, prefix: str) -> dict:
        return {
            getattr(_ast, name.removeprefix(prefix)): getattr(self, name)
            for name in dir(self)
            if name.startswith(prefix) and hasattr(_ast, name.removeprefix(prefix))
        }

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise NotPlain

    def fail(self) -> str:
        if self.strict:
            raise NotPlain
        return UNKNOWN

    def many(self, node, role: str) -> Many:
        """The container that this place makes; what constructors make outlives the call."""
        made = self.sites.get((node, self.strict))
        if made is None:
            made = self.sites[node, self.strict] = Many(role)
            made.is_kept = not self.strict
        return made

    def widened(self, many: Many, kind: object) -> Many:
        """The container, which may hold such elements too."""
        made = join(many.element, kind)
        if made != many.element:
            many.element = made
            self.version += 1
        return many

    def run(self) -> None:
        """Raises NotPlain unless every region of the file is plain."""
        modules = [cls for cls in self.source.classes.values() if cls.is_module]
        for _ in range(MOST_ROUNDS):
            before = self.version
            for cls in modules:
                self.construct(cls)
            if self.version == before:
                break
        else:
            raise NotPlain
        self.strict = True
        for cls in modules:
            method = cls.method("forward")
            if method is not None:
                names = self.parameters(method[1], 1, False)
                spec = method[1].args
                if spec.vararg or spec.kwarg:
                    raise NotPlain
                self.call_function(method[1], method[0], self.self_of(cls), [], {})


def may_be_plain(data: bytes) -> bool:
    """False when a word of the file says that the look would be in vain."""
    return not any(word in data for word in WORDS) and data.count(COMPILE) == sum(map(data.count, HARMLESS))


def is_plain(data: bytes, tree: _ast.Module) -> bool:
    """True when the analyzer finds nothing in the file, for certain."""
    if not may_be_plain(data):
        return False
    try:
        Look(Source(tree)).run()
    except (NotPlain, RecursionError):
        return False
    return True
