"""Copying a tensor, a list or a dict with the module `copy` ends the graph.

Dynamo does not trace `copy.deepcopy` of anything that holds a tensor (a module or a state
included), `copy.copy` of a tensor or a module, and, oddly, `copy.copy` of a list, a set, a dict or a
deque, whose C method it meets behind the call (that of a tuple or an OrderedDict it follows). `copy.deepcopy` of plain numbers and strings is traced, and so is
`copy.copy` of an object, but for one whose class has `__slots__` (`@dataclass(slots=True)`): to copy it
raises an exception while Dynamo traces, and the whole function is skipped.

Write what you mean: `x.clone()` for a tensor (it stays in autograd's graph, as deepcopy does not
for a non-leaf), `list(items)` or `items.copy()` for a list, `dict(d)` or `d.copy()` for a dict. A
second model (a teacher, an average) is made once, in `__init__`.

The rewrite writes `x.detach().clone()` for a deep copy of a tensor, since a copy carries no gradient
back to the original. It counts as unsafe: the copy of a leaf no longer asks for a gradient itself, a
copy of a non-leaf no longer raises, and a subclass of `list` or `dict` becomes a plain one.
"""

import ast
import copy
from collections import deque

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import (
    Dict,
    ExternalInstance,
    Instance,
    Sequence,
    holds_tensor,
    options,
)

rule = Rule(
    "BRK506",
    "copy",
    dynamo=("GB4198", r"GB0007: (list|dict|set)\.copy", r"GB0008: .*patched_setstate"),
    shares=("GB0088", "GB0156"),
    fix="unsafe",
)


COPIES = {"__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__"}


@rule.on(Call, "copy.deepcopy")
def check_deep(event):
    value = event.argument(0, "x")
    if value is not None and holds_tensor(value):
        is_filled = not isinstance(value, Dict) or any(map(holds_tensor, value.items.values()))
        yield event.graph_break(
            f"Dynamo does not trace `{event.shown}` of something with a tensor",
            help="write `x.clone()`, or `x.detach().clone()`",
            certainty=None if is_filled else "possible",
            fixable=value.is_tensor,
        )
    elif _is_module(event, value):
        yield event.graph_break(
            f"`{event.shown}` copies a module inside the region",
            help="make the copy once, in `__init__`",
            fixable=False,
            certainty="likely",
        )
    elif _has_slots(value):
        yield _problem_of_slots(event)
    elif _is_object(value) and any(map(holds_tensor, value.attributes.values())):
        yield event.graph_break(
            f"`{event.shown}` copies an object with a tensor",
            help=f"make a new `{value.cls.info.name}` of the tensors' clones",
            certainty="likely",
            fixable=False,
        )


@rule.on(Call, "copy.copy")
def check(event):
    value = event.argument(0, "x")
    if value is None:
        return
    if value.is_tensor:
        yield event.graph_break(
            f"Dynamo does not trace `{event.shown}`",
            help="write `x.detach()`, which shares the memory as the copy does, or `x.clone()`",
        )
    elif _is_module(event, value):
        yield event.graph_break(
            f"`{event.shown}` copies a module inside the region",
            help="make the copy once, in `__init__`",
            fixable=False,
        )
    elif (isinstance(value, Dict) and not value.is_ordered) or (
        isinstance(value, Sequence) and value.type in ("list", "set", "dict", "deque")
    ):
        kind = "dict" if isinstance(value, Dict) else value.type
        yield event.graph_break(
            f"Dynamo does not trace `copy.copy` of a {kind}",
            help=f"write `{kind}(...)` or the method `.copy()`",
        )
    elif _has_slots(value):
        yield _problem_of_slots(event)


