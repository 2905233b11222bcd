"""How a function's body uses its parameters: what it reads of them, calls on them, and hands on."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NamedTuple

from breakscope import limits
from breakscope.rulekit.values import Function, Instance
from breakscope.rulekit.walking import (
    begin_of,
    defaults_in,
    end_of,
    is_store,
    kept_with_node,
    plain_parameters,
    positional_parameters,
    uses_of,
    walk,
)
from breakscope.static.definitions.classes import bound_to, find_member
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import FunctionInfo
from breakscope.static.regions.uses.numbers import NumberUses
from breakscope.static.regions.uses.sparse import sparse_uses

# what sizes have, as numbers and lists of them, and what is asked of them
OF_SIZES = frozenset(name for kind in (int, float, tuple, list) for name in dir(kind)) | {"numel"}
ASKED_OF_SIZES = frozenset({"isinstance", "range"})
ASKED = frozenset({"is_sparse", "layout", "isinstance"})
# the types of parameters in docstrings
DOCUMENTED = r"^[ \t]*(?:{0} ?: ?(.+)|{0} \(([^)]+)\)|:type {0}: (.+)|:param (\S+) {0}:)"
OTHER = re.compile(
    r"(?i)\W*(?:an? |(?:(?:union|optional|list|tuple|sequence)(?:\[| of )))?"
    r"(?:(?:int|integer|float|str|string|bool|boolean|dict|callable|function)s?\b|None$)"
)
TENSOR = re.compile(r"(?i)tensor|array|variable|matri|vector")
SPARSE_TYPE = re.compile(r"(?i)\btorch\.sparse|\bsparse[ _](?:\w+[ _])?(?:tensor|matri[cx])")
CHOICE = re.compile(r"(?i)\b(?:dense|or|whether|if|bool|boolean|str|dict)\b")
CHOOSING = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
BASE = "super()."


class Handed(NamedTuple):
    """What is called with a parameter: the name, whether it is one of the object's own, and the place
    among the arguments, or the keyword."""

    name: str
    is_own: bool
    at: int | str


class Usage:
    """How a function's body uses its parameters, looked up when one has neither annotation nor
    default, or when the module that it stands in speaks of sparse tensors."""

    def __init__(self, info: FunctionInfo) -> None:
        self.node = info.node
        self.has_sparse = _speaks_of_sparse(info.module.tree, info.module.text)

    def bare(self, name: str) -> frozenset[str]:
        """The methods of it that the body calls without an argument, as "step()", and "backward"
        where the body calls that of anything."""
        calls = [
            part
            for part in walk(self.node)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
        ]
        found = {
            f"{call.func.attr}()"
            for call in calls
            if not (call.args or call.keywords)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == name
        }
        if any(call.func.attr == "backward" for call in calls):
            found.add("backward")
        return frozenset(found)

    def is_sparse(self, name: str) -> bool:
        """True where the body takes what it is given for a sparse tensor, or the docstring calls it one,
        and nothing asks about that."""
        if not self.has_sparse or not self.of(name).isdisjoint(ASKED):
            return False
        if self.is_documented_as_sparse(name):
            return True
        used = sparse_uses(self.node).get(name)
        return used is not None and used < self._end_of_given(name)

    def is_bound(self, name: str) -> bool:
        """True where the body slices by the parameter, as by a number: seldom is it a tensor."""
        return "[:]" in self.of(name) and not self.is_set(name)

    def is_counted(self, name: str) -> bool:
        """True where the body goes over a `range` of it, as of a number."""
        return "range" in self.of(name) and not self.is_set(name)

    def is_size(self, name: str) -> bool:
        """True where the body hands it over as a size or a dimension, or what it computes of it: `x.view(n, -1)`,
        and reads nothing of it that numbers and lists of them do not have, as `lengths.max()` does."""
        if any(map(str.isidentifier, self.of(name) - OF_SIZES - ASKED_OF_SIZES)):
            return False
        return not self.is_set(name) and "size" in NumberUses(self.node, {}).all_of(name)

    def is_chosen_by(self, name: str) -> bool:
        """True where the body compares the parameter with a text, or does nothing with it but compare it with several
        constants, or with one in tests, to decide what to do: `if stage == 0` and later `if stage == 1`. Such a one is
        no tensor. What stands in an error is no use of it."""
        asked: dict[int, list[object]] = {}
        errors, tests = set(), set()
        for part in walk(self.node):
            if isinstance(part, ast.If | ast.IfExp | ast.While):
                tests |= {id(inside) for inside in walk(part.test)}
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], CHOOSING):
                sides = (part.left, part.comparators[0])
                for side, other in (sides, sides[::-1]):
                    asked.setdefault(id(side), []).extend(_constants(other))
            elif isinstance(part, ast.Match):
                values = [p.value for p in walk(part) if isinstance(p, ast.MatchValue)]
                asked.setdefault(id(part.subject), []).extend(
                    constant for value in values for constant in _constants(value)
                )
            elif isinstance(part, ast.Raise):
                errors |= {id(inside) for inside in walk(part)}
        read = [id(use) for use in uses_of(self.node, name) if id(use) not in errors]
        constants = [constant for place in read for constant in asked.get(place, ())]
        if any(type(constant) is str for constant in constants):
            return True
        if not read or not all(asked.get(place) for place in read):
            return False
        return len(set(constants)) > 1 or tests.issuperset(read)

    def is_ordered(self, name: str) -> bool:
        """True where a test orders the parameter itself, and not the first one, by a whole number, or by a parameter
        that is one by default: `if step > 1000`, which a tensor of more than one element cannot be. Such a one is a
        number as a rule."""
        if name == next((p.arg for p in plain_parameters(self.node) if p.arg != "self"), ""):
            return False
        whole = _whole_by_default(self.node)
        for part in walk(self.node):
            if not isinstance(part, ast.If | ast.IfExp | ast.While | ast.Assert):
                continue
            for test in _operands(part.test):
                if isinstance(test, ast.Compare) and isinstance(test.ops[0], ORDERING):
                    sides = (test.left, test.comparators[0])
                    is_asked = any(getattr(side, "id", "") == name for side in sides)
                    if is_asked and any(
                        type(getattr(s, "value", None)) is int or getattr(s, "id", "") in whole
                        for s in sides
                    ):
                        return self._end_of_given(name) > begin_of(test)
        return False

    def is_of_math(self, name: str) -> bool:
        """True where the body hands it to a function of `math`, which is written for a number: `math.cos(theta)`."""
        return any(
            _root(part.func) == "math" and any(getattr(a, "id", "") == name for a in part.args)
            for part in walk(self.node)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
        )

    def is_flag(self, name: str) -> bool:
        """True where the body asks whether it holds, and does nothing else with it but hand it on to others than
        torch's functions, or back: `if reverse: ...`, `assert reverse is False or ...`."""
        asked, handed = set(), set()
        for part in walk(self.node):
            if isinstance(part, ast.If | ast.IfExp | ast.While | ast.Assert):
                asked |= {id(operand) for operand in _operands(part.test)}
            elif isinstance(part, ast.Call) and _root(part.func) not in ("torch", "F"):
                handed |= {id(a) for a in (*part.args, *(word.value for word in part.keywords))}
            elif isinstance(part, ast.Return):
                handed.add(id(part.value))
        uses = {id(use) for use in uses_of(self.node, name)}
        return not uses.isdisjoint(asked) and uses <= asked | handed

    def is_documented_as_sparse(self, name: str) -> bool:
        """True where the docstring says so: `adjacency : torch.sparse`, `weights: sparse matrices`."""
        kind = self._documented(name)
        return bool(SPARSE_TYPE.search(kind)) and not CHOICE.search(kind)

    def is_set(self, name: str) -> bool:
        return name in first_stores(self.node)

    def _end_of_given(self, name: str) -> tuple[float, int]:
        """The place, line and column, behind which the name may have another value."""
        return first_stores(self.node).get(name, (float("inf"), 0))

    def handed(self, name: str) -> list[Handed]:
        """The parts and methods of the object, and the functions, that are called with it as it is."""
        return [] if self.is_set(name) else _handed(self.node).get(name, [])

    def is_documented_as_other(self, name: str) -> bool:
        """True where the docstring gives the parameter a type, and that is no tensor's: `rank : int`,
        `rank (int)`, `:type rank: int`, `:param int rank:`."""
        kind = self._documented(name)
        return bool(OTHER.match(kind)) and not TENSOR.search(kind)

    def _documented(self, name: str) -> str:
        """What the docstring says of the parameter on the line of its name: its type, or what it is."""
        if isinstance(self.node, ast.Lambda):
            return ""
        text = ast.get_docstring(self.node, clean=False) or ""
        found = re.search(DOCUMENTED.format(re.escape(name)), text, re.MULTILINE)
        return next(filter(None, found.groups()), "") if found else ""

    def of(self, name: str) -> frozenset[str]:
        return usage(self.node).get(name, frozenset())


