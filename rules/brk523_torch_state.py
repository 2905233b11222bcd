"""A torch function that returns or sets host state ends the graph.

`torch.cuda.memory_allocated()`, `torch.get_num_threads()`, `torch.cuda.device_count()`,
`torch.get_float32_matmul_precision()` answer with a Python number or string that is not known while
Dynamo traces; `torch.set_num_threads()` changes the process. The graph ends at each.

The same holds for the text that a loss makes of its old arguments, where the region makes the loss:
`nn.MSELoss(size_average=False)`. Write `reduction="sum"`, which is that text.

Ask in `__init__`, or around the compiled call. (`torch.is_grad_enabled`, `torch.cuda.is_available`,
`torch.get_default_dtype`, `torch.distributed.is_initialized` are constants with guards and do not
break.)
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK523", "torch-host-state", dynamo=("GB0208: non-Tensor", "GB0007: torch|cudagraph|reset")
)

ANSWERS = {
    f"torch.{name}"
    for name in """
        get_num_threads get_num_interop_threads set_num_threads set_num_interop_threads
        cuda.device_count cuda.memory_allocated cuda.max_memory_allocated cuda.memory_reserved
        cuda.mem_get_info get_float32_matmul_precision is_deterministic_algorithms_warn_only_enabled
        backends.cudnn.is_available backends.cuda.is_built backends.mps.is_available _dynamo.reset
        compiler.reset compiler.cudagraph_mark_step_begin _C._is_tracing _C._get_cudnn_enabled
        _C._get_cudnn_benchmark _C._get_cudnn_deterministic _C._get_mkldnn_enabled
        _C._get_float32_matmul_precision _C._has_distributed
        """.split()
}


# where `size_average` and `reduce` stand among the arguments; `nn.CrossEntropyLoss` as a whole goes
# into the graph
OLD_ARGUMENTS = {
    f"torch.nn.{prefix}{name}": places
    for prefix in ("", "modules.loss.")
    for name, places in {
        "BCELoss": (1, 2),
        "BCEWithLogitsLoss": (1, 2),
        "CosineEmbeddingLoss": (1, 2),
        "HingeEmbeddingLoss": (1, 2),
        "KLDivLoss": (0, 1),
        "L1Loss": (0, 1),
        "MSELoss": (0, 1),
        "MarginRankingLoss": (1, 2),
        "MultiLabelMarginLoss": (0, 1),
        "MultiLabelSoftMarginLoss": (1, 2),
        "MultiMarginLoss": (3, 4),
        "NLLLoss": (1, 3),
        "PoissonNLLLoss": (2, 4),
        "SmoothL1Loss": (0, 1),
        "SoftMarginLoss": (0, 1),
        "TripletMarginLoss": (4, 5),
    }.items()
}


@rule.on(Call, ANSWERS)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` reads or sets state of the process",
        help="call it in `__init__` or around the compiled call",
    )


@rule.on(Call, OLD_ARGUMENTS)
def check_old_arguments(event):
    for place, name in zip(OLD_ARGUMENTS[event.name], ("size_average", "reduce")):
        given = event.argument(place, name)
        if given is not None and not given.is_none and not given.is_unknown:
            yield event.graph_break(
                f"`{event.shown}` makes the text of a reduction out of `{name}`",
                help="write `reduction=` instead, or make the loss in `__init__`",
            )
            return


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0208",), equal=False)
def bad(x):
    y = x * 2
    threads = torch.get_num_threads()  # BRK523
    return y + threads


THREADS = 1


@rule.becomes
def good(x):
    y = x * 2
    return y + THREADS


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0208",))
def bad_loss(x):
    y = x * 2
    loss = torch.nn.MSELoss(reduce=False)  # BRK523
    return loss(y, x)


@rule.becomes
def good_loss(x):
    y = x * 2
    loss = torch.nn.MSELoss(reduction="none")
    return loss(y, x)
