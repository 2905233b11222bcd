"""What differs between the values that one parameter has in several calls, as far as Dynamo guards
it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.static.machine.driver import INFERENCE, Driver
from breakscope.static.machine.frames import Activation
from breakscope.static.variables.tensors.dtypes import PRECISIONS
from breakscope.static.variables.tensors.sizes import DENSE, LAYOUT

DEFINITE = frozenset({"bool", "int", "float", "str", "NoneType", "device", "dtype", "tuple"})
MORE = re.compile(r"(?:more than )+")  # of what was made longer several times
# what else may differ between tensors that are alike in the first
FURTHER = {"dtype": {"size", "requires_grad"}, "size": {"requires_grad"}}
LIKE_OTHERS = frozenset({"parameter", "buffer"})  # kinds of tensors that lie in memory as others do
# alike in words, perhaps not in their parts
OPEN = Dict | Py | Scalar | Sequence | Tensor | ExternalInstance
KINDS = frozenset({"bool", "int", "float", "str"})
SETS = frozenset({"set", "frozenset"})


def note_given(driver: Driver, entered: Activation, rows: list[dict[str, Value]]) -> None:
    """Note of a region, with what each of its calls has for its parameters, which of these are the same in all."""
    for name in set.intersection(*map(set, rows)) if rows else ():
        if given_others(driver, [row[name] for row in rows]):
            entered.varies = True
        else:
            entered.fixed |= {name}


def given_others(driver: Driver, values: list[Value]) -> bool:
    """True where a parameter is given other tensors in some calls, whose numbers are not the same for all that is
    known: those of one text are."""
    tensors = {id(v): v for value in values for v in _tensors_in(value, 2)}
    if len(tensors) < 2 or all(key in driver.plain for key in tensors):
        return False
    first = {id(v) for v in _tensors_in(values[0], 2)}
    return not all(first == {id(v) for v in _tensors_in(value, 2)} for value in values)


def _tensors_in(value: Value, depth: int) -> Iterator[Tensor]:
    if type(value) is Tensor:
        yield value
    elif depth and isinstance(value, Sequence | Dict):
        items = value.items or ()
        for item in items.values() if isinstance(items, dict) else items:
            yield from _tensors_in(item, depth - 1)
    elif depth and isinstance(value, Instance):
        for item in value.attributes.values():
            yield from _tensors_in(item, depth - 1)


def are_alike(values: list[Value]) -> bool:
    """True for objects of one class of the source."""
    return (
        all(isinstance(v, Instance) for v in values) and len({id(v.cls.info) for v in values}) == 1
    )


def differing(values: list[Value], depth: int = 2) -> Iterator[tuple[str, list[Value]]]:
    """The values themselves, or the parts of objects, to some depth, and of containers of one shape: (".scale",
    values of it). An object that is not known says nothing of the others."""
    known = [v for v in values if not (v.is_unknown or isinstance(v, Union))]
    if known and are_alike(known):
        for name in sorted(set.intersection(*(set(v.attributes) for v in known))):
            held = [v.attributes[name] if isinstance(v, Instance) else UNKNOWN for v in values]
            if depth and are_alike(held) and len(set(map(id, held))) > 1:
                yield from ((f".{name}{path}", part) for path, part in differing(held, depth - 1))
            else:
                yield f".{name}", held
    elif all(isinstance(v, ExternalInstance) and v.name == "slice" for v in values):
        for name, parts in zip((".start", ".stop", ".step"), zip(*(v.args for v in values))):
            yield name, list(parts)
    elif (
        all(isinstance(v, Dict) and not v.open for v in values)
        and len({frozenset(v.items) for v in values}) == 1
    ):
        if len({tuple(v.items) for v in values}) > 1:
            yield "", values  # in another order
        for name in values[0].items:
            yield from _inside(f"[{name!r}]", [v.items[name] for v in values], depth)
    elif all(type(v) is Sequence and v.type in SETS for v in values):
        yield "", values  # guarded as a whole
    elif (
        all(isinstance(v, Sequence) and v.items for v in values)
        and len({(v.type, len(v.items)) for v in values}) == 1
    ):
        for index, parts in enumerate(zip(*(v.items for v in values))):
            yield from _inside(f"[{index}]", list(parts), depth)
    elif items := _of_open_length(values):
        yield "[0]", items
    else:
        yield "", values
        yield from _of_one_length(values, depth)


def _of_open_length(values: list[Value]) -> list[Value]:
    """The first items of lists, in some of which they are None, where nobody knows how long the others are."""
    if not all(type(v) is Sequence and v.items != [] for v in values):
        return []
    firsts = [v.element if v.items is None else v.items[0] for v in values]
    is_open = any(v.items is None for v in values) and any(v.items for v in values)
    is_none = {first.is_none for first in firsts if not first.is_unknown}
    return firsts if is_open and len(is_none) > 1 else []


def _of_one_length(values: list[Value], depth: int) -> Iterator[tuple[str, list[Value]]]:
    """Of lists that are not all as long, the items of those that are: each length is compiled by itself, and
    again for what differs there."""
    groups: dict[tuple[str, int], list[Value]] = {}
    for value in values:
        if type(value) is Sequence and value.items:
            groups.setdefault((value.type, len(value.items)), []).append(value)
    for group in groups.values() if len(groups) > 1 else ():
        if len(group) > 1:
            yield from differing(group, depth)


def _inside(path: str, parts: list[Value], depth: int) -> Iterator[tuple[str, list[Value]]]:
    """Items of a container: where they are dicts, what these hold."""
    if depth and all(type(part) is Dict for part in parts):
        yield from ((f"{path}{p}", inner) for p, inner in differing(parts, depth - 1))
    else:
        yield path, parts


def is_symbolic(what: str, values: list[Value]) -> bool:
    """True for what torch.compile(dynamic=True) takes as symbols: numbers, and sizes but 0 and 1."""
    if what in ("int", "float"):
        return True
    shapes = [v.shape for v in values if type(v) is Tensor and v.shape is not None]
    if len(set(map(len, shapes))) > 1:
        return False
    varying = (set(sizes) for sizes in zip(*shapes) if len(set(sizes)) > 1)
    return what == "size" and not any(sizes & {0, 1} for sizes in varying)


def variations(values: list[Value]) -> list[str]:
    """What differs between the values of one parameter, and of those that are alike in it, what else: of one
    precision the sizes, of one size whether they require grad."""
    first = variation(values)
    tensors = [value for value in values if type(value) is Tensor]
    if first not in FURTHER or len(tensors) < len(values):
        return [first]
    alike: dict[object, list[Value]] = {}
    for value in tensors:
        key = describe_precision(value) if first == "dtype" else value.shape
        alike.setdefault(key, []).append(value)
    inner = {what for group in alike.values() for what in variations(group)}
    plain = [v for v in tensors if _kind_is_known(v) and v.kind not in PRECISIONS]
    kinds = [value.kind == INFERENCE for value in plain]
    further = inner & FURTHER[first] | ({INFERENCE} if len(set(kinds)) > 1 else set())
    further |= {"type"} if _types_differ(tensors) else set()
    return [first, *sorted(further)]


def describe_precision(value: Tensor) -> tuple:
    """What of a tensor's type guards see."""
    return value.dtype, value.kind if value.kind in PRECISIONS else ""


