"""What steers `torch.compile` from outside makes it raise inside of compiled code.

`torch._dynamo.mark_dynamic(x, 0)` and its kin say of a tensor how the next compiled call is to take it, and
`torch.compiler.set_stance` whether anything is compiled at all. Dynamo refuses to trace them: the call of the compiled
function ends with an AssertionError ("Attempt to trace forbidden callable"), not with a graph break.

Call them before the compiled function is called, where its arguments are made.
"""

import torch

from breakscope.rulekit.events import Call, Enter
from breakscope.rulekit.rule import Rule

# what Dynamo raises here is no break, so that no run of the example shows an id
rule = Rule("BRK622", "compile-control-inside")

FORBIDDEN = (
    "torch._dynamo.mark_dynamic",
    "torch._dynamo.maybe_mark_dynamic",
    "torch._dynamo.mark_static_address",
    "torch._dynamo.decorators.mark_unbacked",
    "torch.compiler.set_stance",
)


@rule.on(Call, *FORBIDDEN)
@rule.on(Enter, "torch.compiler.set_stance")
def check(event):
    yield event.problem(
        f"`{event.shown}` stands inside compiled code, at which `torch.compile` fails with an AssertionError",
        help="call it before the compiled function, where its arguments are made",
    )


@rule.example(lambda: (torch.ones(2),), dynamo=())
def bad(x):
    torch._dynamo.maybe_mark_dynamic(x, 0)  # BRK622
    return x + 1


@rule.becomes
def good(x):
    return x + 1


@rule.example(lambda: (torch.ones(2),), dynamo=())
def bad_stance(x):
    with torch.compiler.set_stance("force_eager"):  # BRK622
        return x + 1


@rule.becomes
def good_stance(x):
    return x + 1
