"""`torch.as_tensor` of a list that holds tensors makes `torch.compile` raise.

`torch.as_tensor([x.mean(), x.max()])` reads each tensor's number in eager mode. Dynamo has tensors without
numbers there, puts the call into the graph as it stands, and fails with a RuntimeError ("its data is not
allocated yet"). So do `torch.asarray` and lists of NumPy's arrays and numbers. For
`torch.tensor([...])` Dynamo has code of its own, and traces it.

Write `torch.tensor` in its place: of a list both copy, and take the same dtype and device. Or stack
the tensors, `torch.stack([x.mean(), x.max()])`, which keeps their gradients.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Sequence, options

# what Dynamo raises here is no break, so that no run of the example shows an id
rule = Rule("BRK551", "tensors-in-data", shares=("GB4315",), unshown=("GB4315",))


@rule.on(Call, "torch.as_tensor", "torch.asarray")
def check(event):
    data = event.argument(0, "data" if event.name == "torch.as_tensor" else "obj")
    read = [] if data is None else [part for part in _listed(data) if part.is_tensor]
    if not any(tensor.sure or tensor.origin != "guess" for tensor in read):
        return
    yield event.problem(
        f"`{event.shown}` reads tensors in a list, at which `torch.compile` fails with a RuntimeError",
        help=f"write `torch.tensor` in place of `{event.name}`, or stack the tensors",
        certainty=None if any(tensor.sure for tensor in read) else "likely",
    )


def _listed(data):
    """What a list or tuple holds, and what the lists in it do."""
    lists = [o for o in options(data) if type(o) is Sequence and o.type in ("list", "tuple")]
    parts = [p for o in lists for p in o.inside]
    return [o for part in parts for o in (*options(part), *_listed(part))]


@rule.example(lambda: (torch.ones(4),), dynamo=())
def bad(x):
    return torch.as_tensor([x.mean(), x.max()]) + 1  # BRK551


@rule.becomes
def good(x):
    return torch.tensor([x.mean(), x.max()]) + 1
