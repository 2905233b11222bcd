"""An object of a class written in C ends the graph.

Dynamo follows constructors written in Python. For `bytes(...)`, `bytearray(...)`, `object()`,
`types.SimpleNamespace()`, `decimal.Decimal()`, `datetime.datetime(...)`, `array.array(...)`,
`io.BytesIO()` and `threading.local()` it has no model, so the graph ends there, as it does where an attribute of a `SimpleNamespace`
is set; nor for the guards of
`torch._C` that switch dispatch keys, as `torch._C._DisableTorchDispatch()`. Dates and times that exist already can
be read (`day.month`), but their methods (`day.weekday()`) end the graph. A class of yours that derives from
one of these, or from `float`, `deque`, `defaultdict` or `functools.partial`, is made in C as well. (Those that derive
from `int`, `str`, `list`, `dict`, `tuple` and sets are traced.)

A sentinel `object()` belongs at the module's top. For a bundle of values use a tuple, a dict, a
NamedTuple or a dataclass, which Dynamo traces.
"""

import datetime
import types

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK521",
    "object-in-c",
    dynamo=(
        "GB0147: <class",
        "GB0059: operator `(bytes|bytearray|memoryview|object|classmethod)`",
        "GB0156: __(new|prepare|setattr)__",
        r"GB0156: method `\w+` of class `(date|datetime|time|timedelta)`",
        "GB0007: (_thread|_functools|.*pybind11_object)",
    ),
    shares=("GB0092",),
)

BUILTINS = {"bytes", "bytearray", "memoryview", "object", "classmethod"}
CLASSES = frozenset(
    """
    types.SimpleNamespace decimal.Decimal datetime.datetime datetime.date datetime.timedelta
    datetime.time array.array io.BytesIO io.StringIO threading.local threading.Lock threading.RLock
    threading.Thread threading.Event queue.Queue contextvars.ContextVar
    itertools.combinations_with_replacement dataclasses.make_dataclass functools.cmp_to_key
    functools.lru_cache shlex.split torch._C.DispatchKeySet torch._C._AutoDispatchBelowAutograd
    torch._C._DisableAutocast torch._C._DisableFuncTorch torch._C._DisableTorchDispatch
    torch._C._ExcludeDispatchKeyGuard torch._C._ForceDispatchKeyGuard
    torch._C._IncludeDispatchKeyGuard
    """.split()
)
DERIVED = CLASSES | set(
    """
    bytearray bytes collections.defaultdict collections.deque complex float functools.partial
    property random.Random
    """.split()
)
METHODS = {
    f"datetime.{name}.{method}"
    for names, methods in (
        ("date datetime", "weekday isoweekday isocalendar toordinal timetuple ctime"),
        ("date datetime time", "isoformat strftime replace"),
        ("datetime", "timestamp date time timetz utctimetuple astimezone"),
        ("datetime time", "utcoffset tzname dst"),
        ("timedelta", "total_seconds"),
    )
    for name in names.split()
    for method in methods.split()
}


@rule.on(Call, BUILTINS, CLASSES)
def check(event):
    if event.name == "object" and event.args:
        return  # not this class, but a name that may stand for several
    yield event.problem(
        f"`{event.name}` is made in C, which Dynamo does not trace, so the graph ends at `{event.shown}`",
        help="make it once outside the region; for a bundle of values use a tuple, a dict or a dataclass",
    )


@rule.on(Call, "types.SimpleNamespace.__setattr__")
def check_set(event):
    yield event.problem(
        f"an attribute of a `SimpleNamespace` is set in C, which Dynamo does not trace, so the graph ends at `{event.shown}`",
        help="use a dataclass, or a class of your own, whose attributes Dynamo sets",
    )


@rule.on(Call, METHODS)
def check_method(event):
    yield event.problem(
        f"`{event.shown}` is a method in C of a date or time, which Dynamo does not trace, so the graph ends here",
        help="compute it outside the region, and hand over the number",
    )


@rule.on(Call, {f"subclass of {name}" for name in DERIVED})
def check_derived(event):
    base = event.name.removeprefix("subclass of ")
    yield event.problem(
        f"`{event.shown}` makes an object of a class that derives from `{base}`, which is written in C, so the graph ends here",
        help="make it once outside the region, or let the class hold such an object instead of being one",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0147",))
def bad(x):
    parts = types.SimpleNamespace(scale=2)  # BRK521
    return x * parts.scale


@rule.becomes
def good(x):
    parts = {"scale": 2}
    return x * parts["scale"]


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007", "GB0092"))
def bad_keys(x):
    torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)  # BRK521
    return x + 1


@rule.becomes
def good_keys(x):
    return x + 1


class Amount(float):
    pass


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0147",))
def bad_derived(x):
    amount = Amount(2)  # BRK521
    return x * float(amount)


YEAR = datetime.date(2024, 5, 17)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_date(x):
    x = x * YEAR.month
    return x + YEAR.weekday()  # BRK521


STATE = types.SimpleNamespace(scale=2.0)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",))
def bad_set(x):
    STATE.scale = 2.0  # BRK521
    return x * 2
