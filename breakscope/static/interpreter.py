"""The abstract interpreter: runs code on abstract values and emits events for what Dynamo would trace.

Split by what is interpreted: statements, expressions, calls of the checked source, objects and their attributes,
builtins, tensors and libraries. This file holds the state that they share.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from msgspec.structs import replace

from breakscope.events import Event
from breakscope.static import bodies
from breakscope.static.annotated_results import AnnotatedResults
from breakscope.static.annotations import Annotations
from breakscope.static.apart import Apart
from breakscope.static.assignment import Assignment
from breakscope.static.attribute_methods import AttributeMethods
from breakscope.static.attribute_stores import AttributeStores
from breakscope.static.attributes import Attributes
from breakscope.static.binding import Binding
from breakscope.static.builtin_calls import BuiltinCalls
from breakscope.static.builtin_sequences import BuiltinSequences
from breakscope.static.calls import Calls
from breakscope.static.classes import Classes
from breakscope.static.comprehensions import Comprehensions
from breakscope.static.conditions import Conditions
from breakscope.static.construction import Construction, Made
from breakscope.static.control_flow import ControlFlow
from breakscope.static.expressions import Expressions
from breakscope.static.frames import GO_ON, Activation, Frame, Step
from breakscope.static.hooks import Hooks
from breakscope.static.items import Items
from breakscope.static.library import Library
from breakscope.static.library_calls import LibraryCalls
from breakscope.static.library_objects import LibraryObjects
from breakscope.static.loops import Loops
from breakscope.static.module_containers import ModuleContainers
from breakscope.static.modules import Import, ModuleInfo, Namespace, hollow_out
from breakscope.static.numpy_numbers import NumpyNumbers
from breakscope.static.operators import Operators
from breakscope.static.program import Program
from breakscope.static.python_methods import PythonMethods
from breakscope.static.special_calls import SpecialCalls
from breakscope.static.statements import Statements
from breakscope.static.stdlib_calls import StdlibCalls
from breakscope.static.templates import Templates
from breakscope.static.tensor_creation import TensorCreation
from breakscope.static.tensors import Tensors
from breakscope.static.with_blocks import WithBlocks
from breakscope.values import UNKNOWN, Class, Const, External, Instance, Value

MOST_KEPT = 150_000  # values that the memory of calls keeps alive


class Interpreter(
    Expressions,
    Apart,
    Comprehensions,
    Operators,
    Conditions,
    Classes,
    Attributes,
    AttributeMethods,
    AttributeStores,
    Items,
    Annotations,
    AnnotatedResults,
    Statements,
    ControlFlow,
    Loops,
    WithBlocks,
    Assignment,
    LibraryCalls,
    TensorCreation,
    LibraryObjects,
    SpecialCalls,
    ModuleContainers,
    StdlibCalls,
    BuiltinCalls,
    BuiltinSequences,
    PythonMethods,
    NumpyNumbers,
    Calls,
    Hooks,
    Templates,
    Binding,
    Construction,
    Tensors,
):
    """Interprets one file's regions; its memory of calls and objects is dropped with it.

    Neither it nor what it is made of has a `__dict__`: beside one with more than 30 names, CPython looks every method of
    `self` up anew instead of remembering where it found it (3 % of a check's instructions).
    """

    __slots__ = (
        "program", "library", "interesting", "python", "remembered", "for_effect", "wrappers", "wrapper_runs",
        "instances", "hooks", "scopes", "kept", "shells", "running", "reached", "work", "turns", "turn",
        "reads", "pending", "outside", "home", "compiled", "annotated", "namespace", "tuple_classes",
        "inner_homes", "made_inside", "made_count", "overwritten", "outside_subgraph", "driver",
        "operand_truths", "state", "open_aliases", "type_variables", "executing", "cut_short",
        "last_test_is_configuration", "last_test_usually", "eval_table", "exec_table",
    )

    def __init__(self, program: Program, library: Library, interesting, python: tuple[int, int]) -> None:
        self.program = program
        self.library = library
        self.interesting = interesting  # canonical name -> True when some rule asks for calls of it
        self.python = python
        self.remembered: dict[int, dict] = {}  # function -> what memory.py tells
        self.for_effect: ast.AST | None = None  # the expression whose value the running statement throws away
        self.wrappers: dict[int, set[int]] = {}  # a decorator's wrapper -> the closures for which it was followed
        self.wrapper_runs: dict[int, tuple[Activation, str]] = {}  # what a followed wrapper did, the name of what it called
        self.instances: dict[int, dict] = {}  # class -> Instance by arguments
        self.hooks: dict[int, list] = {}  # id of a module value -> [(kind, hook)]
        self.scopes: dict[ModuleInfo, list[Frame]] = {}  # frames that closures keep
        self.kept: list[Value] = []  # values whose id is a key above
        self.shells: list = []  # functions and classes of modules that are gone
        self.running: dict[int, list[tuple]] = {}  # function -> the keys of its calls that are being followed
        self.reached: dict[tuple[int, int], frozenset[str]] = {}  # (class, method) that regions enter with known
        # arguments -> the parameters that were None each time
        self.work = 0
        self.turns = 1  # how often the bodies of loops over names run, see loops.py
        self.turn = 0  # counts the checked files
        self.reads: dict[tuple[int, str], tuple] = {}  # (id of owner, attribute) -> where the region first reads it
        self.pending: list[tuple[Activation, int, tuple[int, str]]] = []  # stores whose `is_read` is not known yet
        self.outside: list = []  # attributes set on objects from outside of regions
        self.home: ModuleInfo | None = None  # the checked file
        self.compiled: list[Value] = []  # what was passed to torch.compile
        self.annotated: dict[int, Value] = {}  # class -> the object that stands for arguments of it
        self.namespace: Class | None = None  # stands for types.SimpleNamespace
        self.tuple_classes: dict[tuple, Class] = {}  # what collections.namedtuple made
        self.inner_homes: dict[int, tuple[Value, str]] = {}  # by id: containers inside of others that outlive the call: where
        self.made_inside: dict[int, Made] = {}  # by id: the objects made inside of regions
        self.made_count = 0
        self.overwritten: set[tuple] = set()  # keys of what the running region surely sets before it reads it
        self.outside_subgraph: set[int] = set()  # ids of containers that a function run as a subgraph has from outside
        self.driver = None  # the running driver: its loops are followed step by step
        self.operand_truths: dict[int, list[bool | None]] = {}  # of the operands of each `and` and `or` as last tested
        self.state: dict[str, str] = {}  # global state that a driver has set: "autocast", "default_dtype", ...
        self.open_aliases: set[int] = set()  # names of types whose meaning is being asked for
        self.type_variables: dict[int, Value] = {}  # what they stand for in the annotation that is being read
        self.executing = 0  # modules whose top level is being run
        self.cut_short = False
        self.last_test_is_configuration = False
        self.last_test_usually: bool | None = None  # the truth of the last test where configuration keeps its defaults
        self.eval_table = self._table("eval_", ast.expr, lambda node, frame: UNKNOWN)
        self.exec_table = self._table("exec_", ast.stmt, lambda node, frame: GO_ON)
        self.exec_table[bodies.FunctionDef] = self.exec_FunctionDef

    def _table(self, prefix: str, base: type, otherwise: Callable) -> dict:
        """Node class -> method; `otherwise` for syntax of a Python that is newer than this analyzer."""
        kinds = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, base)]
        return {kind: getattr(self, prefix + kind.__name__, otherwise) for kind in kinds}

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        """The abstract value of an expression; emits the events of evaluating it. Where most expressions pass, the table
        is asked directly: a call less for each of millions."""
        return self.eval_table[type(node)](node, frame)

    def emit(
        self,
        event_type: type[Event],
        node: ast.AST,
        frame: Frame,
        certainty: str = "certain",
        detail: object = None,
        **fields,
    ) -> None:
        """Record an event once per activation (once for each `detail` of it); nothing outside of regions."""
        if not frame.emits:
            return
        activation = frame.activation
        detail = detail or fields.get("construct") or fields.get("how") or fields.get("name") or fields.get("method")
        key = (id(node), event_type, detail)
        if key in activation.seen:
            return
        activation.seen.add(key)
        if frame.spared:
            certainty = "possible"
        elif frame.certainty != "certain" and certainty != "possible":
            certainty = frame.certainty
        event = event_type(
            node=node,
            source=self.text(node, frame.module),
            function=activation.function,
            certainty=certainty,
            lost=frame.lost,
            condition=frame.condition,
            caught=frame.caught,
            undecided=frame.undecided,
            within=frame.within,
            **fields,
        )
        activation.steps.append(Step(event))

    def text(self, node: ast.AST, module: ModuleInfo) -> str:
        """The node's source on one line."""
        line = getattr(node, "end_lineno", 0)
        if line and node.lineno == line:
            text = (module.lines or module.source_lines())[line - 1]
            if text.isascii():
                return text[node.col_offset : node.end_col_offset]
            return text.encode()[node.col_offset : node.end_col_offset].decode(errors="replace")
        text = getattr(node, "text", None)  # to put an expression of several lines on one takes long
        if text is None:
            try:
                text = node.text = ast.unparse(node)
            except (RecursionError, ValueError):
                text = node.text = ""
        return text

    @property
    def is_full(self) -> bool:
        """True when so much is remembered that a fresh interpreter is better for the next file."""
        return len(self.kept) > MOST_KEPT

    def forget(self) -> None:
        """Let go of everything; objects and closures that know each other are freed by that."""
        for value in (*(i for made in self.instances.values() for i in made.values()), *self.annotated.values()):
            if isinstance(value, Instance):
                value.attributes.clear()
        for scopes in self.scopes.values():
            for scope in scopes:
                scope.names.clear()
        for store in (
            self.remembered,
            self.instances,
            self.annotated,
            self.kept,
            self.scopes,
            self.reads,
            self.hooks,
            self.wrappers,
            self.wrapper_runs,
            self.shells,
            self.inner_homes,
        ):
            store.clear()

    def leave(self, gone: list[ModuleInfo]) -> None:
        """Let go of what was learnt of modules that no other file will ask for.

        Their functions and objects stay as empty shells, because their ids are keys here.
        """
        for module in gone:
            for function in module.functions.values():
                self.shells.append(function)
                self.remembered.pop(id(function), None)
            for cls in module.classes.values():
                self.shells.append(cls)
                for instance in self.instances.pop(id(cls), {}).values():
                    instance.attributes.clear()
                    self.kept.append(instance)
            for scope in self.scopes.get(module, ()):
                scope.names.clear()
            hollow_out(module)

    def begin_file(self, home: ModuleInfo) -> None:
        """Turn to the next file; what is known of functions and classes stays."""
        self.home, self.work = home, 0
        self.turn += 1
        self.compiled, self.outside, self.cut_short = [], [], False

    def begin_region(self, frame: Frame) -> None:
        """Start a region with a fresh budget."""
        self.work = 0
        self.reads.clear()
        self.pending.clear()
        self.outside_subgraph.clear()
        self.overwritten.clear()
        self.running.clear()
        self.last_test_is_configuration = False

    def end_region(self) -> None:
        """Settle which of the stored attributes the region reads too, and which it leaves as it found them."""
        last = {key: activation.steps[index].event for activation, index, key in self.pending}
        for activation, index, key in self.pending:
            step = activation.steps[index]
            if _restores(last[key]):
                activation.steps[index] = Step(replace(step.event, scope="restored"))
            elif key in self.reads and key not in self.overwritten:
                activation.steps[index] = Step(replace(step.event, is_read=True))

    def module_names(self, module: ModuleInfo) -> dict[str, Value]:
        """The module's namespace after its top level has run (without emitting anything)."""
        if module.names is None:
            module.names = {"__name__": UNKNOWN, "__file__": UNKNOWN}
            module.executing = True
            self.executing += 1
            frame = Frame(module, None, None, None, False, 0, "")
            frame.names = module.names
            self.run_module_body(module, frame)
            module.names = frame.names
            module.executing = False
            self.executing -= 1
        return module.names

    def resolve(self, value: Value) -> Value:
        """Follow an import to what it names."""
        imported = value
        if type(value) is Import and value.known is not None and value.when == self.program.state:
            return value.known
        for _ in range(12):
            if type(value) is not Import:
                if type(value) is External and imported is not value:
                    imported.found = value
                elif imported is not value and not self.executing:
                    imported.known, imported.when = value, self.program.state
                return value
            value = value.found or self._import_step(value)
        return UNKNOWN

    def _import_step(self, imported: Import) -> Value:
        if not imported.member:
            found = self.program.find(imported.module, imported.importer)
            return Namespace(found) if found else External(imported.module)
        found = self.program.find(imported.module, imported.importer)
        if found is not None:
            value = self.module_names(found).get(imported.member)
            if value is not None and not (type(value) is Import and _is_own_submodule(value, imported)):
                return value
            inner = self.program.find(f"{imported.module}.{imported.member}", imported.importer)
            if inner is not None:
                return Namespace(inner)
            defining = self.program.starred(found, imported.member, imported.importer)
            return UNKNOWN if defining is None else self.module_names(defining).get(imported.member, UNKNOWN)
        inner = self.program.find(f"{imported.module}.{imported.member}", imported.importer)
        if inner is not None:
            return Namespace(inner)
        return self.external(f"{imported.module}.{imported.member}")

    def external(self, name: str) -> Value:
        """A library member as a value: a known constant, else its canonical name."""
        known = self.library.constant(name)
        return known if known is not None else External(self.canonical(name))

    def canonical(self, name: str) -> str:
        """The name under which tables and rules know a library member."""
        return self.library.canonical(name)


def _is_own_submodule(value: Import, imported: Import) -> bool:
    """True for what `from . import part` in a package says of `package.part`: the module of that name."""
    return value.member == imported.member and value.module == imported.module


def _restores(event: Event) -> bool:
    """True for a store that certainly happens and gives back the constant that was there before the region."""
    new, first = event.value, event.initial
    if event.undecided or event.condition or not isinstance(new, Const) or not isinstance(first, Const):
        return False
    return type(new.value) is type(first.value) and new.value == first.value
