"""Tensors: operators, attributes and methods."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.events import Call, ScalarRead
from breakscope.static.frames import Frame
from breakscope.static.library import ADDRESS
from breakscope.static.ranks import product_rank
from breakscope.static.tensor_items import TensorItems
from breakscope.static.tensor_results import TensorResults
from breakscope.values import (
    FALSE,
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
)

READS = {
    "item": "item",
    "tolist": "tolist",
    "__bool__": "bool",
    "__int__": "int",
    "__float__": "float",
    "__index__": "index",
}
SCALAR_ATTRIBUTES = {
    "is_cuda": Py("bool", "environment"),
    "is_sparse": FALSE,
    "is_leaf": Py("bool"),
    "requires_grad": Py("bool", "config"),
    "is_quantized": FALSE,
    "is_mps": Py("bool", "environment"),
    "is_meta": Py("bool"),
    "is_nested": Py("bool", "config"),
    "is_cpu": Py("bool", "environment"),
    "layout": Py("layout"),
    "names": UNKNOWN,
    "itemsize": Py("int"),
    "nbytes": ShapeInt(),
    "grad_fn": UNKNOWN,
    "device": Py("device", "environment"),
    "output_nr": Py("int"),
    "__class__": External("torch.Tensor"),
    "is_xla": Py("bool", "environment"),
    "is_xpu": Py("bool", "environment"),
    "is_npu": Py("bool", "environment"),
}
TENSOR_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "real", "imag", "data"})
# methods that only tensors (and arrays) have: a value that they are called on is one
TENSOR_ONLY = frozenset(
    """
    unsqueeze masked_fill masked_fill_ permute expand expand_as view_as contiguous detach index_select gather
    scatter scatter_ scatter_add scatter_add_ long argmax topk cumsum new_zeros new_ones new_full new_tensor
    new_empty nonzero masked_select repeat_interleave unbind item isnan softmax log_softmax sigmoid
    requires_grad_ chunk dim any all transpose type_as byte bool argsort squeeze flatten norm numel matmul bmm
    """.split()
)
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
# Kinds of tensors whose precision is not the usual one: another dtype to a guard.
PRECISE = {
    "torch.float16": "half", "torch.half": "half", "torch.float64": "double", "torch.double": "double",
    "torch.bfloat16": "bfloat16",
}


class Tensors(TensorResults, TensorItems):
    """How tensors behave under operators, attributes and calls."""

    __slots__ = ()

    def tensor_operator(self, op: type, left: Value, right: Value) -> Value:
        tensors = [v for v in (left, right) if v.is_tensor]
        dtypes = {t.dtype for t in tensors}
        dtype = None
        if op in BITWISE and dtypes == {"bool"}:
            dtype = "bool"
        elif op is ast.Div or "float" in dtypes:
            dtype = "float" if op is ast.Div or len(dtypes) == 1 else None
        elif dtypes == {"int"} and all(
            v.is_tensor or v.is_const and isinstance(v.value, int) or v.is_shape for v in (left, right)
        ):
            dtype = "int"
        ranks = [t.ndim for t in tensors]
        shapes = {t.shape for t in tensors}
        return Tensor(
            dtype,
            None if None in ranks else product_rank(*ranks) if op is ast.MatMult and len(ranks) == 2 else max(ranks),
            shapes.pop() if len(shapes) == 1 and op is not ast.MatMult else None,
            all(t.sure for t in tensors),
            tensors[0].kind if tensors[0].kind == "numpy" else "",
            requires_grad=False if all(t.requires_grad is False for t in tensors) else None,
        )

    def tensor_attribute(self, owner: Tensor, name: str, node: ast.AST, frame: Frame) -> Value:
        if name == "shape":
            return self.shape_of(owner)
        if name == "dtype":
            return External("torch.bool") if owner.dtype == "bool" else Py("dtype", "config")
        if name == "ndim":
            return Const(owner.ndim) if owner.ndim is not None else ShapeInt()
        if name in SCALAR_ATTRIBUTES:
            if frame.emits and self.interesting(f"Tensor.{name}"):
                full = f"Tensor.{name}"
                self.emit(Call, node, frame, self.sureness(owner), name=full, receiver=owner, kwargs={})
            return SCALAR_ATTRIBUTES[name]
        if name in ("T", "mT") and owner.shape is not None and owner.kind == "":
            return Tensor(owner.dtype, owner.ndim, tuple(reversed(owner.shape)), owner.sure, "strided")
        if name in TENSOR_ATTRIBUTES:
            return Tensor(owner.dtype, owner.ndim, None, owner.sure, owner.kind if owner.kind == "numpy" else "")
        if name == "grad":
            return Tensor(sure=False)
        if owner.kind == "numpy" and name == "size":
            return ShapeInt()
        narrowed = frame.names.get(f"{getattr(getattr(node, 'value', None), 'id', '')}.{name}")
        return narrowed if narrowed is not None else Method(owner, name)

    def shape_of(self, owner: Tensor) -> Value:
        if owner.shape is not None:
            return Sequence("size", [ShapeInt(n) for n in owner.shape])
        if owner.ndim is not None:
            return Sequence("size", [ShapeInt() for _ in range(owner.ndim)])
        return Sequence("size", None, ShapeInt())

    def call_tensor_method(
        self, owner: Tensor, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if not frame.emits and name in ("half", "double", "bfloat16"):
            return Tensor("float", owner.ndim, owner.shape, owner.sure, name)  # what a caller of the region passes
        if not frame.emits and name == "to":
            wanted = [v.name for v in (*args, *kwargs.values()) if isinstance(v, External)]
            precise = [PRECISE[name] for name in wanted if name in PRECISE]
            if precise:
                return Tensor("float", owner.ndim, owner.shape, owner.sure, precise[0])
        if not frame.emits and name == "expand":
            return Tensor(owner.dtype, None, None, owner.sure, "strided")
        if self.driver is not None and name == "requires_grad_" and owner.kind == "parameter":
            self.state["requires_grad"] = self.text(node, frame.module)
        if name in self.library.of_containers and owner.kind != "numpy":
            return UNKNOWN  # it is no tensor that has such a method
        prefix = "numpy.ndarray" if owner.kind == "numpy" else "Tensor"
        if name in READS:
            self.emit(
                ScalarRead,
                node,
                frame,
                self.sureness(owner),
                value=owner,
                how=READS[name],
                expression=self.text(node.func.value, frame.module)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                else self.text(node, frame.module),
            )
            if name == "tolist":
                return self.listed(owner)
            return Scalar("bool" if owner.dtype == "bool" else "number")
        full = f"{prefix}.{name}"
        if self.interesting(full):
            self.emit(
                Call, node, frame, self.sureness(owner), name=full, receiver=owner, args=tuple(args), kwargs=kwargs
            )
        if name == "register_hook" and args and frame.emits and owner.origin != "argument":
            self.call_hook(args[0], Tensor(owner.dtype, owner.ndim, owner.shape, owner.sure), node, frame)
        if name == "data_ptr":
            return ADDRESS
        if name == "untyped_storage":
            return ExternalInstance("torch.UntypedStorage")
        result = self.tensor_result(name, owner, args, kwargs, full)
        if owner.requires_grad is False and type(result) is Tensor and name not in ("requires_grad_", "register_hook"):
            others = (*args, *kwargs.values())
            if all(type(v) is Const or v.is_tensor and v.requires_grad is False for v in others):
                return replace(result, requires_grad=False)
        return result

    def listed(self, owner: Tensor) -> Value:
        """What `.tolist()` gives: numbers, or lists of them."""
        if owner.ndim == 0:
            return Scalar()
        inner: Value = Scalar()
        for _ in range((owner.ndim or 1) - 1):
            inner = Sequence("list", None, inner)
        return Sequence("list", None, inner)
