"""The rewriting itself: a file's tree with the expressions at its sites computed by
`__breakscope_real__`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

from breakscope.dynamic.child.neutral.sites import (
    FUNCTIONS,
    SCOPED,
    Found,
    Site,
    find,
    locally_bound,
)

REAL, COMPILING, NOTHING = "__breakscope_real__", "__breakscope_compiling__", "__breakscope_null__"
SKIPPED = ("left out", "not stored")  # ways that Dynamo does not see the statement


@dataclass
class Rewritten:
    """A changed file. `templates`: what to compute at a site, a lambda over the operands, by the
    site's number; `ways`: what was done there, "" where nothing can be."""

    tree: ast.Module
    templates: dict[int, ast.Expression] = field(default_factory=dict)
    ways: dict[int, str] = field(default_factory=dict)


def rewrite(text: str, sites: Sequence[Site]) -> Rewritten:
    """The file's tree, changed at its sites; raises SyntaxError when the text is no Python."""
    tree = ast.parse(text)
    done = Rewritten(tree)
    changes: dict[ast.AST, list] = {}
    for site in sites:
        found = find(tree, text, site)
        ways = found.ways(site.branch) if found else []
        way = ways[site.attempt] if site.attempt < len(ways) else ""
        done.ways[site.number] = way
        if way:
            node = _node(found, way)
            changes.setdefault(node, []).append((site.number, way, found))
    done.tree = ast.fix_missing_locations(_Changer(changes, done.templates).visit(tree))
    return done


def _node(found: Found, way: str) -> ast.AST:
    """The node that is replaced."""
    if way in SKIPPED:
        return found.statement
    if way == "whole":
        return found.outermost()
    if way == "context":
        items = found.statement.items
        return next((item for item in items if item.context_expr is found.expression), items[0])
    return found.called() if way == "value" else found.expression


class _Changer(ast.NodeTransformer):
    """Children first, so that an operand of one site may hold another."""

    def __init__(self, changes: dict[ast.AST, list], templates: dict[int, ast.Expression]) -> None:
        self.changes, self.templates = changes, templates

    def visit(self, node: ast.AST) -> ast.AST:
        original = (
            copy.deepcopy(node)
            if any(way == "whole" for _, way, _ in self.changes.get(node, ()))
            else node
        )
        changed = self.generic_visit(node)
        for number, way, found in self.changes.get(node, ())[:1]:
            changed = self._change(changed, original, node, number, way, found)
        return changed

    def _change(self, node, original, key: ast.AST, number: int, way: str, found: Found):
        if way in SKIPPED:
            test = ast.UnaryOp(ast.Not(), ast.Call(ast.Name(COMPILING, ast.Load()), [], []))
            return _placed(ast.If(test, [node], []), key)
        if way == "context":
            choice = ast.IfExp(
                ast.Call(ast.Name(COMPILING, ast.Load()), [], []),
                ast.Call(ast.Name(NOTHING, ast.Load()), [], []),
                node.context_expr,
            )
            node.context_expr = _placed(choice, key.context_expr)
            return node
        scope = _class_around(key, found.parents)
        operands = _Operands(locally_bound(key, found.parents), scope)
        if way == "truth":
            body = ast.Call(ast.Name("bool", ast.Load()), [operands.decided(node)], [])
        elif way == "whole":
            body = operands.by_name(original)
        else:
            body = operands.of(node)
        if way == "list":
            body = ast.Call(ast.Name("__breakscope_list__", ast.Load()), [body], [])
        self.templates[number] = operands.template(body)
        call = ast.Call(ast.Name(REAL, ast.Load()), [ast.Constant(number), *operands.values], [])
        return _placed(call, key)


