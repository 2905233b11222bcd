"""What a machine keeps while it analyses one file: of the file, of the region, of what calls gave, of the
objects that were made.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from breakscope.rulekit.events import Event
from breakscope.rulekit.values import (
    Class,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Value,
)
from breakscope.static.machine.compiled_names import CompiledNames, compiled_names
from breakscope.static.machine.driver import DrivenCall
from breakscope.static.machine.frames import Activation, Frame, Step
from breakscope.static.machine.gaps import Gaps
from breakscope.static.machine.given import both
from breakscope.static.machine.undone import undone
from breakscope.static.project.modules import ClassInfo, FunctionInfo, ModuleInfo


class CheckedFile(Struct, eq=False):
    """What is known of the file that is being checked."""

    module: ModuleInfo | None = None
    compiled: list[Value] = []  # what was passed to torch.compile
    in_place: list[Value] = []  # modules whose `compile` was called
    # by function: the function as it was called first outside of regions, with what it was given
    calls: dict[int, tuple[Function, list[Value], dict[str, Value]]] = {}
    gaps: Gaps = msgspec.field(default_factory=Gaps)
    # what its own code was seen to call of what it compiles, and to set in between: for each part of
    # it that was followed by itself
    programs: list[tuple[list[DrivenCall], list[tuple]]] = []
    names: CompiledNames | None = None
    dynamic: dict[int, Value] = {}  # by `id` of what is compiled: the `dynamic` of torch.compile
    whole: set[int] = set()  # ids of what is compiled with `fullgraph`
    # ids of functions that its own code calls inside of what is compiled, or as that; and outside
    inside: set[int] = set()
    outside: set[int] = set()

    def compiled_names(self) -> CompiledNames:
        """The names of what the file compiles."""
        if self.names is None:
            self.names = compiled_names(self.module)
        return self.names

    def note_compiled(self, value: Value, options: dict[str, Value]) -> Value:
        """Keep what is handed to torch.compile; returns what that gives."""
        value = value.original
        self.compiled.append(value)
        if "dynamic" in options:
            self.dynamic[id(value)] = options["dynamic"]
        if "fullgraph" in options:
            self.whole.add(id(value))
        has_state = isinstance(value, Function | Instance | ExternalInstance | Sequence)
        return replace(value, compiled_of=value) if has_state else value

    def note_compiled_in_place(self, module: Value, options: dict[str, Value]) -> None:
        """Keep a module whose `compile` is called: of one whose `forward` stands in torch, which Dynamo skips,
        the modules in it."""
        self.note_compiled(module, options)
        self.in_place.append(module)
        if type(module) is Sequence:
            for part in module.items or ():
                self.note_compiled_in_place(part.original, options)

    def note_call(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> None:
        """Keep what the program itself hands to a compiled function."""
        if id(function.info) not in self.calls and self.is_compiled(function):
            self.calls[id(function.info)] = (function, args, kwargs)

    def note_place(self, function: Function, is_inside: bool) -> None:
        """Keep where the file's own code calls a function."""
        (self.inside if is_inside else self.outside).add(id(function.info))

    def is_only_eager(self, function: Function) -> bool:
        """True for a function that the file's own code only calls outside of what it compiles, and calls."""
        key = id(function.info)
        calls_compiled = any(calls for calls, _ in self.programs)
        return calls_compiled and key in self.outside and key not in self.inside

    def is_compiled(self, function: Function) -> bool:
        return "compiled" in function.info.marks or any(
            type(known) is Function and known.info is function.info for known in self.compiled
        )

    def is_called_compiled(self, function: Function) -> bool:
        """True for a compiled function, and for a method that a compiled object is called by."""
        if function.compiled_of is not None or "compiled" in function.info.marks:
            return True
        is_entered = function.info.name in ("forward", "__call__")
        return is_entered and any(known is function.bound for known in self.in_place)


