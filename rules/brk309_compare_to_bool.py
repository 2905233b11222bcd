"""`torch.equal`, `allclose` and `is_nonzero` read a Python bool from tensors, and the graph ends.

The answer lives on the device and Python wants it now: Dynamo ends the graph, waits, and goes on in
a new one (GB0033, from 2.6 to 2.15). Unlike other data-dependent operators they break even where
nobody looks at the answer.

To stay in the graph compare as tensors: `a.shape == b.shape and (a == b).all()` (the shapes are
compared while tracing) and `torch.isclose(a, b).all()` give a 0-d boolean tensor for `torch.where` or arithmetic. An `if` on it is the next break (BRK101). "Are these
the same object?" (`x1 is x2`) and "the same shape?" are questions that Python answers for free.
Checks in tests and asserts belong outside the compiled function, or in `assert torch.isclose(a,
b).all()`, which stays inside (BRK106).

The rewrite gives a tensor where a bool was, and so counts as unsafe. None of them has a gradient.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK309",
    "compare-to-bool",
    dynamo=(r"GB0033: aten\.(equal|allclose|is_nonzero)",),
    fix="unsafe",
)

NAMES = {
    f"{owner}.{name}"
    for owner in ("torch", "Tensor")
    for name in ("equal", "allclose", "is_nonzero")
}
NAMES |= {"numpy.allclose", "numpy.array_equal", "numpy.array_equiv"}


@rule.on(Call, NAMES)
def check(event):
    name = event.name.rpartition(".")[2]
    instead = {
        "equal": "a.shape == b.shape and (a == b).all()",
        "allclose": "torch.isclose(a, b).all()",
        "is_nonzero": "t != 0",
    }.get(name, "(a == b).all()")
    yield event.graph_break(
        f"`{event.source}` reads tensors to answer with a Python bool",
        help=f"compare as tensors, `{instead}`, and choose with `torch.where`, or compare outside the region",
    )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.patch import Declined
    from breakscope.rulekit.scalars import is_tested

    found = rw.find(node, problem) if isinstance(node, cst.SimpleStatementLine | cst.If) else None
    if not isinstance(found, cst.Call):
        return None
    if not is_tested(node, found) and not any(
        isinstance(n, (cst.Assign, cst.Return)) and n.value is found
        for n in getattr(node.body, "body", node.body)
    ):
        return None
    given, name = rw.arguments(found), rw.dotted(found.func)
    if not given or len(given[0]) != 2:
        return None
    if name == "torch.equal" and not given[1]:
        # tensors of two shapes are not equal, and cannot be compared element by element
        if not all(rw.dotted(value) for value in given[0]):
            return Declined("its tensors would be computed twice: give them names first")
        one, other = (rw.code(value) for value in given[0])
        return rw.swap(node, found, f"{one}.shape == {other}.shape and ({one} == {other}).all()")
    if name == "torch.allclose":
        return rw.swap(
            node,
            found,
            f"torch.isclose({', '.join(rw.code(a).rstrip(', ') for a in found.args)}).all()",
        )
    return None


@rule.example(
    lambda: (torch.ones(3),), lambda: (torch.tensor([1.0, torch.nan]),), lambda: (torch.empty(0),)
)
def bad(x):
    settled = torch.allclose(x, x.round(), atol=1e-3)  # BRK309
    return x.cos() * settled


@rule.becomes
def good(x):
    settled = torch.isclose(x, x.round(), atol=1e-3).all()
    return x.cos() * settled


@rule.example(
    lambda: (torch.ones(3), torch.ones(3)),
    lambda: (torch.ones(3), torch.ones(2)),
    lambda: (torch.ones(3), torch.ones(3, 3)),
    lambda: (torch.full((2,), torch.nan), torch.full((2,), torch.nan)),
    lambda: (torch.empty(0), torch.empty(0)),
)
def bad_equal(x, y):
    same = torch.equal(x, y)  # BRK309
    return x.cos() * same


@rule.becomes
def good_equal(x, y):
    same = x.shape == y.shape and (x == y).all()
    return x.cos() * same