class _Operands:
    """What a template computes with: values that the traced code hands over, in order."""

    def __init__(self, local: set[str], scope: str) -> None:
        self.local, self.scope = local, scope
        self.values: list[ast.expr] = []
        self.names: dict[str, str] = {}

    def take(self, node: ast.expr) -> ast.expr:
        """A parameter for an operand; what is named by the file's globals is left where it is."""
        if isinstance(node, ast.Constant) or self._is_global(node):
            return node
        if _is_read(node):  # Dynamo reads the value where it is first used, which is the site
            return self.of(node)
        self.values.append(node)
        return ast.Name(f"_{len(self.values) - 1}", ast.Load())

    def decided(self, node: ast.expr) -> ast.expr:
        """A condition: what it compares or negates is traced, and a call as a whole."""
        if isinstance(node, ast.UnaryOp):
            return ast.UnaryOp(node.op, self.decided(node.operand))
        return self.of(node) if isinstance(node, (ast.Compare, ast.BoolOp)) else self.take(node)

    def of(self, node: ast.expr) -> ast.expr:
        """The node over its operands: those are traced, the node itself is computed for real."""
        if isinstance(node, (*SCOPED, *FUNCTIONS, ast.IfExp, ast.BoolOp)):
            return self.by_name(node)
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute) and not self._is_global(function):
                function = ast.Attribute(
                    self.take(function.value), self._mangled(function.attr), ast.Load()
                )
            else:
                function = self.take(function)
            arguments = [
                ast.Starred(self.take(a.value), ast.Load())
                if isinstance(a, ast.Starred)
                else self.take(a)
                for a in node.args
            ]
            return ast.Call(
                function, arguments, [ast.keyword(k.arg, self.take(k.value)) for k in node.keywords]
            )
        if isinstance(node, ast.Attribute):
            return ast.Attribute(self.take(node.value), self._mangled(node.attr), ast.Load())
        if isinstance(node, ast.Subscript):
            return ast.Subscript(self.take(node.value), self._index(node.slice), ast.Load())
        return _Taking(self).generic_visit(copy.copy(node))

    def by_name(self, node: ast.expr) -> ast.expr:
        """The whole node; its operands are the local names in it that it does not bind itself."""
        bound = {
            inner.id
            for inner in ast.walk(node)
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)
        }
        bound |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
        return _Naming(self, bound).visit(copy.deepcopy(node))

    def parameter(self, name: str) -> str:
        if name not in self.names:
            self.values.append(ast.Name(name, ast.Load()))
            self.names[name] = f"_{len(self.values) - 1}"
        return self.names[name]

    def template(self, body: ast.expr) -> ast.Expression:
        arguments = [ast.arg(f"_{number}") for number in range(len(self.values))]
        function = ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body)
        return ast.fix_missing_locations(ast.Expression(function))

    def _index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            return ast.Slice(
                *(part and self.take(part) for part in (node.lower, node.upper, node.step))
            )
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._index(part) for part in node.elts], ast.Load())
        return self.take(node)

    def _is_global(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self.local and node.id != "__class__"

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and self.scope
        return f"_{self.scope.lstrip('_')}{name}" if private else name


class _Taking(ast.NodeTransformer):
    """Takes every direct operand of an operator, a comparison, an f-string or a display."""

    def __init__(self, operands: _Operands) -> None:
        self.operands = operands

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.FormattedValue):
            return ast.FormattedValue(
                self.operands.take(node.value), node.conversion, node.format_spec
            )
        if isinstance(node, ast.Starred):
            return ast.Starred(self.operands.take(node.value), ast.Load())
        return self.operands.take(node) if isinstance(node, ast.expr) else node


class _Naming(ast.NodeTransformer):
    """Local names become parameters."""

    def __init__(self, operands: _Operands, bound: set[str]) -> None:
        self.operands, self.bound = operands, bound

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.bound or node.id not in self.operands.local:
            return node
        return ast.Name(self.operands.parameter(node.id), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.attr = self.operands._mangled(node.attr)
        return node


def _is_read(node: ast.expr) -> bool:
    """`t.item()`, `int(t)` and the like."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in ("item", "tolist") and not node.args
    return (
        isinstance(node.func, ast.Name)
        and node.func.id in ("int", "float", "bool")
        and len(node.args) == 1
    )


def _class_around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    while (node := parents.get(node)) is not None:
        if isinstance(node, ast.ClassDef):
            return node.name
    return ""


def _placed(node: ast.AST, at: ast.AST) -> ast.AST:
    """The node where another stood, so that Dynamo names the same line and columns."""
    for inner in ast.walk(node):
        if not hasattr(inner, "lineno") and "lineno" in inner._attributes:
            ast.copy_location(inner, at)
    return node
