"""The rewrite of a number that counts on an attribute of a module: a buffer that `__init__` registers.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Patch, Place
from breakscope.rulekit.walking import uses_of, walk

CHANGES = (
    "`self.{}` is a 0-d tensor (a buffer outside of the state_dict), and what is computed of it is a tensor in"
    " float32 where it was a number in float64"
)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def as_buffer(node: cst.CSTNode, place: Place) -> Patch | None:
    """The fix of `self.steps += 1`; None where something needs a number of Python's, or sets it
    otherwise."""
    if rw.single(node) is None:
        return None
    count, line = node.body[0], place.statement
    if not isinstance(count, cst.AugAssign) or not isinstance(line, ast.AugAssign):
        return None
    name = rw.dotted(count.target).removeprefix("self.")
    if not isinstance(line.op, ARITHMETIC) or not isinstance(line.value, ast.Constant):
        return None
    made = _set_in_init(name, place)
    if made is None or not _is_read_as_tensor(name, place):
        return None
    if type(line.value.value) is not type(made.value.value) or isinstance(line.op, ast.Div):
        return None  # its type would change with the first count
    operator = rw.code(count.operator).strip().removesuffix("=")
    # not in place: a graph that is still to run backward may have saved it
    text = f"self.{name} = self.{name} {operator} {rw.code(count.value)}"
    changed = node.with_changes(body=[cst.parse_statement(text).body[0]])
    registered = (
        f'self.register_buffer("{name}", torch.tensor({ast.unparse(made.value)}), persistent=False)'
    )
    also = Also(made, partial(_registered, text=registered))
    return Patch(changed, also=(also,), changes=CHANGES.format(name))


def _registered(node: cst.CSTNode, text: str):
    if rw.single(node) is None:
        return None
    return node.with_changes(body=[cst.parse_statement(text).body[0]])


def _set_in_init(name: str, place: Place) -> ast.Assign | None:
    """The `self.name = 0` of `__init__`, behind `super().__init__()`, where only the count sets it too."""
    if not name.isidentifier() or place.owner is None:
        return None
    stores = place.stores_of(name)
    functions = [function.name for function, _ in stores]
    if len(stores) != 2 or functions.count("__init__") != 1:
        return None
    init = next(function for function, _ in stores if function.name == "__init__")
    ready = False
    for line in init.body:
        ready |= isinstance(line, ast.Expr) and ast.unparse(line).endswith(".__init__()")
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == f"self.{name}":
            is_number = isinstance(line.value, ast.Constant) and type(line.value.value) in (
                int,
                float,
            )
            return line if ready and is_number and len(line.targets) == 1 else None
    return None


def _is_read_as_tensor(name: str, place: Place) -> bool:
    """True when all of the file reads the attribute in arithmetic of this class, whose result is used
    in arithmetic, too."""
    named = [n for n in walk(place.tree) if isinstance(n, ast.Attribute) and n.attr == name]
    own = [n for n in walk(place.owner) if isinstance(n, ast.Attribute) and n.attr == name]
    if any(ast.unparse(n) != f"self.{name}" for n in named):
        return False
    if any(isinstance(n, ast.Constant) and n.value == name for n in walk(place.owner)):
        return False
    loads = [n for n in own if isinstance(n.ctx, ast.Load)]
    parents = {id(child): n for n in walk(place.owner) for child in ast.iter_child_nodes(n)}
    return all(_stays_arithmetic(node, parents, place) for node in loads)


def _stays_arithmetic(node: ast.expr, parents: dict[int, ast.AST], place: Place) -> bool:
    above = list(_around(node, parents))
    *inner, statement = above
    if not inner or not all(
        isinstance(n, ast.BinOp) and isinstance(n.op, ARITHMETIC) for n in inner
    ):
        return False
    if isinstance(statement, ast.Return):
        return True
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    set_to = statement.targets[0].id
    uses = uses_of(place.function, set_to, ast.Load)
    return all(isinstance(parents.get(id(n)), ast.BinOp) for n in uses)


def _around(node: ast.AST, parents: dict[int, ast.AST]) -> Iterator[ast.AST]:
    """The nodes around an expression up to its statement."""
    while not isinstance(node, ast.stmt):
        node = parents[id(node)]
        yield node
