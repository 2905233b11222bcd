"""Evaluates conditions: their truth, and who decides them."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import CHOSEN
from breakscope.rulekit.values import (
    UNKNOWN,
    Dict,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
)
from breakscope.static.interpreter.narrowing import narrow_by
from breakscope.static.interpreter.rarely import is_rare_here
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.given import both, opposite
from breakscope.static.machine.machine import Machine


def test_condition(
    machine: Machine, node: ast.expr, frame: Frame, construct: str, **facts
) -> bool | None:
    """The truth of a condition, None when not known; emits a Branch for each operand that is a
    tensor."""
    machine.region.last_test_is_configuration, machine.region.last_test_usually = False, None
    kind = type(node)
    if kind is ast.BoolOp:
        return test_bool_op(machine, node, frame, construct, facts)
    if kind is ast.UnaryOp and isinstance(node.op, ast.Not):
        if frame.emits:
            facts.setdefault("condition_source", machine.text(node, frame.module))
        truth = test_condition(
            machine, node.operand, frame, "not" if construct == "assert" else construct, **facts
        )
        machine.region.last_test_usually = (
            None
            if machine.region.last_test_usually is None
            else not machine.region.last_test_usually
        )
        return None if truth is None else not truth
    value = machine.eval(node, frame)
    machine.region.last_test_is_configuration = machine.behaviour(value).is_configuration(value)
    machine.region.last_test_usually = usual_truth(value) if frame.emits else None
    skips = frame.skips
    if node is frame.jumps[0]:
        frame.skips = frame.jumps[1]
    truth = machine.truth(value, construct, node, frame, **facts)
    frame.skips = skips
    return truth


def open_part(machine: Machine, test: ast.expr) -> ast.expr:
    """What decides a test: of `self.verbose and self.step % 2 == 0` the only operand of which the outcome was not
    known when the test was made, the whole where there are several."""
    truths = machine.region.operand_truths.get(id(test), ()) if type(test) is ast.BoolOp else ()
    if list(truths).count(None) != 1 or len(truths) != len(test.values):
        return test
    return open_part(machine, test.values[truths.index(None)])


def test_bool_op(
    machine: Machine, node: ast.BoolOp, frame: Frame, construct: str, facts: dict
) -> bool | None:
    is_and, unknown, configuration = isinstance(node.op, ast.And), False, False
    before, condition, certainty, undecided, rare = (
        frame.names,
        frame.condition,
        frame.certainty,
        frame.undecided,
        frame.rare,
    )
    spared, frame.names = frame.spared, dict(before)
    truths = machine.region.operand_truths[id(node)] = []
    try:
        # an assert is traced only when its last operand is what decides
        for operand in node.values:
            asked_by = (
                ("and" if is_and else "or")
                if construct == "assert" and operand is not node.values[-1]
                else construct
            )
            truth = test_condition(machine, operand, frame, asked_by, **facts)
            truths.append(truth)
            configuration = configuration or machine.region.last_test_is_configuration
            if truth is (not is_and):
                return truth
            if truth is None:
                # what follows is evaluated only where this one does not decide
                unknown, frame.undecided = True, CHOSEN
                frame.rare = frame.rare or (
                    frame.emits and is_rare_here(machine, operand, is_and, frame)
                )
                frame.spared = frame.spared or (
                    is_and and facts.get("raises", False) and is_left_out(operand, frame)
                )
            if truth is None and frame.emits and machine.region.last_test_is_configuration:
                assume(machine, operand, is_and, frame)
                is_off = machine.region.last_test_usually is (not is_and)
                if is_off and not is_of_amount(operand):
                    frame.certainty = "possible"
            narrow_by(machine, operand, is_and, frame)
    finally:
        frame.names, frame.condition, frame.certainty, frame.undecided = (
            before,
            condition,
            certainty,
            undecided,
        )
        frame.spared, frame.rare = spared, rare
        machine.region.last_test_is_configuration, machine.region.last_test_usually = (
            configuration,
            None,
        )
    return None if unknown else is_and


def assume(machine: Machine, operand: ast.expr, truth: bool, frame: Frame) -> None:
    """Put what is evaluated behind an operand under the condition that it had this truth."""
    if frame.emits:
        text = machine.text(operand, frame.module)
        frame.condition = both(frame.condition, text if truth else opposite(text))


def operand_conditions(
    machine: Machine, tests: list[ast.expr | bool], is_and: bool, frame: Frame
) -> list[str]:
    """Under which configuration each operand is the value of `a and b`, or `a or b`; `tests` are those before
    the last, False where configuration does not decide."""
    conditions, before = [], ""
    for test in tests:
        text = machine.text(test, frame.module) if test else ""
        ends, goes_on = (opposite(text), text) if is_and else (text, opposite(text))
        conditions.append(both(before, ends) if text else "")
        before = both(before, goes_on) if text else before
    return [*conditions, before]


def is_left_out(test: ast.expr, frame: Frame) -> bool:
    """True for `x is not None` where x is an optional tensor, as `labels` is: without it the
    rest of the expression is not evaluated, though its line runs."""
    if (
        not isinstance(test, ast.Compare)
        or not isinstance(test.ops[0], ast.IsNot)
        or not isinstance(test.left, ast.Name)
    ):
        return False
    value = frame.names.get(test.left.id)
    if type(value) is not Union or not (
        isinstance(right := test.comparators[0], ast.Constant) and right.value is None
    ):
        return False
    return all([o.is_none or o.is_tensor for o in value.options])


def is_of_amount(test: ast.expr) -> bool:
    """True for `self.layer_drop > 0`: what has an amount for a parameter is made to be used with one, whatever the
    default is, as a flag need not be."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Gt | ast.NotEq)
        and isinstance(test.comparators[0], ast.Constant)
        and type(test.comparators[0].value) in (int, float)
        and test.comparators[0].value == 0
    )


def usual_truth(value: Value) -> bool | None:
    """The truth of a value where configuration keeps its defaults and no tensor is empty; None where
    that does not decide it."""
    if type(value) is ShapeInt and value.is_extent:
        return True
    return bool(value.usual) if type(value) is Py and value.usual is not None else None


def is_of_data(machine: Machine, test: ast.expr, frame: Frame) -> bool:
    """True for a test, in the code around a region, of the values in a tensor, of a size that they decide, or of
    whether a container of unknown length has anything."""
    if type(test) is ast.UnaryOp:
        return is_of_data(machine, test.operand, frame)
    if type(test) is ast.BoolOp:
        return any(is_of_data(machine, part, frame) for part in test.values)
    if type(test) is ast.Compare:
        return any(is_of_data(machine, part, frame) for part in (test.left, *test.comparators))
    is_call = type(test) is ast.Call
    if is_call and getattr(test.func, "id", "") in ("len", "bool", "int") and test.args:
        return is_of_data(machine, test.args[0], frame)
    if is_call and type(test.func) is ast.Attribute:
        return is_of_data(machine, test.func.value, frame)
    if type(test) is ast.Subscript:
        return is_of_data(machine, test.value, frame)
    if type(test) is ast.Attribute and test.attr == "shape":
        return is_of_data(machine, test.value, frame)
    value = machine.eval(test, frame) if type(test) in (ast.Name, ast.Attribute) else UNKNOWN
    is_open = isinstance(value, Sequence | Dict) and getattr(value, "items", None) is None
    return type(value) in (Tensor, Scalar) or is_open
