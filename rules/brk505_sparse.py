"""Sparse tensors are not traced.

Dynamo's fake tensors have no sparse layouts: the call that makes one (`to_sparse`,
`torch.sparse_coo_tensor`, the old `torch.sparse.FloatTensor`) ends the graph, and so does each later call that
takes one as input.

So is a function that is given one: it is skipped from where it first uses it, and so is each function
that handed it on.

Where the matrix is constant, keep its indices and values as dense buffers and write the product
with `index_add`/`scatter_add` (`out.index_add(0, rows, values[:, None] * x[cols])`), which compiles
to one kernel. Where it is nearly dense, multiply densely. Otherwise keep the sparse part in one
function under `torch.compiler.disable`.
"""

import torch

from breakscope.knowledge.tensor_types import DTYPES
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK505",
    "sparse-tensor",
    dynamo=("GB0277", "GB0015", "GB0007: sparse_|Tensor.__new__"),
    since="2.11",
)

LAYOUTS = ("coo", "csr", "csc", "bsr", "bsc")
MAKE = {f"Tensor.to_sparse{layout}" for layout in ("", *(f"_{name}" for name in LAYOUTS))}
USE = {
    f"torch.{name}"
    for name in """
        sparse.mm sparse.sum sparse.addmm sparse.softmax sparse.log_softmax sparse.sampled_addmm smm
        spmm mm matmul hspmm sspaddmm
        """.split()
} | {
    f"Tensor.{name}"
    for name in "matmul mm coalesce indices values _nnz _indices _values sum t to_dense".split()
}
FOR_SPARSE = ("torch.sparse.", "torch.smm", "torch.spmm", "torch.hspmm", "torch.sspaddmm")
BUILD = {f"torch.sparse_{name}_tensor" for name in (*LAYOUTS, "compressed")} | {
    name.replace("torch.", "torch.sparse.") for name in DTYPES
}


@rule.on(Call, MAKE, BUILD)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` makes a sparse tensor, which Dynamo does not trace",
        help="keep indices and values as dense buffers and use `index_add`, or multiply densely",
    )


@rule.on(Call, "use of a sparse tensor")
def check_argument(event):
    yield event.graph_break(
        f"`{event.shown}` uses a sparse tensor, which Dynamo does not trace",
        help="keep indices and values as dense buffers and use `index_add`, or multiply densely",
        skips="call",
    )


@rule.on(Call, USE)
def check_use(event):
    inputs = (event.receiver, *event.args, *event.kwargs.values())
    if event.name.startswith(FOR_SPARSE) or any(
        getattr(value, "kind", "") == "sparse" for value in inputs
    ):
        yield event.graph_break(
            f"`{event.shown}` takes a sparse tensor, which Dynamo does not trace",
            help="keep indices and values as dense buffers and use `index_add`, or multiply densely",
            skips="call",
        )


@rule.example(lambda: (torch.eye(3), torch.ones(3, 2)), dynamo=("GB0277", "GB0015"))
def bad(adjacency, x):
    a = adjacency.to_sparse()  # BRK505
    return torch.sparse.mm(a, x)  # BRK505


@rule.becomes
def good(adjacency, x):
    return adjacency @ x


@rule.example(lambda: (torch.eye(3).to_sparse(), torch.ones(3, 2)), dynamo=("GB0015",))
def bad_argument(adjacency, x):
    y = x.cos()
    return adjacency.coalesce() @ y  # BRK505


@rule.example(lambda: (torch.ones(3, 2),), dynamo=("GB0007", "GB0015"))
def bad_old(x):
    at = torch.tensor([[0, 1], [1, 2]])
    adjacency = torch.sparse.FloatTensor(at, torch.ones(2), (3, 3))  # BRK505
    return torch.sparse.mm(adjacency, x)  # BRK505


@rule.becomes
def good_old(x):
    rows, columns = torch.tensor([[0, 1], [1, 2]])
    return torch.zeros_like(x).index_add(0, rows, x[columns])
