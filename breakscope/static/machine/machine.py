"""The machine: evaluates expressions, runs statements and calls, and leaves what is done with a value to the value's
behaviour.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from breakscope.rulekit.events import Event, weaker
from breakscope.rulekit.values import UNKNOWN, Instance, Value
from breakscope.static.machine.budget import Budget
from breakscope.static.machine.compiled_values import of_compiled
from breakscope.static.machine.driver import Driver
from breakscope.static.machine.frames import GO_ON, Frame, Step
from breakscope.static.machine.gaps import PASSING, why
from breakscope.static.machine.journal import Journal
from breakscope.static.machine.library import CHANGING_METHODS, Library
from breakscope.static.machine.state import CheckedFile, Objects, RegionState, Summaries
from breakscope.static.machine.watch import OPERATIONS, Watch, may_be_in_graph
from breakscope.static.project.modules import ClassInfo, FunctionInfo, ModuleInfo
from breakscope.static.project.source import text_of

if TYPE_CHECKING:
    from breakscope.static.machine.world import World
    from breakscope.static.variables.base import Variable


class Tables(Struct, frozen=True):
    """How the syntax is run and how values behave: see interpreter/tables.py.

    `expressions` and `statements` map classes of `ast` nodes to functions (machine, node, frame).
    `behaviour` gives how a value behaves; it is the one place that looks at its kind. `inline`
    follows a call of a function of the checked source.
    """

    expressions: Mapping[type, Callable]
    statements: Mapping[type, Callable]
    behaviour: Callable[[Value], Variable]
    inline: Callable


class Machine:
    """Runs code on abstract values and emits events for what Dynamo would trace.

    It is what values are given: they evaluate, call, read and emit through it, and see nothing
    else of the interpreter.
    """

    __slots__ = (
        "behaviour",
        "budget",
        "driver",
        "expressions",
        "file",
        "inlining",
        "journal",
        "library",
        "objects",
        "python",
        "region",
        "statements",
        "summaries",
        "wanted",
        "watch",
        "world",
    )

    def __init__(
        self,
        world: World,
        library: Library,
        wanted: Callable[[str], bool],
        python: tuple[int, int],
        tables: Tables,
        home: ModuleInfo | None = None,
    ) -> None:
        """`home` is the checked file, of which this machine runs everything; of other modules it
        takes the namespace from the `world`. `wanted` is True for the names of calls, and kinds of
        events, that some rule listens to; `python` is the version under which the checked code
        runs."""
        self.world = world
        self.library = library
        self.wanted = wanted
        self.python = python
        self.file = CheckedFile(home)
        self.budget = Budget()
        self.journal = Journal()
        self.region = RegionState()
        self.summaries = Summaries()
        self.objects = Objects()
        self.driver = Driver()
        self.watch: Watch | None = None  # sees all that is run: see machine/watch.py
        self.expressions = tables.expressions
        self.statements = tables.statements
        self.inlining = tables.inline
        self.behaviour = tables.behaviour

    # -- running code

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        """The abstract value of an expression; emits the events of evaluating it. Syntax of a newer
        Python than this analyzer knows has an unknown value."""
        if (run := self.expressions.get(type(node))) is None:
            return UNKNOWN
        try:
            value = run(self, node, frame)
            if type(node) in OPERATIONS and frame.emits and may_be_in_graph(value):
                frame.activation.note_work(node, value.is_tensor)
            if self.watch is not None:
                self.watch.evaluated(node, value, frame)
            return value
        except PASSING:
            raise
        except Exception as problem:
            self.give_up(why(problem), node, frame)
            return UNKNOWN

    def exec(self, node: ast.stmt, frame: Frame) -> int:
        """Run a statement; GO_ON, RETURN, RAISE or LEAVE_LOOP."""
        if (run := self.statements.get(type(node))) is None:
            return GO_ON
        state = frame.state()
        watch = self.watch
        try:
            if watch is None:
                return run(self, node, frame)
            return watch.executed(node, frame, partial(run, self, node, frame))
        except PASSING:
            raise
        except Exception as problem:
            frame.restore(state)
            self.give_up(why(problem), node, frame)
            return GO_ON

    def give_up(self, why: str, node: ast.AST, frame: Frame, function: str = "") -> None:
        """Note that code is not looked at; `function` is its function, else the frame's."""
        line = getattr(node, "lineno", 0)
        self.file.gaps.add(why, frame.module.path, line, function or frame.prefix)

    def inline(
        self,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """Follow a call of a function of the checked source."""
        if self.watch is None:
            return self.inlining(self, function, args, kwargs, node, frame)
        run = partial(self.inlining, self, function, args, kwargs, node, frame)
        return self.watch.inlined(function, node, run)

    # -- operations on values

    def call(
        self,
        callee: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`callee(*args, **kwargs)`."""
        return self.behaviour(callee).call(self, callee, args, kwargs, node, frame)

    def call_method(
        self,
        owner: Value,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """`owner.name(*args, **kwargs)` of a method that is not in the checked source."""
        owner = owner.original
        if name in CHANGING_METHODS or type(owner) is Instance:
            self.touch(owner)
        if (
            name == "__getitem__"
            and not frame.emits
            and len(args) == 1
            and type(owner) is not Instance
        ):
            return self.getitem(owner, args[0], node, frame)
        return self.behaviour(owner).call_method(self, owner, name, args, kwargs, node, frame)

    def call_implicitly(
        self, function: Value, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value:
        """Call what an operator, a test or an attribute calls: Dynamo does not resume behind a
        break in it."""
        skips, frame.skips = frame.skips, frame.skips or "implicit"
        try:
            return self.call(function, args, {}, node, frame)
        finally:
            frame.skips = skips

    def getattr(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """`owner.name`; runs properties."""
        if owner.compiled_of is not None:
            return of_compiled(self.getattr(owner.original, name, node, frame), owner, name)
        return self.behaviour(owner).getattr(self, owner, name, node, frame)

    def setattr(
        self,
        owner: Value,
        name: str,
        value: Value,
        target: ast.Attribute,
        node: ast.AST,
        frame: Frame,
        old: Value | None = None,
    ) -> None:
        """`owner.name = value`; `old` is the previous value in an augmented assignment."""
        owner = owner.original
        self.touch(owner)
        self.behaviour(owner).setattr(self, owner, name, value, old, target, node, frame)

    def getitem(
        self, container: Value, index: Value, node: ast.AST, frame: Frame, store: str = ""
    ) -> Value:
        """`container[index]`; `store` is the operator when the item is about to be changed in
        place."""
        return self.behaviour(container).getitem(self, container, index, store, node, frame)

    def setitem(
        self,
        container: Value,
        index: Value,
        value: Value,
        target: ast.Subscript,
        node: ast.AST,
        frame: Frame,
        augmented: bool = False,
    ) -> None:
        """`container[index] = value`."""
        self.touch(container)
        self.behaviour(container).setitem(
            self, container, index, value, augmented, target, node, frame
        )

    def iterate(self, value: Value, node: ast.AST, frame: Frame) -> Value | None:
        """What iterating yields each time; None when there is certainly nothing to iterate."""
        return self.behaviour(value).iterate(self, value, node, frame)

    def unpacked(
        self, value: Value, count: int, starred: bool, node: ast.AST, frame: Frame
    ) -> list[Value] | None:
        """The known parts of a value that is unpacked into `count` targets."""
        return self.behaviour(value).unpacked(self, value, count, starred, node, frame)

    def truth(
        self, value: Value, construct: str, node: ast.expr, frame: Frame, **facts: Any
    ) -> bool | None:
        """The truth of a value that Python tests, None when not known."""
        return self.behaviour(value).truth(self, value, construct, facts, node, frame)

    def contains(
        self,
        container: Value,
        item: Value,
        container_node: ast.expr,
        node: ast.Compare,
        frame: Frame,
    ) -> bool | None:
        """`item in container`, None when not known."""
        return self.behaviour(container).contains(
            self, container, item, container_node, node, frame
        )

    def is_opaque(self, value: Value, within: tuple[Value, ...] = ()) -> bool:
        """True for an object, and a container with an object or a tensor in it, itself `within` others: while
        Dynamo traces, none of them is a constant."""
        is_new = not any(value is outer for outer in within)
        return is_new and self.behaviour(value).is_opaque(self, value, (*within, value))

    def enter(self, manager: Value, node: ast.expr, frame: Frame) -> Value:
        """What `as` binds when a context manager is entered."""
        return self.behaviour(manager).enter(self, manager, node, frame)

    def leave(self, manager: Value, node: ast.With, frame: Frame) -> None:
        """Leave a context manager."""
        self.behaviour(manager).leave(self, manager, node, frame)

    def skips_frame(self, manager: Value) -> bool:
        """True when a break inside a `with` on this cannot be resumed: Dynamo rebuilds only the
        context managers it knows."""
        return self.behaviour(manager).skips_frame(self, manager)

    # -- events

    def emit(
        self,
        event_type: type[Event],
        node: ast.AST,
        frame: Frame,
        certainty: str = "certain",
        detail: object = None,
        **fields: Any,
    ) -> None:
        """Record an event once per activation (once for each `detail` of it); nothing outside of
        regions."""
        if not frame.emits:
            return
        activation = frame.activation
        detail = (
            detail
            or fields.get("construct")
            or fields.get("how")
            or fields.get("name")
            or fields.get("method")
        )
        key = (id(node), event_type, detail)
        if key in activation.seen:
            return
        activation.seen.add(key)
        at_most = "possible" if frame.spared or frame.rare else frame.certainty
        event = event_type(
            node=node,
            source=self.text(node, frame.module),
            function=activation.function,
            certainty=weaker(certainty, at_most),
            at_most=at_most,
            skips=frame.skips,
            condition=frame.condition,
            caught=frame.caught,
            undecided=frame.undecided,
            within=frame.within,
            **fields,
        )
        activation.steps.append(Step(event))

    def text(self, node: ast.AST, module: ModuleInfo) -> str:
        """The node's source on one line, of a long one the beginning."""
        return text_of(node, module.lines or module.source_lines())

    # -- modules

    def find(self, name: str, importer: ModuleInfo) -> ModuleInfo | None:
        """The module `name` (absolute dotted name) as `importer` would import it; None when it is
        not in the source."""
        return self._module(self.world.program.path_of(name, importer))

    def starred(self, package: ModuleInfo, name: str) -> ModuleInfo | None:
        """The module that defines a name which a package shows only to type checkers, by
        `from ... import *`."""
        if not package.has_stars:
            return None
        return self._module(self.world.program.starred(package, name))

    def _module(self, path: str | None) -> ModuleInfo | None:
        if path is None:
            return None
        home = self.file.module
        return home if home is not None and path == home.path else self.world.module(path)

    def function_info(
        self, module: ModuleInfo, node: ast.AST, prefix: str, owner: ClassInfo | None = None
    ) -> FunctionInfo:
        """The one FunctionInfo of a `def` or lambda."""
        info = self.objects.functions.get(id(node))
        if info is None:
            name = getattr(node, "name", "<lambda>")
            info = FunctionInfo(name, f"{prefix}.{name}" if prefix else name, node, module, owner)
            self.objects.functions[id(node)] = info
        return info

    # -- values that other files share

    def touch(self, value: object) -> None:
        """Note that a value is about to be changed: what others share is taken back when this
        machine is done."""
        if id(value) in self.world.shared:
            self.journal.note(value)

    def touch_name(self, names: dict[str, Value], name: str, module: ModuleInfo) -> None:
        """The same of a name of a module."""
        if module is not self.file.module:
            self.journal.note_name(names, name)

    def take_back(self) -> None:
        """Let go of everything, and take back what was changed of shared values. Objects and
        closures that hold each other are freed by that."""
        self.journal.take_back()
        shared, objects = self.world.shared, self.objects
        made = (i for found in objects.instances.values() for i in found.values())
        for value in (*made, *objects.annotated.values(), *objects.filled.values()):
            if isinstance(value, Instance) and id(value) not in shared:
                value.attributes.clear()
        for scope in objects.scopes:
            if id(scope) not in shared:
                scope.names.clear()
        self.region, self.summaries, self.objects = RegionState(), Summaries(), Objects()
