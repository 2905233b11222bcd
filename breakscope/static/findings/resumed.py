"""What a break hands on to the code behind it: a number, or a tensor of a size, that is another in each call makes
Dynamo compile that code again."""

from __future__ import annotations

import ast
from collections.abc import Set
from copy import copy

from breakscope.rulekit.events import Call, Event, ScalarRead
from breakscope.rulekit.resumed import Resumed
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, External, Function, Sequence
from breakscope.rulekit.walking import children, names_in, walk
from breakscope.static.findings.left_to_python import drawn_in, read_in
from breakscope.static.machine.frames import Activation
from breakscope.static.variables.library.draws import CLOCKS, DRAWS
from breakscope.static.variables.numpy import size_drawn

BY_VALUES = "GB0036"  # an operator whose result is as long as the values make it
NUMBERS = frozenset({"item", "int", "float", "round", "tolist"})
CHOSEN = frozenset(f"random.{name}" for name in ("choice", "choices", "sample"))
DRAWN = frozenset((*(f"random.{name}" for name in DRAWS), *(f"time.{name}" for name in CLOCKS)))
OF_NUMPY_AS_PYTHON = frozenset(
    """
    random random_sample uniform normal randint beta binomial poisson exponential gamma standard_normal laplace triangular
    lognormal geometric
    """.split()
)
# methods that keep what they are given, and look at nothing of it
KEEPING = frozenset({"append", "add", "extend", "insert", "update", "setdefault", "put"})
USES = (ast.AugAssign, ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.FormattedValue, ast.Subscript, ast.UnaryOp)  # fmt: skip
GATHERING = (ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.IfExp, ast.keyword, ast.Slice)
# attributes and methods that say nothing of a tensor's values
SIZES = frozenset({"shape", "size", "ndim", "dim", "numel", "dtype", "device"})
# what gives tensors of other numbers each time, and the name that stands for these
DRAWING = frozenset(
    """
    rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal poisson sample rsample
    uniform_ normal_ exponential_ random_ bernoulli_
    """.split()
)
RANDOM = "*"
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def resumed(
    event: Event, rule: Rule, activation: Activation, varies: bool, fixed: frozenset[str]
) -> Resumed | None:
    """The event of the code behind a break that hands on what differs between calls, which are given other values
    where these vary, but for the parameters that are `fixed`; None where it hands on nothing of the kind, or the code does
    not look at it."""
    what = _drawn(event) or _handed_on(event, rule)
    function = function_of(activation) if what else None
    if function is None:
        return None
    flow = flow_of(function)
    fixed = fixed if varies else frozenset(flow.parameters)
    if not (_drawn(event) or flow.comes_of_parameters(event.node, fixed, drawn_by(activation))):
        return None
    flow = flow.as_far_as(_left_at(event, activation))
    if not flow.is_used(event.node, 2) and not flow.is_gathered_before(
        event.node, activation.worked[1]
    ):
        return None
    return _resumed(event, what)


def _left_at(event: Event, activation: Activation) -> tuple[int, int] | None:
    """The end of the next number that is read behind the event, where nothing is computed any more behind that: what
    follows is no code that Dynamo compiles."""
    behind = False
    for index, step in enumerate(activation.steps):
        if type(step.event) is ScalarRead and behind and not step.event.undecided:
            return None if activation.works_behind(index) else _end(step.event.node)
        behind = behind or step.event is event
    return None


def held_number(
    event: Event, rule: Rule, activation: Activation, behind: ast.AST, fixed: frozenset[str]
) -> Resumed | None:
    """The event of the code between a break that hands on a number and a later one, at `behind`, which has to hand
    it on again; None where it is no number, or nobody has it there any more. A list that has a name is handed on as it is."""
    function = function_of(activation) if _handed_on(event, rule) == "number" else None
    if function is None:
        return None
    flow = flow_of(function)
    is_list = getattr(event, "how", "") == "tolist" and not flow.is_unpacked(event.node)
    if is_list and not flow.is_one_statement(event.node, behind):
        return None
    is_held = flow.comes_of_parameters(event.node, fixed) and flow.is_held_at(event.node, behind)
    return _resumed(event, "number") if is_held else None


def is_returned(
    event: Event, rule: Rule, activation: Activation, varies: bool, fixed: frozenset[str]
) -> bool:
    """True for what a break hands on that its function gives back: the code behind the call of the function has it."""
    function = function_of(activation) if _drawn(event) or _handed_on(event, rule) else None
    if function is None:
        return False
    flow = flow_of(function)
    fixed = fixed if varies else frozenset(flow.parameters)
    comes_of = _drawn(event) or flow.comes_of_parameters(event.node, fixed, drawn_by(activation))
    return bool(comes_of) and flow.is_returned(event.node)


