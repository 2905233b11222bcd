"""The parameters of a module in the code around a region: each with its sizes, where all of its layers are known."""

from __future__ import annotations

from collections.abc import Iterator

from breakscope import limits
from breakscope.rulekit.values import (
    FALSE,
    Const,
    ExternalInstance,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
    int_of,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.modules.containers import LAYER
from breakscope.static.variables.modules.submodules import descendants

LINEAR = "in_features out_features bias".split()
CONVOLUTION = "in_channels out_channels kernel_size stride padding dilation groups bias".split()
# layers without parameters
WITHOUT = (
    *("ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "Dropout", "Softmax", "LeakyReLU", "ELU", "Identity"),
    *("Flatten", "MaxPool", "AvgPool", "AdaptiveAvgPool", "Softplus", "Mish", "Hardswish", "Upsample"),
)  # fmt: skip


def parameters_of(machine: Machine, owner: Value, frame: Frame) -> Sequence:
    """What `owner.parameters()` goes over; around a region it is known whose parameters they are."""
    if machine.driver.function is not None and not frame.emits:
        rows = named_sizes(machine, owner)
        if rows is not None:
            made = [Tensor("float", len(n), n, kind="parameter") for _, n, _ in rows]
            for parameter, (_, _, module) in zip(made, rows):
                machine.driver.owners[id(parameter)] = parameter, module
            return Sequence("iterator", made)
    return Sequence("iterator", None, parameter_of(machine, owner, frame))


def named_parameters_of(machine: Machine, owner: Value, frame: Frame) -> Sequence:
    """The same with names, as far as these are known."""
    of = parameters_of(machine, owner, frame)
    if of.items is None:
        return Sequence("iterator", None, Sequence("tuple", [Py("str"), of.element]))
    names = [name for name, _, _ in named_sizes(machine, owner) or ()]
    rows = [Sequence("tuple", [Const(name), made]) for name, made in zip(names, of.items)]
    return Sequence("iterator", rows)


def parameter_of(machine: Machine, owner: Value, frame: Frame) -> Tensor:
    """One of the parameters of a module; in the code around a region it is known whose it is."""
    parameter = Tensor("float", kind="parameter")
    if machine.driver.sets and not frame.emits:
        machine.driver.owners[id(parameter)] = parameter, owner
    return parameter


def named_sizes(machine: Machine, owner: Value) -> list[tuple[str, tuple, Value]] | None:
    """The names and sizes of a module's parameters, and which module in it has them itself; None where not all are
    known, or are too many."""
    rows: list[tuple[str, tuple, Value]] = []
    for name, module in descendants(machine, owner):
        own = _own_sizes(module)
        if own is None:
            return None
        holder = module.attributes.get(LAYER, module) if type(module) is Instance else module
        rows += [(f"{name}.{n}" if name else n, sizes, holder.original) for n, sizes in own]
        if len(rows) > limits.MOST_DRIVEN_TURNS:
            return None
    return rows or None


def sized_parameter(module: Value, name: str, sure: bool, frame: Frame) -> Tensor:
    """A parameter of a layer; outside of regions with its sizes, where these are known."""
    sizes = None if frame.emits else dict(_own_sizes(module) or ()).get(name)
    return Tensor("float", sizes and len(sizes), sizes, sure, "parameter")


def _own_sizes(module: Value) -> list[tuple[str, tuple]] | None:
    """Those that a module has itself."""
    if type(module) is Sequence:
        return [] if module.items is not None else None
    if type(module) is Instance:
        held = [(n, value.original) for n, value in module.attributes.items()]
        if LAYER in module.attributes:
            return _own_sizes(module.attributes[LAYER])
        own = [(n, value) for n, value in held if getattr(value, "kind", "") == "parameter"]
        known = all(value.shape and all(type(s) is int for s in value.shape) for _, value in own)
        return [(n, value.shape) for n, value in own] if known else None
    if type(module) is not ExternalInstance:
        return None
    last = module.name.rpartition(".")[2]
    if last.startswith(WITHOUT):
        return []
    found = [*_sizes_of_layer(last, module)]
    is_known = bool(found) and all(type(n) is int for _, sizes in found for n in sizes)
    return found if is_known else None


def _sizes_of_layer(last: str, layer: ExternalInstance) -> Iterator[tuple[str, tuple]]:
    if last == "Linear":
        given = dict(zip(LINEAR, layer.args)) | dict(layer.kwargs)
        before, after = (int_of(given.get(word)) for word in LINEAR[:2])
        yield from _with_bias(given, (after, before), after)
    elif last in ("Conv1d", "Conv2d", "Conv3d"):
        given = dict(zip(CONVOLUTION, layer.args)) | dict(layer.kwargs)
        before, after = (int_of(given.get(word)) for word in CONVOLUTION[:2])
        groups = int_of(given.get("groups", Const(1)))
        window = given.get("kernel_size")
        sides = [*map(int_of, window.items or ())] if isinstance(window, Sequence) else []
        sides = sides or [int_of(window)] * int(last[-2])
        inner = before // groups if type(before) is int and groups else None
        yield from _with_bias(given, (after, inner, *sides), after)
    elif last.startswith(("BatchNorm", "LayerNorm")) and {*dict(layer.kwargs)} <= {
        "eps",
        "momentum",
    }:
        shape = layer.args[0] if len(layer.args) == 1 else None
        items = shape.items or () if isinstance(shape, Sequence) else [shape]
        sizes = tuple(map(int_of, items))
        yield "weight", sizes
        yield "bias", sizes
    elif last == "Embedding" and len(layer.args) >= 2:
        yield "weight", tuple(map(int_of, layer.args[:2]))


def _with_bias(given: dict[str, Value], weight: tuple, after: int | None) -> Iterator:
    yield "weight", weight
    if given.get("bias", Const(True)) != FALSE:
        yield "bias", (after,)
