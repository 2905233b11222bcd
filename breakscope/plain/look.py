"""The look at one file: all its parts together, and in which order they run."""

from __future__ import annotations

import _ast
from _collections_abc import Iterable

from breakscope.plain.builtin_calls import BuiltinCalls
from breakscope.plain.calls import Calls
from breakscope.plain.conditions import Conditions
from breakscope.plain.construction import Construction
from breakscope.plain.expressions import Expressions
from breakscope.plain.functions import Functions
from breakscope.plain.items import Items
from breakscope.plain.kinds import GIVEN, TENSOR, UNKNOWN, Clock, Many, NotPlain
from breakscope.plain.library_calls import LibraryCalls
from breakscope.plain.members import Members
from breakscope.plain.objects import Objects
from breakscope.plain.parameters import Parameters
from breakscope.plain.reach import named
from breakscope.plain.source import Source
from breakscope.plain.statements import Statements

MOST_ROUNDS = 8  # until constructors pass each other nothing new


class Look(
    Statements,
    Expressions,
    Items,
    Conditions,
    Calls,
    Functions,
    LibraryCalls,
    BuiltinCalls,
    Objects,
    Members,
    Parameters,
    Construction,
):
    """The look at one file. `strict` while a region is looked at: then what is not understood raises NotPlain."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.files = source.files
        self.strict = False
        self.steps = self.depth = self.raised = 0
        self.context: object = None  # the call that a constructor makes of a function of the file
        self.clock = Clock()
        self.selves: dict = {}
        self.known: dict = {}  # class -> attributes
        self.passed: dict = {}  # class -> what constructors get from other constructors
        self.built: dict = {}  # class -> what its constructor depended on when it ran last, see `concerning`
        self.shared = False  # constructors know each other's lists and attributes
        self.declarations: dict = {}
        self.given: dict = {}  # function -> the kinds of its defaults
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

    def fail(self) -> str:
        if self.strict:
            raise NotPlain
        return UNKNOWN

    def many(self, node, role: str) -> Many:
        """The container that this place makes; what constructors make outlives the call."""
        made = self.sites.get((node, self.strict, self.context))
        if made is None:
            made = self.sites[node, self.strict, self.context] = Many(role, not self.strict, self.clock)
        return made

    def run(self, heirs: Iterable[str] = ()) -> None:
        """Raises NotPlain unless every region of the file is plain, and every one that a class of `heirs` inherits."""
        objects = self.objects = [cls for cls in self.source.classes.values() if cls.is_object]
        regions = [cls for cls in objects if cls.is_module]
        for path in heirs:
            regions += self.heirs_in(path)
        self.objects += [cls for cls in regions if cls not in objects]
        for _ in range(MOST_ROUNDS):
            before = self.clock.now
            for cls in objects[::-1]:  # the last make the earlier ones
                if self.built.get(cls) != self.concerning(cls):
                    self.construct(cls)
            if self.clock.now == before:
                break
        else:
            raise NotPlain
        self.strict = True
        for cls in regions:
            self.run_region(cls)

    def heirs_in(self, path: str) -> list:
        """The classes of another file that inherit the forward of one of this file."""
        other = self.files.source(path)
        for node in other.tree.body:
            if type(node) is _ast.ClassDef and node.name in other.refused:
                if any(name in self.source.classes for base in node.bases for name in named(base)):
                    raise NotPlain
        methods = ((cls, cls.method("forward")) for cls in other.classes.values() if cls.is_object and cls.is_module)
        return [cls for cls, method in methods if method is not None and method[0].source is self.source]

    def run_region(self, cls) -> None:
        method = self.own_method(cls, "forward")
        if method is None or _only_raises(method[1]):
            return
        self.source = method[0].source
        kinds = self.parameters(method[1], 1, False)
        names = {name: GIVEN if kind == TENSOR else kind for name, kind in kinds.items()}
        for rest, role in ((method[1].args.vararg, "list"), (method[1].args.kwarg, "dict")):
            if rest:
                names[rest.arg] = self.many(rest, role).widen(TENSOR)
        self.run_function(method[1], method[0], self.self_of(cls), names)


def _only_raises(node: _ast.FunctionDef) -> bool:
    """An abstract forward, as the analyzer has it."""
    body = [s for s in node.body if not (type(s) is _ast.Expr and type(s.value) is _ast.Constant)]
    return bool(body) and all(type(s) is _ast.Raise or type(s) is _ast.Pass for s in body)
