"""What is followed of tensors outside of regions besides their dtype: the sizes that an operation gives, and
whether the result requires grad."""

from __future__ import annotations

import ast
from functools import reduce

from msgspec.structs import replace

from breakscope.knowledge.shapes import Shape
from breakscope.rulekit.values import (
    Const,
    ExternalInstance,
    Instance,
    Sequence,
    Tensor,
    Value,
    int_of,
)
from breakscope.static.machine.driver import INFERENCE
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.tensors.dtypes import PAIRS, promoted
from breakscope.static.variables.tensors.layer_sizes import behind_layer
from breakscope.static.variables.tensors.layouts import BY_NUMBER, kept, turned, with_new_dimension
from breakscope.static.variables.tensors.size_rules import RULES, broadcast_sizes, sizes_by_name
from breakscope.static.variables.tensors.sizes import CUTTING, KEEPING, DrawnSize, pieces
from breakscope.static.variables.tensors.windows import behind_window

# methods, and functions of a tensor, that leave out the dimension they are told, or all
REDUCING = frozenset(
    "sum mean prod amax amin logsumexp norm std var argmax argmin any all nanmean nansum".split()
)
# those whose result is as long as the values in the tensor make it
BY_VALUES = frozenset({"nonzero", "masked_select", "unique", "unique_consecutive"})
# views of the same numbers with the dimensions in another order
TURNING = frozenset({"permute", "transpose", "t", "swapaxes", "swapdims", "movedim", "moveaxis"})
# methods whose result may be the tensor itself, or a view of it
VIEWS = frozenset(
    """
    view reshape transpose permute t squeeze unsqueeze expand expand_as flatten ravel select narrow unfold
    diagonal movedim swapaxes view_as chunk split unbind detach contiguous to cpu cuda type float double half
    bfloat16 int long bool
    """.split()
)
TRAINED = (
    *("Linear", "Conv", "Embedding", "LayerNorm", "BatchNorm", "GroupNorm", "RNN", "LSTM", "GRU"),
    *("Bilinear", "Transformer", "MultiheadAttention", "InstanceNorm", "RMSNorm", "PReLU"),
)


def followed(
    machine: Machine,
    result: Value,
    name: str,
    owner: Tensor,
    args: list[Value],
    kwargs,
    frame: Frame,
) -> Value:
    """The result of an operation on `owner` outside of regions, with what is known of it besides."""
    if frame.emits:
        return result
    if type(result) is Sequence and name in CUTTING:
        return pieces(owner, name, args, kwargs) or _as_parts(result, owner)
    if type(result) is Sequence and name in PAIRS and result.items:
        made = [followed(machine, item, name, owner, args, kwargs, frame) for item in result.items]
        return Sequence(result.type, made)
    if type(result) is not Tensor:
        return result
    if "dtype" not in kwargs:
        result = promoted(result, name, (owner, *args))
    if result.shape is None:
        word = machine.library.shape(f"Tensor.{name}")
        by_table = None if name in RULES else _sizes_by_rule(word, owner, args, kwargs)
        shape = by_table or _sizes_of(name, owner, args, kwargs)
        if shape is not None:
            result = replace(result, shape=shape, ndim=len(shape))
    if name in TURNING and result.shape is not None:
        order = _sizes_of(name, replace(owner, shape=tuple(range(len(result.shape)))), args, kwargs)
        result = turned(result, owner, [*(order or ())])
    elif name == "unsqueeze" and result.shape is not None and args:
        result = with_new_dimension(result, owner, int_of(args[0]) % len(result.shape))
    elif name in BY_NUMBER:
        result = kept(result, owner, [*args, *kwargs.values()])
    if name.endswith("_like") or name.startswith("new_"):
        is_leaf = kwargs.get("requires_grad") == Const(True)
        return replace(as_made(machine, result), requires_grad=is_leaf)
    if name not in VIEWS and name[-1:] != "_":
        result = as_made(machine, result)
    return tracked(machine, result, (owner, *args, *kwargs.values()))


def _as_parts(result: Sequence, owner: Tensor) -> Sequence:
    """Parts of a tensor, which require grad as it does."""
    items, element = (
        [
            replace(part, requires_grad=owner.requires_grad) if type(part) is Tensor else part
            for part in parts
        ]
        for parts in (result.items or (), (result.element,))
    )
    return Sequence(result.type, None if result.items is None else items, element[0])


def as_made(machine: Machine, made: Tensor) -> Tensor:
    """A new tensor of the code around a region: under inference mode it is of another kind."""
    driver = machine.driver
    is_inference = driver.function is not None and driver.state.get("grad_mode") == INFERENCE
    return replace(made, kind=INFERENCE) if is_inference and made.kind == "" else made


