"""`torch.as_tensor` of a list that holds tensors or NumPy's numbers makes `torch.compile` raise.

`torch.as_tensor([x.mean(), x.max()])` reads each tensor's number in eager mode. Dynamo has tensors without
numbers there, puts the call into the graph as it stands, and fails with a RuntimeError ("its data is not
allocated yet"). So do `torch.asarray`, the constructors of old (`torch.Tensor`, `torch.FloatTensor`, `x.new`), and
lists of NumPy's arrays and numbers, which are tensors while Dynamo traces: `torch.Tensor([np.sin(0.5), 1.0])`.
Those that name a dtype take no array of another, which they convert in eager mode: `torch.FloatTensor(np.arange(3))`.
Of them a list of two or more tensors, and nothing else, is traced. For
`torch.tensor([...])` and `x.new_tensor([...])` Dynamo has code of its own, and traces them.

Write these in its place: of a list all copy, and `torch.tensor` takes the dtype that the old constructor stands for.
Or stack the tensors, `torch.stack([x.mean(), x.max()])`, which keeps their gradients.
"""

import numpy as np
import torch

from breakscope.knowledge.tensor_types import CONSTRUCTORS, DTYPES
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import NUMPY_NUMBERS, Py, Sequence, options

# what Dynamo raises here is no break, so that no run of the example shows an id
rule = Rule("BRK551", "tensors-in-data", shares=("GB4315",), unshown=("GB4315",))


KEPT = "numpy scalar"  # made before the region


@rule.on(Call, "torch.as_tensor", "torch.asarray", "Tensor.new", CONSTRUCTORS)
def check(event):
    data = event.argument(0, "obj" if event.name == "torch.asarray" else "data")
    read = [] if data is None else [part for part in _listed(data) if _is_read(part)]
    if not any(_is_sure(value) or getattr(value, "origin", "") != "guess" for value in read):
        return
    if event.name in DTYPES and _is_stacked(data):
        return
    yield event.problem(
        f"`{event.shown}` reads tensors in a list, at which `torch.compile` fails with a RuntimeError"
        if any(value.is_tensor and value.kind != "numpy" for value in read)
        else f"`{event.shown}` reads what NumPy computed in a list, at which `torch.compile` fails with a RuntimeError",
        help=_help(event.name),
        certainty=None if any(map(_is_sure, read)) else "likely",
    )


@rule.on(Call, set(DTYPES))
def check_array(event):
    data = event.argument(0, "data")
    if data is None or not data.is_tensor or data.kind != "numpy" or not data.dtype:
        return
    if data.dtype not in DTYPES[event.name]:
        yield event.problem(
            f"`{event.shown}` is given an array of {data.dtype}s, at which `torch.compile` fails with a RuntimeError",
            help=f"write `torch.tensor(..., dtype=torch.{DTYPES[event.name]})`, which converts it",
            certainty=None if data.sure else "likely",
        )


def _listed(data):
    """What a list or tuple holds, and what the lists in it do."""
    lists = [o for o in options(data) if type(o) is Sequence and o.type in ("list", "tuple")]
    parts = [p for o in lists for p in o.inside]
    return [o for part in parts for o in (*options(part), *_listed(part))]


def _is_read(value):
    return value.is_tensor or (type(value) is Py and value.type in NUMPY_NUMBERS | {KEPT})


def _is_sure(value):
    return value.sure if value.is_tensor else not value.source


def _is_stacked(data):
    """Two or more tensors, which Dynamo stacks."""
    items = data.items if type(data) is Sequence and data.type == "list" else None
    parts = items if items is not None else [getattr(data, "element", data)]
    are_tensors = all(part.is_tensor and part.kind != "numpy" for part in parts)
    return are_tensors and (items is None or len(items) > 1)


def _help(name):
    if name == "Tensor.new":
        return "write `.new_tensor(...)` in place of `.new(...)`, or stack the tensors"
    dtype = "float32" if name == "torch.Tensor" else DTYPES.get(name)
    given = f"torch.tensor(..., dtype=torch.{dtype})" if dtype else "torch.tensor"
    return f"write `{given}` in place of `{name}`, or stack the tensors"


@rule.example(lambda: (torch.ones(4),), dynamo=())
def bad(x):
    return torch.as_tensor([x.mean(), x.max()]) + 1  # BRK551


@rule.becomes
def good(x):
    return torch.tensor([x.mean(), x.max()]) + 1


@rule.example(lambda: (torch.ones(4),), dynamo=())
def bad_old(x):
    return torch.Tensor([x.mean(), 2.0]) + 1  # BRK551


@rule.becomes
def good_old(x):
    return torch.tensor([x.mean(), 2.0], dtype=torch.float32) + 1


@rule.example(lambda: (torch.ones(4),), dynamo=())
def bad_numpy(x):
    return x[:2] * torch.FloatTensor([np.sin(0.5), 1.0])  # BRK551


@rule.becomes
def good_numpy(x):
    return x[:2] * torch.tensor([np.sin(0.5), 1.0], dtype=torch.float32)


@rule.example(lambda: (torch.ones(3),), dynamo=())
def bad_array(x):
    return x * torch.FloatTensor(np.arange(3))  # BRK551


@rule.becomes
def good_array(x):
    return x * torch.tensor(np.arange(3), dtype=torch.float32)