def gives_back(caller: Activation, call: ast.AST) -> bool:
    """True for a function that returns what a call gives."""
    function = function_of(caller)
    return function is not None and flow_of(function).is_returned(call)


def resumed_in_caller(
    event: Event, rule: Rule, caller: Activation, call: ast.AST
) -> Resumed | None:
    """The event of the code behind a call that gives back what a break in it handed on; None where that does not
    look at it."""
    function = function_of(caller)
    if function is None or not flow_of(function).is_used(call, 2):
        return None
    return _resumed(event, _drawn(event) or _handed_on(event, rule))


def _drawn(event: Event) -> str:
    """What Python draws there: a number, or one of several numbers, texts and functions, which guards tell apart."""
    if type(event) is not Call:
        return ""
    if what := drawn_in(event):
        return what
    source = event.args[0] if event.args and event.name in CHOSEN else None
    items = source.items if isinstance(source, Sequence) else None
    if items and all(isinstance(item, Const | External | Function) for item in items):
        return "choice" if len(set(map(id, items))) > 1 else ""
    return "number" if event.name in DRAWN or _is_drawn_by_numpy(event) else ""


def _is_drawn_by_numpy(event: Call) -> bool:
    """True for a single number of Python's; what `integers` gives is numpy's, which Dynamo takes for a tensor."""
    last = event.name.rpartition(".")[2]
    is_number = event.name.startswith("numpy.random.") and last in OF_NUMPY_AS_PYTHON
    return is_number and size_drawn(last, [*event.args], event.kwargs) is None


def _resumed(event: Event, what: str) -> Resumed:
    return Resumed(
        node=event.node,
        source=event.source,
        function=event.function,
        certainty="likely" if what == "size" else event.certainty,
        at_most=event.at_most,
        what=what,
    )


def _handed_on(event: Event, rule: Rule) -> str:
    if type(event) is ScalarRead:
        is_number = event.how in NUMBERS and getattr(event.value, "dtype", None) != "bool"
        return "number" if is_number else ""
    if type(event) is Call and (what := read_in(event)):
        return what
    by_values = any(text.startswith(BY_VALUES) for text in (*rule.dynamo, *rule.shares))
    has_least = "minlength" in getattr(event, "kwargs", ())  # and mostly is as long as that
    return "size" if by_values and not has_least and not getattr(event, "store", "") else ""


def function_of(activation: Activation) -> ast.FunctionDef | None:
    """The function that an activation is of."""
    name = activation.function.rpartition(".")[2]
    for node in walk(activation.module.tree):
        if isinstance(node, FUNCTIONS) and node.name == name and node.lineno == activation.line:
            return node
    return None


def drawn_by(activation: Activation) -> set[int]:
    """By `id`: the calls in an activation of functions that draw random numbers, be it in others."""
    return {id(step.node) for step in activation.steps if step.child and _draws(step.child, set())}


def _draws(activation: Activation, seen: set[int]) -> bool:
    function = None if id(activation) in seen else function_of(activation)
    if function is None:
        return False
    seen.add(id(activation))
    return RANDOM in names_of_values(function) or any(
        step.child is not None and _draws(step.child, seen) for step in activation.steps
    )


def flow_of(function: ast.FunctionDef) -> Flow:
    """The flow of a function, kept with it."""
    flow = getattr(function, "flow", None)
    if flow is None:
        flow = function.flow = Flow(function)
    return flow


