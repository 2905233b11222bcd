"""The rewrite of sizes that are read from a tensor which was made of a list of Python numbers: the list
is given to the function that goes over them.

    shapes = torch.as_tensor(shapes_list)
    points = self.grid(shapes)            # for height, width in shapes: torch.arange(height)
    points = self.grid(shapes_list)       # instead
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Patch, Place, place_of
from breakscope.rulekit.walking import gone_over, names_in, positional_parameters, uses_of, walk

MAKERS = frozenset({"torch.as_tensor", "torch.tensor"})
CHANGES = "the numbers of `{}` stay Python's: a tensor's dtype no longer rounds them"
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def from_the_list(problem, place: Place) -> Patch | None:
    """The fix of a size that a loop over a tensor gives, where each call in the file can give the
    list that the tensor was made of; None elsewhere."""
    function, loop = place.function, _loop_of(problem.node, place)
    if function is None or loop is None or not isinstance(loop, ast.Name):
        return None
    if len(uses_of(function, loop.id, ast.Load)) != 1 or _stores(function, loop.id):
        return None  # something else may want the tensor
    calls = [
        (place_of(place.tree, statement).function, statement, call)
        for statement in walk(place.tree)
        if isinstance(statement, SIMPLE)
        for call in walk(statement)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] == function.name
        and not _is_anothers(place_of(place.tree, statement), place)
    ]
    also = []
    for caller, statement, call in calls:
        given = _argument(call, function, loop.id)
        if caller is None:
            return None
        wanted = _list_of(given.id, caller, place.tree) if isinstance(given, ast.Name) else ""
        if not wanted:
            return None
        also.append(Also(statement, _giving(call, given.id, wanted)))
    return Patch(None, also=tuple(also), changes=CHANGES.format(loop.id)) if also else None


def _is_anothers(call: Place, place: Place) -> bool:
    """True for a call inside another class that has a method of this name itself."""
    return call.owner is not place.owner and any(
        isinstance(part, FUNCTIONS) and part.name == place.function.name
        for part in (call.owner.body if call.owner else ())
    )


def _loop_of(node: ast.AST, place: Place) -> ast.expr | None:
    """What the innermost loop goes over whose names the node reads."""
    read = names_in(node)
    for parent in reversed(place.parents):
        if not isinstance(parent, ast.For):
            continue
        over, target = gone_over(parent)
        if read & names_in(target):
            return over
    return None


def _argument(call: ast.Call, function: ast.FunctionDef, name: str) -> ast.expr | None:
    """What a call gives an argument."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [argument.arg for argument in positional_parameters(function)]
    is_bound = isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"])
    at = names.index(name) - is_bound if name in names else len(call.args)
    given = call.args[: at + 1]
    if any(isinstance(value, ast.Starred) for value in given) or not 0 <= at < len(given):
        return None
    return given[at]


def _list_of(tensor: str, function: ast.FunctionDef, tree: ast.Module) -> str:
    """The name of the list that a tensor is made of in a function; "" where that is not known."""
    made = _made_of(tensor, function)
    if made:
        return made
    names = [argument.arg for argument in walk(function.args) if isinstance(argument, ast.arg)]
    if tensor not in names or _stores(function, tensor):
        return ""
    for other in names:
        if other != tensor and not _stores(function, other) and _always(tensor, other, tree):
            return other
    return ""


def _always(tensor: str, other: str, tree: ast.Module) -> bool:
    """True when the calls of the file that give both arguments give a tensor and the list that it is
    made of, or hand on the two, and at least one makes the tensor."""
    is_made = False
    for caller in (n for n in walk(tree) if isinstance(n, FUNCTIONS)):
        for call in (n for n in walk(caller) if isinstance(n, ast.Call)):
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            one, two = given.get(tensor), given.get(other)
            if one is None or two is None:
                continue
            if not isinstance(one, ast.Name) or not isinstance(two, ast.Name):
                return False
            if _made_of(one.id, caller) == two.id:
                is_made = True
            elif (one.id, two.id) != (tensor, other) or _stores(caller, tensor):
                return False
    return is_made


def _made_of(tensor: str, function: ast.FunctionDef) -> str:
    """The list of `tensor = torch.as_tensor(list)`, where nothing is put into the list behind it."""
    stores = _stores(function, tensor)
    for statement in (n for n in walk(function) if isinstance(n, ast.Assign)):
        value = statement.value
        if statement.targets != stores or not isinstance(value, ast.Call):
            continue
        if ast.unparse(value.func) not in MAKERS or not value.args:
            continue
        if isinstance(value.args[0], ast.Name) and not _grows(function, value):
            return value.args[0].id
    return ""


def _grows(function: ast.FunctionDef, made: ast.Call) -> bool:
    name = made.args[0].id
    return any(
        isinstance(n, ast.Attribute | ast.Subscript)
        and isinstance(n.value, ast.Name)
        and n.value.id == name
        and n.lineno > made.lineno
        and not (isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))
        for n in walk(function)
    )


def _giving(call: ast.Call, old: str, new: str):
    def rewrite(node: cst.CSTNode):
        found = [n for n in rw.walk(node) if isinstance(n, cst.Call) and rw.same(n, call)]
        if len(found) != 1:
            return None
        given = [a for a in found[0].args if isinstance(a.value, cst.Name) and a.value.value == old]
        if len(given) != 1:
            return None
        return node.deep_replace(given[0].value, cst.Name(new))

    return rewrite


def _stores(function: ast.AST, name: str) -> list[ast.Name]:
    return uses_of(function, name, ast.Store, ast.Del)
