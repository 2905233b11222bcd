"""Evaluates conditions: their truth, who decides them, and what follows of the names in them."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.rulekit.events import CHOSEN
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    External,
    Instance,
    Py,
    ShapeInt,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.static.interpreter.rarely import is_rare
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.given import both, opposite
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.operators.instance_checks import (
    is_instance,
    is_tensor_type,
    value_of_type,
)


def test_condition(
    machine: Machine, node: ast.expr, frame: Frame, construct: str, **facts
) -> bool | None:
    """The truth of a condition, None when not known; emits a Branch for each operand that is a
    tensor."""
    machine.region.last_test_is_configuration, machine.region.last_test_usually = False, None
    kind = type(node)
    if kind is ast.BoolOp:
        return test_bool_op(machine, node, frame, construct, facts)
    if kind is ast.UnaryOp and type(node.op) is ast.Not:
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


def test_bool_op(
    machine: Machine, node: ast.BoolOp, frame: Frame, construct: str, facts: dict
) -> bool | None:
    is_and, unknown, configuration = type(node.op) is ast.And, False, False
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
                frame.rare = frame.rare or (frame.emits and is_rare(operand, is_and))
                frame.spared = frame.spared or (
                    is_and and facts.get("raises", False) and is_left_out(operand, frame)
                )
            if truth is None and frame.emits and machine.region.last_test_is_configuration:
                text = machine.text(operand, frame.module)
                frame.condition = both(frame.condition, text if is_and else opposite(text))
                if machine.region.last_test_usually is (not is_and):
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


def is_left_out(test: ast.expr, frame: Frame) -> bool:
    """True for `x is not None` where x is an optional tensor, as `labels` is: without it the
    rest of the expression is not evaluated, though its line runs."""
    if (
        type(test) is not ast.Compare
        or type(test.ops[0]) is not ast.IsNot
        or type(test.left) is not ast.Name
    ):
        return False
    value = frame.names.get(test.left.id)
    if type(value) is not Union or not (
        type(right := test.comparators[0]) is ast.Constant and right.value is None
    ):
        return False
    return all([o.is_none or o.is_tensor for o in value.options])


def narrow_by(machine: Machine, test: ast.expr, truth: bool, frame: Frame) -> None:
    """Narrow the names in a condition that is true, or false."""
    kind = type(test)
    if kind is ast.UnaryOp and type(test.op) is ast.Not:
        narrow_by(machine, test.operand, not truth, frame)
    elif kind is ast.BoolOp:
        is_and = type(test.op) is ast.And
        if is_and == truth:
            for operand in test.values:
                narrow_by(machine, operand, truth, frame)
        else:  # `a and b` is false while b is true: so a is false
            truths = machine.region.operand_truths.get(id(test), ())
            open_ = [o for o, known in zip(test.values, truths) if known is not is_and]
            if len(truths) == len(test.values) and len(open_) == 1:
                narrow_by(machine, open_[0], truth, frame)
    elif kind is ast.Compare and len(test.ops) == 1 and type(test.ops[0]) in (ast.Is, ast.IsNot):
        right = test.comparators[0]
        if type(right) is ast.Constant and right.value is None:
            narrow_to(test.left, (type(test.ops[0]) is ast.Is) == truth, frame)
    elif (
        kind is ast.Call
        and type(test.func) is ast.Name
        and test.func.id == "isinstance"
        and len(test.args) == 2
    ):
        narrow_isinstance(machine, test.args[0], test.args[1], truth, frame)
    elif (
        kind is ast.Call
        and type(test.func) is ast.Attribute
        and test.func.attr == "is_tensor"
        and len(test.args) == 1
    ):
        narrow_isinstance(
            machine, test.args[0], ast.copy_location(ast.Constant("is_tensor"), test), truth, frame
        )
    elif kind is ast.NamedExpr:
        narrow_by(machine, test.target, truth, frame)
    elif kind in (ast.Name, ast.Attribute) and truth:
        narrow_to(test, False, frame)


def narrow_to(node: ast.expr, is_none: bool, frame: Frame) -> None:
    """Keep only None, or everything but None, of a name or `machine.getattr`."""
    value = peek_value(node, frame)
    if value is None:
        return
    if is_none:
        kept = [o for o in options(value) if o.is_none]
        rebind_name(node, kept[0] if kept else Const(None) if value.is_unknown else value, frame)
    elif type(value) is Union:
        kept = [o for o in value.options if not o.is_none]
        if kept and len(kept) < len(value.options):
            rebind_name(node, join_all(kept), frame)


def narrow_isinstance(
    machine: Machine, node: ast.expr, types: ast.expr, truth: bool, frame: Frame
) -> None:
    value = peek_value(node, frame)
    if value is None:
        return
    emits, frame.emits = frame.emits, False
    wanted = (
        External("torch.Tensor") if isinstance(types, ast.Constant) else machine.eval(types, frame)
    )
    frame.emits = emits
    verdicts = [(o, is_instance(machine, o, wanted)) for o in options(value)]
    kept = [
        o for o, verdict in verdicts if verdict is truth or (verdict is None and not o.is_unknown)
    ]
    if type(value) is Tensor and value.is_argument and kept == [value]:
        if not truth and is_tensor_type(machine, wanted):
            rebind_name(node, UNKNOWN, frame)  # where it is no tensor
        elif truth and not is_tensor_type(
            machine, wanted
        ):  # another than was guessed, or annotated
            rebind_name(node, value_of_type(machine, wanted) or UNKNOWN, frame)
    elif kept:
        if not truth and is_tensor_type(machine, wanted):
            kept = [_of_other_class(option) for option in kept]
        rebind_name(node, join_all(kept), frame)
    elif truth:
        made = value_of_type(machine, wanted)
        if made is not None:
            rebind_name(node, made, frame)


def _of_other_class(value: Value) -> Value:
    """A tensor that is not of the class asked for may be a plain one."""
    of_subclass = type(value) is Tensor and value.kind == "subclass"
    return replace(value, kind="") if of_subclass else value


def peek_value(node: ast.expr, frame: Frame) -> Value | None:
    """The value of a plain name or of `name.attribute` narrowed before, without events."""
    if type(node) is ast.Name:
        return frame.names.get(node.id)
    if type(node) is ast.Attribute and type(node.value) is ast.Name:
        narrowed = frame.names.get(f"{node.value.id}.{node.attr}")
        if narrowed is not None:
            return narrowed
        owner = frame.names.get(node.value.id)
        if isinstance(owner, Instance):
            return owner.attributes.get(node.attr)
    return None


def rebind_name(node: ast.expr, value: Value, frame: Frame) -> None:
    if type(node) is ast.Name:
        frame.names[node.id] = value
    else:
        frame.names[f"{node.value.id}.{node.attr}"] = value


def usual_truth(value: Value) -> bool | None:
    """The truth of a value where configuration keeps its defaults and no tensor is empty; None where
    that does not decide it."""
    if type(value) is ShapeInt and value.is_extent:
        return True
    return bool(value.usual) if type(value) is Py and value.usual is not None else None
