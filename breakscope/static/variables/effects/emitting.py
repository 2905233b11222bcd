"""Events that several kinds of values emit, and how certain they are."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from breakscope.rulekit.events import Call, ScalarRead, Statement
from breakscope.rulekit.numbers.arguments import Given, needed
from breakscope.rulekit.values import Py, Sequence, Tensor, Union, Value, options
from breakscope.rulekit.walking import defaults_in
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.given import both, by_condition
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo

# reads by which Python counts
COUNTS = frozenset({"size", "slice"})


def note_assert(
    machine: Machine,
    value: Value,
    node: ast.expr,
    frame: Frame,
    construct: str,
    facts: dict[str, Any],
) -> None:
    """Emit an `assert` on a container or an object, with no message or a constant one."""
    if construct == "assert" and facts.get("literal_message") and machine.is_opaque(value):
        machine.emit(Statement, node, frame, sureness(value), construct="assert", value=value)


SPARSE = "use of a sparse tensor"  # as rules listen to it


def sureness(value: Value) -> str:
    """The certainty of an event that rests on this value being a tensor."""
    if isinstance(value, Tensor):
        return "certain" if value.sure else "likely"
    return "likely"


def is_asked_for(value: Tensor, node: ast.AST, frame: Frame) -> bool:
    """True for a parameter of a module of which Python asks whether it is there (`if self.bias:`), and for what has
    several numbers (`if sizes == self.sizes`, with a tuple): their truth is an error. And for an argument that may be
    left out, and that nothing but its place shows to be a tensor."""
    sizes = value.shape or ()
    is_one = value.ndim == 0 or set(sizes) == {1}
    has_several = any(type(size) is int and size > 1 for size in sizes) and 0 not in sizes
    is_guess = value.origin == "guess" and _is_none_by_default(node, frame)
    return is_guess or has_several or (value.kind == "parameter" and not is_one)


def _is_none_by_default(node: ast.AST, frame: Frame) -> bool:
    """True for the name of a parameter that is None where a call leaves it out."""
    if not isinstance(node, ast.Name) or frame.function is None:
        return False
    given = defaults_in(frame.function.node)
    return any(p.arg == node.id and getattr(d, "value", ...) is None for p, d in given)


def is_by_annotation(value: Value) -> bool:
    """True for an argument, or a part of one, that nothing but an annotation says to be a tensor: who needs the
    letters of its text passes texts."""
    tensors = [option for option in options(value) if isinstance(option, Tensor)]
    return bool(tensors) and all(t.is_argument and not t.sure for t in tensors)


def args_certainty(args: list[Value]) -> str:
    tensors = [a for a in args if isinstance(a, Tensor)]
    return "likely" if tensors and not all(t.sure for t in tensors) else "certain"


def emit_call(
    machine: Machine,
    name: str,
    receiver: Value | None,
    args: Iterable[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
    certainty: str = "certain",
    *,
    result: Value | None = None,
    bases: tuple[str, ...] = (),
    classes: tuple[ClassInfo, ...] = (),
) -> None:
    """Emit a call of something outside the checked source, where some rule listens to it; `result`,
    `bases` and `classes` as in the event."""
    if frame.emits and machine.region.drawn:
        args = tuple(args)
        known = machine.library.tables.numbers.get(name, {})
        emit_drawn(machine, needed(Given(name, args, kwargs), known), node, frame)
    if frame.emits and machine.wanted(name):
        machine.emit(
            Call,
            node,
            frame,
            certainty,
            name=name,
            receiver=receiver,
            args=tuple(args),
            kwargs=kwargs,
            result=result,
            bases=bases,
            classes=classes,
        )


def emit_sparse(machine: Machine, values: Iterable[Value], node: ast.AST, frame: Frame) -> None:
    """Emit that a sparse tensor is used, where one of the values is one."""
    found = []
    for value in values:
        for part in (value.items or ()) if type(value) is Sequence else (value,):
            if type(part) is Tensor and part.kind == "sparse":
                found.append(part)
    if found:
        emit_call(machine, SPARSE, None, found, {}, node, frame, sureness(found[0]))


OTHER_OUT = "a result into a tensor of another form"  # as rules listen to it


def emit_out(machine: Machine, made: Value, out: Value, node: ast.AST, frame: Frame) -> None:
    """Emit that `out=` is a tensor of another shape or layout than the result."""
    results = made.items if isinstance(made, Sequence) else [made]
    places = out.items if isinstance(out, Sequence) else [out]
    for result, place in zip(results or [Tensor()] * len(places or ()), places or ()):
        if type(place) is not Tensor:
            continue
        if place.kind == "" and is_cut_out(node, place):
            place = replace(place, kind="strided")
        if is_other_form(result, place):
            emit_call(machine, OTHER_OUT, None, (place,), {}, node, frame, sureness(place))
            return


def is_cut_out(node: ast.AST, place: Tensor) -> bool:
    """`out=x[:, 1:]`, `out=x[:, 0]`: a part of each row, so that the rows do not lie side by side."""
    written = next((k.value for k in getattr(node, "keywords", ()) if k.arg == "out"), None)
    index = written.slice if type(written) is ast.Subscript else None
    *before, last = index.elts if type(index) is ast.Tuple and index.elts else [None]
    if type(last) is ast.Slice:
        is_part = ast.unparse(last) not in (":", "::", "0:")
    else:
        is_part = type(last) is ast.Constant and type(last.value) is int
    rows = [at for at in before if type(at) is ast.Slice]
    has_rows = "..." in map(ast.unparse, before) and (place.ndim or 0) >= 2
    return is_part and (bool(rows) or has_rows)


def is_other_form(result: Value, place: Tensor) -> bool:
    """Is a tensor surely not of the shape that a result has, or not contiguous? An empty one is there to
    be made as large as it takes."""
    if place.kind.startswith(("strided", "with strides")):
        return True
    made = result if type(result) is Tensor else Tensor()
    if place.shape is None or made.shape is None:
        is_other = None not in (place.ndim, made.ndim) and place.ndim != made.ndim
        return is_other or place.shape == (0,)
    sizes = zip(place.shape, made.shape)
    differ = any(type(a) is int and type(b) is int and a != b for a, b in sizes)
    return differ or len(place.shape) != len(made.shape)


def emit_read(
    machine: Machine,
    value: Value,
    how: str,
    node: ast.AST,
    frame: Frame,
    part: ast.AST | None = None,
) -> None:
    """Emit that Python reads a value which a tensor holds, or holds where a known condition does;
    `part` is the expression of it, where that is not `node`."""
    if not frame.emits:
        return
    text, before = machine.text(part or node, frame.module), frame.condition
    for option, condition in tensors_of(value, before) or [(value, "")]:
        certainty = sureness(option) if option.is_tensor else "certain"
        if option is not value and not condition:
            certainty = "likely"
        if how in COUNTS and option.is_tensor and option.dtype == "float" and not option.sure:
            # an annotation says so, and the program counts by it: it is a number
            certainty = "possible"
        frame.condition = both(before, condition)
        machine.emit(ScalarRead, node, frame, certainty, value=option, how=how, expression=text)
    frame.condition = before


def is_some_tensor(value: Value) -> bool:
    """True for a tensor, and for what is one where a known condition holds, or is else only None or a
    number, of the source or computed from one: that is what it is before a loop."""
    return value.is_tensor or (type(value) is Union and bool(tensors_of(value, "")))


def tensors_of(value: Value, known: str) -> list[tuple[Value, str]]:
    """The tensors that one of several values may be, each with its condition, where `known` holds."""
    rows = by_condition(value, known) if type(value) is Union else []
    is_placeheld = all(o.is_tensor or o.is_const or _is_computed(o) for o, _ in rows)
    return [(o, c) for o, c in rows if o.is_tensor and (c or is_placeheld)]


def _is_computed(value: Value) -> bool:
    """True for what arithmetic makes of a number of the source and one that configuration decides: `0 - self.back`."""
    return value.is_unknown or (type(value) is Py and value.source == "config")


def emit_drawn(
    machine: Machine, values: Iterable[Value], node: ast.AST, frame: Frame, how: str = "draw"
) -> None:
    """Emit that Python needs the random numbers among these values, which Dynamo keeps in the graph."""
    before = frame.condition
    for value in values if frame.emits else ():
        for option, condition in by_condition(value, before):
            if machine.region.is_drawn(option) and (condition or option is value):
                frame.condition = both(before, condition)
                emit_read(machine, option, how, node, frame)
                machine.region.settle()
                frame.condition = before


def emit_argument_read(
    machine: Machine, value: Value, how: str, node: ast.AST, frame: Frame, argument: int = 0
) -> None:
    """Emit that a function of Python reads the value of an argument."""
    known = isinstance(node, ast.Call) and len(node.args) > argument
    emit_read(machine, value, how, node, frame, node.args[argument] if known else node)