def variation(values: list[Value]) -> str:
    """What differs between the values of one parameter over the calls; "" when nothing that guards
    would see."""
    values = list(values)
    if all(type(v) is Function for v in values) and len({id(v.info) for v in values}) > 1:
        return "object"
    alike = len({describe(v) for v in values}) < 2
    if alike and not all(isinstance(v, OPEN) for v in values):
        return ""
    if any(v.is_none for v in values):
        return "none"
    values = [v for v in values if not v.is_unknown and not isinstance(v, Union)]
    kinds = {type(v) for v in values}
    if kinds <= {Const, Py, Scalar}:
        return _number_variation(values)
    if kinds == {Tensor}:
        return _tensor_variation(values)
    if kinds == {Dict}:
        if len({frozenset(v.items) for v in values}) > 1:
            return "keys"
        return "order" if len({tuple(v.items) for v in values}) > 1 else ""
    if kinds == {Sequence}:
        lengths = {len(v.items) if v.items is not None else -1 for v in values}
        if len(lengths) > 1:
            return "length"
        if len({v.type for v in values}) > 1:
            return "type"
        if all(v.type in SETS and v.items for v in values):
            return "object" if len({frozenset(map(describe, v.items)) for v in values}) > 1 else ""
        return next(filter(None, map(variation, zip(*(v.items or () for v in values)))), "")
    if kinds <= {Class, External, Function}:
        return "object" if len({describe(v) for v in values}) > 1 else ""
    if all(isinstance(v, ExternalInstance) and v.name == "slice" for v in values):
        return next(filter(None, map(variation, zip(*(v.args for v in values)))), "")
    if kinds <= {Instance, ExternalInstance}:
        classes = {v.cls.info.name if isinstance(v, Instance) else describe(v) for v in values}
        return "object" if len(classes) > 1 else ""
    return "type" if len(kinds) > 1 else ""


