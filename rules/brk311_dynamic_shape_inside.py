"""A library function that selects by data inside has a data-dependent size, and the graph ends.

Not only `nonzero` and its kin: `torch.combinations` selects through a mask, `linalg.lstsq` returns
residuals only for full rank, `ctc_loss` sizes its buffers by the lengths, adaptive softmax sorts
targets into clusters, non-maximum suppression keeps as many boxes as it finds. Dynamo names the
operator in its reason (GB0036).

What to write depends on the function. For `nms` run the network compiled and the postprocessing
outside, or keep the top k boxes with a score of zero for the suppressed ones. For `lstsq` use
`torch.linalg.pinv(a) @ b`, or a Cholesky solve of the normal equations where `a` is well
conditioned. Losses such as `ctc_loss` are one kernel anyway: compile the model and leave the loss
outside, which costs one break at the border and no skipped frame.

`pinv` and `lstsq` agree for full rank; their gradients differ in accuracy for badly conditioned
matrices.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK311",
    "dynamic-shape-inside",
    dynamo=(r"GB0036: (aten\.(linalg_lstsq|_ctc_loss)|torchvision\.)",),
    shares=("GB0036",),
)

NAMES = {  # measured on 2.13, but for torchvision's, which its operators' fake kernels show
    "torch.combinations",
    "torch.linalg.lstsq",
    "numpy.linalg.lstsq",
    "torch.nn.functional.ctc_loss",
    "torch.ctc_loss",
    "torch.nn.CTCLoss.forward",
    "torch.nn.AdaptiveLogSoftmaxWithLoss.forward",
    "torchvision.ops.nms",
    "torchvision.ops.boxes.nms",
    "torch.ops.torchvision.nms",
    "torchvision.ops.batched_nms",
    "torchvision.ops.boxes.batched_nms",
}


@rule.on(Call, NAMES)
def check(event):
    yield event.graph_break(
        f"`{event.source}` gives a result whose size depends on the tensor's values",
        help="call it outside the compiled code, or use a form of fixed size (the rule's page names some)",
    )


@rule.example(lambda: (torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.ones(2, 1)))
def bad(a, b):
    x = torch.linalg.lstsq(a, b).solution  # BRK311
    return x.sum()


@rule.becomes
def good(a, b):
    x = torch.linalg.pinv(a) @ b
    return x.sum()


@rule.example(lambda: (torch.arange(4.0),))
def bad_combinations(x):
    pairs = torch.combinations(x)  # BRK311
    return pairs.prod(1)


@rule.becomes
def good_combinations(x):
    left, right = torch.triu_indices(4, 4, offset=1)
    return x[left] * x[right]
