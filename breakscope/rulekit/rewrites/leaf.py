"""The rewrite of a function of tensors whose Python goes by their values: `leaf_function` (torch 2.13) keeps it in the
graph as one call that runs as it is, and a second function, made of those of its lines that do not
depend on the values, says what comes out.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Patch, Place
from breakscope.rulekit.walking import names_in, positional_parameters, walk

LEAF = "torch._dynamo.decorators.leaf_function"
CHANGES = (
    "`{}` runs as one opaque call: nothing in it is compiled, the host waits for its values, and of torch 2.13's"
    " backends Inductor does not take it"
)
WRITES = frozenset({"print", "input", "open", "setattr", "exec", "eval", "next", "super"})


def as_leaf(problem, place: Place) -> Patch | None:
    """The fix of a break in a function at the top of a file that computes tensors from tensors and
    changes nothing else; None for other functions."""
    function = place.function
    if function is None or function not in place.tree.body:
        return None
    if function.decorator_list or not isinstance(function, ast.FunctionDef):
        return None
    if not _takes_tensors(function) or not _is_closed(function, place):
        return None
    lines = _shape_lines(function, problem.node)
    if lines is None:
        return None
    return Patch(
        None,
        also=(Also(function, lambda node: _with_fake(node, function, lines)),),
        changes=CHANGES.format(function.name),
    )


def _takes_tensors(function: ast.FunctionDef) -> bool:
    """True when each argument says that it is a tensor."""
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or not given.args:
        return False
    return all(
        argument.annotation is not None
        and ast.unparse(argument.annotation).rpartition(".")[2].endswith("Tensor")
        for argument in positional_parameters(function)
    )


def _is_closed(function: ast.FunctionDef, place: Place) -> bool:
    """True when the function changes none of its arguments and nothing outside, draws nothing, and
    returns at its end only."""
    arguments = {argument.arg for argument in walk(function.args) if isinstance(argument, ast.arg)}
    own = arguments | names_in(function, ast.Store, ast.Del)
    constants = {
        n.id
        for statement in place.tree.body
        if isinstance(statement, ast.Assign)
        for n in statement.targets
        if isinstance(n, ast.Name) and n.id.isupper()
    }
    known = own | constants | {"torch", "range", "len", "int", "float", "bool", "enumerate", "zip"}
    known |= {"min", "max", "sum", "list", "tuple", "sorted", "abs"}
    returns = [n for n in walk(function) if isinstance(n, ast.Return)]
    if len(returns) != 1 or returns[0] is not function.body[-1] or returns[0].value is None:
        return False
    body = [n for statement in function.body for n in walk(statement)]
    for node in body:
        if isinstance(node, ast.Name) and node.id not in known:
            return False
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.Await | ast.Lambda):
            return False
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if not isinstance(node.value, ast.Name) or node.value.id in arguments:
                return False
        if isinstance(node, ast.Call) and _acts(node, arguments):
            return False
    stores = {n.id for n in body if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return not stores & arguments


def _acts(call: ast.Call, arguments: set[str]) -> bool:
    """True for a call that may do more than compute: a draw, or a change in place of an argument."""
    name = ast.unparse(call.func)
    root, _, last = name.rpartition(".")
    if last in WRITES or root.startswith("torch.random") or "rand" in last or "dropout" in last:
        return True
    return last.endswith("_") and root.partition(".")[0] in arguments


def _shape_lines(function: ast.FunctionDef, node: ast.AST) -> list[ast.stmt] | None:
    """The statements that make what is returned, but for its values; None where the values decide
    its shape."""
    taken, unknown, kept = False, set(), []
    for statement in function.body:
        loads = names_in(statement)
        stores = names_in(statement, ast.Store, ast.Del)
        here = any(n is node or _same_place(n, node) for n in walk(statement))
        taken |= here
        if isinstance(statement, ast.Return):
            kept.append(statement)
            continue
        if here or loads & unknown or not isinstance(statement, ast.Assign | ast.For | ast.Expr):
            unknown |= stores
        else:
            kept.append(statement)
    if not taken:
        return None
    needed, lines = set(), []
    for statement in reversed(kept):
        names = [n for n in walk(statement) if isinstance(n, ast.Name)]
        stores = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
        if isinstance(statement, ast.Return) or stores & needed:
            if not isinstance(statement, ast.Return | ast.Assign):
                return None
            lines.append(statement)
            needed -= stores
            needed |= {n.id for n in names if isinstance(n.ctx, ast.Load)}
    return None if needed & unknown else lines[::-1]


def _same_place(one: ast.AST, other: ast.AST) -> bool:
    at = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return type(one) is type(other) and all(
        getattr(one, name, None) == getattr(other, name, 0) for name in at
    )


def _with_fake(node: cst.CSTNode, function: ast.FunctionDef, lines: list[ast.stmt]):
    """The decorated function, and behind it the one that fake tensors go through."""
    if not isinstance(node, cst.FunctionDef) or node.decorators:
        return None
    wanted = {ast.dump(line) for line in lines}
    own = [line for line in node.body.body if _tree(line) in wanted]
    if len(own) != len(lines):
        return None
    leaf = cst.Decorator(cst.parse_expression(LEAF))
    fake = cst.Decorator(cst.parse_expression(f"{function.name}.register_fake"))
    bare = [line.with_changes(leading_lines=()) for line in own]
    arguments = [cst.Param(cst.Name(a.arg)) for a in positional_parameters(function)]
    blank = cst.EmptyLine(indent=False)
    return cst.FlattenSentinel(
        [
            node.with_changes(decorators=[leaf]),
            cst.FunctionDef(
                name=cst.Name("_"),
                params=cst.Parameters(arguments),
                body=cst.IndentedBlock(bare),
                decorators=[fake],
                leading_lines=[blank, blank],
            ),
        ]
    )


def _tree(line: cst.CSTNode) -> str:
    """A simple statement as it is read."""
    if not isinstance(line, cst.SimpleStatementLine):
        return ""
    return ast.dump(ast.parse(rw.code(line.with_changes(leading_lines=())).strip()).body[0])