def tracked(machine: Machine, result: Tensor, parts: tuple[Value, ...]) -> Tensor:
    """The result of an operation on these, which requires grad when one of them does."""
    if machine.driver.function is None or result.requires_grad is not None:
        return result
    if result.dtype in ("int", "bool") or machine.driver.state.get("grad_mode"):
        return replace(result, requires_grad=False) if result.dtype == "float" else result
    lists = [part.items for part in parts if type(part) is Sequence and part.items]
    parts = (
        *(part for part in parts if type(part) is not Sequence),
        *(v for vs in lists for v in vs),
    )
    known = [part.requires_grad for part in parts if type(part) is Tensor]
    if any(known):
        return replace(result, requires_grad=True)
    is_plain = known and all(flag is False for flag in known)
    is_plain = is_plain and all(isinstance(part, Tensor | Const) for part in parts)
    return replace(result, requires_grad=False) if is_plain else result


def track_in_place(owner: Tensor, tracked: bool, node: ast.AST, frame: Frame) -> Tensor:
    """What a tensor is from here on under its name, once it requires grad or no longer does."""
    tensor = replace(owner, requires_grad=tracked)
    holder = getattr(node, "func", node)
    name = holder.value.id if isinstance(getattr(holder, "value", None), ast.Name) else ""
    if frame.names.get(name) is owner:
        frame.names[name] = tensor
    return tensor


def note_graph_in_place(
    machine: Machine, owner: Tensor, parts: tuple[Value, ...], written: ast.AST, frame: Frame
) -> None:
    """A tensor into which an operation in place writes what requires grad does so from here on, under
    its name or in the attribute that keeps it. `written` is what stands before the method or the index."""
    if frame.emits or owner.requires_grad or owner.kind == "parameter":
        return
    if not tracked(machine, replace(owner, requires_grad=None), parts).requires_grad:
        return
    while type(written) is ast.Subscript:  # a view
        written = written.value
    if type(written) is ast.Name and frame.names.get(written.id) is owner:
        frame.names[written.id] = replace(owner, requires_grad=True)
    holder = frame.names.get(getattr(getattr(written, "value", None), "id", ""))
    if type(written) is ast.Attribute and type(holder) is Instance:
        kept = holder.attributes.get(written.attr)
        if kept is not None and type(kept.original) is Tensor:
            holder.attributes[written.attr] = replace(kept.original, requires_grad=True)


def behind_followed_layer(
    machine: Machine, layer: ExternalInstance, result: Value, args: list[Value], frame: Frame
) -> Value:
    """The result of a layer of torch's outside of regions; inside, that it is a part of the graph of its parameters."""
    first = args[0] if args else None
    if frame.emits and type(result) is Tensor and _is_trained(layer):
        return replace(result, requires_grad=True)
    if frame.emits or machine.driver.function is None:
        return result
    shapes = behind_layer(layer, first) if type(first) is Tensor and first.shape else None
    return _of_layer(machine, layer, result, shapes, args)


def _is_trained(layer: ExternalInstance) -> bool:
    return layer.name.rpartition(".")[2].startswith(TRAINED)


def _of_layer(
    machine: Machine, layer: ExternalInstance, result: Value, shapes: object, args: list[Value]
) -> Value:
    if type(result) is Sequence and result.items and layer.name.startswith("torch.nn."):
        inner = shapes if type(shapes) is list else []
        inner = [*inner, *(None for _ in result.items)][: len(result.items)]
        parts = [
            _of_layer(machine, layer, item, sizes, args) for item, sizes in zip(result.items, inner)
        ]
        return Sequence(result.type, parts)
    if type(result) is not Tensor:
        return result
    result = as_made(machine, result)
    if type(shapes) is tuple and result.shape is None:
        result = replace(result, shape=shapes, ndim=len(shapes))
    if _is_trained(layer):
        is_frozen = any(what.startswith("requires_grad") for what in machine.driver.state)
        if machine.driver.state.get("grad_mode"):
            return replace(result, requires_grad=False)
        return result if is_frozen else replace(result, requires_grad=True)
    return tracked(machine, result, tuple(args))


def _sizes_by_rule(
    word: Shape | None, owner: Tensor, args: list[Value], kwargs: dict[str, Value]
) -> tuple | None:
    """The sizes of a result, where the table `shapes` has it broadcast of all arguments, or indexed by one."""
    rule = word.results[0].ndim if word is not None and len(word.results) == 1 else ""
    given = (owner, *args, *kwargs.values())
    if rule == "broadcast":
        return broadcast(*given)
    tensors = [value for value in given[1:] if type(value) is Tensor]
    return tensors[0].shape if rule == "indexed" and len(tensors) == 1 else None


