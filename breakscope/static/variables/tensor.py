"""Tensors, and the arrays that Dynamo traces as tensors."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.rulekit.events import Branch, Store
from breakscope.rulekit.values import (
    BOOL,
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Instance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
    options,
)
from breakscope.static.definitions.annotations import value_of_class
from breakscope.static.definitions.classes import is_tensor_class
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import element_of, join, join_all
from breakscope.static.machine.library import ADDRESS, NOT_TENSORS, OF_TENSORS, TENSOR_TYPES
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.watch import COMPUTED
from breakscope.static.variables.base import Variable
from breakscope.static.variables.effects.emitting import (
    emit_argument_read,
    emit_call,
    emit_read,
    emit_sparse,
    is_asked_for,
    sureness,
)
from breakscope.static.variables.effects.size_reads import emit_flags
from breakscope.static.variables.effects.subgraphs import call_hook
from breakscope.static.variables.objects.operators import tensor_with_object
from breakscope.static.variables.tensors.arithmetic import tensor_operator
from breakscope.static.variables.tensors.by_method import is_layer
from breakscope.static.variables.tensors.dtypes import (
    COMPLEX,
    converted,
    exact_dtype,
    narrowed_in_region,
    promoted,
)
from breakscope.static.variables.tensors.followed import (
    as_made,
    broadcast,
    followed,
    note_graph_in_place,
    product_sizes,
    track_in_place,
    tracked,
)
from breakscope.static.variables.tensors.indexing import (
    counted_parts,
    emit_index,
    index_parts,
    item_of,
    listed_values,
    read_slices,
    row_of,
    scalar_of,
)
from breakscope.static.variables.tensors.layouts import kept, transposed
from breakscope.static.variables.tensors.number_rows import note_result
from breakscope.static.variables.tensors.results import shape_of, tensor_result
from breakscope.static.variables.tensors.size_rules import sizes_by_name
from breakscope.static.variables.tensors.sizes import channels_last, known_sizes, with_sizes
from breakscope.static.variables.tensors.subclasses import is_of_subclass

LAST = External("torch.channels_last")
READS = {
    "item": "item",
    "tolist": "tolist",
    "__bool__": "bool",
    "__int__": "int",
    "__float__": "float",
    "__index__": "index",
}
BACKENDS = """
cuda mps cpu xla xpu npu mkldnn vulkan ipu maia mtia hpu sparse_csr
""".split()
SCALAR_ATTRIBUTES = {
    **{f"is_{name}": Py("bool", "environment") for name in BACKENDS},
    "is_sparse": FALSE,
    "is_leaf": Py("bool"),
    "requires_grad": Py("bool", "config"),
    "retains_grad": Py("bool", "config"),
    "is_quantized": FALSE,
    "is_meta": Py("bool"),
    "is_nested": Py("bool", "config"),
    "layout": Py("layout"),
    **dict.fromkeys(("name", "names", "grad_fn", "_base", "_backward_hooks"), UNKNOWN),
    "itemsize": Py("int"),
    "nbytes": ShapeInt(),
    "device": Py("device", "environment"),
    "output_nr": Py("int"),
    "_version": Py("int", "version"),
    "__class__": External("torch.Tensor"),
}
# methods of a sparse tensor that give one
SPARSE_AS_WELL = frozenset(
    "coalesce t transpose to float double half bfloat16 long detach clone cuda cpu type neg".split()
)


class TensorVariable(Variable):
    """A tensor, or an array that Dynamo traces as one."""

    binary_precedence = 6
    compare_precedence = 3

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if is_layer(owner, name, args):
            return UNKNOWN
        emit_flags(machine, f"Tensor.{name}", kwargs, node, frame)
        return call_tensor_method(machine, owner, name, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        return tensor_attribute(machine, owner, name, node, frame)

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        driver = machine.driver
        if driver.function is not None and name == "requires_grad" and owner.kind == "parameter":
            driver.track_parameters(machine.text(node, frame.module), owner, value)
        elif driver.function is not None and name == "requires_grad" and value.is_const:
            track_in_place(owner, bool(value.value), target, frame)
        machine.emit(
            Store,
            node,
            frame,
            sureness(owner),
            owner=machine.text(target.value, frame.module),
            name=name,
            scope="tensor",
            value=value,
            initial=owner,
        )

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        """`tensor[index]`: a boolean mask gives a shape that depends on data."""
        parts = counted_parts(node, index_parts(index))
        emit_index(machine, node, frame, container, parts, store)
        read_slices(machine, node, frame, parts)
        return item_of(machine, container, parts, frame)

    def setitem(
        self, machine: Machine, container, index, value, augmented, target, node, frame
    ) -> None:
        parts = index_parts(index)
        emit_index(machine, target, frame, container, parts, "=", value)
        read_slices(machine, target, frame, parts)
        machine.driver.rows.pop(id(container), None)
        note_graph_in_place(machine, container, (value,), getattr(target, "value", None), frame)

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        if value.kind == "numpy" and value.ndim == 1 and not frame.emits:
            return Py("numpy scalar")
        return row_of(value, frame)

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        certainty = "possible" if is_asked_for(value, node, frame) else sureness(value)
        machine.emit(Branch, node, frame, certainty, test=value, construct=construct, **facts)
        known = machine.driver.number_in(value, frame)
        return bool(known.value) if known is not None else None

    def contains(
        self, machine: Machine, container, item, container_node, node, frame
    ) -> bool | None:
        certainty = frame.certainty
        is_text = item.is_const and isinstance(item.value, str)
        if container.origin == "guess" or (is_text and container.is_argument):
            frame.certainty = "possible"  # who asks what is in it rather has a dict
        emit_read(machine, container, "contains", node, frame, container_node)
        frame.certainty = certainty
        return None

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        if type(left) is Instance or type(right) is Instance:
            return tensor_with_object(machine, left, right, op, node, frame)
        listed, times = (left, right) if type(left) is Sequence else (right, left)
        if op is ast.Mult and type(listed) is Sequence and listed.type in ("list", "tuple"):
            is_by_count = times.dtype == "int" or times.ndim == 0 or listed.items is not None
            if not is_by_count or times.dtype in ("float", "complex"):
                # Python repeats none by that: it is a tensor, whatever calls it a sequence
                return Tensor(sure=False)
            if (times.sure or times.dtype == "int") and not times.kind:  # else rather a number
                emit_read(machine, times, "repeat", node, frame)
            return Sequence(listed.type, None, element_of(listed))
        emit_sparse(machine, (left, right), node, frame)
        result = tensor_operator(left, right, op)
        if frame.emits:
            has_graph = any(type(v) is Tensor and v.requires_grad for v in (left, right))
            return replace(result, requires_grad=True) if has_graph else result
        sizes = product_sizes if op is ast.MatMult else broadcast
        made = promoted(result, "", (left, right))
        made = replace(made, shape=sizes(left, right) or result.shape)
        if op is not ast.MatMult:
            made = kept(kept(made, left, [right]), right, [left])
        return tracked(machine, as_made(machine, made), (left, right))

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        tensor, other = (left, right) if left.is_tensor else (right, left)
        if other.is_none or (other.is_const and isinstance(other.value, str)):
            return Const(op is ast.NotEq)
        if op in (ast.Eq, ast.NotEq) and type(other) in (Sequence, Dict) and not tensor.kind:
            # who compares a parameter with a list says that lists are passed
            return BOOL if tensor.origin == "guess" else Const(op is ast.NotEq)
        dimensions = [t.ndim for t in (left, right) if t.is_tensor]
        ndim = None if None in dimensions else max(dimensions)
        kind = "subclass" if is_of_subclass(machine, other) else tensor.kind
        shape = (
            broadcast(left, right) if not frame.emits else None if other.is_tensor else tensor.shape
        )
        made = Tensor("bool", ndim, shape, sure=tensor.sure, kind=kind)
        known = machine.driver.number_in(left, frame)
        if known is not None and right.is_const:
            truth = machine.behaviour(known).compare(machine, known, right, op, node, frame)
            if truth.is_const:
                machine.driver.contents[id(made)] = made, truth
        return made

    def identical(self, left, right) -> bool | None:
        return True if left is right and left.is_argument else None

    def is_of_class(self, machine: Machine, value, wanted) -> bool | None:
        if value.kind == "subclass" or (value.kind == "parameter" and not value.sure):
            return None if is_tensor_class(machine, wanted.info) else False
        is_open = value.is_argument and not value.sure and value.kind != "sparse"
        return None if is_open and not is_tensor_class(machine, wanted.info) else False

    def is_of_type(self, machine: Machine, value, name) -> bool | None:
        if name == "object":
            return True
        if name in ("torch.Tensor", "torch.is_tensor", *OF_TENSORS):
            # who asks says that others are passed as well
            return None if value.origin == "guess" else name in OF_TENSORS or value.kind != "numpy"
        if value.is_argument and not value.sure:
            return None
        if name.startswith(NOT_TENSORS):
            return False
        if name in TENSOR_TYPES or name.startswith("torch."):
            return None
        return value.kind == "numpy" or None if name.startswith("numpy.") else False

    def class_of(self, value) -> Value:
        return External("torch.Tensor") if value.sure and value.kind == "" else UNKNOWN

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        if (known := machine.driver.number_in(value, frame)) is not None:
            return machine.behaviour(known).cast(machine, known, name, node, frame)
        emit_argument_read(machine, value, name, node, frame)
        return Scalar(name)

    def length(self, machine: Machine, value, node, frame) -> Value:
        sizes = None if frame.emits else known_sizes(value, "shape", [])
        return sizes.items[0] if sizes is not None and sizes.items else ShapeInt(is_extent=True)

    def is_opaque(self, machine: Machine, value, within) -> bool:
        return True


def tensor_attribute(
    machine: Machine, owner: Tensor, name: str, node: ast.AST, frame: Frame
) -> Value:
    emit_sparse(machine, (owner,), node, frame)
    if name == "shape":
        known = None if frame.emits else known_sizes(owner, name, [])
        return shape_of(owner) if known is None else known
    if name == "dtype":
        if owner.kind == "numpy":
            emit_call(machine, "numpy.ndarray.dtype", owner, (), {}, node, frame, sureness(owner))
        known = None if frame.emits else exact_dtype(owner)
        return External("torch.bool") if owner.dtype == "bool" else known or Py("dtype", "config")
    if name == "ndim":
        return Const(owner.ndim) if owner.ndim is not None else ShapeInt()
    if name == "layout" and frame.module.library and owner.kind != "sparse":
        return External("torch.strided")  # one that is sparse is handed over where that shows
    if name in SCALAR_ATTRIBUTES:
        emit_call(machine, f"Tensor.{name}", owner, (), {}, node, frame, sureness(owner))
        return SCALAR_ATTRIBUTES[name]
    if name in ("T", "mT") and owner.shape is not None and owner.kind == "":
        return transposed(owner, name)
    if name in ("real", "imag") and owner.kind == COMPLEX:
        return Tensor("float", owner.ndim, owner.shape, owner.sure, "strided")
    if name in COMPUTED:
        made = Tensor(owner.dtype, owner.ndim, None, owner.sure, owner.kind_of_result)
        return made if frame.emits else promoted(made, name, (owner,))
    if name == "grad":
        return join(NONE, Tensor(sure=False))
    if owner.kind == "numpy" and name == "size":
        return ShapeInt()
    narrowed = frame.names.get(f"{getattr(getattr(node, 'value', None), 'id', '')}.{name}")
    return narrowed if narrowed is not None else Method(owner, name)


def call_tensor_method(
    machine: Machine,
    owner: Tensor,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    if not frame.emits and LAST in (*args, *kwargs.values()):
        return channels_last(owner)
    if not frame.emits and (made := converted(owner, name, args, kwargs)) is not None:
        return made  # what a caller of the region passes
    if not frame.emits and name in ("size", "numel"):
        known = known_sizes(owner, name, args)
        if known is not None:
            return known
    if not frame.emits and name == "requires_grad_" and owner.kind != "parameter":
        return track_in_place(owner, FALSE not in (*args, *kwargs.values()), node, frame)
    if not frame.emits and name == "detach":
        return replace(owner, requires_grad=False)
    if not frame.emits and name == "expand":
        shape = sizes_by_name(name, owner, args, kwargs)
        return Tensor(owner.dtype, shape and len(shape), shape, owner.sure, "strided")
    if (
        machine.driver.function is not None
        and name == "requires_grad_"
        and owner.kind == "parameter"
    ):
        given = next(iter((*args, *kwargs.values())), TRUE)
        machine.driver.track_parameters(machine.text(node, frame.module), owner, given)
    is_known = name in machine.library.tensor_methods or name.startswith("__")
    if not is_known and owner.kind != "numpy":
        return UNKNOWN  # it is no plain tensor that has such a method
    prefix = "numpy.ndarray" if owner.kind == "numpy" else "Tensor"
    if name in READS:
        part = getattr(node.func, "value", node) if isinstance(node, ast.Call) else node
        emit_read(machine, owner, READS[name], node, frame, part)
        if (known := machine.driver.number_in(owner, frame)) is not None and name == "item":
            return known
        if name == "tolist":
            return listed_values(owner, not frame.emits)
        return scalar_of(owner, not frame.emits)
    full = f"{prefix}.{name}"
    emit_call(machine, full, owner, args, kwargs, node, frame, sureness(owner))
    if name == "register_hook" and args and frame.emits and not owner.is_argument:
        call_hook(
            machine, args[0], Tensor(owner.dtype, owner.ndim, owner.shape, owner.sure), node, frame
        )
    if name == "register_hook":  # the handle's `remove` is traced, unlike that of a module's
        return ExternalInstance(full)
    if name == "data_ptr":
        return ADDRESS
    if name.startswith("to_sparse") or (owner.kind == "sparse" and name in SPARSE_AS_WELL):
        return Tensor(owner.dtype, owner.ndim, None, owner.sure, "sparse")
    if name == "as_subclass" and args and all(type(c) is Class for c in options(args[0])):
        return join_all([value_of_class(machine, cls) for cls in options(args[0])])
    if name == "untyped_storage":
        return ExternalInstance("torch.UntypedStorage")
    result = tensor_result(machine, name, owner, args, kwargs, full)
    if not frame.emits:
        result = followed(
            machine, with_sizes(result, owner, name), name, owner, args, kwargs, frame
        )
    elif type(result) is Tensor and result.dtype == "int" and not result.kind:
        result = narrowed_in_region(result, name, owner, args, kwargs)
    if owner.requires_grad is False and type(result) is Tensor and name != "requires_grad_":
        others = (*args, *kwargs.values())
        if all(type(v) is Const or (v.is_tensor and v.requires_grad is False) for v in others):
            result = replace(result, requires_grad=False)
    if not frame.emits:
        note_result(machine, owner, name, (*args, *kwargs), result)
        if name[-1:] == "_" != name[:1]:
            written = getattr(getattr(node, "func", None), "value", None)
            note_graph_in_place(machine, owner, (*args, *kwargs.values()), written, frame)
    return result
