"""The rewrite of `if c: return a` with more lines of the function behind it: they run in every call and
`torch.where` chooses, or they become a function that `torch.cond` calls.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import branching
from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Patch, Place
from breakscope.rulekit.purity import may_run_alone
from breakscope.rulekit.walking import is_store, names_in, walk

ALWAYS = "what stands behind the early return runs in every call; the two results must have one shape and dtype"
ONE = (
    "`torch.cond` runs one of the two sides, whose results must have one shape and dtype; a parameter that only"
    " the other reads gets a gradient of zeros, not None"
)


def without_return(node: cst.If, problem, place: Place) -> Patch | None:
    """The fix of an early return that a tensor decides; None for other shapes."""
    function = place.function
    if function is None or node.orelse or not rw.same(node.test, problem.node):
        return None
    if place.statement not in function.body or "#" in rw.code(node):
        return None
    condition, early = rw.truth(node.test, place), branching.only_return(node.body)
    if condition is None or early is None or not place.behind:
        return None
    *between, last = place.behind
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    if not all(_is_assignment(line) for line in between):
        return None
    late = cst.parse_expression(ast.unparse(last.value))
    values = [cst.parse_expression(ast.unparse(line.value)) for line in between]
    sides = [early, late]
    if not _fit(early, late):
        return None
    parts = [e for side in sides for e in _elements(side)]
    if all(rw.may_be_tensor(p) and rw.may_always_run(p) for p in parts) and all(
        rw.may_always_run(value) for value in values
    ):
        return _chosen(node, condition, early, last, between, place)
    # torch 2.13: the two gradients of an input need the same strides, and a sum's has none
    if any(_is_sum(part) for part in _parts(*parts, *values)):
        return None
    if all(may_run_alone(part, place) for part in (*parts, *values)):
        return _one_of(node, condition, early, last, between, place)
    return None


def _parts(*values: cst.BaseExpression):
    return (part for value in values for part in rw.walk(value))


def _is_sum(part: cst.CSTNode) -> bool:
    return isinstance(part, cst.Call) and rw.called(part) in ("sum", "mean", "expand", "expand_as")


def _chosen(node, condition: str, early, last: ast.Return, between: list, place: Place):
    """The condition under a name, and `torch.where` in the last line."""
    stored = {n.id for line in between for n in walk(line) if is_store(n)}
    if stored & {n.value for n in rw.walk(early) if isinstance(n, cst.Name)}:
        return None
    name = branching.free_name(place)
    also = Also(last, lambda line: _where(line, name, early))
    return Patch(rw.line_instead(node, f"{name} = {condition}"), also=(also,), changes=ALWAYS)


def _where(line: cst.CSTNode, name: str, early: cst.BaseExpression):
    late = line.body[0].value if isinstance(line, cst.SimpleStatementLine) else None
    if late is None or len(line.body) != 1:
        return None
    pairs = zip(_elements(early), _elements(late), strict=True)
    chosen = [f"torch.where({name}, {rw.code(a)}, {rw.code(b)})" for a, b in pairs]
    return rw.swap(line, late, ", ".join(chosen))


def _one_of(node, condition: str, early, last: ast.Return, between: list, place: Place):
    """`torch.cond` of the two sides; the lines behind become a function where there are several."""
    first = ", ".join(map(branching.own, _elements(early)))
    first = f"({first})" if isinstance(early, cst.Tuple) else first
    lines = [ast.unparse(line) for line in between]
    alone = len(between) == 1 and ast.unparse(between[0].targets[0]) == ast.unparse(last.value)
    if not between or alone:
        late = cst.parse_expression(ast.unparse((between[0] if alone else last).value))
        text = ", ".join(map(branching.own, _elements(late)))
        text = f"({text})" if isinstance(late, cst.Tuple) else text
        made = [
            rw.line_instead(
                node, f"return torch.cond({condition}, lambda: {first}, lambda: {text})"
            )
        ]
    else:
        if _reads_before_it_stores(between):
            return None
        late = cst.parse_expression(ast.unparse(last.value))
        text = ", ".join(map(branching.own, _elements(late)))
        name = branching.free_name(place, ("rest", "otherwise", "rest_"))
        body = "".join(f"    {line}\n" for line in (*lines, f"return {text}"))
        function = cst.parse_statement(f"def {name}():\n{body}")
        made = [
            function.with_changes(leading_lines=node.leading_lines),
            cst.parse_statement(f"return torch.cond({condition}, lambda: {first}, {name})"),
        ]
    changed = made[0] if len(made) == 1 else cst.FlattenSentinel(made)
    also = tuple(Also(line, branching.gone) for line in (*between, last))
    return Patch(changed, also=also, changes=ONE)


def _reads_before_it_stores(lines: list[ast.Assign]) -> bool:
    """True when a line reads a name that it or a later one sets: inside a function that is an error."""
    later: set[str] = set()
    for line in reversed(lines):
        later |= {n.id for n in walk(line) if is_store(n)}
        if later & names_in(line.value):
            return True
    return False


def _is_assignment(line: ast.stmt) -> bool:
    return (
        isinstance(line, ast.Assign)
        and len(line.targets) == 1
        and isinstance(line.targets[0], ast.Name)
        and line.lineno == line.end_lineno
    )


def _elements(side: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [e.value for e in side.elements] if isinstance(side, cst.Tuple) else [side]


def _fit(one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """True for two results of one form, which are not the same number."""
    pairs = list(zip(_elements(one), _elements(other), strict=False))
    return (
        isinstance(one, cst.Tuple) == isinstance(other, cst.Tuple)
        and len(_elements(one)) == len(_elements(other))
        and not any(rw.is_number(a) or rw.is_number(b) for a, b in pairs)
        and all(rw.may_be_tensor(e) for pair in pairs for e in pair)
    )
