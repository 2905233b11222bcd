"""A mask of bytes in `torch.where`, or as an index, makes `torch.compile` raise.

Before torch had tensors of bools masks were of uint8, and code of that time still makes them: `mask.byte()`,
`torch.ones_like(tags, dtype=torch.uint8)`, `lengths.gt(0).byte()`. Eager `torch.where(mask, a, b)` and `x[mask]`
take them with a warning. Dynamo's tensors without numbers do not ("expected predicate to be bool, got torch.uint8"),
so that compiling the function fails with a RuntimeError.

Make a mask of bools where it is made, or write `mask.bool()` where it is used. `x[mask]` still ends the graph then,
since the size of what it gives depends on data (BRK302). The rewrite counts as unsafe because torch no longer warns.
"""

import torch

from breakscope.rulekit.events import Call, Index
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import condition_of, options

# what Dynamo raises here is no break, so that no run of the example shows an id
rule = Rule("BRK556", "mask-of-bytes", shares=("GB4315",), unshown=("GB4315",), fix="unsafe")


@rule.on(Call, "torch.where", "Tensor.where")
def check(event):
    mask = event.argument(0, "condition")
    if mask is None or (event.name == "torch.where" and event.argument(1, "input") is None):
        return
    certainty = _certainty(mask)
    if certainty:
        yield event.problem(
            f"the condition of `{event.shown}` is a mask of bytes, at which `torch.compile` fails with a RuntimeError",
            help="make the mask of bools: `mask.bool()`",
            certainty=certainty,
            condition=condition_of(mask, _is_of_bytes),
        )


@rule.on(Index, store="")
def check_index(event):
    if _is_of_bytes(event.index) and event.index.ndim != 0:
        yield event.problem(
            f"`{event.source}` is indexed by a mask of bytes, at which `torch.compile` fails with a RuntimeError",
            help="keep all rows: `torch.where(mask.bool(), x, 0).sum()`",
            certainty="likely",
        )


def _certainty(mask):
    of_bytes = [option for option in options(mask) if _is_of_bytes(option)]
    if not of_bytes:
        return ""
    is_sure = len(of_bytes) == len(options(mask)) and all(tensor.sure for tensor in of_bytes)
    return "certain" if is_sure else "likely"


def _is_of_bytes(value):
    return value.is_tensor and value.kind == "uint8" and value.dtype == "int"


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    if not isinstance(found, cst.Call) or not found.args:
        return None
    mask = found.args[0]
    if mask.star or mask.keyword is not None:
        return None
    return rw.swap(node, mask.value, f"{rw.operand(mask.value)}.bool()")


@rule.example(lambda: (torch.ones(2, 3), torch.tensor([1, 0, 1])), dynamo=())
def bad(x, tags):
    mask = torch.ones_like(tags, dtype=torch.uint8)
    return torch.where(mask, x, x + 1)  # BRK556


@rule.becomes
def good(x, tags):
    mask = torch.ones_like(tags, dtype=torch.uint8)
    return torch.where(mask.bool(), x, x + 1)


@rule.example(lambda: (torch.ones(2, 3),), dynamo=(), fixed=False)
def bad_index(x):
    mask = (x > 0).byte()
    return x[mask].sum() + 1  # BRK556


@rule.becomes
def good_index(x):
    mask = (x > 0).byte()
    return torch.where(mask.bool(), x, 0).sum() + 1
