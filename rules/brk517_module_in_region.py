"""A module with parameters made inside the region ends the graph.

`nn.Linear(...)`, `nn.Parameter(...)` in `forward` makes new weights in every call. Dynamo does not
trace the making of parameters, so it ends the graph; and the weights are new random numbers each
time, known to no optimizer. Modules without parameters (`nn.ReLU()`, `nn.Dropout(0.5)`) are traced.

Make the module in `__init__`, where the optimizer sees it. A layer that is meant as a constant is
better written with `torch.nn.functional` and a buffer.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Tensor

rule = Rule("BRK517", "module-in-region", dynamo=("GB0264",))

LAYERS = {
    f"torch.nn.{name}"
    for name in """
        Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
        BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm RMSNorm Embedding
        EmbeddingBag LSTM GRU RNN LSTMCell GRUCell RNNCell MultiheadAttention PReLU Transformer
        TransformerEncoderLayer TransformerDecoderLayer AdaptiveLogSoftmaxWithLoss LazyLinear
        LazyConv1d LazyConv2d LazyConv3d Parameter parameter.Parameter
        """.split()
}
ON_DEMAND = {f"torch.nn.InstanceNorm{n}d" for n in (1, 2, 3)}  # only with `affine=True`


@rule.on(Call, LAYERS | ON_DEMAND)
def check(event):
    given = event.argument(0, "data")
    if event.name.endswith(".Parameter") and isinstance(given, Tensor) and given.is_argument:
        return  # measured: a parameter made of an input is traced
    affine = event.kwargs.get("elementwise_affine") or event.kwargs.get("affine")
    if affine is not None and affine.is_const and affine.value is False:
        return
    if event.name in ON_DEMAND and (affine is None or not affine.is_const):
        return
    name = event.name.removeprefix("torch.")
    yield event.problem(
        f"`{name}` makes new parameters in every call, so the graph ends at `{event.shown}`",
        help="make it once, in `__init__`, where the optimizer sees it",
    )


@rule.example(lambda: (torch.ones(2, 4),), equal=False)
def bad(x):
    layer = torch.nn.Linear(4, 2)  # BRK517
    return layer(x)


@rule.example(lambda: (torch.ones(2, 4),), module=True, equal=False)
def bad():
    class Net(torch.nn.Module):
        def forward(self, x):
            scale = torch.nn.Parameter(torch.ones(4))  # BRK517
            return x * scale

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            return x * self.scale

    return Net()
