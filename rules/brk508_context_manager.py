"""A context manager that Dynamo cannot enter ends the graph, and the block runs without one.

Dynamo enters `torch.no_grad`, `autocast`, `record_function`, `contextlib.nullcontext` and context
managers written in Python whose body it can trace. It cannot enter locks, files, most
generator-based ones of libraries (as `torch.backends.cudnn.flags` or `torch.random.fork_rng`),
`torch.device(...)`, saved-tensor hooks and anomaly mode. Nor does it enter an object of a class of
your own, a `torch.no_grad()`, an `enable_grad()` or an `inference_mode()` that was made before the
region began (`with self.context:`). The graph ends at the `with`, and because the block cannot be
resumed in the middle, nothing in it is compiled.

An object that the region makes is one of Python's too behind the next break. Where `__init__` of your
class breaks (it reads a clock, it prints), the `with` that the object is made for breaks as well.

Enter it around the compiled call instead of inside: `with torch.backends.cudnn.flags(...):
model(x)`. A lock guards something shared; take it outside too. For `with torch.device(d):` give
`device=d` to the calls in the block.

The rewrite enters a lock in eager mode only, with `contextlib.nullcontext()` in its place while Dynamo
traces. It does so where the block sets local names, or makes one store of what it does not read: there no
other thread sees half of it. It is unsafe because the compiled code does not wait for who holds the lock.
"""

import contextlib
import threading
import time

import torch

from breakscope.knowledge import load
from breakscope.rulekit.events import Enter
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK508",
    "context-manager",
    dynamo=(
        "GB0142",
        "GB0262",
        r"GB0008: \w*(hook|anomaly|save_on|nvtx|multithreading|tracking|fusion|Flop)\w*\.__init__",
    ),
    shares=("GB0007",),
    fix="unsafe",
)

LOCKS = frozenset(
    """
    _thread.lock _thread.RLock _thread.allocate_lock threading.Lock threading.RLock
    threading.BoundedSemaphore multiprocessing.Lock multiprocessing.RLock
    """.split()
)
HELP = {"torch.device": "give `device=` to the calls inside instead"}


@rule.on(Enter)
def check(event):
    if event.exists:
        yield event.problem(
            f"Dynamo enters a `{event.name}` only where the region makes it: the graph ends at `{event.shown}` and "
            "the block runs without one",
            help="make it in the `with`, or enter it around the compiled call",
            fixable=False,
            skips="with",
        )
        return
    if event.behind_break:
        yield event.problem(
            f"a break leaves `{event.shown}` to Python before the `with` enters it, so the graph ends at the `with` too and "
            "the block runs without one",
            help=f"fix the break between the making of the `{event.name}` and the `with`, its `__init__` included",
            certainty="likely",
            fixable=False,
            skips="with",
        )
        return
    measured = load().context(event.name)
    if event.name.startswith("function under ") and measured is not None and measured.never:
        return
    if event.name in LOCKS or (measured is not None and measured.breaks and measured.always):
        yield event.problem(
            f"Dynamo cannot enter `{event.shown}` (`{event.name}`): the graph ends and the block runs without one",
            help=HELP.get(event.name, "enter it around the compiled call, not inside it"),
            fixable=event.name in LOCKS,
            skips="with"
            if measured is None or measured.skips or "GB0142" in measured.breaks
            else "",
        )


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.rewrites.contexts import lock_in_eager_only

    return lock_in_eager_only(node, place)


lock = threading.Lock()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0142",))
def bad(x):
    y = x * 2
    with lock:  # BRK508
        y = y + 1
    return y


@rule.becomes
def good(x):
    y = x * 2
    with contextlib.nullcontext() if torch.compiler.is_compiling() else lock:
        y = y + 1
    return y


class Doubled:
    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False


doubled = Doubled()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0142",), fixed=False)
def bad_made_before(x):
    y = x * 2
    with doubled:  # BRK508
        y = y + 1
    return y


@rule.becomes
def good_made_inside(x):
    y = x * 2
    with Doubled():
        y = y + 1
    return y


@rule.example(lambda: (torch.ones(4, requires_grad=True),), dynamo=("GB0142", "GB0008"))
def bad(x):
    with torch.autograd.graph.save_on_cpu():  # BRK508
        return (x * 2).sin()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0262", "GB0142"), fixed=False)
def bad(x):
    with contextlib.redirect_stdout(None):  # BRK508
        y = x * 2
    return y + 1


@rule.becomes
def good(x):
    y = x * 2
    return y + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0142",), module=True, fixed=False)
def bad():
    mode = torch.no_grad()

    def forward(x):
        y = x * 2
        with mode:  # BRK508
            y = y + 1
        return y

    return forward


@rule.becomes
def good():
    def forward(x):
        y = x * 2
        with torch.no_grad():
            y = y + 1
        return y

    return forward


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0142", "GB0007"), module=True, fixed=False)
def bad_made_by_a_break():
    class Timed:
        def __init__(self):
            self.began = time.time()  # BRK404

        def __enter__(self):
            return self

        def __exit__(self, *problem):
            return False

    def forward(x):
        y = x * 2
        with Timed():  # BRK508
            y = y + 1
        return y

    return forward


@rule.becomes
def good_made_without():
    class Timed:
        def __init__(self):
            self.began = 0.0

        def __enter__(self):
            return self

        def __exit__(self, *problem):
            return False

    def forward(x):
        y = x * 2
        with Timed():
            y = y + 1
        return y

    return forward