@kept_with_node
def _speaks_of_sparse(tree: ast.Module, text: bytes) -> bool:
    return any(word in text for word in (b"sparse", b"coalesce", b"smm", b"spmm"))


# what shows a parameter to be no tensor
OF_OTHERS = (
    Usage.is_bound,
    Usage.is_counted,
    Usage.is_size,
    Usage.is_chosen_by,
    Usage.is_flag,
    Usage.is_ordered,
    Usage.is_of_math,
    Usage.is_documented_as_other,
)


@kept_with_node
def first_stores(function: ast.AST) -> dict[str, tuple[int, int]]:
    """By name, where a function first sets it, or behind the assignment that does it."""
    assigned: dict[int, tuple[int, int]] = {}
    ends: dict[str, tuple[int, int]] = {}
    for part in walk(function):
        if isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign):
            assigned |= dict.fromkeys(map(id, walk(part)), end_of(part))
        elif is_store(part):
            end = assigned.get(id(part), begin_of(part))
            ends[part.id] = min(ends.get(part.id, end), end)
    return ends


@kept_with_node
def _handed(function: ast.AST) -> dict[str, list[Handed]]:
    """By name, what a function calls with it as it is."""
    given: dict[str, list[Handed]] = {}
    for part in walk(function):
        if type(part) is ast.Call and (called := _name_of_called(part.func)):
            places = [*enumerate(part.args), *((w.arg or "", w.value) for w in part.keywords)]
            for at, argument in places:
                if type(argument) is ast.Name:
                    given.setdefault(argument.id, []).append(Handed(*called, at))
    return given


