"""A call of something from a package that Dynamo skips ends the graph.

Dynamo follows Python code into whatever package it lies in, but for those that torch names: `tqdm`,
`pandas`, `sklearn`, `networkx`, `tabulate`, `xarray`, `onnx` and some others (THIRDPARTY_SKIPLIST
in torch/_dynamo/trace_rules.py). A call of their functions, classes or methods ends the graph
(GB0007, GB0008). So does what goes over a progress bar; a loop makes Dynamo skip the whole function. What only
names them is free: `isinstance(x, pd.DataFrame)`, constants, exceptions.

Call them outside of the compiled region: put the progress bar around the loop that calls the model,
and turn tables into tensors before.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

PACKAGES = (
    "fx2trt_oss|hypothesis|networkx|onnx|onnxruntime|onnx_tf|pandas|sklearn|tabulate|tensorflow|tensorrt|torch2trt|tqdm|"
    "tree|tvm|xarray"
)
# of networkx's graphs, a progress bar in a `with`, pandas' time stamps
UNSHOWN = ("GB0071", "GB0142", "GB0147")

rule = Rule(
    "BRK548",
    "skipped-package",
    dynamo=(rf"GB0007: in file `[^`]*[/\\]({PACKAGES})[/\\]",),
    shares=("GB0008", *UNSHOWN),
    unshown=UNSHOWN,
)


@rule.on(Call, "call of a skipped package", "object of a skipped package gone over")
def check(event):
    package = event.receiver.name.partition(".")[0]
    yield event.problem(
        f"Dynamo skips the package `{package}`, so the graph ends at `{event.shown}`",
        help="call it outside the compiled region",
    )


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0007", "GB0008"))
def bad():
    from tqdm import tqdm

    def forward(x):
        for factor in tqdm((2, 3), disable=True):  # BRK548
            x = x * factor
        return x

    return forward


@rule.becomes
def good():
    def forward(x):
        for factor in (2, 3):
            x = x * factor
        return x

    return forward
