"""`.item()` reads a tensor's value into Python, and the graph ends.

Dynamo runs the graph up to there, waits for the device, takes the number, and compiles the rest as
another graph that has the number for an input. If the number then steers Python (a size, a loop, a
branch) every new value may compile again. In a loop, a comprehension of 3.12, or a `with` that
Dynamo cannot resume, the whole function is skipped.

Leave the `.item()` away where only arithmetic follows: a 0-d tensor works like a number in `x /
scale`, and `torch.stack([a, b])` takes the place of `torch.tensor([a.item(), b.item()])`. For
logging, return the tensor and call `.item()` outside. `torch._dynamo.config.capture_scalar_outputs
= True` keeps the read inside the graph when the number is really needed; then `torch._check` its
range.

The rewrite takes `.item()` out of a test, whose truth is the same without it; the branch is then
BRK101. Elsewhere it writes `.detach()` for `.item()`, since a number read by `.item()` carries no gradient
either: gradients stay as they were. It is unsafe because later code may want a Python number (a
dict key, `range`, JSON), and because float32 arithmetic replaces Python's float64; it leaves
integers alone, which mostly become sizes and indices.
"""

import torch

from breakscope.rulekit.events import ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule("BRK201", "tensor-item", dynamo=("GB0124",), fix="unsafe")


@rule.on(ScalarRead, how="item")
def check(event):
    if getattr(event.value, "kind", "") != "numpy":
        yield event.graph_break(
            f"`{event.source}` reads a tensor's value into Python",
            help=f"keep `{event.expression}` a tensor (`.detach()` if no gradient should flow), or return it and "
            "read it outside",
            setting="capture_scalar_outputs",
            dtype=getattr(event.value, "dtype", None) or "",
            guarded=event.is_guarded,
        )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit import scalars
    from breakscope.rulekit.guarding import guarded_text
    from breakscope.rulekit.patch import Patch

    if isinstance(node, cst.If) and (made := guarded_text(node)) is not None:
        return made
    if (made := scalars.only_for_text(node, place)) is not None:
        return made
    found = rw.find(node, problem)
    if not isinstance(found, cst.Call) or not isinstance(found.func, cst.Attribute):
        return None
    if scalars.is_tested(node, found):
        return rw.swap(node, found, rw.code(found.func.value))
    if problem.dtype in ("int", "bool"):  # those become sizes and indices
        return None
    made = rw.swap(node, found, scalars.detached(found.func.value))
    if scalars.may_stay_tensor(node, found, place):
        return made
    kept = scalars.kept_by(node, found, place)
    return Patch(made, changes=f"`{kept}` holds a 0-d tensor, no number") if made and kept else None


@rule.example(
    lambda: (torch.tensor([1.0, -4.0]),),
    lambda: (torch.tensor([torch.nan, 1.0]),),
    lambda: (torch.zeros(2),),
)
def bad(x):
    scale = x.abs().max().item()  # BRK201
    return x / (scale + 1)  # at most one


@rule.becomes
def good(x):
    scale = x.abs().max().detach()
    return x / (scale + 1)  # at most one


@rule.example(lambda: (torch.tensor([1.0, -4.0]),), lambda: (torch.full((2,), torch.inf),))
def bad_inline(x):
    return x.cos() * x.sum().item() - 1  # BRK201


@rule.becomes
def good_inline(x):
    return x.cos() * x.sum().detach() - 1