class RegionState(Struct, eq=False):
    """What the running region has done so far."""

    reads: dict[tuple, tuple] = {}  # (id of owner, name) -> where the region first reads it
    # by the same, of attributes that are not set yet: what configuration decides of all such reads
    read_if: dict[tuple, str] = {}
    # stores whose `is_read` is not known yet: where the event stands, and what it stores
    pending: list[tuple[Activation, int, tuple]] = []
    # where the event of a container's growth stands, and the container's id
    grown: list[tuple[Activation, int, int]] = []
    shrunk: set[int] = set()  # ids of containers that lose items
    # (ids of an activation and of a dict, key) that the dict had, and loses there
    taken: set[tuple[int, int, object]] = set()
    longest: dict[int, int] = {}  # by `id` of a container: how long it gets before it loses any
    # keys of attributes that it asks for, and the object has not
    missing: set[tuple] = set()
    stored_first: set[tuple] = set()  # keys of what the region sets before it reads it, if it does
    # keys of what the region surely sets before it reads it -> where it does so first
    overwritten: dict[tuple, Activation] = {}
    # what it surely sets to None before: key -> how deep in its calls
    emptied: dict[tuple, int] = {}
    # ids of containers and objects that a function run as a subgraph has from outside
    outside_subgraph: set[int] = set()
    # what such a function stores of plain values: key of the attribute, its text, before, after
    changed_plainly: list[tuple[tuple, str, Value, Value]] = []
    # by `id`: random numbers that the graph holds, and those that a break made plain numbers
    drawn: dict[int, Value] = {}
    settled: dict[int, Value] = {}
    # how deep in its calls it entered a package without torch, if it is inside of one
    entered_at: int | None = None
    is_hook: bool = False  # that of a function which is put on modules, no module's forward
    is_brief: bool = False  # of a hook that what puts it on takes off again
    # function -> the keys of its calls that are being followed
    running: dict[int, list[tuple]] = {}
    inside: dict[int, int] = {}  # function -> how often it was followed inside of itself
    for_effect: ast.AST | None = None  # the expression whose value the statement throws away
    # `and` or `or` -> the truths of its operands as last tested
    operand_truths: dict[int, list[bool | None]] = {}
    turns: int = 1  # how often the bodies of loops over names run, see interpreter/loops.py
    last_test_is_configuration: bool = False
    # the truth of the last test where configuration keeps its defaults
    last_test_usually: bool | None = None

    def draw(self, type: str) -> Py:
        """A random number that Dynamo keeps in the graph."""
        number = Py(type, "draw")
        self.drawn[id(number)] = number
        return number

    def is_drawn(self, value: Value) -> bool:
        return isinstance(value, Py) and value.source == "draw" and id(value) not in self.settled

    def settle(self) -> None:
        """The graph ends: what was drawn in it comes out as plain numbers."""
        self.settled.update(self.drawn)
        self.drawn.clear()

    def note_read(self, key: tuple, node: ast.AST, frame: Frame) -> None:
        if key not in self.reads:
            self.reads[key] = (frame.activation, node)

    def note_contents_read(self, container: Sequence | Dict, node: ast.AST, frame: Frame) -> None:
        """Note that the region reads what is in a container, where that outlives the call."""
        if container.home and frame.emits:
            self.note_read((id(container), ""), node, frame)

    def note_attribute_read(self, key: tuple, node: ast.AST, frame: Frame) -> None:
        """Note that the region reads an attribute, and under which condition by configuration, while nothing has set
        it: what is read behind that need not be what the call found."""
        self.note_read(key, node, frame)
        before = self.read_if.get(key)
        if before == "" or (before and f"{frame.condition} and ".startswith(f"{before} and ")):
            return
        if key not in self.stored_first and not any(key == stored for _, _, stored in self.pending):
            self.read_if[key] = frame.condition if before is None else ""

    def end(self, root: Activation) -> None:
        """Settle which of the stored attributes the region reads too, which it leaves as it found
        them, and which containers lose what they gain; `root` is the region's own activation."""
        for activation, index, container in self.grown:
            bounded, most = container in self.shrunk, self.longest.get(container)
            if bounded or most is not None:
                event = activation.steps[index].event
                event = replace(event, bounded=event.bounded or bounded, most=most)
                activation.steps[index] = Step(event)
        stores = [(key, activation.steps[index].event) for activation, index, key in self.pending]
        last, initial = dict(stores), {key: event.initial for key, event in reversed(stores)}
        if any(_restores(e, initial[k]) and not _restores(last[k], initial[k]) for k, e in stores):
            # a call that gave what an equal one gave stores again
            keys = {(id(activation), index): key for activation, index, key in self.pending}
            last |= _last_stores(root, keys, {})
        put_back = undone(self.pending)
        for activation, index, key in self.pending:
            step = activation.steps[index]
            if key in put_back or _restores(last[key], initial[key]):
                activation.steps[index] = Step(replace(step.event, scope="restored"))
            elif key in self.reads and key not in self.overwritten:
                # what reads it may begin a graph of its own, behind what another call of it has set
                apart = self.emptied.get(key, 0)
                is_here = self.reads[key][0] is activation
                asked = self.read_if.get(key, "") if is_here else ""
                event = replace(step.event, is_read=True)
                event = replace(event, condition=both(event.condition, asked))
                activation.steps[index] = Step(event, apart=apart)

    def leaves_other_state(self) -> bool:
        """True where what the region reads of its objects is None, or a flag, in the first call, and
        something else afterwards: then the next call goes another way."""
        events = [activation.steps[index].event for activation, index, _ in self.pending]
        return any(
            event.is_read
            and type(event.initial) is Const
            and (event.initial.value is None or type(event.initial.value) is bool)
            and not (type(event.value) is Const and event.value.value == event.initial.value)
            for event in events
        )


def _last_stores(
    activation: Activation, keys: dict[tuple[int, int], tuple], met: dict[int, dict[tuple, Event]]
) -> dict[tuple, Event]:
    """The last store of each key that an activation and what it calls do; `keys` has those of all stores."""
    if id(activation) not in met:
        met[id(activation)] = found = {}
        for index, step in enumerate(activation.steps):
            if step.child is not None:
                found |= _last_stores(step.child, keys, met)
            elif (key := keys.get((id(activation), index))) is not None:
                found[key] = step.event
    return met[id(activation)]


