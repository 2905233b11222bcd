"""How a tensor lies in memory, in the code around a region: as views turn it, and as what is computed of
each of its numbers keeps it."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.values import Tensor, Value
from breakscope.static.variables.tensors.sizes import DENSE, layout, strides_in, strides_of

# operations of each number that lay their result out as their tensor is
BY_NUMBER = frozenset(
    """
    clone to cpu cuda float double half long int bool bfloat16 relu sigmoid tanh exp log abs neg sin cos clamp
    add sub mul div pow sqrt square round floor gelu detach
    """.split()
)


def laid_out(tensor: Tensor, strides: list[int]) -> Tensor:
    """The tensor with these strides."""
    if strides != strides_of(tensor.shape):
        return replace(tensor, kind=layout(strides))
    return tensor if tensor.kind in DENSE else replace(tensor, kind="")


def turned(result: Tensor, owner: Tensor, order: list[int]) -> Tensor:
    """A view with the dimensions of `owner` in another order."""
    strides = strides_in(owner)
    known = strides is not None and len(order) == len(strides)
    return laid_out(result, [strides[at] for at in order]) if known else result


def transposed(owner: Tensor, name: str) -> Tensor:
    """`owner.T` and `owner.mT`."""
    order = [*range(len(owner.shape))]
    order = order[::-1] if name == "T" else [*order[:-2], *order[:-3:-1]]
    shape = tuple(owner.shape[at] for at in order)
    return turned(Tensor(owner.dtype, owner.ndim, shape, owner.sure, "strided"), owner, order)


def with_new_dimension(result: Tensor, owner: Tensor, at: int) -> Tensor:
    """A view with a dimension of one more, at that place."""
    strides = strides_in(owner)
    if strides is None or result.shape is None:
        return result
    outer = owner.shape[at] * strides[at] if at < len(strides) else 1
    return laid_out(result, [*strides[:at], outer, *strides[at:]])


def kept(result: Value, owner: Value, others: list[Value]) -> Value:
    """What an operation makes of each number of `owner`, and of the same plain numbers."""
    if type(owner) is not Tensor or type(result) is not Tensor or result.kind or not owner.kind:
        return result
    is_alone = not any(other.is_tensor for other in others) and result.shape == owner.shape
    strides = strides_in(owner) if is_alone else None
    return laid_out(result, strides) if strides and _is_dense(owner.shape, strides) else result


def _is_dense(shape: tuple, strides: list[int]) -> bool:
    """True where the numbers lie side by side, in whatever order."""
    step = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape) if size != 1):
        if stride != step:
            return False
        step *= size
    return True
