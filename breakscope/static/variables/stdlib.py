"""Calls of the standard library: functools, itertools, operator, collections, dataclasses."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.fields import fields_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.library import MADE_CLASS
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo, ModuleInfo
from breakscope.static.variables.dicts import put_key
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.effects.unmade_iterators import CALL, unmade
from breakscope.static.variables.library.builtin_iteration import (
    ordered_sequence,
)
from breakscope.static.variables.library.followed.followed_itertools import followed_items
from breakscope.static.variables.modules.containers import contents_of
from breakscope.static.variables.operators.binary import binary_operation

PARTIAL = "functools.partial"
GETTERS = frozenset({"operator.itemgetter", "operator.attrgetter", "operator.methodcaller"})
OPERATORS = {
    "add": ast.Add, "concat": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "matmul": ast.MatMult, "truediv": ast.Div,
    "floordiv": ast.FloorDiv, "mod": ast.Mod, "pow": ast.Pow, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor,
    "lshift": ast.LShift, "rshift": ast.RShift,
}  # fmt: skip
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
# that yield what they are given
SOME_OF = frozenset({"islice", "takewhile", "dropwhile", "filterfalse", "cycle", "compress"})
# for which Dynamo runs a generator
GENERATORS = frozenset("chain from_iterable islice takewhile starmap zip_longest pairwise".split())
PREDICATES = frozenset({"takewhile", "dropwhile", "filterfalse"})
FROM_KEYS = frozenset({"dict.fromkeys", "collections.OrderedDict.fromkeys"})


def call_partial(machine: Machine, args, kwargs, node, frame) -> Value:
    if args and isinstance(args[0], Function):
        target, given = args[0], (*args[0].kwargs, *kwargs.items())
        bound = (*target.args, *args[1:])
        made = Function(target.info, target.bound, target.scope, bound, given)
        return made if target.compiled_of is None else replace(made, compiled_of=made)
    if args and isinstance(args[0], Union):
        return join_all(
            [
                call_partial(machine, [option, *args[1:]], kwargs, node, frame)
                for option in args[0].options
            ]
        )
    if args and isinstance(args[0], Class) and "**" not in kwargs:
        return ExternalInstance(PARTIAL, tuple(args), tuple(kwargs.items()))
    is_called = args and (
        type(args[0]) is Instance or (type(args[0]) is External and not is_class_name(args[0].name))
    )
    if is_called and machine.driver.sets and not frame.emits:
        return ExternalInstance(PARTIAL, tuple(args), tuple(kwargs.items()))
    if args and isinstance(args[0], External | Class | ExternalInstance):
        return args[0] if not kwargs.get("**") else UNKNOWN
    return UNKNOWN


def call_method_type(machine: Machine, args, kwargs, node, frame) -> Value:
    """`types.MethodType(function, owner)`."""
    if len(args) != 2 or not isinstance(args[0], Function) or args[0].bound is not None:
        return UNKNOWN
    target, owner = args
    return Function(target.info, owner, target.scope, target.args, target.kwargs)


def call_is_function(machine: Machine, args, kwargs, node, frame) -> Value:
    """`inspect.isfunction(value)`."""
    value = args[0] if len(args) == 1 else UNKNOWN
    if isinstance(value, Function):
        return Const(value.bound is None)
    is_other = isinstance(value, Class | Const | Dict | Instance | Sequence | Tensor)
    return Const(False) if is_other else Py("bool", "config")


def call_cast(machine: Machine, args, kwargs, node, frame) -> Value:
    """`cast(type, value)`: the value, or one of the type where nothing else is known."""
    value = args[1] if len(args) > 1 else UNKNOWN
    if not value.is_unknown or not isinstance(node, ast.Call) or not node.args:
        return value
    return value_of_annotation(machine, node.args[0], frame)


def is_class_name(name: str) -> bool:
    """True for a name that is written as those of classes are."""
    return name.rpartition(".")[2][:1].isupper()


def call_partialmethod(machine: Machine, args, kwargs, node, frame) -> Value:
    """What stands in a class body; it is bound where it is read."""
    return ExternalInstance("functools.partialmethod", tuple(args), tuple(kwargs.items()))


def call_replace(machine: Machine, args, kwargs, node, frame) -> Value:
    if args and isinstance(args[0], Instance):
        made = Instance(args[0].cls, {**args[0].attributes, **kwargs})
        machine.objects.kept.append(made)
        return made
    return UNKNOWN


def call_deque(machine: Machine, args, kwargs, node, frame) -> Value:
    made = ordered_sequence(machine, "deque", args[:1], node, frame)
    longest = args[1] if len(args) > 1 else kwargs.get("maxlen")
    if not frame.emits and isinstance(longest, Const):
        machine.driver.longest[id(made)] = made, longest.value
        machine.driver.shorten(made)
    return made


def call_stdlib(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    """The result; None for a function that is not one of these."""
    head, _, last = name.rpartition(".")
    if name in GETTERS:
        return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
    if head == "operator" or head == "_operator":
        return call_operator(machine, last, args, node, frame)
    if head == "itertools" or head == "itertools.chain":
        note_kept(machine, args, node, frame, "itertools")
        made = call_itertools(machine, last, args, kwargs, node, frame)
        if type(made) is Sequence and made.type == "iterator" and last != "count":
            made.is_once = not frame.emits  # Dynamo does not go over one that it has not seen made
        return unmade(made, CALL, frame) if last in GENERATORS else made
    if name in ("collections.namedtuple", "typing.NamedTuple"):
        return call_namedtuple(machine, args, node, frame)
    if name in FROM_KEYS and args:
        return from_keys(machine, args, node, frame)
    if name == "collections.ChainMap":
        return chain_map(args)
    if (
        name in ("dataclasses.asdict", "dataclasses.astuple")
        and args
        and isinstance(args[0], Instance)
    ):
        known = {
            field: args[0].attributes.get(field, UNKNOWN)
            for field, *_ in fields_of(machine, args[0].cls.info)
        }
        return Dict(known) if last == "asdict" else Sequence("tuple", [*known.values()])
    return None


def call_operator(
    machine: Machine, name: str, args: list[Value], node: ast.AST, frame: Frame
) -> Value | None:
    if name == "getitem" and len(args) == 2:
        return machine.getitem(*args, node, frame)
    name = name[1:] if name.startswith("i") and name[1:] in OPERATORS else name
    if name in OPERATORS and len(args) == 2:
        made = ast.copy_location(
            ast.BinOp(ast.Constant(None), OPERATORS[name](), ast.Constant(None)), node
        )
        return binary_operation(machine, *args, OPERATORS[name], made, frame)
    tensor = next((value for value in args if isinstance(value, Tensor)), None)
    if tensor is None:
        return None
    if name in COMPARISONS:
        return Tensor("bool", tensor.ndim, None, tensor.sure)
    return tensor if name in ("neg", "pos", "abs", "invert", "inv") else None


def call_getter(
    machine: Machine, getter: ExternalInstance, args: list[Value], node: ast.AST, frame: Frame
) -> Value:
    """`itemgetter(1)(row)`, `attrgetter("a.b")(value)`, `methodcaller("abs")(value)`."""
    owner, kind = args[0] if args else UNKNOWN, getter.name.rpartition(".")[2]
    found = []
    for wanted in getter.args[:1] if kind == "methodcaller" else getter.args:
        value = owner
        if kind == "itemgetter":
            value = machine.getitem(owner, wanted, node, frame)
        elif wanted.is_const:
            for name in str(wanted.value).split("."):
                value = machine.getattr(value, name, node, frame)
        found.append(value)
    if kind == "methodcaller" and found:
        return machine.call(found[0], [*getter.args[1:]], dict(getter.kwargs), node, frame)
    return found[0] if len(found) == 1 else Sequence("tuple", found)


def call_itertools(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    if name == "product" and not args and "*" in kwargs:  # of a list whose length is not known
        part = machine.iterate(kwargs["*"], node, frame)
        return Sequence("iterator", None, Sequence("tuple", None, part)) if part else None
    if (not args and name != "count") or name == "chain":
        return None
    if machine.driver.sets and not frame.emits:
        found = followed_items(name, args)
        if found is not None:
            return found
    rows = args[1:] if name in (*PREDICATES, "starmap") else args[:1] if name in SOME_OF else args
    elements = (
        [machine.iterate(contents_of(machine, row), node, frame) for row in rows]
        if name != "repeat"
        else args[:1]
    )
    if None in elements:
        return Sequence("iterator", [])
    if name in PREDICATES:
        machine.truth(machine.call(args[0], elements[:1], {}, node, frame), "filter", node, frame)
    if name in SOME_OF or name == "repeat":
        return Sequence("iterator", None, elements[0])
    if name == "from_iterable":
        inner = machine.iterate(elements[0], node, frame)
        return Sequence("iterator", None, inner) if inner is not None else Sequence("iterator", [])
    if name == "product" or name == "zip_longest":
        more = kwargs.get("fillvalue", NONE) if name == "zip_longest" else None
        parts = [e if more is None else join(e, more) for e in elements]
        return Sequence("iterator", None, Sequence("tuple", parts))
    if name == "pairwise" and isinstance(args[0], Sequence) and args[0].items is not None:
        return Sequence(
            "iterator",
            [Sequence("tuple", [*pair]) for pair in zip(args[0].items, args[0].items[1:])],
        )
    if name == "pairwise":
        return Sequence("iterator", None, Sequence("tuple", [elements[0], elements[0]]))
    if name in ("combinations", "permutations", "combinations_with_replacement"):
        return Sequence("iterator", None, Sequence("tuple", None, elements[0]))
    if name == "accumulate":
        made = (
            machine.call(args[1], [elements[0]] * 2, {}, node, frame)
            if len(args) > 1
            else elements[0]
        )
        return Sequence("iterator", None, join(elements[0], made))
    if name == "starmap":
        given = (
            elements[0].items
            if isinstance(elements[0], Sequence) and elements[0].items is not None
            else None
        )
        made = machine.call(args[0], given, {}, node, frame) if given is not None else UNKNOWN
        return Sequence("iterator", None, made)
    return Sequence("iterator", None, Py("int")) if name == "count" else None


def call_chain(machine: Machine, args, kwargs, node, frame) -> Value:
    known = args and all(isinstance(a, Sequence) and a.items is not None for a in args)
    if known and sum(len(a.items) for a in args) <= limits.MOST_FOLDED_ITEMS:
        return Sequence("iterator", [item for a in args for item in a.items])
    return Sequence(
        "iterator", None, join_all([machine.iterate(a, node, frame) or UNKNOWN for a in args])
    )


def call_reduce(machine: Machine, args, kwargs, node, frame) -> Value:
    """`functools.reduce(function, values, first)`: as if there were two values."""
    if len(args) < 2:
        return UNKNOWN
    element = machine.iterate(contents_of(machine, args[1]), node, frame)
    made = args[2] if len(args) > 2 else element
    if element is None:
        return made or UNKNOWN
    return join(made, machine.call(args[0], [made, element], {}, node, frame))


def call_namedtuple(
    machine: Machine, args: list[Value], node: ast.AST, frame: Frame
) -> Value | None:
    """`namedtuple("Point", "x y")`, `NamedTuple("Point", [("x", int)])`: a class as a `class` statement makes
    it; one of which the fields are not known, where a region makes it, is a type and no more."""
    title, fields = (*args, UNKNOWN, UNKNOWN)[:2]
    if isinstance(fields, Sequence) and fields.items is not None:
        parts = [getattr(item, "items", None) or [item] for item in fields.items]  # with a type
        names = [part[0].value if part[0].is_const else None for part in parts]
    else:
        names = (
            fields.value.replace(",", " ").split()
            if fields.is_const and isinstance(fields.value, str)
            else [None]
        )
    if not title.is_const or not all(
        isinstance(name, str) and name.isidentifier() for name in (title.value, *names)
    ):
        return ExternalInstance(MADE_CLASS) if frame.emits else None
    key = (title.value, tuple(names), getattr(node, "lineno", 0), frame.emits)
    if key not in machine.objects.tuple_classes:
        body = "".join(f"    {name}: object\n" for name in names) or "    pass\n"
        module = ModuleInfo("", "collections", "", False, b"", ast.parse(
            f"from typing import NamedTuple\nclass {title.value}(NamedTuple):\n{body}"))  # fmt: skip
        machine.objects.tuple_classes[key] = Class(
            ClassInfo(title.value, title.value, module.tree.body[1], module)
        )
        if frame.emits:
            machine.objects.called_classes.add(id(machine.objects.tuple_classes[key].info))
    return machine.objects.tuple_classes[key]


def from_keys(machine: Machine, args: list[Value], node: ast.AST, frame: Frame) -> Value:
    value = args[1] if len(args) > 1 else NONE
    keys = ordered_sequence(machine, "list", args[:1], node, frame)
    made = Dict({})
    for key in keys.items if keys.items is not None else [UNKNOWN]:
        put_key(made, key, value)
    return made


def chain_map(args: list[Value]) -> Value:
    made = Dict({})
    for value in reversed(args):
        if isinstance(value, Dict):
            made = Dict(
                {**made.items, **value.items},
                join_all([made.element, value.element]),
                made.open or value.open,
            )
        else:
            made.open = True
    return made
