"""The rewrite of an `if` on a tensor's value: both sides as tensor work, `torch.cond` where only one
side may run, a guard where the branch only writes text.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from itertools import chain, count

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.guarding import guarded_text
from breakscope.rulekit.patch import Also, Declined, Patch, Place
from breakscope.rulekit.purity import may_run_alone
from breakscope.rulekit.walking import defaults_in, names_in, walk

# (name, value) in the order of the assignments
Assignments = tuple[tuple[str, cst.BaseExpression], ...]


def without_branch(node: cst.If, problem, place: Place):
    """What takes the place of an `if` on a tensor; None or a reason where it stays."""
    if "#" in rw.code(node.test):
        return None
    if _may_be_number(node.test, place):
        return Declined("what is tested may be a number of Python's, too")
    if rw.same(node.test, problem.node):
        if _may_be_none(node.test, place):
            return Declined("what is tested may be None, too")
        return _rewritten(node, rw.truth(node.test, place), place)
    test = node.test
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        if rw.same(test.expression, problem.node):
            return _rewritten(node, rw.negated(test.expression, place), place)
    if isinstance(test, cst.BooleanOperation):
        if combined := _combined(test, problem, place):
            return _rewritten(node, combined, place)
        if isinstance(test.operator, cst.And):
            return _flags_first(node, test, problem, place)
    return None


def _combined(test: cst.BooleanOperation, problem, place: Place) -> str:
    """`a | b` for `a or b`, `a & b` for `a and b`, where both are tensors, and `b` may be computed in
    every call; "" for others."""
    texts = []
    for side in (test.left, test.right):
        if not rw.same(side, problem.node) and not rw.surely_tensor(side):
            return ""
        if not rw.is_bool_tensor(side, place):
            return ""
        texts.append(
            rw.code(side) if isinstance(side, cst.Call) or side.lpar else f"({rw.code(side)})"
        )
    if not rw.may_always_run(test.right):
        return ""
    return f" {'|' if isinstance(test.operator, cst.Or) else '&'} ".join(texts)


def _may_be_none(test: cst.BaseExpression, place: Place) -> bool:
    """True for an argument of the function whose default is None."""
    if not isinstance(test, cst.Name) or place.function is None:
        return False
    return any(
        taken.arg == test.value and isinstance(value, ast.Constant) and value.value is None
        for taken, value in defaults_in(place.function)
    )


def _flags_first(node: cst.If, test: cst.BooleanOperation, problem, place: Place):
    """`if flag and tensor:` as `if flag:` around what becomes of `if tensor:`; an `else` of one plain
    assignment then stands behind both."""
    otherwise = node.orelse
    if not rw.same(test.right, problem.node) or isinstance(otherwise, cst.If):
        return None
    if otherwise and (otherwise.leading_lines or _assignments(otherwise.body) is None):
        return None
    made = _rewritten(
        node.with_changes(leading_lines=()), rw.truth(test.right, place), place, is_last=False
    )
    if not isinstance(made, cst.BaseStatement | cst.FlattenSentinel):
        return made
    inner = list(made.nodes) if isinstance(made, cst.FlattenSentinel) else [made]
    flags = rw.code(test.left)
    if "\n" in flags:
        flags = " ".join(line.strip() for line in flags.splitlines())
    return cst.If(
        test=cst.parse_expression(flags),
        body=cst.IndentedBlock(body=inner),
        orelse=otherwise,
        leading_lines=node.leading_lines,
    )


def _may_be_number(test: cst.BaseExpression, place: Place) -> bool:
    """True for a test of arguments of the function, of which one is annotated as a number."""
    if place.function is None:
        return False
    given = [n for n in walk(place.function.args) if isinstance(n, ast.arg) and n.annotation]
    notes = {n.arg: set(re.findall(r"\w+", ast.unparse(n.annotation))) for n in given}
    return any(
        notes[name] & {"int", "float", "bool"} and not any("Tensor" in n for n in notes[name])
        for name in _reads(test) & notes.keys()
    ) and not rw.surely_tensor(test)


def _rewritten(node: cst.If, condition: str | None, place: Place, is_last: bool = True):
    if condition is None:
        return None
    if (made := guarded_text(node)) is not None:
        return made
    if is_last and (made := _returned(node, condition, place)):
        return made
    return _assigned(node, condition, place)


def _returned(node: cst.If, condition: str, place: Place):
    """`if c: return a` with `return b` in the `else`, or right behind."""
    then = only_return(node.body)
    if then is None:
        return None
    if isinstance(node.orelse, cst.Else):
        otherwise, also = only_return(node.orelse.body), ()
        if node.orelse.leading_lines:
            return None
    elif node.orelse is None:
        behind = _next_return(place)
        if behind is None:
            return None
        otherwise, also = cst.parse_expression(ast.unparse(behind.value)), (Also(behind, gone),)
    else:
        return None
    if otherwise is None:
        return None
    value = choice(condition, then, otherwise, place)
    if value is None or isinstance(value, Declined):
        return value
    line = rw.line_instead(node, f"return {value}")
    return Patch(line, also=also) if also else line


def gone(node: cst.CSTNode):
    return None if "#" in rw.code(node) else cst.FlattenSentinel([])


def _next_return(place: Place) -> ast.Return | None:
    """The `return value` right behind the flagged statement, in the same block."""
    behind = place.behind[:1]
    return behind[0] if behind and isinstance(behind[0], ast.Return) and behind[0].value else None


def only_return(block: cst.BaseSuite) -> cst.BaseExpression | None:
    lines = _plain_lines(block)
    if lines and len(lines) == 1 and isinstance(lines[0].body[0], cst.Return):
        return lines[0].body[0].value
    return None


def _assigned(node: cst.If, condition: str, place: Place):
    """Names set in one or both sides, each by `torch.where` or `torch.cond`."""
    then = _assignments(node.body)
    if then is None:
        return None
    otherwise: Assignments = ()
    lines: list[str] = []
    if isinstance(node.orelse, cst.Else):
        if node.orelse.leading_lines:
            return None
        found = _assignments(node.orelse.body)
        if found is None:
            return None
        otherwise = found
    elif isinstance(node.orelse, cst.If):
        return _chained(node, condition, place)
    helpers = {name for name, _ in (*then, *otherwise) if place.is_only_inside(name)}
    if not all(_may_be_helper(found, helpers) for found in (then, otherwise)):
        return None
    names = [name for name, _ in then if name not in helpers]
    if otherwise:
        if [name for name, _ in otherwise if name not in helpers] != names:
            return None
        if helpers & {n for n, _ in then} & {n for n, _ in otherwise}:
            return None
    if not names or len(set(names)) != len(names):
        return None
    if not otherwise and any(not place.is_bound_before(name) for name in names):
        return Declined("a name is set on one side only")
    if len(names) > 1 and _reads(cst.parse_expression(condition)) & _roots(names):
        kept = free_name(place)
        lines.append(f"{kept} = {condition}")
        condition = kept
    others = dict(otherwise) if otherwise else {n: cst.parse_expression(n) for n in names}
    lines += [f"{name} = {rw.code(value)}" for name, value in otherwise if name in helpers]
    for name, value in then:
        if name in helpers:
            lines.append(f"{name} = {rw.code(value)}")
            continue
        chosen = choice(condition, value, others[name], place)
        if chosen is None or isinstance(chosen, Declined):
            return chosen
        lines.append(f"{name} = {chosen}")
    return _lines_instead(node, lines)


def _roots(names: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def _may_be_helper(assignments: Assignments, helpers: set[str]) -> bool:
    """True when what only the block reads may be computed in every call, and of no name that the
    block chose before."""
    chosen: set[str] = set()
    for name, value in assignments:
        if name in helpers:
            if not rw.may_always_run(value) or _reads(value) & chosen:
                return False
        else:
            chosen.add(name.partition(".")[0])
    return True


def _chained(node: cst.If, condition: str, place: Place):
    """`if a: x = 1` / `elif b: x = 2` / `else: x = 3` of one name: nested `torch.where`."""
    values, conditions, names = [], [condition], set()
    step: cst.If | cst.Else | None = node
    while isinstance(step, cst.If):
        assigned = _assignments(step.body)
        if assigned is None or len(assigned) != 1 or (step is not node and step.leading_lines):
            return None
        if step is not node:
            if not rw.is_tensor_test(step.test) or not rw.may_always_run(step.test):
                return None
            further = rw.truth(step.test, place)
            if further is None or not rw.is_comparison(step.test):
                return None
            conditions.append(further)
        names.add(assigned[0][0])
        values.append(assigned[0][1])
        step = step.orelse
    if isinstance(step, cst.Else):
        assigned = _assignments(step.body)
        if assigned is None or len(assigned) != 1 or step.leading_lines:
            return None
        names.add(assigned[0][0])
        values.append(assigned[0][1])
    if len(names) != 1:
        return None
    (name,) = names
    if len(values) == len(conditions):
        if not place.is_bound_before(name):
            return Declined("a name is set on one side only")
        values.append(cst.Name(name))
    if not all(rw.may_be_tensor(value) and rw.may_always_run(value) for value in values):
        return None
    text = rw.code(values[-1])
    for tested, value in zip(reversed(conditions), reversed(values[:-1]), strict=True):
        text = f"torch.where({tested}, {rw.code(value)}, {text})"
    return _lines_instead(node, [f"{name} = {text}"])


def choice(condition: str, then: cst.BaseExpression, otherwise: cst.BaseExpression, place: Place):
    """The value chosen by a condition, as source: `torch.where` where both sides may run,
    `torch.cond` where each is pure."""
    sides = (then, otherwise)
    if not all(rw.may_be_tensor(side) for side in sides):
        return None
    if all(rw.is_number(side) for side in sides):
        return None  # the result's dtype would be another
    if all(rw.may_always_run(side) for side in sides):
        return f"torch.where({condition}, {rw.code(then)}, {rw.code(otherwise)})"
    if not all(may_run_alone(side, place) for side in sides):
        return Declined(
            "a side may draw random numbers, change something, or call what is not known"
        )
    arms = ", ".join(f"lambda: {own(side)}" for side in sides)
    return f"torch.cond({condition}, {arms})"


def own(side: cst.BaseExpression) -> str:
    """A side of `torch.cond`, whose result must not be one of its inputs."""
    text = rw.code(side)
    return f"{text}.clone()" if isinstance(side, cst.Name | cst.Attribute) else text


def _plain_lines(block: cst.BaseSuite) -> list[cst.SimpleStatementLine] | None:
    """The lines of a block without comments, each one simple statement."""
    if not isinstance(block, cst.IndentedBlock) or block.footer:
        return None
    for line in block.body:
        if rw.single(line) is None:
            return None
        if "#" in rw.code(line):
            return None
    return list(block.body)


def _assignments(block: cst.BaseSuite) -> Assignments | None:
    lines = _plain_lines(block)
    if not lines:
        return None
    found = []
    for line in lines:
        one = rw.assignment(line.body[0]) or _stored(line.body[0])
        if one is None:
            return None
        name, value, operator = one
        if operator:
            value = cst.parse_expression(f"{name} {operator} {rw.operand(value)}")
        found.append((name, value))
    return tuple(found)


def _stored(statement: cst.BaseSmallStatement) -> tuple[str, cst.BaseExpression, str] | None:
    """The same of `self.name = value`."""
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    name = rw.dotted(statement.targets[0].target)
    return (
        (name, statement.value, "") if name.startswith("self.") and name.count(".") == 1 else None
    )


def _lines_instead(node: cst.If, texts: list[str]):
    lines = [rw.line_instead(node, texts[0])]
    blank = cst.SimpleStatementLine(body=[]).trailing_whitespace
    if len(texts) > 1:
        lines[0] = lines[0].with_changes(
            trailing_whitespace=lines[0].trailing_whitespace if "#" in rw.code(lines[0]) else blank
        )
    lines += [cst.parse_statement(text) for text in texts[1:]]
    return cst.FlattenSentinel(lines) if len(lines) > 1 else lines[0]


def _reads(node: cst.CSTNode) -> set[str]:
    return {part.value for part in rw.walk(node) if isinstance(part, cst.Name)}


def free_name(place: Place, wanted: Iterable[str] = ("chosen", "is_chosen", "chosen_here")) -> str:
    taken = names_in(place.tree)
    numbered = (f"{name}_{number}" for number in count(2) for name in wanted)
    return next(name for name in chain(wanted, numbered) if name not in taken)
