"""Reading the clock ends the graph.

`time.time()`, `time.perf_counter()` and `datetime.now()` must run when the line runs, so Dynamo
stops the graph, calls the function and starts a new graph. A pair of calls around a layer makes
three graphs of one, and on a GPU it measures the launch of kernels and not their work. The number
read is a Python float that later code compares or stores: it differs in every call, so it can also
cause a recompile.

Time the compiled callable from outside (`torch.utils.benchmark`, or `torch.cuda.Event` around the
call), or use `torch.profiler`, which sees into the compiled graph. A span inside the model is best
marked with `torch.profiler.record_function(...)`, which Dynamo traces.

The rewrite skips the clock and all that is computed from it while Dynamo traces, where that goes to a
log, a global container or an attribute that the class does not read. It is unsafe: the compiled model
does not take the time.
"""

import time

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK404",
    "clock",
    dynamo=(
        r"GB0007: builtin `time\.",
        r"GB0156: method `(now|utcnow|today|fromtimestamp)` of class `type`",
    ),
    fix="unsafe",
)

NAMES = ("time", "perf_counter", "monotonic", "process_time", "thread_time", "clock_gettime")
CLOCKS = {f"time.{name}{unit}" for name in NAMES for unit in ("", "_ns")}
TEXTS = {
    f"time.{name}"
    for name in ("sleep", "strftime", "localtime", "gmtime", "ctime", "asctime", "mktime")
}
DATES = {
    f"datetime.{name}"
    for name in (
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "datetime.fromtimestamp",
        "date.fromtimestamp",
    )
}


@rule.on(Call, CLOCKS, DATES, "timeit.default_timer")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` reads the clock",
        help="time the compiled callable from outside, or mark the span with `torch.profiler.record_function`",
    )


@rule.on(Call, TEXTS)
def check_text(event):
    yield event.graph_break(
        f"`{event.shown}` has to run on the host now",
        help="do it outside the compiled region",
    )


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.timing import skipped_timing

    return skipped_timing(node, place)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    start = time.perf_counter()  # BRK404
    y = (x * 2).sin()
    return y, start


TIMES = {}


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad_timing(x):
    start = time.perf_counter()  # BRK404
    y = (x * 2).sin()
    TIMES["sin"] = time.perf_counter() - start  # BRK404
    return y


@rule.becomes
def good_timing(x):
    if not torch.compiler.is_compiling():
        start = time.perf_counter()
    y = (x * 2).sin()
    if not torch.compiler.is_compiling():
        TIMES["sin"] = time.perf_counter() - start
    return y


@rule.example(lambda: (torch.ones(4),), fixed=False, dynamo=("GB0007",))
def bad(x):
    start = time.perf_counter()  # BRK404
    y = (x * 2).sin()
    time.perf_counter() - start  # BRK404
    return y


@rule.becomes
def good(x):
    with torch.profiler.record_function("sin"):
        y = (x * 2).sin()
    return y
