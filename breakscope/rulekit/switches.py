"""Dynamo's settings (`torch._dynamo.config`): which a file switches on, and the fix that does so."""

from __future__ import annotations

import ast

from breakscope.rulekit.patch import Also, Declined, Patch, Place
from breakscope.rulekit.walking import children, walk

SIZES = "capture_dynamic_output_shape_ops"
CONFIG = "torch._dynamo.config."
IMPORTS = (ast.Import, ast.ImportFrom)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# what may be done with a number, or with a tensor of a size, that Python does not know
ARITHMETIC = (ast.BinOp, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.keyword, ast.Slice)
PYTHON = frozenset(
    "round math sorted sort format range enumerate zip hash divmod isinstance print str repr bool"
    " reversed sum any all map filter chr hex".split()
)


def switched_on(tree: ast.Module) -> frozenset[str]:
    """The settings that statements at the top of a file set to True."""
    return frozenset(
        target.attr
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is True
        for target in statement.targets
        if isinstance(target, ast.Attribute) and ast.unparse(target).startswith(CONFIG)
    )


def switching_on(problem, place: Place):
    """The fix that sets the problem's setting below the imports of the file; a reason where what is
    read decides what Python does next, which no setting helps."""
    setting = problem.setting
    imports = [n for n in place.tree.body if isinstance(n, IMPORTS)]
    if not imports or setting in switched_on(place.tree):
        return None
    if setting == SIZES and _steers(problem.node, place, is_tensor=True):
        return Declined("the size of the result decides what Python does next")
    if setting == "capture_scalar_outputs" and _steers(problem.node, place):
        return Declined("the value decides what Python does next")
    return Patch(
        None,
        also=(Also(imports[-1], lambda last: _with_line(last, f"{CONFIG}{setting} = True")),),
        changes=f"Dynamo's setting `{setting}` is on in the whole process that imports this file",
        safety="unsafe",
    )


def _with_line(last, line: str):
    import libcst as cst

    added = cst.parse_statement(line)
    return cst.FlattenSentinel(
        [last, added.with_changes(leading_lines=[cst.EmptyLine(indent=False)])]
    )


def _steers(node: ast.AST, place: Place, is_tensor: bool = False) -> bool:
    """True when Python's control flow may depend on what the node gives, as far as the file shows."""
    function = place.function
    return function is None or _flows(node, function, place.tree, set(), is_tensor)


def _flows(
    source: ast.AST, function: ast.AST, tree: ast.Module, seen: set[str], is_tensor: bool
) -> bool:
    """Follow a value through a function: True where it comes to a test, a loop or an index."""
    parents = {id(child): node for node in walk(function) for child in children(node)}
    waiting: list[ast.AST] = [source]
    names: set[str] = set()
    while waiting:
        node = waiting.pop()
        parent = parents.get(id(node))
        while parent is not None and _passes(node, parent, is_tensor):
            node, parent = parent, parents.get(id(parent))
        if parent is None or not _is_taken(node, parent):
            return True
        if isinstance(parent, ast.Assign | ast.AugAssign | ast.AnnAssign):
            for name in _stored(parent) - names:
                names.add(name)
                waiting += _loads(function, name)
        if isinstance(parent, ast.Return) and _flows_from_calls(function, tree, seen, is_tensor):
            return True
    return False


def _flows_from_calls(function: ast.AST, tree: ast.Module, seen: set[str], is_tensor: bool) -> bool:
    """The same for what the function returns, where the file calls it by its name."""
    name = getattr(function, "name", "forward")
    if name in seen or name in ("forward", "__call__"):
        return False
    seen.add(name)
    for caller in (n for n in walk(tree) if isinstance(n, FUNCTIONS)):
        for call in (n for n in walk(caller) if isinstance(n, ast.Call)):
            if ast.unparse(call.func).rpartition(".")[2] == name and _flows(
                call, caller, tree, seen, is_tensor
            ):
                return True
    return False


def _passes(node: ast.AST, parent: ast.AST, is_tensor: bool) -> bool:
    """True when the value goes on into what the parent gives."""
    if isinstance(parent, ast.Call):
        if node is parent.func:
            return True
        called = ast.unparse(parent.func).split(".")
        return called[0] not in PYTHON and called[-1] not in PYTHON
    if isinstance(parent, ast.Attribute):
        return parent.attr not in ("tolist", "item", "shape", "size", "numel")
    if isinstance(parent, ast.Subscript):
        return node is parent.value or is_tensor or isinstance(node, ast.Slice | ast.Tuple)
    if isinstance(parent, ast.Compare):
        return len(parent.ops) == 1 and isinstance(
            parent.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE
        )
    if isinstance(parent, ast.comprehension):
        return False
    if isinstance(parent, ast.ListComp):
        return node is parent.elt
    return isinstance(parent, ARITHMETIC)


def _is_taken(node: ast.AST, parent: ast.AST) -> bool:
    """True for the end of a value's way: it is stored, returned, or a call is made for its effect."""
    return isinstance(parent, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr)


def _stored(statement: ast.AST) -> set[str]:
    return {
        n.id for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _loads(function: ast.AST, name: str) -> list[ast.AST]:
    return [
        n
        for n in walk(function)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
