"""What a break hands on to the code behind it: a number, or a tensor of a size, that is another in each call makes
Dynamo compile that code again."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Call, Event, ScalarRead
from breakscope.rulekit.resumed import Resumed
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.walking import children, names_in, walk
from breakscope.static.machine.frames import Activation
from breakscope.static.variables.library.draws import CLOCKS, DRAWS

BY_VALUES = "GB0036"  # an operator whose result is as long as the values make it
NUMBERS = frozenset({"item", "int", "float", "round", "tolist"})
DRAWN = frozenset((*(f"random.{name}" for name in DRAWS), *(f"time.{name}" for name in CLOCKS)))
# methods that keep what they are given, and look at nothing of it
KEEPING = frozenset({"append", "add", "extend", "insert", "update", "setdefault", "put"})
USES = (ast.AugAssign, ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.FormattedValue, ast.Subscript, ast.UnaryOp)  # fmt: skip
GATHERING = (ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.IfExp, ast.keyword)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def resumed(event: Event, rule: Rule, activation: Activation, varies: bool) -> Resumed | None:
    """The event of the code behind a break that hands on what differs between calls, which are given other values
    where these vary; None where it hands on nothing of the kind, or the code does not look at it."""
    is_drawn = type(event) is Call and event.name in DRAWN
    what = "number" if is_drawn else _handed_on(event, rule) if varies else ""
    function = _function_of(activation) if what else None
    if function is None:
        return None
    flow = Flow(function)
    if not flow.is_used(event.node, 2) or not (is_drawn or flow.comes_of_parameters(event.node)):
        return None
    return Resumed(
        node=event.node,
        source=event.source,
        function=event.function,
        certainty=event.certainty if what == "number" else "likely",
        at_most=event.at_most,
        what=what,
    )


def _handed_on(event: Event, rule: Rule) -> str:
    if type(event) is ScalarRead:
        is_number = event.how in NUMBERS and getattr(event.value, "dtype", None) != "bool"
        return "number" if is_number else ""
    by_values = any(text.startswith(BY_VALUES) for text in (*rule.dynamo, *rule.shares))
    has_least = "minlength" in getattr(event, "kwargs", ())  # and mostly is as long as that
    return "size" if by_values and not has_least and not getattr(event, "store", "") else ""


def _function_of(activation: Activation) -> ast.FunctionDef | None:
    """The function that an activation is of."""
    name = activation.function.rpartition(".")[2]
    for node in walk(activation.module.tree):
        if isinstance(node, FUNCTIONS) and node.name == name and node.lineno == activation.line:
            return node
    return None


class Flow:
    """Where the values of one function go, as far as its names show."""

    def __init__(self, function: ast.FunctionDef) -> None:
        spec = function.args
        self.parameters = {p.arg for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
        self.parents: dict[int, ast.AST] = {}
        self.loads: dict[str, list[ast.Name]] = {}
        self.sources: dict[str, set[str]] = {}  # name -> those that its value was computed of
        for node in (part for statement in function.body for part in walk(statement)):
            for child in children(node):
                self.parents[id(child)] = node
            if type(node) is ast.Name and type(node.ctx) is ast.Load:
                self.loads.setdefault(node.id, []).append(node)
            elif type(node) in (ast.Assign, ast.AugAssign, ast.For):
                targets = node.targets if type(node) is ast.Assign else [node.target]
                given = names_in(node.iter if type(node) is ast.For else node.value)
                for name in (n for target in targets for n in names_in(target)):
                    self.sources.setdefault(name, set()).update(given)

    def comes_of_parameters(self, node: ast.expr) -> bool:
        """True for an expression that is computed of what the function was given."""
        waiting, seen = [*names_in(node)], set()
        while waiting:
            name = waiting.pop()
            if name in self.parameters and name != "self":
                return True
            if name not in seen:
                seen.add(name)
                waiting += self.sources.get(name, ())
        return False

    def is_used(self, node: ast.AST, depth: int) -> bool:
        """True where something looks at the value: to keep it, or to return it, is no look."""
        parent = self.parents.get(id(node))
        while isinstance(parent, GATHERING):
            node, parent = parent, self.parents.get(id(parent))
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
            return parent.func is node or parent.func.attr not in KEEPING
        if isinstance(parent, ast.If | ast.While | ast.For):
            return node in (getattr(parent, "test", None), getattr(parent, "iter", None))
        if isinstance(parent, USES):
            return True
        if not isinstance(parent, ast.Assign) or depth == 0:
            return False
        names = {n for t in parent.targets if not isinstance(t, ast.Subscript) for n in _bound(t)}
        behind = (parent.end_lineno, parent.end_col_offset)
        return any(
            (load.lineno, load.col_offset) >= behind and self.is_used(load, depth - 1)
            for name in names
            for load in self.loads.get(name, ())
        )


def _bound(target: ast.expr) -> set[str]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return {part.id for part in parts if isinstance(part, ast.Name)}
