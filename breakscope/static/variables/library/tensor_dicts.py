"""Dictionaries of tensors with a batch size, as those of tensordict: their items are tensors."""

from __future__ import annotations

from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Method,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.library.objects import LibraryObjectVariable

ITEM = Tensor(sure=False, origin="argument")
KEY = Py("str")
SIZES = frozenset({"batch_size", "shape"})
NUMBERS = frozenset({"ndim", "batch_dims"})
VIEWS: dict[str, Value] = {
    "keys": Sequence("list", None, KEY),
    "values": Sequence("list", None, ITEM),
    "items": Sequence("list", None, Sequence("tuple", [KEY, ITEM])),
    "size": Sequence("size", None, UNKNOWN),
    "numel": Py("int"),
    "dim": Py("int"),
    "is_empty": Py("bool"),
}
READS = frozenset({"get", "pop", "get_at", "setdefault"})
# what gives a dictionary of tensors again
ALIKE = frozenset(
    """
    apply apply_ bool clone contiguous copy cpu cuda densify detach detach_ double empty exclude expand
    expand_as fill_ flatten flatten_keys float gather half int lock_ masked_fill named_apply permute
    rename_key_ repeat repeat_interleave requires_grad_ reshape select set set_ set_at_ split_keys squeeze
    to to_tensordict transpose unflatten unflatten_keys unlock_ unsqueeze update update_ update_at_ view
    zero_ zero_grad
    """.split()
)


class TensorDictVariable(LibraryObjectVariable):
    """A dictionary of tensors: of a text or a path of texts it has a tensor, of any other index a
    dictionary alike."""

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name in READS and args and not is_key(args[0]):
            return UNKNOWN
        if name in READS:
            default = args[1] if len(args) > 1 else kwargs.get("default")
            return ITEM if default is None else join(ITEM, default)
        if name in VIEWS:
            return VIEWS[name]
        return owner if name in ALIKE else UNKNOWN

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if name in SIZES:
            return VIEWS["size"]
        if name == "device":
            return UNKNOWN
        return Py("int") if name in NUMBERS else Method(owner, name)

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        if is_key(index):
            return ITEM
        if type(index) is Tensor and index.dtype == "bool":
            machine.getitem(ITEM, index, node, frame, store)  # a mask is one for each tensor in it
        return UNKNOWN if index.is_unknown else container

    def unpacked(self, machine: Machine, value, count, starred, node, frame) -> list[Value] | None:
        return None

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        return value


def is_key(index: Value) -> bool:
    """True for a text, and for a path of texts."""
    if type(index) is Sequence:
        return bool(index.items) and all(is_key(item) for item in index.items)
    if type(index) is Const:
        return type(index.value) is str
    return type(index) is Py and index.type == "str"