class Flow:
    """Where the values of one function go, as far as its names show."""

    def __init__(self, function: ast.FunctionDef) -> None:
        spec = function.args
        self.parameters = {p.arg for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
        self.parents: dict[int, ast.AST] = {}
        self.loads: dict[str, list[ast.Name]] = {}
        self.sources: dict[str, set[str]] = {}  # name -> those that its value was computed of
        self.calls: dict[str, set[int]] = {}  # name -> by `id` the calls that these are
        for node in (part for statement in function.body for part in walk(statement)):
            for child in children(node):
                self.parents[id(child)] = node
            if type(node) is ast.Name and type(node.ctx) is ast.Load:
                self.loads.setdefault(node.id, []).append(node)
            elif type(node) in (ast.Assign, ast.AugAssign, ast.For):
                targets = node.targets if type(node) is ast.Assign else [node.target]
                value = node.iter if type(node) is ast.For else node.value
                given, called = names_of_values(value), calls_in(value)
                for name in (n for target in targets for n in names_in(target)):
                    self.sources.setdefault(name, set()).update(given)
                    self.calls.setdefault(name, set()).update(called)

    def comes_of_parameters(
        self, node: ast.expr, fixed: frozenset[str], drawn: Set[int] = frozenset()
    ) -> bool:
        """True for an expression that is computed of what the function was given, but for what is `fixed`, or of
        random numbers, as the calls give that are `drawn`."""
        waiting, seen = [*names_of_values(node)], {*fixed - self.sources.keys()}
        if drawn & calls_in(node):
            return True
        while waiting:
            name = waiting.pop()
            if drawn & self.calls.get(name, set()):
                return True
            if name == RANDOM or (name in self.parameters - {"self"} and name not in seen):
                return True
            if name not in seen:
                seen.add(name)
                waiting += self.sources.get(name, ())
        return False

    def as_far_as(self, end: tuple[int, int] | None) -> Flow:
        """The flow of what stands before a place."""
        if end is None:
            return self
        part = copy(self)
        part.loads = {
            n: [at for at in loads if _begin(at) < end] for n, loads in self.loads.items()
        }
        return part

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
        if isinstance(node, ast.Subscript) and any(_is_put(node, t) for t in parent.targets):
            return True
        names = {n for t in parent.targets if not isinstance(t, ast.Subscript) for n in _bound(t)}
        return any(
            _begin(load) >= _end(parent) and self.is_used(load, depth - 1)
            for name in names
            for load in self.loads.get(name, ())
        )

    def is_gathered_before(self, node: ast.AST, work: ast.AST | None) -> bool:
        """True for a value that waits, in a tuple or the like, while the same statement computes something else."""
        parent = self.parents.get(id(node))
        if work is None or not isinstance(parent, GATHERING):
            return False
        return _end(node) <= _begin(work) and self._statement(node) is self._statement(work)

    def is_held_at(self, node: ast.AST, behind: ast.AST) -> bool:
        """True for a value that is still needed at a later place: in the same statement, or by a name that is read
        there or behind it."""
        statement = self._statement(node)
        if statement is None or statement is self._statement(behind):
            return statement is not None
        if not isinstance(statement, ast.Assign):
            return False
        names = {name for target in statement.targets for name in _bound(target)}
        names |= {
            target.value.id
            for target in statement.targets
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
        }
        is_plain = self._is_kept(node, statement)
        return is_plain and any(
            _begin(load) >= _begin(behind) for name in names for load in self.loads.get(name, ())
        )

    def is_one_statement(self, node: ast.AST, other: ast.AST) -> bool:
        return self._statement(node) is self._statement(other)

    def is_unpacked(self, node: ast.AST) -> bool:
        """True for a value that several names share."""
        parent = self.parents.get(id(node))
        return isinstance(parent, ast.Assign) and any(
            isinstance(target, ast.Tuple | ast.List) for target in parent.targets
        )

    def is_returned(self, node: ast.AST) -> bool:
        """True for a value in a `return`, or that a name has which a `return` names."""
        statement = self._statement(node)
        if not isinstance(statement, ast.Assign | ast.AugAssign):
            return isinstance(statement, ast.Return)
        targets = statement.targets if type(statement) is ast.Assign else [statement.target]
        names = {name for target in targets for name in _bound(target)}
        loads = (load for name in names for load in self.loads.get(name, ()))
        return any(isinstance(self._statement(load), ast.Return) for load in loads)

    def _is_kept(self, node: ast.AST, statement: ast.stmt) -> bool:
        """True where the statement assigns the value itself, or something that holds it."""
        parent = self.parents.get(id(node))
        while isinstance(parent, GATHERING):
            parent = self.parents.get(id(parent))
        return parent is statement

    def _statement(self, node: ast.AST | None) -> ast.stmt | None:
        while node is not None and not isinstance(node, ast.stmt):
            node = self.parents.get(id(node))
        return node


def _is_put(value: ast.Subscript, target: ast.expr) -> bool:
    """True for `x[mask] = y[mask]`: of tensors, since nothing else is indexed by a mask."""
    return isinstance(target, ast.Subscript) and ast.dump(target.slice) == ast.dump(value.slice)


def names_of_values(node: ast.AST) -> set[str]:
    """The names that an expression has the values of: not those of which it asks for the size only."""
    if type(node) is ast.Attribute and node.attr in SIZES:
        return set()
    if type(node) is ast.Call:
        named = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if named in ("len", *SIZES):
            return set()
        if named in DRAWING:
            return {RANDOM}
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        names = names_of_values(node.elt)
        for part in reversed(node.generators):
            names |= {n for test in part.ifs for n in names_of_values(test)}
            own = _bound(part.target)
            names = names - own | (names_of_values(part.iter) if names & own else set())
        return names
    if type(node) is ast.Name:
        return {node.id}
    return {name for child in children(node) for name in names_of_values(child)}


def calls_in(node: ast.AST) -> set[int]:
    """By `id`: the calls in an expression."""
    return {id(part) for part in walk(node) if type(part) is ast.Call}


def _begin(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def _bound(target: ast.expr) -> set[str]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return {part.id for part in parts if isinstance(part, ast.Name)}
