"""Recurrent modules: where the region reads one, by name or on a walk over the modules of another."""

from __future__ import annotations

from breakscope.values import ExternalInstance, Instance, Sequence, Tensor, Value

# What Dynamo cannot hold: it gives the function up where one is read, called or not.
RECURRENT = frozenset(f"torch.nn.{where}{name}" for where in ("", "modules.rnn.") for name in ("LSTM", "GRU", "RNN", "RNNBase"))
WITH_PARAMETERS = ("Linear", "Bilinear", "LazyLinear", "Conv", "LazyConv", "Embedding", "LayerNorm", "BatchNorm", "GroupNorm",
                   "RMSNorm", "PReLU", "MultiheadAttention", "Transformer", "LSTMCell", "GRUCell", "RNNCell")
# methods that go over the modules inside, and so read each
WALKS = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "train", "eval"})


def first_met(owner: Instance, stops: bool, shallow: bool, depth: int = 6) -> Value | None:
    """The first recurrent module that a walk over the modules of `owner` meets, in their order. With `stops` it ends at
    the first parameter, as `next(self.parameters())` does; a tensor then stands for that."""
    held = list(owner.attributes.values())
    if stops and (own := next((v for v in held if type(v) is Tensor and v.kind == "parameter"), None)):
        return own
    for value in held:
        parts = [value]
        if type(value) is Sequence and value.type in ("ModuleList", "Sequential"):
            parts = [] if shallow else value.items or []
        for part in parts:
            found = None
            if type(part) is Instance and depth and not shallow:
                found = first_met(part, stops, shallow, depth - 1)
            elif type(part) is ExternalInstance and part.name.startswith("torch.nn."):
                if part.name in RECURRENT:
                    found = part
                elif stops and part.name.rpartition(".")[2].startswith(WITH_PARAMETERS):
                    found = Tensor("float", kind="parameter")
            if found is not None:
                return found
    return None
