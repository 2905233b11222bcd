"""A chained comparison of tensors hides an `and`, and the graph ends.

Python evaluates `0 < t < 1` as `(0 < t) and (t < 1)`: it tests the truth of the first comparison
before it makes the second. With a tensor that is a data-dependent branch, even where the result is
only multiplied or stored (2.6 to 2.15). On a tensor of several elements the chain raises an error
anyway.

Write `(0 < t) & (t < 1)`. Both comparisons always run, which costs nothing; the result is a boolean
tensor in either case, with the same value, NaN included. Comparisons carry no gradient. The middle
expression now stands there twice: name it first if it is more than a name.

The rewrite counts as unsafe for what Python does to other tensors: one of several elements no
longer raises, and the result takes the shape of both comparisons where Python returns that of one.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK109", "chained-comparison", shares=("GB0170",), fix="unsafe")


@rule.on(Branch, construct="chained")
def check(event):
    if event.test.is_tensor:
        yield event.graph_break(
            f"the chained comparison `{event.source}` tests the truth of a tensor",
            help="write the two comparisons with `&` between them: `(low < t) & (t < high)`",
        )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find(node, problem) if isinstance(node, cst.SimpleStatementLine | cst.If) else None
    if not isinstance(found, cst.Comparison) or len(found.comparisons) != 2:
        return None
    first, second = found.comparisons
    if not isinstance(first.comparator, (cst.Name, cst.Attribute)):
        return None
    middle = rw.code(first.comparator)
    left = f"({rw.code(found.left)} {rw.code(first.operator).strip()} {middle})"
    right = f"({middle} {rw.code(second.operator).strip()} {rw.code(second.comparator)})"
    return rw.swap(node, found, f"{left} & {right}")


@rule.example(
    lambda: (torch.tensor(0.5),), lambda: (torch.tensor(2.0),), lambda: (torch.tensor(torch.nan),)
)
def bad(gate):
    inside = 0 < gate < 1  # BRK109
    return gate * 3 * inside


@rule.becomes
def good(gate):
    inside = (0 < gate) & (gate < 1)
    return gate * 3 * inside
