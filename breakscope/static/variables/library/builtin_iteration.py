"""Builtin functions that go over a container: `len`, `range`, `zip`, `sorted`, `sum`, ..."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import Call
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    External,
    Function,
    Instance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
    holds_tensor,
    int_of,
)
from breakscope.static.definitions.fields import field_names
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import element_of, join, join_all
from breakscope.static.machine.library import COMPILING
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.dicts import put_key
from breakscope.static.variables.effects.emitting import (
    emit_argument_read,
    emit_call,
    is_some_tensor,
)
from breakscope.static.variables.effects.size_reads import emit_numbers_read
from breakscope.static.variables.library.followed.followed_iteration import (
    sorted_items,
    taken_item,
    turns_of,
)
from breakscope.static.variables.library.followed.loaders import count_batches, first_batches
from breakscope.static.variables.numpy import is_numpy_number


def builtin_len(machine: Machine, args, kwargs, node, frame) -> Value:
    value = args[0] if args else UNKNOWN
    if (count := count_batches(machine, value, node, frame)) is not None:
        return Const(count)
    return machine.behaviour(value).length(machine, value, node, frame)


def builtin_range(machine: Machine, args, kwargs, node, frame) -> Value:
    for i, value in enumerate(args):
        if is_some_tensor(value):
            emit_argument_read(machine, value, "range", node, frame, i)
        elif is_numpy_number(value):
            emit_argument_read(machine, Tensor("int", 0, (), kind="numpy"), "range", node, frame, i)
    numbers = [a.value for a in args if a.is_const and isinstance(a.value, int)]
    if len(numbers) == len(args) and numbers:
        try:
            wanted = range(*numbers)
        except (TypeError, ValueError):
            return UNKNOWN
        is_followed = machine.driver.sets and not frame.emits
        most = limits.MOST_FOLDED_ITEMS if is_followed else limits.MOST_KNOWN_ITEMS
        # its `len` has no number for every range
        if not wanted or (wanted[-1] - wanted[0]) // wanted.step < most:
            return Sequence("range", [Const(i) for i in wanted])
        return Sequence("range", None, Py("int"))
    known = any(a.is_scalar for a in args)
    return Sequence(
        "range",
        None,
        Scalar() if known else ShapeInt() if any(a.is_shape for a in args) else Py("int"),
    )


def most_items(machine: Machine, frame: Frame) -> int:
    """How many items are kept apart."""
    is_followed = machine.driver.sets and not frame.emits
    return limits.MOST_KNOWN_TURNS if is_followed else limits.MOST_KNOWN_ITEMS


def builtin_enumerate(machine: Machine, args, kwargs, node, frame) -> Value:
    source = args[0] if args else UNKNOWN
    items = turns_of(machine, source, node, frame)
    if items is not None and len(items) <= most_items(machine, frame):
        start = kwargs.get("start", args[1] if len(args) > 1 else Const(0))
        first = int_of(start)
        numbers = [Py("int") if first is None else Const(first + i) for i in range(len(items))]
        return Sequence("iterator", [Sequence("tuple", [*pair]) for pair in zip(numbers, items)])
    element = machine.iterate(source, node, frame)
    if element is None:
        return Sequence("iterator", [])
    return Sequence("iterator", None, Sequence("tuple", [Py("int"), element]))


def builtin_zip(machine: Machine, args, kwargs, node, frame) -> Value:
    known = [turns_of(machine, a, node, frame) for a in args]
    if args and None not in known:
        rows = list(zip(*known))
        if len(rows) <= most_items(machine, frame):
            return Sequence("iterator", [Sequence("tuple", list(row)) for row in rows])
    elements = [machine.iterate(a, node, frame) for a in args]
    return Sequence(
        "iterator", None, Sequence("tuple", [e if e is not None else UNKNOWN for e in elements])
    )


def builtin_map(machine: Machine, args, kwargs, node, frame) -> Value:
    elements = [machine.iterate(a, node, frame) for a in args[1:]]
    if any(e is None for e in elements) or not args:
        return Sequence("iterator", [])
    known = [turns_of(machine, a, node, frame) for a in args[1:]]
    if known and None not in known and min(map(len, known)) <= most_items(machine, frame):
        rows = zip(*known)
        return Sequence(
            "iterator", [machine.call(args[0], [*row], {}, node, frame) for row in rows]
        )
    with machine.driver.one_for_many():
        found = machine.call(args[0], elements, {}, node, frame)
    return Sequence("iterator", None, found)


def builtin_filter(machine: Machine, args, kwargs, node, frame) -> Value:
    element = machine.iterate(args[1], node, frame) if len(args) > 1 else UNKNOWN
    if element is None:
        return Sequence("iterator", [])
    if not args:
        return UNKNOWN
    verdict = element if args[0].is_none else machine.call(args[0], [element], {}, node, frame)
    machine.truth(verdict, "filter", node, frame)
    return Sequence("iterator", None, element)


def ordered_sequence(
    machine: Machine, type_: str, args, node, frame, keep_order: bool = True
) -> Value:
    if not args:
        return Sequence(type_, [])
    source = args[0]
    if isinstance(source, Sequence) and source.items is not None and keep_order:
        return Sequence(type_, list(source.items))
    if isinstance(source, Const) and isinstance(source.value, str | bytes):
        if keep_order and len(source.value) <= limits.MOST_KNOWN_ITEMS:
            return Sequence(type_, [Const(part) for part in source.value])
    if isinstance(source, Dict) and not source.open:
        return Sequence(type_, [Const(k) for k in source.items])
    if isinstance(source, Instance) and field_names(machine, source):
        return Sequence(
            type_, [source.attributes.get(f, UNKNOWN) for f in field_names(machine, source)]
        )
    element = machine.iterate(source, node, frame)
    return Sequence(type_, None, element) if element is not None else Sequence(type_, [])


def builtin_list(machine: Machine, args, kwargs, node, frame) -> Value:
    return ordered_sequence(machine, "list", args, node, frame)


def builtin_tuple(machine: Machine, args, kwargs, node, frame) -> Value:
    return ordered_sequence(machine, "tuple", args, node, frame)


def builtin_set(machine: Machine, args, kwargs, node, frame) -> Value:
    made = ordered_sequence(machine, "set", args, node, frame)
    if made.items:
        made.items = different_items(made.items)
    return made


def different_items(items: list[Value]) -> list[Value]:
    """What a set has of these, in their order; all of them where not all are constants."""
    if not all(isinstance(item, Const) for item in items):
        return list(items)
    return list({item.key(0): item for item in items}.values())


def builtin_iter(machine: Machine, args, kwargs, node, frame) -> Value:
    source = args[0] if args else UNKNOWN
    if machine.driver.sets and not frame.emits:
        if isinstance(source, Instance):
            method = machine.getattr(source, "__iter__", node, frame)
            if isinstance(method, Function):
                return machine.call(method, [], {}, node, frame)
        elif isinstance(source, Sequence) and source.type in ("iterator", "generator"):
            return source
        elif (known := first_batches(machine, source, node, frame)) is not None:
            return Sequence("iterator", known)
    return ordered_sequence(machine, "iterator", args, node, frame)


def builtin_reversed(machine: Machine, args, kwargs, node, frame) -> Value:
    made = ordered_sequence(machine, "iterator", args, node, frame)
    if made.items is not None:
        made.items.reverse()
    return made


def builtin_sorted(machine: Machine, args, kwargs, node, frame) -> Value:
    if args and machine.driver.sets and not frame.emits:
        found = sorted_items(machine, args[0], kwargs, node, frame)
        if found is not None:
            return found
    emit_numbers_read(machine, "sorted", args[:1], node, frame)
    made = ordered_sequence(machine, "list", args, node, frame, keep_order=False)
    keys_compared(machine, made, kwargs, node, frame, "sorted")
    return made


def keys_compared(
    machine: Machine,
    values: Sequence,
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
    name: str,
) -> None:
    """sorted, min and max compare elements, or what `key` makes of them."""
    element = element_of(values)
    key = kwargs.get("key")
    if isinstance(key, Function | Method | External):
        try:
            element = machine.call(key, [element], {}, node, frame)
        except Raised:
            element = UNKNOWN
    if machine.wanted(name):
        machine.emit(
            Call,
            node,
            frame,
            detail="compared",
            name=name,
            args=(values, element),
            kwargs=kwargs,
        )


def builtin_next(machine: Machine, args, kwargs, node, frame) -> Value:
    if args and machine.driver.sets and not frame.emits and not frame.is_in_branch():
        taken = taken_item(machine, args, node, frame)
        if taken is not None:
            return taken
    found = machine.iterate(args[0], node, frame) if args else UNKNOWN
    if args and isinstance(args[0], Sequence) and args[0].items and args[0].type == "iterator":
        found = args[0].items[0]
    if len(args) > 1:
        return join(found if found is not None else UNKNOWN, args[1])
    return found if found is not None else UNKNOWN


def builtin_dict(machine: Machine, args, kwargs, node, frame) -> Value:
    made = Dict({}, UNKNOWN)
    source = args[0] if args else None
    if isinstance(source, Dict):
        made = Dict(dict(source.items), source.element, source.open)
    elif source is not None:
        pairs = source.items if isinstance(source, Sequence) and source.items is not None else None
        for pair in (
            pairs if pairs is not None else [machine.iterate(source, node, frame) or UNKNOWN]
        ):
            if isinstance(pair, Sequence) and pair.items and len(pair.items) == 2:
                put_key(made, pair.items[0], pair.items[1])
            else:
                made.open = True
        if pairs is None:
            made.open = True
    for name, value in kwargs.items():
        if name in ("*", "**"):
            made.open = True
        else:
            made.items[name] = value
    return made


def ordered_dict(machine: Machine, args, kwargs, node, frame) -> Value:
    made = builtin_dict(machine, args, kwargs, node, frame)
    made.is_ordered = True
    return made


def _constants(value: Value) -> list | None:
    """The numbers of a container of constants; None where one is not known."""
    items = value.items if isinstance(value, Sequence) and not value.home else None
    known = items and all(isinstance(v, Const) and type(v.value) in (int, float) for v in items)
    return [v.value for v in items] if known else None


def builtin_sum(machine: Machine, args, kwargs, node, frame) -> Value:
    numbers = _constants(args[0]) if len(args) == 1 and not kwargs else None
    if numbers is not None:
        return Const(sum(numbers))
    element = machine.iterate(args[0], node, frame) if args else None
    if element is None:
        return args[1] if len(args) > 1 else Const(0)
    if holds_tensor(element):
        return Tensor(sure=getattr(element, "sure", False))
    return (
        Scalar()
        if element.is_scalar
        else ShapeInt()
        if element.is_shape
        else Py("number")
        if not element.is_unknown
        else UNKNOWN
    )


def _min_or_max(machine: Machine, args, kwargs, node, frame, name) -> Value:
    values = (
        Sequence("list", list(args))
        if len(args) > 1
        else ordered_sequence(machine, "list", args, node, frame)
    )
    if len(args) > 1 and all(
        isinstance(a, Const) and isinstance(a.value, int | float) for a in args
    ):
        return Const((min if name == "min" else max)(a.value for a in args))
    numbers = _constants(values) if len(args) == 1 and not kwargs else None
    if numbers is not None:
        return Const((min if name == "min" else max)(numbers))
    keys_compared(machine, values, kwargs, node, frame, name)
    source = args[0] if len(args) == 1 else UNKNOWN
    if is_lazy(source, node):
        emit_call(
            machine, f"iterator.{name}", None, (source, element_of(source)), kwargs, node, frame
        )
    tensors = [v for v in args if v.is_tensor]
    if len(args) > 1 and tensors and "key" not in kwargs:
        return tensors[0]
    if len(args) == 1 and tensors and "key" not in kwargs:
        return Tensor(args[0].dtype, 0, (), args[0].sure)  # others cannot be compared
    return join_all(args) if len(args) > 1 else element_of(values)


def builtin_min(machine: Machine, args, kwargs, node, frame) -> Value:
    return _min_or_max(machine, args, kwargs, node, frame, "min")


def builtin_max(machine: Machine, args, kwargs, node, frame) -> Value:
    return _min_or_max(machine, args, kwargs, node, frame, "max")


def _all_or_any(machine: Machine, args, node, frame, construct) -> Value:
    skips = frame.skips
    if args and type(args[0]) is Sequence and args[0].type == "generator":
        # a break while a generator runs: what called it is not resumed
        frame.skips = skips or "call"
    try:
        return _all_or_any_of(machine, args, node, frame, construct)
    finally:
        frame.skips = skips


def _all_or_any_of(machine: Machine, args, node, frame, construct) -> Value:
    source = args[0] if args else UNKNOWN
    items = source.items if isinstance(source, Sequence) and source.items is not None else None
    if items is None:
        element = machine.iterate(source, node, frame)
        if element is None:
            return Const(construct == "all")
        machine.truth(element, construct, node, frame)
        return Py("bool")
    unknown = False
    for item in items:
        truth = machine.truth(item, construct, node, frame)
        if truth is (construct == "any"):
            return item if item is COMPILING else Const(truth)
        unknown = unknown or truth is None
    return Py("bool") if unknown else Const(construct == "all")


def builtin_all(machine: Machine, args, kwargs, node, frame) -> Value:
    return _all_or_any(machine, args, node, frame, "all")


def builtin_any(machine: Machine, args, kwargs, node, frame) -> Value:
    return _all_or_any(machine, args, node, frame, "any")


def is_lazy(value: Value, call: ast.AST) -> bool:
    """True for a first argument that Python makes item by item: a generator, or what `zip` and its
    like give; `iter` and `reversed` of a list Dynamo holds as a list."""
    if type(value) is not Sequence or value.type != "iterator":
        return type(value) is Sequence and value.type == "generator"
    made = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return isinstance(made, ast.Call) and getattr(made.func, "id", "") not in ("iter", "reversed")
