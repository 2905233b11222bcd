"""Reaching for a tensor's storage ends the graph.

Inside the graph a tensor has no memory yet, so `x.storage()`, `x.untyped_storage().data_ptr()`,
`x.share_memory_()`, `x.is_shared()`, `x.storage_offset()` and `torch.utils.dlpack.to_dlpack(x)` end
it. (`x.data_ptr()` alone, `x.untyped_storage().size()`, `x.stride()` and `x.is_contiguous()` are
traced.)

Compare tensors by identity (`a is b`) rather than by address, and share memory or export it outside
the region.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK520",
    "storage",
    dynamo=("GB0156: Storage", "GB0117", "GB0007: _?(from|to)_dlpack", "GB0087: to_mkldnn"),
)

METHODS = {
    f"Tensor.{name}"
    for name in "storage share_memory_ is_shared is_pinned storage_offset __reduce_ex__ to_mkldnn".split()
}
FUNCTIONS = {
    "torch.from_dlpack",
    "torch.utils.dlpack.from_dlpack",
    "torch.utils.dlpack.to_dlpack",
    "torch.UntypedStorage.data_ptr",
    "torch.UntypedStorage.element_size",
    "torch.UntypedStorage.nbytes",
}


@rule.on(Call, METHODS, FUNCTIONS)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` reaches for memory that a tensor in the graph does not have yet",
        help="do it outside the compiled region; compare tensors with `is`, not by address",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0117",))
def bad(x):
    y = x * 2
    y.share_memory_()  # BRK520
    return y + 1


@rule.becomes
def good(x):
    y = x * 2
    return y + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0087",))
def bad(x):
    return x.to_mkldnn().to_dense() + 1  # BRK520


@rule.becomes
def good(x):
    return x + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_size(x):
    y = x * 2
    return y + y.untyped_storage().nbytes()  # BRK520


@rule.becomes
def good_size(x):
    y = x * 2
    return y + y.untyped_storage().size()
