"""Whether a module holds parameters, as far as its value shows it."""

from __future__ import annotations

from breakscope import limits
from breakscope.rulekit.values import (
    FALSE,
    Dict,
    ExternalInstance,
    Instance,
    Sequence,
    Tensor,
    Value,
    options,
)

# how the names of torch's layers with parameters begin
LAYERS = tuple(
    f"torch.nn.{name}"
    for name in (
        "Linear Bilinear Conv LazyLinear LazyConv LazyBatchNorm BatchNorm SyncBatchNorm InstanceNorm LayerNorm GroupNorm RMSNorm Embedding PReLU"
        " MultiheadAttention Transformer RNNCell LSTMCell GRUCell"
    ).split()
)
SWITCHES = ("affine", "elementwise_affine")


def holds_parameters(value: Value | None, depth: int = limits.DEEPEST_MODULE_WALK) -> bool | None:
    """True and False where it is known, of torch's layers and of containers of modules; an object of the
    checked source may have more than its attributes show."""
    if depth == 0 or value is None:
        return None
    kinds = {_of(option, depth) for option in options(value)}
    return kinds.pop() if len(kinds) == 1 else None


def _of(value: Value, depth: int) -> bool | None:
    if isinstance(value, ExternalInstance):
        if not value.name.startswith("torch.nn."):
            return None
        if value.name == "torch.nn.Module":
            return None  # one of any class
        given = dict(value.kwargs)
        if value.name.startswith("torch.nn.InstanceNorm") and "affine" not in given:
            return False  # the only one that has none unless asked
        is_off = any(given.get(switch) == FALSE for switch in SWITCHES)
        return value.name.startswith(LAYERS) and not is_off
    if isinstance(value, Tensor):
        return True if value.kind == "parameter" else None
    if isinstance(value, Instance):
        inside = list(value.attributes.values())
    elif isinstance(value, Dict):
        inside = [*value.items.values(), *([value.element] if value.open else [])]
    elif isinstance(value, Sequence):
        inside = value.inside
    else:
        return None
    kinds = {holds_parameters(part, depth - 1) for part in inside}
    if True in kinds:
        return True
    return False if kinds <= {False} and not isinstance(value, Instance) else None