@kept_with_node
def usage(node: ast.AST) -> dict[str, frozenset[str]]:
    """For each name, the attributes that the function reads of it; "()" when it is called, "[str]"
    for string keys, "[:]" when it is the bound of a slice as it is, or negated, or by another name, or
    with a constant (`x[: n + 1]`)."""
    found: dict[str, set[str]] = {}
    same: dict[str, set[str]] = {}  # by name, those that it was set from as they are
    for part in walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            found.setdefault(part.value.id, set()).add(part.attr)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            found.setdefault(part.func.id, set()).add("()")
            asked = {"isinstance": part.args[:1], "range": part.args}.get(part.func.id, ())
            for given in asked:
                if isinstance(given, ast.Name):
                    found.setdefault(given.id, set()).add(part.func.id)
        elif (
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and isinstance(part.slice, ast.Constant)
            and isinstance(part.slice.value, str)
        ):
            found.setdefault(part.value.id, set()).add("[str]")
        elif isinstance(part, ast.Slice):
            for bound in (part.lower, part.upper):
                name = bound.operand if isinstance(bound, ast.UnaryOp) else bound
                if isinstance(name, ast.BinOp) and isinstance(name.right, ast.Constant):
                    name = name.left
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, set()).add("[:]")
        elif isinstance(part, ast.Assign) and isinstance(part.value, ast.Name):
            for target in part.targets:
                same.setdefault(getattr(target, "id", ""), set()).add(part.value.id)
    for name in [name for name in same if "[:]" in found.get(name, ())]:
        for source in same[name]:
            found.setdefault(source, set()).add("[:]")
    return {name: frozenset(attributes) for name, attributes in found.items()}