def _problem_of_slots(event):
    value = event.argument(0, "x")
    name = value.cls.info.name
    help = f"make the new `{name}` from the fields"
    # without slots a deep copy of its tensors would end the graph
    if event.name == "copy.copy" or not any(map(holds_tensor, value.attributes.values())):
        help += ", or let its class have no slots"
    return event.problem(
        f"`{event.shown}` copies an object of `{name}`, whose class has slots: to copy one raises while Dynamo "
        "traces, so the whole function is skipped",
        help=help,
        fixable=False,
        skips="call",
        dynamo=("GB0088",),
    )


def _is_object(value) -> bool:
    """True for an object of a class of the checked source that does not say itself how it is copied."""
    return type(value) is Instance and COPIES.isdisjoint(_own_names(value))


def _has_slots(value) -> bool:
    """True for an object whose class, with no parent that has a `__dict__`, keeps its attributes in slots."""
    if not _is_object(value) or value.cls.info.node.bases:
        return False
    decorators = value.cls.info.node.decorator_list
    return "__slots__" in _own_names(value) or any(
        isinstance(decorator, ast.Call)
        and any(k.arg == "slots" and ast.unparse(k.value) == "True" for k in decorator.keywords)
        for decorator in decorators
    )


def _own_names(value) -> set[str]:
    """What the body of the object's class gives a name."""
    names = set()
    for node in value.cls.info.node.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return names


def _is_module(event, value) -> bool:
    """True for a module, or one that may be None."""
    found = [option for option in options(value) if not option.is_none] if value else []
    return bool(found) and all(_is_one_module(event, option) for option in found)


def _is_one_module(event, value) -> bool:
    if isinstance(value, Sequence):
        return value.type in ("ModuleList", "Sequential")
    if not isinstance(value, Instance | ExternalInstance):
        return False
    names = (value.name,) if isinstance(value, ExternalInstance) else event.bases
    return any(name.startswith("torch.nn.") for name in names)


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    given = rw.arguments(found) if isinstance(found, cst.Call) else None
    if not given or len(given[0]) != 1 or given[1]:
        return None
    value = given[0][0]
    if rw.called(found) == "deepcopy":
        return rw.swap(node, found, f"{rw.operand(value)}.detach().clone()")
    for kind in ("list", "dict", "set"):
        if f"of a {kind}" in problem.message:
            return rw.swap(node, found, f"{kind}({rw.code(value)})")
    return rw.swap(node, found, f"{rw.operand(value)}.detach()")  # it shares the memory


@rule.example(lambda: (torch.ones(4),), lambda: (torch.full((4,), torch.nan),), dynamo=("GB4198",))
def bad(x):
    y = copy.deepcopy(x)  # BRK506
    return y + 1


@rule.becomes
def good(x):
    y = x.detach().clone()
    return y + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    parts = [x, x * 2]
    more = copy.copy(parts)  # BRK506
    return sum(more)


@rule.becomes
def good(x):
    parts = [x, x * 2]
    more = list(parts)
    return sum(more)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0156",), fixed=False)
def bad_deque(x):
    recent = deque([x, x * 2])
    kept = copy.copy(recent)  # BRK506
    return kept[0] - kept[1]


@rule.becomes
def good_deque(x):
    recent = deque([x, x * 2])
    kept = recent.copy()
    return kept[0] - kept[1]


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0008",), module=True, fixed=False)
def bad_of_a_module():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            layer = copy.copy(self.layer)  # BRK506
            return layer(x)

    return Net()


@rule.becomes
def good_of_a_module():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.same = copy.copy(self.layer)

        def forward(self, x):
            return self.same(x)

    return Net()


class Points:
    def __init__(self, at):
        self.at = at


class Slim:
    __slots__ = ("at",)

    def __init__(self, at):
        self.at = at


@rule.example(lambda: (torch.ones(4),), dynamo=("GB4198",), fixed=False)
def bad_of_an_object(x):
    points = Points(x * 2)
    return copy.deepcopy(points).at + x  # BRK506


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0088",), fixed=False)
def bad_of_slots(x):
    slim = Slim(x * 2)
    return copy.copy(slim).at + x  # BRK506
