"""A Python number that counts on an attribute recompiles in every call.

`self.steps += 1`: Dynamo treats an int attribute of a module as a constant and guards its value.
The next call finds another number, so the graph is compiled again, until the recompile limit (8) is
reached and the code is skipped for good. A float attribute is compiled once more and then kept as
an input; a string behaves like an int. The int of an object that is no module is compiled for 0 and
for 1, and is dynamic from then on. So it is with the number of an object on it which another takes the
place of: `self.state = self.state.advance()`.

Register a buffer: `self.register_buffer("steps", torch.tensor(0))`, then
`self.steps = self.steps + 1` is work in the graph. It moves with the module and stands in its state_dict unless
`persistent=False`. Or count outside the region, in the training loop, when the forward pass does
not use the number.

The rewrite makes a buffer of a number that `__init__` sets and one line counts, where all that reads it is
arithmetic. It is unsafe because the attribute is then a tensor, and so is what is computed of it (in float32,
where Python has float64).
"""

import ast

import torch

from breakscope.rulekit.events import Store
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, Instance, Py

rule = Rule(
    "BRK701",
    "counter-attribute",
    kind="recompile",
    severity="warning",
    dynamo=("attribute", "int_argument", "global"),
    fix="unsafe",
)

NUMBERS = ("int", "float", "str", "number")


@rule.on(Store, scope="attribute", reads_itself=True)
def check(event):
    initial = event.initial
    name = f"{event.owner}.{event.name}" if event.name else event.owner
    number = _changed_number(event)
    if number is not None:  # of an object that another takes the place of
        name, initial = f"{name}.{number}", initial.attributes[number]
    if isinstance(initial, Const) and type(initial.value) in (int, float, str):
        kind = type(initial.value).__name__
    elif isinstance(initial, Py) and initial.type in NUMBERS:
        kind = initial.type
    elif initial.is_shape:  # the program's calls have left a size there
        kind = "int"
    else:
        return
    if event.value.is_tensor or _changes_once(event.node):
        return
    if "is_available" in event.condition:
        return  # a probe of the hardware decides whether this runs at all
    often = "once more" if kind == "float" else "in every call"
    if kind == "int" and event.of_plain:
        often = "once or twice more, until it is dynamic"
    if _is_left_at_once(name, initial, event.condition):
        often = "once more"
    yield event.problem(
        f"`{name}` is a Python {kind} that changes in the region, so it is compiled {often}",
        help=f"make `{number or event.name or name}` a buffer (a 0-d tensor) where no test reads it, or count outside the compiled region",
    )


def _changes_once(node):
    """True for `self.done |= done`, which leaves a flag as it is from then on."""
    return isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr | ast.BitAnd)


def _is_left_at_once(name, initial, condition):
    """True for `if self.count == 0: self.count += 1`, which only the first call comes to."""
    is_known = isinstance(initial, Const)
    return is_known and f"{name} == {initial.value!r}" in condition.split(" and ")


def _changed_number(event):
    """The attribute of an object of which the new one has another number: `self.state = self.state.next()`."""
    old, new = event.initial, event.value
    if not isinstance(old, Instance) or not isinstance(new, Instance) or old.cls != new.cls:
        return None
    for name, first in old.attributes.items():
        then = new.attributes.get(name)
        if isinstance(first, Const) and isinstance(then, Const) and first != then:
            if type(first.value) is type(then.value) in (int, float, str):
                return name
    return None


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.rewrites.counter_buffer import as_buffer

    return as_buffer(node, place)


CALLS = [lambda: (torch.ones(2, 4),)] * 4


@rule.example(*CALLS, module=True, dynamo=("attribute",))
def bad():
    class Warmup(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = 0

        def forward(self, x):
            self.steps += 1  # BRK701
            return x * self.steps

    return Warmup()


@rule.becomes
def good():
    class Warmup(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.tensor(0), persistent=False)

        def forward(self, x):
            self.steps = self.steps + 1
            return x * self.steps

    return Warmup()


@rule.example(*CALLS, module=True, dynamo=("int_argument",))
def bad_of_the_class():
    class Counted(torch.nn.Module):
        total = 0

        def forward(self, x):
            Counted.total += 1  # BRK701
            return x * Counted.total

    return Counted()


STATS = {"calls": 1}


@rule.example(*CALLS, dynamo=("global",))
def bad_in_a_container(x):
    STATS["calls"] += 1  # BRK701
    return x * STATS["calls"]
