"""A clock runs over the first call of something compiled, so it measures compiling.

The first call compiles, which takes seconds where the call takes milliseconds. A time taken over
it, or an average in which it is one of a few, says nothing of the compiled code.

Call it once or twice before the clock starts. On a GPU call `torch.cuda.synchronize()` before both
readings of the clock, because kernels run on after the call has returned. Only spans that hold
nothing but calls are flagged: the total time of a training loop includes compiling by right.
"""

import time

import torch

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.usage import Timed

rule = Rule("BRK816", "timed-with-compile", kind="usage", severity="warning")


@rule.on(Timed, what="compiling")
def check(event):
    yield event.problem(
        f"this time includes compiling `{event.subject}`, which its first call does",
        help=f"call `{event.subject}` once before the clock starts",
    )


@rule.program(shows={"returns": 1}, instead={"returns": 0})
def bad():
    compiled = []
    model = torch.compile(
        torch.nn.Linear(4, 4), backend=lambda graph, _: compiled.append(1) or graph.forward
    )
    x = torch.ones(2, 4)
    start = time.perf_counter()
    model(x)
    print("one call takes", time.perf_counter() - start)  # BRK816
    return len(compiled)


@rule.becomes
def good():
    compiled = []
    model = torch.compile(
        torch.nn.Linear(4, 4), backend=lambda graph, _: compiled.append(1) or graph.forward
    )
    x = torch.ones(2, 4)
    model(x)
    compiled.clear()
    start = time.perf_counter()
    model(x)
    print("one call takes", time.perf_counter() - start)
    return len(compiled)
