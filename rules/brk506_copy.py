"""Copying a tensor, a list or a dict with the module `copy` ends the graph.

Dynamo does not trace `copy.deepcopy` of anything that holds a tensor (a module or a state
included), `copy.copy` of a tensor or a module, and, oddly, `copy.copy` of a list or a dict, whose C
method it meets behind the call. `copy.deepcopy` of plain numbers and strings is traced.

Write what you mean: `x.clone()` for a tensor (it stays in autograd's graph, as deepcopy does not
for a non-leaf), `list(items)` or `items.copy()` for a list, `dict(d)` or `d.copy()` for a dict. A
second model (a teacher, an average) is made once, in `__init__`.

The rewrite writes `x.detach().clone()` for a deep copy of a tensor, since a copy carries no gradient
back to the original. It counts as unsafe: the copy of a leaf no longer asks for a gradient itself, a
copy of a non-leaf no longer raises, and a subclass of `list` or `dict` becomes a plain one.
"""

import copy

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Dict, ExternalInstance, Instance, Sequence, holds_tensor

rule = Rule(
    "BRK506",
    "copy",
    dynamo=("GB4198", r"GB0007: (list|dict|set)\.copy", r"GB0008: .*patched_setstate"),
    fix="unsafe",
)


@rule.on(Call, "copy.deepcopy")
def check_deep(event):
    value = event.argument(0, "x")
    if value is not None and holds_tensor(value):
        yield event.graph_break(
            f"Dynamo does not trace `{event.shown}` of something with a tensor",
            help="write `x.clone()`, or `x.detach().clone()`",
            certainty="possible" if isinstance(value, Dict) else None,
            fixable=value.is_tensor,
        )
    elif _is_module(event, value):
        yield event.graph_break(
            f"`{event.shown}` copies a module inside the region",
            help="make the copy once, in `__init__`",
            fixable=False,
            certainty="likely",
        )


@rule.on(Call, "copy.copy")
def check(event):
    value = event.argument(0, "x")
    if value is None:
        return
    if value.is_tensor:
        yield event.graph_break(
            f"Dynamo does not trace `{event.shown}`",
            help="write `x.detach()`, which shares the memory as the copy does, or `x.clone()`",
        )
    elif _is_module(event, value):
        yield event.graph_break(
            f"`{event.shown}` copies a module inside the region",
            help="make the copy once, in `__init__`",
            fixable=False,
        )
    elif isinstance(value, Dict) or (
        isinstance(value, Sequence) and value.type in ("list", "set", "dict")
    ):
        kind = "dict" if isinstance(value, Dict) else value.type
        yield event.graph_break(
            f"Dynamo does not trace `copy.copy` of a {kind}",
            help=f"write `{kind}(...)` or the method `.copy()`",
        )


def _is_module(event, value) -> bool:
    if isinstance(value, Sequence):
        return value.type in ("ModuleList", "Sequential")
    if not isinstance(value, Instance | ExternalInstance):
        return False
    names = (value.name,) if isinstance(value, ExternalInstance) else event.bases
    return any(name.startswith("torch.nn.") for name in names)


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find(node, problem) if isinstance(node, cst.SimpleStatementLine) else None
    given = rw.arguments(found) if isinstance(found, cst.Call) else None
    if not given or len(given[0]) != 1 or given[1]:
        return None
    value = given[0][0]
    if rw.called(found) == "deepcopy":
        return rw.swap(node, found, f"{rw.operand(value)}.detach().clone()")
    for kind in ("list", "dict", "set"):
        if f"of a {kind}" in problem.message:
            return rw.swap(node, found, f"{kind}({rw.code(value)})")
    return rw.swap(node, found, f"{rw.operand(value)}.detach()")  # it shares the memory


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), dynamo=("GB4198",))
def bad(x):
    y = copy.deepcopy(x)  # BRK506
    return y + 1


@rule.becomes
def good(x):
    y = x.detach().clone()
    return y + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    parts = [x, x * 2]
    more = copy.copy(parts)  # BRK506
    return sum(more)


@rule.becomes
def good(x):
    parts = [x, x * 2]
    more = list(parts)
    return sum(more)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0008",), module=True, fixed=False)
def bad_of_a_module():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            layer = copy.copy(self.layer)  # BRK506
            return layer(x)

    return Net()


@rule.becomes
def good_of_a_module():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.same = copy.copy(self.layer)

        def forward(self, x):
            return self.same(x)

    return Net()
