"""A check that raises on a tensor's value ends the graph.

`if bad(x): raise ...` is a branch like any other: Dynamo stops, reads one bool from the device and
goes on behind the check. A check that never fires so costs a synchronisation in every step, and
often the only break of a model is one.

Three ways out. Move the check to where the data enters, outside the compiled function. Or keep it
in the graph: `assert condition, "a constant message"` is traced as an asynchronous assert (see
BRK106 for the messages that are not), and so is `torch._assert_async(condition, "message")`. Or
give up the exception and clean the values, with `torch.nan_to_num` or `clamp`.
`torch._check(bool(t))`, `torch._assert(t)` and `torch._check_tensor_all(t)` are no fix: on 2.13
each of them breaks the graph (GB0124, GB0033, GB0124).

What the rewrite changes: the exception becomes an AssertionError in eager mode and a RuntimeError
when compiled; on CUDA a failing asynchronous assert arrives late and leaves the device unusable;
`python -O` drops the check. Values and gradients stay as they were.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK102", "validate-by-raising", shares=("GB0170",), fix="unsafe")


@rule.on(Branch, construct=("if", "elif"), raises=True)
def check(event):
    if event.test.is_tensor:
        yield event.graph_break(
            f"the check `if {event.written}` reads a tensor's value to decide whether to raise or warn",
            help='check outside the compiled code, or write `assert condition, "constant message"`, which stays '
            "in the graph",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    if not isinstance(node, cst.If) or node.orelse or "#" in rw.code(node.body).partition("\n")[2]:
        return None
    message = _constant_message(node.body, cst)
    if message is None:
        return None
    test, wanted = node.test, "torch.logical_not({})"
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, wanted = test.expression, "{}"
    if not rw.same(test, problem.node) or (
        isinstance(test, cst.Comparison) and not rw.is_comparison(test)
    ):
        return None
    opposite = {cst.NotEqual: " == ", cst.Equal: " != "}
    sign = type(test.comparisons[0].operator) if isinstance(test, cst.Comparison) else None
    if sign in opposite and wanted != "{}":
        right = test.comparisons[0].comparator
        wanted = f"{rw.code(test.left)}{opposite[sign]}{rw.code(right)}"
    else:
        wanted = wanted.format(rw.code(test))
    if "\n" in rw.code(node.body.body[0]).strip():  # the message has a line of its own
        message = f"(\n    {message}\n)"
    return rw.line_instead(node, f"assert {wanted}, {message}")


def _constant_message(body, cst):
    """The literal that `raise Error("literal")` carries, when that is the whole body."""
    if (
        len(body.body) != 1
        or not isinstance(body.body[0], cst.SimpleStatementLine)
        or len(body.body[0].body) != 1
    ):
        return None
    raised = body.body[0].body[0]
    if (
        not isinstance(raised, cst.Raise)
        or raised.cause
        or not isinstance(raised.exc, cst.Call)
        or len(raised.exc.args) != 1
    ):
        return None
    literal = raised.exc.args[0].value
    return literal.value if isinstance(literal, cst.SimpleString) else None


@rule.example(
    lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), lambda: (torch.empty(0),)
)
def bad(x):
    if torch.isnan(x).any():  # BRK102
        raise ValueError("NaN in the input")
    return x * 2


@rule.becomes
def good(x):
    assert torch.logical_not(torch.isnan(x).any()), "NaN in the input"
    return x * 2
