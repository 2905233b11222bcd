"""`bincount` gives a result whose size depends on data, even with `minlength`, and the graph ends.

The length is `max(ids.max() + 1, minlength)`, so Dynamo must run it to know (GB0036). Routing code
in mixtures of experts, and metrics, meet this one most.

With a known number of classes write `F.one_hot(ids, n).sum(0)`, or, where `n` is large,
`torch.zeros(n).index_add(0, ids, weights)`; both have a fixed size and stay in the graph. Without a
known number, pass it in from the configuration.

The rewrite takes `minlength` for the number of classes. It is unsafe since an id beyond it made
`bincount` longer and makes `one_hot` fail, and since `one_hot` needs int64 ids. Counts carry no
gradient.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK306", "bincount", dynamo=(r"GB0036: aten\.bincount",), fix="unsafe")


@rule.on(Call, "torch.bincount", "Tensor.bincount", "numpy.bincount")
def check(event):
    yield event.graph_break(
        f"the size of `{event.source}` depends on the tensor's values",
        help="with a known number of classes write `F.one_hot(ids, n).sum(0)` or `torch.zeros(n).index_add(0, "
        "ids, weights)`",
    )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    given = (
        rw.arguments(found)
        if isinstance(found, cst.Call) and rw.dotted(found.func) == "torch.bincount"
        else None
    )
    if not given or len(given[0]) != 1 or set(given[1]) != {"minlength"}:
        return None
    ids, classes = rw.code(given[0][0]), rw.code(given[1]["minlength"])
    return rw.swap(node, found, f"torch.nn.functional.one_hot({ids}, {classes}).sum(0)")


@rule.example(lambda: (torch.tensor([1, 2, 0, 2]),), lambda: (torch.tensor([3]),))
def bad(expert_ids):
    load = torch.bincount(expert_ids, minlength=4)  # BRK306
    return load / expert_ids.shape[0]  # per expert


@rule.becomes
def good(expert_ids):
    load = torch.nn.functional.one_hot(expert_ids, 4).sum(0)
    return load / expert_ids.shape[0]  # per expert
