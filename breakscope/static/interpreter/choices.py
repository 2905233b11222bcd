"""`and`, `or` and conditional expressions: each side is evaluated where it may be the one."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import CHOSEN
from breakscope.rulekit.values import UNKNOWN, Const, Py, Union, Value, options
from breakscope.static.interpreter.conditions import (
    assume,
    is_left_out,
    open_part,
    operand_conditions,
    test_condition,
    usual_truth,
)
from breakscope.static.interpreter.narrowing import narrow_by
from breakscope.static.interpreter.rarely import is_rare_here
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.given import both, opposite
from breakscope.static.machine.lattice import ALWAYS, join, join_all, join_under
from breakscope.static.machine.machine import Machine


def eval_bool_op(machine: Machine, node: ast.BoolOp, frame: Frame) -> Value:
    is_and, values, tests, usual = isinstance(node.op, ast.And), [], [], None
    before, certainty, undecided = frame.names, frame.certainty, frame.undecided
    spared, condition, frame.names = frame.spared, frame.condition, dict(before)
    try:
        for operand in node.values[:-1]:
            value = machine.eval(operand, frame)
            if not is_and:
                value = like_the_default(value, node.values[-1])
            truth = machine.truth(value, "and" if is_and else "or", operand, frame)
            if truth is (not is_and):
                return join_all([*values, value])
            if usual_truth(value) is (not is_and):
                frame.certainty, usual = "possible", not is_and  # the defaults end it here
            if truth is None:
                frame.undecided = CHOSEN
                frame.spared = frame.spared or (is_and and is_left_out(operand, frame))
                values.append(narrowed_value(value, not is_and))
                tests.append(machine.behaviour(value).is_configuration(value) and operand)
                if tests[-1]:
                    assume(machine, operand, is_and, frame)
            narrow_by(machine, operand, is_and, frame)
        values.append(machine.eval(node.values[-1], frame))
        usual = usual if usual_truth(values[-1]) is not (not is_and) else not is_and
    finally:
        frame.names, frame.certainty, frame.undecided = before, certainty, undecided
        frame.spared, frame.condition = spared, condition
    by_configuration = values[-1].is_tensor and any(tests)
    given = operand_conditions(machine, tests, is_and, frame) if by_configuration else ()
    result = join_under(values, given) if given else join_all(values)
    return (
        Py(result.type, result.source, usual)
        if usual is not None and type(result) is Py
        else result
    )


def like_the_default(value: Value, default: ast.expr) -> Value:
    """`state or (None, None)`: what a tuple stands in for is no tensor, where it may be something
    else; what a dict does is none anyway."""
    if isinstance(default, ast.Dict) and all(o.is_none or o.is_tensor for o in options(value)):
        return UNKNOWN
    if type(value) is not Union or not isinstance(default, ast.Tuple | ast.List | ast.Dict):
        return value
    kept = [o for o in value.options if not o.is_tensor]
    return value if all(o.is_none for o in kept) else join_all(kept)


def narrowed_value(value: Value, truth: bool) -> Value:
    """The value given that it was found true or false: `x or default` never yields None for x."""
    if truth and type(value) is Union:
        kept = [o for o in value.options if not o.is_none]
        return join_all(kept) if kept else value
    if type(value) is Py and value.type == "bool":
        return Const(truth)
    return value


def eval_if_exp(machine: Machine, node: ast.IfExp, frame: Frame) -> Value:
    truth = test_condition(machine, node.test, frame, "ternary")
    if truth is not None:
        before = frame.names
        frame.names = dict(before)
        narrow_by(machine, node.test, truth, frame)
        value = machine.eval(node.body if truth else node.orelse, frame)
        frame.names = before
        return value
    results, before, condition, undecided = [], frame.names, frame.condition, frame.undecided
    certainty, usual, spared = frame.certainty, machine.region.last_test_usually, frame.spared
    rare, left_out = frame.rare, is_left_out(node.test, frame)
    by_configuration = machine.region.last_test_is_configuration
    open_test = open_part(machine, node.test)
    test = machine.text(open_test, frame.module) if by_configuration else ""
    given = (test, opposite(test)) if test else ALWAYS
    for branch, side in ((node.body, True), (node.orelse, False)):
        is_usual = usual is side and not by_configuration and frame.module.library
        frame.undecided = undecided if is_usual else CHOSEN  # who hands over an empty tensor?
        frame.names = dict(before)
        frame.condition = both(condition, given[0] if side else given[1])
        frame.certainty = "possible" if usual is (not side) else certainty
        frame.rare = rare or (frame.emits and is_rare_here(machine, open_test, side, frame))
        frame.spared = spared or (side and left_out)
        narrow_by(machine, node.test, side, frame)
        try:
            results.append(machine.eval(branch, frame))
        except Raised:
            pass
    frame.names, frame.condition, frame.undecided = before, condition, undecided
    frame.certainty, frame.spared, frame.rare = certainty, spared, rare
    return join(*results, given=given) if len(results) == 2 else join_all(results)
