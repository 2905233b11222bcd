"""Sizes and layouts of tensors outside of regions, where code makes what it hands to them: a region's own
are symbols."""

from __future__ import annotations

from breakscope.rulekit.values import Const, ExternalInstance, Sequence, Tensor, Value

# methods whose result has the sizes of the tensor, laid out as a new one
KEEPING = frozenset(
    """
    clone contiguous detach cpu cuda to float double half long int bool bfloat16 requires_grad_ relu sigmoid tanh
    exp log abs neg sin cos softmax log_softmax clamp normal_ uniform_ zero_ fill_ add_ mul_ sub_ div_
    """.split()
)


def with_sizes(result: Value, owner: Tensor, name: str) -> Value:
    """The result of a method, with the tensor's sizes where it keeps them."""
    if type(result) is Tensor and result.shape is None and name in KEEPING and owner.shape:
        return Tensor(
            result.dtype,
            len(owner.shape),
            owner.shape,
            result.sure,
            result.kind,
            result.origin,
            result.requires_grad,
        )
    return result


def item_sizes(shape: tuple | None, parts: list[Value]) -> tuple[tuple | None, str]:
    """The sizes of `tensor[parts]`, and "strided" where its memory is not in one piece; None where they
    are not known."""
    if shape is None or len(parts) > len(shape):
        return None, ""
    sizes, kind = [], ""
    for at, part in enumerate(parts):
        whole = shape[at]
        if not isinstance(whole, int):
            return None, ""
        if isinstance(part, Const) and type(part.value) is int:
            kept, size = 1, None
        elif isinstance(part, ExternalInstance) and part.name == "slice":
            if not all(isinstance(b, Const) for b in part.args):
                return None, ""
            bounds = [b.value for b in part.args]
            if not all(b is None or type(b) is int for b in bounds):
                return None, ""
            kept = size = len(range(*slice(*bounds).indices(whole)))
            if bounds[2] not in (None, 1):
                kind = "strided"
        else:
            return None, ""
        if kept != whole and any(n != 1 for n in shape[:at]):
            kind = "strided"
        if size is not None:
            sizes.append(size)
    return (*sizes, *shape[len(parts) :]), kind


def joined_sizes(tensors: Value, dim: Value | None) -> tuple | None:
    """The sizes of `torch.cat(tensors, dim)`: along it more than any of them has, where not all are
    known."""
    at = 0 if dim is None else dim.value if isinstance(dim, Const) else None
    items = tensors.items if isinstance(tensors, Sequence) else None
    if not items or type(at) is not int or not all(isinstance(t, Tensor) for t in items):
        return None
    known = [t.shape for t in items if t.shape is not None]
    if not known or not -len(known[0]) <= at < len(known[0]):
        return None
    sizes = list(known[0])
    along = [shape[at] for shape in known if len(shape) == len(sizes)]
    if len(along) == len(items) and all(type(n) is int for n in along):
        sizes[at] = sum(along)
    else:
        sizes[at] = f"more than {along[0]}"
    return tuple(sizes)
