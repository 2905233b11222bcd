"""What a call of a layer of torch.nn returns, and the layers that its constructor makes."""

from __future__ import annotations

from breakscope.knowledge.ndim import behind_layer
from breakscope.rulekit.values import NONE, UNKNOWN, ExternalInstance, Sequence, Tensor, Value
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine

TENSOR_PAIRS = frozenset({"LSTM", "GRU", "RNN"})
# by attribute: the layer that has it, and of which class it is
LAYER_PARTS = {
    "encoder": ("torch.nn.Transformer", "torch.nn.TransformerEncoder"),
    "decoder": ("torch.nn.Transformer", "torch.nn.TransformerDecoder"),
}


def part_of_layer(layer: str, name: str) -> ExternalInstance | None:
    """The layer that the constructor of a layer of torch's makes, and keeps by that name."""
    kind, part = LAYER_PARTS.get(name, ("", ""))
    return ExternalInstance(part) if layer == kind else None


def layer_result(machine: Machine, owner: ExternalInstance, args: list[Value]) -> Value:
    """What a layer of torch.nn, or what is called as one, makes of its arguments."""
    last = owner.name.rpartition(".")[2]
    first = next((a for a in args if isinstance(a, Tensor)), None)
    if last in TENSOR_PAIRS:
        state = Tensor("float", 3)
        packed = args and isinstance(args[0], ExternalInstance)
        output: Value = Tensor("float", 3)
        if packed:
            output = ExternalInstance("torch.nn.utils.rnn.PackedSequence")
        cell = Sequence("tuple", [state, state]) if last == "LSTM" else state
        return Sequence("tuple", [output, cell])
    if last == "LSTMCell":
        return Sequence("tuple", [Tensor("float", 2), Tensor("float", 2)])
    if last == "MultiheadAttention":
        return Sequence("tuple", [Tensor("float"), join(Tensor("float"), NONE)])
    if last == "Identity":
        return args[0] if args else UNKNOWN
    return behind_layer(machine.library.shape, owner, first)
