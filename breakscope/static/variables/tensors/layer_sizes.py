"""The sizes behind layers of torch's, outside of regions."""

from __future__ import annotations

from breakscope.rulekit.values import Const, ExternalInstance, Tensor, Value
from breakscope.static.variables.tensors.size_rules import number, sizes_by_name
from breakscope.static.variables.tensors.sizes import resized
from breakscope.static.variables.tensors.windows import behind_window

# layers that hand on the sizes
SAME_SIZES = (
    *("ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "Dropout", "LayerNorm", "BatchNorm", "Softmax"),
    *("LeakyReLU", "ELU", "Identity", "GroupNorm", "RMSNorm", "Softplus", "Mish", "Hardswish"),
    *("InstanceNorm", "LogSoftmax", "AlphaDropout", "PReLU", "ReLU6", "SELU", "CELU", "Softmin"),
    *("TransformerEncoder", "TransformerDecoder", "Hardsigmoid", "Hardtanh", "LogSigmoid"),
)
PADDING = ("ZeroPad", "ConstantPad", "ReflectionPad", "ReplicationPad")
OF_RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first")


def behind_layer(layer: ExternalInstance, first: Tensor) -> tuple | list | None:
    """The sizes of what the layer makes of a tensor of known sizes, a list of them where it gives several."""
    last, shape = layer.name.rpartition(".")[2], first.shape
    given = dict(layer.kwargs)
    try:
        if last in ("Linear", "LazyLinear", "Bilinear"):
            word = {"Linear": "in_features out_features", "LazyLinear": "out_features"}
            words = word.get(last, "in1_features in2_features out_features").split()
            return (*shape[:-1], number(dict(zip(words, layer.args)) | given, "out_features"))
        if last == "Embedding":
            given = dict(zip(("num_embeddings", "embedding_dim"), layer.args)) | given
            return (*shape, number(given, "embedding_dim"))
        if last in ("LSTM", "GRU", "RNN"):
            return _behind_recurrent(last, shape, dict(zip(OF_RECURRENT, layer.args)) | given)
        if last in ("GRUCell", "RNNCell", "LSTMCell"):
            state = (
                *shape[:-1],
                number(dict(zip(OF_RECURRENT, layer.args)) | given, "hidden_size"),
            )
            return [state, state] if last == "LSTMCell" else state
    except ValueError:
        return None
    if last == "MultiheadAttention":
        return [shape]
    if last == "Flatten":
        words = dict(zip(("start_dim", "end_dim"), layer.args)) | given
        return sizes_by_name("flatten", first, [], {"start_dim": Const(1)} | words)
    if last == "Unflatten":
        return sizes_by_name("unflatten", first, [*layer.args], {})
    if last == "PixelShuffle":
        return sizes_by_name("pixel_shuffle", first, [*layer.args], given)
    if last == "Upsample":
        return resized(first, "interpolate", [*layer.args], given)
    if last.startswith(PADDING):
        edges = layer.args[0] if layer.args else given.get("padding")
        return _behind_padding(last, first, edges)
    if last.startswith(SAME_SIZES):
        return shape
    return behind_window(last, shape, layer.args, given, True)


def _behind_recurrent(last: str, shape: tuple, given: dict[str, Value]) -> list:
    """Of the outputs, and of the state."""
    hidden, depth = number(given, "hidden_size"), number(given, "num_layers", 1)
    both = 2 if given.get("bidirectional") == Const(True) else 1
    batch = shape[0 if given.get("batch_first") == Const(True) else 1 : len(shape) - 1][:1]
    state = (depth * both, *(batch if len(shape) == 3 else ()), hidden)
    return [(*shape[:-1], hidden * both), [state, state] if last == "LSTM" else state]


def _behind_padding(last: str, first: Tensor, edges: Value | None) -> tuple | None:
    """Of one number, that is put in front of and behind each dimension, or of as many as there are edges."""
    if isinstance(edges, Const) and last[-2:-1].isdigit() and type(edges.value) is int:
        count = int(last[-2]) if last[-1] == "d" else 0
        return tuple(
            n + 2 * edges.value if at >= len(first.shape) - count and type(n) is int else n
            for at, n in enumerate(first.shape)
        )
    return None if edges is None else resized(first, "pad", [edges], {})