def is_taken(
    machine: Machine,
    function: Function,
    name: str,
    body: Usage,
    shows: Callable[[Usage, str], bool],
    deep: int = limits.DEEPEST_TENSOR_SEARCH,
) -> bool:
    """True where a function's body shows it of a parameter, or that of the function, the method or the part
    of its module that it hands the parameter to."""
    if shows(body, name):
        return True
    for handed in body.handed(name) if deep else ():
        taken = _called(machine, function, handed.name, handed.is_own)
        parameter = _parameter_at(taken, handed.at) if taken else ""
        if parameter and is_taken(machine, taken, parameter, Usage(taken.info), shows, deep - 1):
            return True
    return False


def called_by(machine: Machine, function: Function, func: ast.expr) -> Function | None:
    """What a call in a function's body calls, by what stands before its brackets: the forward of a part
    or a method (`self.name`), or a function of the module (`name`)."""
    called = _name_of_called(func)
    return _called(machine, function, *called) if called else None


def _called(machine: Machine, function: Function, name: str, is_own: bool) -> Function | None:
    if not is_own:
        found = module_names(machine, function.info.module).get(name)
        return found if type(found) is Function else None
    owner = function.bound
    if type(owner) is not Instance:
        return None
    if name.startswith(BASE):
        found = find_member(machine, owner.cls.info, name.removeprefix(BASE), function.info.owner)
        return bound_to(found, owner) if isinstance(found, Function) else None
    part = owner.attributes.get(name)
    is_part = type(part) is Instance
    owner, name = (part, "forward") if is_part else (owner, name)
    found = bound_to(find_member(machine, owner.cls.info, name), owner)
    return found if isinstance(found, Function) else None


def _parameter_at(function: Function, at: int | str) -> str:
    """The parameter that a place among the arguments, or a keyword, is for."""
    spec = function.info.node.args
    names = [p.arg for p in positional_parameters(function.info.node)][function.bound is not None :]
    if type(at) is int:
        return names[at] if at < len(names) else ""
    return at if at in names or any(at == p.arg for p in spec.kwonlyargs) else ""


def _name_of_called(func: ast.expr) -> tuple[str, bool] | None:
    """The name in `self.name(...)` and `name(...)`, and whether it is the object's own; "super().name" for
    the method of a base."""
    if type(func) is ast.Name:
        return func.id, False
    if type(func) is not ast.Attribute:
        return None
    if type(func.value) is ast.Call and _root(func.value.func) == "super":
        return f"{BASE}{func.attr}", True
    return (func.attr, True) if getattr(func.value, "id", "") == "self" else None


def _whole_by_default(node: ast.AST) -> set[str]:
    """The parameters whose default is a whole number."""
    return {
        parameter.arg
        for parameter, default in defaults_in(node)
        if type(getattr(default, "value", None)) is int
    }


def _constants(node: ast.expr) -> list[object]:
    """The constant that an expression is, or those of a tuple, list or set of constants."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    plain = [part.operand if isinstance(part, ast.UnaryOp) else part for part in parts]
    return [part.value for part in plain if isinstance(part, ast.Constant)]


def _operands(test: ast.expr) -> list[ast.expr]:
    """What a test asks the truth of."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _operands(test.operand)
    if isinstance(test, ast.BoolOp):
        return [operand for value in test.values for operand in _operands(value)]
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot):
        # `flag is False`, and not `x is None`, which any parameter is asked for
        return [test.left] if getattr(test.comparators[0], "value", None) in (True, False) else []
    return [test]


def _root(node: ast.expr) -> str:
    """The first name of a dotted one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")