def _number_variation(values: list[Const | Py | Scalar]) -> str:
    """What differs between numbers, texts and enum members; those that are drawn at random do, and
    those that are read from tensors."""
    if all(isinstance(v, Py) and v.type.startswith("enum") for v in values):
        return "enum" if len({describe(v) for v in values}) > 1 else ""
    values = [v for v in values if not _is_any_number(v)]
    if len(values) < 2:
        return ""
    drawn = any(isinstance(v, Scalar) or (isinstance(v, Py) and v.is_drawn) for v in values)
    drawn = drawn and len(set(map(id, values))) > 1  # not one number for all calls
    known = [type(v.value).__name__ for v in values if isinstance(v, Const)]
    types = {*known, *(_type_of(v) for v in values if not isinstance(v, Const))}
    if len(types) > 1:
        return "type" if types <= DEFINITE else ""
    kind = types.pop()
    if kind not in KINDS:
        return "object" if known and len({describe(v) for v in values}) > 1 else ""
    return kind if drawn or (known and len({describe(v) for v in values}) > 1) else ""


def _is_any_number(value: Value) -> bool:
    """True for a number of which nothing is known."""
    return isinstance(value, Py) and value.type == "number" and not value.is_drawn


def _type_of(value: Py | Scalar) -> str:
    """The type of a number; a random one of numpy's is rather a float."""
    if value.type == "number" and (isinstance(value, Scalar) or value.is_drawn):
        return "float"
    return value.type


def _tensor_variation(values: list[Tensor]) -> str:
    known = {describe_precision(v) for v in values if v.dtype}
    if len(known) > 1:
        return "dtype"
    if _sizes_differ([v.shape for v in values]):
        return "size"
    shown = (v.kind for v in values if _kind_is_known(v))
    kinds = {"" if kind in LIKE_OTHERS | PRECISIONS else kind for kind in shown}
    is_laid_out = any(kind.startswith(LAYOUT) for kind in kinds)
    if is_laid_out:
        kinds.discard("strided")  # perhaps the same
    if len(kinds) > 1:
        return INFERENCE if INFERENCE in kinds and not is_laid_out else "stride"
    if _types_differ(values):
        return "type"
    tracked = {v.requires_grad for v in values if v.requires_grad is not None}
    return "requires_grad" if len(tracked) > 1 else ""


def _kind_is_known(value: Tensor) -> bool:
    """False for what an unknown caller hands over, and what is computed of it."""
    return value.sure or value.kind != ""


def _types_differ(values: list[Tensor]) -> bool:
    """True where some are parameters, whose class guards tell from that of other tensors."""
    return len({v.kind == "parameter" for v in values if v.sure or v.kind == "parameter"}) > 1


def _sizes_differ(shapes: list[tuple | None]) -> bool:
    """True when the sizes differ, as far as they are known: in their number, or in one dimension."""
    shapes = [shape for shape in shapes if shape is not None]
    if not shapes:
        return False
    if len(set(map(len, shapes))) > 1:
        return True
    return any(len({n for n in sizes if n is not None}) > 1 for sizes in zip(*shapes))