def _restores(event: Event, first: Value) -> bool:
    """True for a store that certainly happens and gives back the constant that was there before the
    region."""
    new = event.value
    if event.undecided or event.condition or type(new) is not Const or type(first) is not Const:
        return False
    return type(new.value) is type(first.value) and new.value == first.value


class Summaries(Struct, eq=False):
    """What is remembered of calls: see interpreter/calls/summaries.py."""

    remembered: dict[int, dict] = {}  # function -> its outcomes
    # a decorator's wrapper -> the closures for which it was followed
    wrappers: dict[int, set[int]] = {}
    # what a followed wrapper did, and the name of what it called
    wrapper_runs: dict[int, tuple[Activation, str]] = {}
    # (class, method) that regions enter with known arguments -> the parameters that were None
    # each time, and what the others were
    reached: dict[tuple[int, int], tuple[frozenset[str], dict[str, Value]]] = {}


class Made(NamedTuple):
    """When an object was made inside of a region: behind how many steps of which activation (its
    id), as which object."""

    activation: int
    steps: int
    count: int


# a class, the statements that define each name in it, and what is known of their values
Body = tuple[ClassInfo, dict[str, ast.stmt], dict[str, Value]]


class ClassFacts(Struct, eq=False):
    """What a machine has found out about a class; filled in by definitions/classes.py."""

    info: ClassInfo
    bases: list[Value] | None = None
    mro: list[ClassInfo] | None = None
    bodies: list[Body] | None = None  # of the classes of the order
    external_bases: tuple[str, ...] | None = None
    is_of_torch: bool | None = None  # a class of the order has a base of torch.nn
    # statements of parents that come behind one of torch.nn, and have none themselves
    behind: set[int] | None = None
    is_module: bool | None = None  # derives from torch.nn.Module, as far as the source shows
    fields: list | None = None  # of a dataclass or NamedTuple
    given_later: dict[str, tuple] | None = None  # see variables/objects/prepared.py
    values: dict[str, Value] = {}  # of the names that the body defines


class Objects(Struct, eq=False):
    """What exists while a file is analysed, by identity."""

    functions: dict[int, FunctionInfo] = {}  # by `def` or lambda
    classes: dict[int, ClassInfo] = {}  # by `class` statement
    facts: dict[int, ClassFacts] = {}  # by `class` statement
    # Import -> itself, as a function's own is forgotten with its frame, and what it names
    imports: dict[int, tuple[Value, Value]] = {}

    instances: dict[int, dict] = {}  # class -> Instance by arguments
    annotated: dict[int, Value] = {}  # class -> the object that stands for arguments of it
    filled: dict[int, Value] = {}  # module class -> that for arguments of regions, with its parts
    # (object that stands for arguments, attribute) -> what methods of its class assign
    assigned: dict[tuple[int, str], Value] = {}
    # for classes of libraries whose objects' attributes are followed
    stand_ins: dict[str, Class] = {}
    tuple_classes: dict[tuple, Class] = {}  # what collections.namedtuple made
    called_classes: set[int] = set()  # those of them that a region made
    hooks: dict[int, list] = {}  # id of a module value -> [(kind, hook)]
    # containers inside of others that outlive the call: where
    inner_homes: dict[int, tuple[Value, str]] = {}
    # (object, attribute) -> the side of a branch that stored it first
    stored_in: dict[tuple[int, str], tuple] = {}
    made_inside: dict[int, Made] = {}  # the objects made inside of regions
    default_dicts: dict[int, Value] = {}  # by id
    made_by_reading: dict[int, Made] = {}  # what they make, where a region reads a key
    made_count: int = 0
    # object made inside of regions -> attributes that it has in eager mode only
    left_out: dict[int, set[str]] = {}
    attribute_dicts: dict[int, Value] = {}  # entries of what `vars` gives -> whose they are
    # (module, attribute that is computed of a parameter) -> the module
    parametrized: dict[tuple[int, str], Value] = {}
    kept: list = []  # values whose id is a key above
    scopes: list[Frame] = []  # that closures keep
    # (function, its closure, name) -> the attribute that a function was given
    of_functions: dict[tuple[int, int, str], Value] = {}
    annotation_parts: int = 0  # read of the annotation that is being read
    open_aliases: set[int] = set()  # names of types whose meaning is being looked up
    # type variables in the annotation that is being read -> what they stand for
    type_variables: dict[int, Value] = {}
    executing: int = 0  # modules whose top level is being run
    # an object is being made as any configuration would make it, not as the source shows
    configuring: bool = False

    def is_annotated(self, value: Instance) -> bool:
        """True for an object of which no more is known than its class in an annotation."""
        cls = id(value.cls.info)
        return self.annotated.get(cls) is value or self.filled.get(cls) is value
