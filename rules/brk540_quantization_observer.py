"""An observer or a fake quantizer of torch.ao.quantization ends the graph.

`MinMaxObserver`, `HistogramObserver`, `FakeQuantize` and their kin, which `prepare` and
`prepare_qat` put into a model, keep running minima and maxima by code that torch marks as not to be
traced: the graph ends at each call, which in a prepared model is behind every layer.

Calibrate and prepare in eager mode and compile what `convert` gives. For training, quantize in
tensor operations: `torch.fake_quantize_per_tensor_affine(x, scale, zero_point, low, high)` is
traced. The export path (`prepare_pt2e`) and torchao work on graphs from the start.
"""

import torch
import torch.ao.quantization

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK540", "quantization-observer", dynamo=(r"GB0008: \w*(Observer|FakeQuantize)\w*\.forward",)
)

CLASSES = tuple(
    """
    FakeQuantize FusedMovingAvgObsFakeQuantize MinMaxObserver MovingAverageMinMaxObserver
    PerChannelMinMaxObserver MovingAveragePerChannelMinMaxObserver HistogramObserver
    PlaceholderObserver RecordingObserver NoopObserver FixedQParamsObserver FixedQParamsFakeQuantize
    """.split()
)
CALLS = {
    f"torch.{module}.{name}.__call__"
    for name in CLASSES
    for module in (
        "ao.quantization",
        "ao.quantization.observer",
        "ao.quantization.fake_quantize",
        "quantization",
    )
}


@rule.on(Call, CALLS)
def check(event):
    name = event.name.removesuffix(".__call__").rpartition(".")[2]
    yield event.problem(
        f"`{name}` keeps statistics by code that Dynamo skips, so the graph ends at `{event.shown}`",
        help="compile the converted model, or write `torch.fake_quantize_per_tensor_affine(...)`",
    )


@rule.example(lambda: (torch.ones(2, 4),), module=True, equal=False)
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.observe = torch.ao.quantization.MinMaxObserver()

        def forward(self, x):
            return self.observe(x * 2) + 1  # BRK540

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 0.1

        def forward(self, x):
            return torch.fake_quantize_per_tensor_affine(x * 2, self.scale, 0, -128, 127) + 1

    return Net()
