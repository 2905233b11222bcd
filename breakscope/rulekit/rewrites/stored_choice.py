"""The rewrite of an `if` on a tensor whose sides store a tensor in the same place: both are prepared,
and `torch.where` chooses which is stored.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Patch, Place
from breakscope.rulekit.walking import names_in, walk

CHANGES = "what both sides prepare is made in every call, and what is stored is a new tensor"
NOT_KEPT = ", and `{}` is made anew in each and not kept"


def stored_choice(node: cst.If, problem, place: Place) -> Patch | None:
    """The fix of `if c: ...; self.register_buffer("a", x)` with the same of `y` in the `else`, or of
    `self.a = x`; None for other shapes."""
    if not rw.same(node.test, problem.node) or not isinstance(node.orelse, cst.Else):
        return None
    condition = rw.truth(node.test, place)
    blocks = (node.body, node.orelse.body)
    if condition is None or not all(isinstance(b, cst.IndentedBlock) for b in blocks):
        return None
    lines = [list(block.body) for block in blocks]
    outside = (node.orelse.leading_lines, node.test, *(b.header for b in blocks))
    if any("#" in _text(part) for part in outside) or any(block.footer for block in blocks):
        return None
    prepared = [line for side in lines for line in side[:-1]]
    if not all(map(_prepares, prepared)):
        return None
    found = _difference(lines[0][-1], lines[1][-1])
    if found is None or any("#" in rw.code(side[-1]) for side in lines):
        return None
    one, two = found
    prepared, kept = _made_anew(prepared, place)
    if not all(rw.may_be_tensor(v) and rw.may_always_run(v) for v in found) or all(
        map(rw.is_number, found)
    ):
        return None
    name = _free_name(lines[0][-1], place)
    one, two = (cst.parse_expression(kept.get(text, text)) for text in map(rw.code, found))
    chosen = f"{name} = torch.where({condition}, {rw.code(one)}, {rw.code(two)})"
    made = [
        *prepared,
        cst.parse_statement(chosen),
        lines[0][-1].with_changes(leading_lines=()).deep_replace(found[0], cst.Name(name)),
    ]
    made[0] = made[0].with_changes(leading_lines=(*node.leading_lines, *made[0].leading_lines))
    changes = CHANGES + (NOT_KEPT.format("`, `".join(kept)) if kept else "")
    return Patch(cst.FlattenSentinel(made), changes=changes)


def _text(part) -> str:
    if isinstance(part, cst.CSTNode):
        return rw.code(part)
    return "".join(rw.code(line) for line in part)


def _prepares(line: cst.BaseStatement) -> bool:
    """True for `if not hasattr(self, "a"): self.a = ...` and for `self.a = self.a.to(...)`."""
    tree = _tree(line)
    if isinstance(tree, ast.If):
        test = ast.unparse(tree.test)
        filled = [_stored(part) for part in tree.body]
        return not tree.orelse and any(
            name and test == f"not hasattr(self, {name!r})" for name in filled[:1]
        )
    name = _stored(tree)
    value = getattr(tree, "value", None)
    return bool(name) and ast.unparse(getattr(value, "func", value)) == f"self.{name}.to"


def _made_anew(
    prepared: list[cst.BaseStatement], place: Place
) -> tuple[list[cst.BaseStatement], dict[str, str]]:
    """The lines with a local name for what `if not hasattr(self, "a"): self.a = ...` keeps, where nothing
    else in the file reads it: Dynamo guards on the attribute, which appears in the first call. Also
    the local names, by attribute."""
    made, kept = [], {}
    for line in prepared:
        body = line.body.body if isinstance(line, cst.If) else ()
        attribute = _stored(_tree(body[0])) if len(body) == 1 else ""
        if not attribute or not _is_only_inside(attribute, place) or attribute in _names(place):
            made.append(line)
            continue
        kept[f"self.{attribute}"] = attribute
        own = [n for n in rw.walk(body[0]) if rw.dotted(n) == f"self.{attribute}"]
        local = body[0].deep_replace(own[0], cst.Name(attribute))
        made.append(local.with_changes(leading_lines=(*line.leading_lines, *local.leading_lines)))
    return made, kept


def _tree(line: cst.BaseStatement) -> ast.stmt:
    return ast.parse(rw.code(line.with_changes(leading_lines=())).strip()).body[0]


def _is_only_inside(attribute: str, place: Place) -> bool:
    """True for an attribute that the file has nowhere but in the statement."""

    def named(tree: ast.AST) -> int:
        return sum(
            attribute in (getattr(n, "attr", None), getattr(n, "value", None)) for n in walk(tree)
        )

    return named(place.tree) == named(place.statement)


def _names(place: Place) -> set[str]:
    return names_in(place.function or place.tree)


def _stored(statement: ast.stmt) -> str:
    """The first attribute of self that an assignment sets."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    if isinstance(first, ast.Attribute) and ast.unparse(first.value) == "self":
        return first.attr
    return ""


def _difference(
    one: cst.BaseStatement, two: cst.BaseStatement
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What two lines store, where they store it in the same place."""
    if not all(rw.single(n) is not None for n in (one, two)):
        return None
    first, second = one.body[0], two.body[0]
    if isinstance(first, cst.Assign) and isinstance(second, cst.Assign):
        same = [rw.code(n) for n in first.targets] == [rw.code(n) for n in second.targets]
        is_stored = rw.code(first.targets[0].target).startswith("self.")
        return (first.value, second.value) if same and is_stored else None
    calls = [getattr(n, "value", None) for n in (first, second)]
    if not all(isinstance(call, cst.Call) for call in calls):
        return None
    names = {rw.dotted(call.func) for call in calls}
    given = [call.args for call in calls]
    if names != {"self.register_buffer"} or len({len(args) for args in given}) != 1:
        return None
    other = [
        (a.value, b.value)
        for a, b in zip(*given, strict=True)
        if ast.dump(ast.parse(rw.code(a.value))) != ast.dump(ast.parse(rw.code(b.value)))
    ]
    return other[0] if len(other) == 1 else None


def _free_name(stored: cst.SimpleStatementLine, place: Place) -> str:
    """The name of what is stored, or another that the function does not have."""
    call = getattr(stored.body[0], "value", None)
    first = call.args[0].value if isinstance(call, cst.Call) and call.args else None
    wanted = first.evaluated_value if isinstance(first, cst.SimpleString) else "chosen"
    taken = _names(place)
    names = (wanted, f"chosen_{wanted}", "chosen", "chosen_")
    return next(name for name in names if name.isidentifier() and name not in taken)
