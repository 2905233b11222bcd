"""`float(t)`, `int(t)`, `bool(t)` and `complex(t)` read a tensor's value, and the graph ends.

Each is `.item()` in other clothes: Dynamo ends the graph, waits for the device, and hands a Python
number to a new graph. The ids changed over time: `bool(t)` is GB0059 up to 2.9 and GB0124 since
2.11; `complex(t)` is GB0059 still.

Casts of shapes (`int(x.shape[0] / 2)`) cost nothing, since shapes are known to Python. For
arithmetic drop the cast; to change the type write `t.to(torch.float32)` or `t.long()`; for a
truth value compare and use `torch.where`. A number that only configures (a buffer set once) belongs
into `__init__` as a Python number.

The rewrite turns `float(t)` in arithmetic into `t.detach()`: no gradient flowed through the cast
either. It is unsafe because later code may want a Python number, because an integer tensor stays an
integer, and because float32 arithmetic replaces Python's float64. `int(t)` also truncates; write
`t.detach().trunc()` where that is meant.
"""

import ast

import torch

from breakscope.rulekit.events import Call, ScalarRead
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK202",
    "scalar-cast",
    dynamo=("GB0059: `(bool|complex|float|int|hex|bin|oct|chr)`",),
    shares=("GB0124",),
    fix="unsafe",
)


def _operand(event):
    """What is cast, in brackets where a method of it needs them."""
    cast = event.node.args[0] if getattr(event.node, "args", None) else event.node
    is_whole = isinstance(cast, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return event.expression if is_whole else f"({event.expression})"


@rule.on(ScalarRead, how=("int", "float", "bool", "complex"))
def check(event):
    if getattr(event.value, "kind", "") != "numpy":
        keep = {
            "int": f"`{_operand(event)}.long()`",
            "bool": "a boolean tensor with `torch.where`",
        }
        kept = keep.get(event.how, f"`{event.expression}`")
        yield event.graph_break(
            f"`{event.source}` reads the value of `{event.expression}` into Python",
            help=f"where it only computes write {kept}; a size or a bound read outside the compiled code and pass in"
            if event.how == "int"
            else f"keep it a tensor: write {kept}, or read it outside the compiled code",
            setting="capture_scalar_outputs" if event.how in ("int", "float") else "",
            guarded=event.is_guarded and event.how == "int",
        )


@rule.on(Call, "hex", "bin", "oct", "chr", "operator.index")
def check_text(event):
    # what is only taken for a tensor is a number, since tensors are seldom asked for these
    if event.args and event.args[0].is_tensor and getattr(event.args[0], "origin", "") != "guess":
        yield event.graph_break(
            f"`{event.source}` needs a Python int and reads the tensor's value",
            help="call it outside the compiled code",
        )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit import scalars
    from breakscope.rulekit.guarding import guarded_text
    from breakscope.rulekit.patch import Patch
    from breakscope.rulekit.rewrites.own_truth import truth_where_tested

    if isinstance(node, cst.If) and (made := guarded_text(node)) is not None:
        return made
    if (made := scalars.only_for_text(node, place)) is not None:
        return made
    if place.function is not None and place.function.name == "__bool__":
        return truth_where_tested(problem, place)
    found = rw.find(node, problem) if isinstance(node, cst.SimpleStatementLine | cst.If) else None
    if isinstance(found, cst.Call) and rw.dotted(found.func) == "bool" and len(found.args) == 1:
        return _without_bool(node, found, place)
    if not isinstance(found, cst.Call) or rw.dotted(found.func) != "float":
        return None
    made = rw.swap(node, found, scalars.detached(found.args[0].value))
    if scalars.may_stay_tensor(node, found, place):
        return made
    kept = scalars.kept_by(node, found, place)
    return Patch(made, changes=f"`{kept}` holds a 0-d tensor, no number") if made and kept else None


def _without_bool(node, found, place):
    """The tensor itself, where it is one of bools and a name or an `if` takes it."""
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.scalars import is_tested, may_stay_tensor

    tested = is_tested(node, found)
    value = found.args[0].value
    named = isinstance(node, cst.SimpleStatementLine) and may_stay_tensor(node, found, place)
    if not (tested or named) or not rw.is_bool_tensor(value):
        return None
    return rw.swap(node, found, rw.code(value))


@rule.example(
    lambda: (torch.tensor([1.0, -4.0]),),
    lambda: (torch.tensor([torch.nan, 1.0]),),
    dynamo=("GB0124",),
)
def bad(x):
    shift = float(x.mean())  # BRK202
    return x - shift


@rule.becomes
def good(x):
    shift = x.mean().detach()
    return x - shift


@rule.example(lambda: (torch.tensor([1.5, 4.0]),), lambda: (torch.zeros(2),), dynamo=("GB0124",))
def bad_int(x):
    x = x + 1
    return x * int(x.max())  # BRK202


@rule.example(lambda: (torch.tensor([1.5, 4.0]),), dynamo=("GB0059",))
def bad_complex(x):
    return x.cos() * complex(x.max())  # BRK202