def size_differs(values: list[Value]) -> bool:
    """True where a parameter is given tensors of several sizes, be it in containers."""
    return any("size" in variations(found) for _, found in differing(values))


def changed_sizes(values: list[Value]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The dimensions of which the sizes differ, each with these; () where their number does too."""
    shapes = [v.shape for v in values if type(v) is Tensor and v.shape is not None]
    if len(set(map(len, shapes))) != 1:
        return ()
    known = [tuple(dict.fromkeys(n for n in sizes if n is not None)) for sizes in zip(*shapes)]
    return tuple((at, sizes) for at, sizes in enumerate(known) if len(sizes) > 1)


def aliases(rows: list[dict[str, Value]]) -> list[set[frozenset]]:
    """The pairs of parameters, or items of these, that are the same tensor, in each of the calls: together those that
    bring tensors in the same places, as others differ in that already."""
    found: dict[tuple, set[frozenset]] = {}
    for row in rows:
        tensors = [(n, v) for n, v in row.items() if isinstance(v, Tensor)]
        for name, value in row.items():
            if isinstance(value, Sequence) and value.type in ("list", "tuple"):
                tensors += [(name, v) for v in value.items or () if isinstance(v, Tensor)]
        pairs = (
            (a, b, i, j)
            for i, (a, x) in enumerate(tensors)
            for j, (b, y) in enumerate(tensors[i + 1 :])
            if x is y
        )
        found.setdefault(tuple(name for name, _ in tensors), set()).add(frozenset(pairs))
    return [*found.values()]


def shown_values(values: list[Value]) -> tuple[str, ...]:
    """What differs, as a message shows it; nothing where all look alike."""
    shown = tuple(dict.fromkeys(map(_shown, map(_plainly, values))))
    shown = shown if len(shown) > 1 else tuple(dict.fromkeys(map(_shown, values)))
    return shown if len(shown) > 1 else ()


def _plainly(value: Value) -> Value:
    """A tensor without what it is for, which most messages do not need."""
    is_plain = type(value) is Tensor and value.kind in DENSE
    return replace(value, kind="", requires_grad=None) if is_plain else value


def _shown(value: Value) -> str:
    """The value as `describe` has it; of a float the first digits."""
    is_float = isinstance(value, Const) and type(value.value) is float
    text = f"{value.value:.4g}" if is_float else MORE.sub("more than ", describe(value))
    return f"{text}.0" if is_float and text.lstrip("-").isdigit() else text


def describe(value: Value) -> str:
    """The value as a message may show it; equal for values that no guard distinguishes."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Tensor):
        shape = (
            "?"
            if value.shape is None
            else "x".join("?" if n is None else str(n) for n in value.shape) or "scalar"
        )
        is_plain = value.dtype in (None, "float") or value.kind in PRECISIONS
        words = (
            shape,
            "" if is_plain else value.dtype,
            value.kind,
            value.requires_grad and "requires_grad",
        )
        return " ".join(filter(None, words))
    if isinstance(value, Py):
        return value.type.removeprefix("enum ")
    if isinstance(value, Sequence):
        return f"{value.type} of {len(value.items)}" if value.items is not None else value.type
    if isinstance(value, Function) and (value.args or value.kwargs or value.held):
        named = (f"{name}={describe(v)}" for name, v in (*value.kwargs, *value.held))
        return f"{value.describe()} with {', '.join([*map(describe, value.args), *named])}"
    if isinstance(value, ExternalInstance) and value.name == "torch.device":
        return f"`torch.device({', '.join(map(describe, value.args))})`"
    if isinstance(value, ExternalInstance) and value.name == "functools.partial":
        named = (f"{name}={describe(v)}" for name, v in value.kwargs)
        return (
            f"{describe(value.args[0])} with {', '.join([*map(describe, value.args[1:]), *named])}"
        )
    if isinstance(value, ExternalInstance) and value.name.startswith("torch.nn."):
        named = (f"{name}={describe(v)}" for name, v in value.kwargs)
        return f"`{value.name}({', '.join([*map(describe, value.args), *named])})`"
    return value.describe()