def _shape_of(value: Value) -> tuple | None:
    return value.shape if type(value) is Tensor else () if value.is_number else None


def _sizes_of(name: str, owner: Tensor, args: list[Value], kwargs: dict[str, Value]):
    if name in BY_VALUES:
        length = DrawnSize(owner, *args[:1])
        return (length, owner.ndim) if name == "nonzero" and owner.ndim else (length,)
    shape = owner.shape
    if shape is None:
        return None
    if name in KEEPING:
        return shape
    if (slid := behind_window(name, shape, args, kwargs, False)) is not None:
        return slid
    given = [int_of(value) for value in args]
    if name in REDUCING:
        return _reduced(name, shape, args, kwargs)
    if name in ("view", "reshape"):
        return _reshaped(shape, args)
    if name == "ravel":
        return _reshaped(shape, [Const(-1)])
    if name in ("sort", "cummax", "cummin"):
        return shape
    if name == "multinomial" and given and shape:
        return (*shape[:-1], given[0])
    if name == "topk" and len(given) == 1 and shape:
        return (*shape[:-1], given[0])
    if name in ("max", "min", "median") and not args and not kwargs:
        return ()
    if name in PAIRS and (given or "dim" in kwargs):
        return _reduced(name, shape, args, kwargs)
    if name == "unsqueeze" and len(given) == 1:
        at = _place(given[0], len(shape) + 1)
        return None if at is None else (*shape[:at], 1, *shape[at:])
    if name == "transpose" and len(given) == 2:
        order = list(shape)
        first, second = (_place(number, len(shape)) for number in given)
        if first is None or second is None:
            return None
        order[first], order[second] = order[second], order[first]
        return tuple(order)
    return sizes_by_name(name, owner, args, kwargs)


def _place(number: int | None, length: int) -> int | None:
    """The dimension that a number names; None where there is no such."""
    is_there = number is not None and -length <= number < length
    return number % length if is_there else None


def _reduced(name: str, shape: tuple, args: list[Value], kwargs: dict[str, Value]) -> tuple | None:
    args = args[1:] if name == "norm" else args
    dim = args[0] if args else kwargs.get("dim")
    keeps = Const(True) in (*args[1:2], kwargs.get("keepdim"))
    if dim is None:
        return None if keeps else ()
    given = dim.items if isinstance(dim, Sequence) else [dim]
    places = [_place(int_of(value), len(shape)) for value in given or ()]
    if not places or None in places:
        return None
    kept = [(n, at in places) for at, n in enumerate(shape)]
    return tuple(1 if is_gone else n for n, is_gone in kept if keeps or not is_gone)


def _reshaped(shape: tuple, args: list[Value]) -> tuple | None:
    given = args[0].items if len(args) == 1 and isinstance(args[0], Sequence) else args
    if not given or not all(type(n) is int for n in shape):
        return None
    sizes = [int_of(value) for value in given]
    count = 1
    for n in shape:
        count *= n
    rest = 1
    for n in sizes:
        if n is None:
            return tuple(sizes)
        rest *= n if n != -1 else 1
    if sizes.count(-1) == 1 and rest > 0 and count % rest == 0:
        return tuple(count // rest if n == -1 else n for n in sizes)
    return tuple(sizes) if -1 not in sizes else None


def broadcast(*values: Value) -> tuple | None:
    """The sizes of the result of an elementwise operation."""
    return reduce(_broadcast_shape, map(_shape_of, values))


def _broadcast_shape(left: tuple | None, right: tuple | None) -> tuple | None:
    return None if left is None or right is None else broadcast_sizes(left, right)


def spread_tensors(name: str, args: list[Value], kwargs: dict[str, Value]) -> list[Tensor] | None:
    """What `meshgrid` and `broadcast_tensors` make of tensors of known sizes."""
    given = (args[0].items or []) if args and isinstance(args[0], Sequence) else args
    if not given or not all(type(t) is Tensor and t.shape is not None for t in given):
        return None
    if name == "broadcast_tensors":
        sizes = broadcast(*given)
    else:
        lengths = [n for t in given for n in t.shape or (1,)]
        is_swapped = kwargs.get("indexing") == Const("xy")
        sizes = (*lengths[:2][::-1], *lengths[2:]) if is_swapped else tuple(lengths)
    if sizes is None:
        return None
    return [replace(t, shape=sizes, ndim=len(sizes), kind="", origin="op") for t in given]


def product_sizes(left: Value, right: Value) -> tuple | None:
    """The sizes of `left @ right`."""
    return sizes_by_name("matmul", left, [right], {}) if type(left) is Tensor else None
