"""A batch norm with `momentum=None` reads how many batches it has seen.

Its running statistics are then the average over all batches: in training `1 / float(num_batches_tracked)` is
computed anew in each call, and `float` reads the buffer, in torch's code but at your line. In evaluation nothing is read.

Give a momentum. Where the average over all batches is wanted, as when statistics are computed anew behind
training, run that pass eagerly: it changes buffers only.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import FALSE, NONE, ExternalInstance

rule = Rule(
    "BRK574",
    "average-over-all-batches",
    dynamo=("GB0124: in torch/nn/modules/batchnorm.py",),
    shares=("GB0124",),
    seen="{} is a batch norm without a momentum, which reads how many batches it has seen",
    help="give the batch norm a momentum",
)

NORMS = {
    f"torch.nn.{name}.forward"
    for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")
}
PLACE = 2  # of `momentum` among the arguments of the class


@rule.on(Call, NORMS)
def check(event):
    layer = event.receiver
    if not isinstance(layer, ExternalInstance):
        return
    given = dict(layer.kwargs)
    momentum = given.get("momentum", layer.args[PLACE] if len(layer.args) > PLACE else None)
    if momentum == NONE and given.get("track_running_stats") != FALSE:
        yield event.graph_break(
            f"`nn.{event.name.split('.')[-2]}` without a momentum reads in training how many batches it has seen",
            help="give the batch norm a momentum, or collect its statistics in a pass that is not compiled",
            certainty="likely",
        )


@rule.example(lambda: (torch.ones(2, 4),), module=True, equal=False)
def bad():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(4, momentum=None)

        def forward(self, x):
            y = x * 2
            return self.norm(y)  # BRK574

    return Net()


@rule.becomes
def good():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(4, momentum=0.1)

        def forward(self, x):
            y = x * 2
            return self.norm(y)

    return Net()
