"""Conditions: the truth of values, and what a condition says of the names in it."""

from __future__ import annotations

import ast

from breakscope.events import CHOSEN, Branch, Statement
from breakscope.static.frames import Frame
from breakscope.static.joins import join_all
from breakscope.static.numpy_numbers import is_numpy_number
from breakscope.values import (
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)

_NO_CONSTANTS = frozenset({Sequence, Dict, Instance, ExternalInstance})


class Conditions:
    """How Python asks a value for its truth, and what is known afterwards."""

    __slots__ = ()

    def test(self, node: ast.expr, frame: Frame, construct: str, **facts) -> bool | None:
        """The truth of a condition, None when not known; emits a Branch for each operand that is a tensor."""
        self.last_test_is_configuration, self.last_test_usually = False, None
        kind = type(node)
        if kind is ast.BoolOp:
            return self.test_bool_op(node, frame, construct, facts)
        if kind is ast.UnaryOp and type(node.op) is ast.Not:
            if frame.emits:
                facts.setdefault("condition_source", self.text(node, frame.module))
            truth = self.test(node.operand, frame, "not" if construct == "assert" else construct, **facts)
            self.last_test_usually = None if self.last_test_usually is None else not self.last_test_usually
            return None if truth is None else not truth
        value = self.eval_table[kind](node, frame)
        self.last_test_is_configuration, self.last_test_usually = self.is_configuration(value), usual_truth(value)
        lost = frame.lost
        if node is frame.jumps[0]:
            frame.lost = frame.jumps[1]
        truth = self.truth_of(value, node, frame, construct, **facts)
        frame.lost = lost
        return truth

    def test_bool_op(self, node: ast.BoolOp, frame: Frame, construct: str, facts: dict) -> bool | None:
        is_and, unknown, configuration = type(node.op) is ast.And, False, False
        before, condition, certainty, undecided = frame.names, frame.condition, frame.certainty, frame.undecided
        spared, frame.names = frame.spared, dict(before)
        truths = self.operand_truths[id(node)] = []
        try:
            for operand in node.values:  # an assert is traced only when its last operand is what decides
                asks = (
                    ("and" if is_and else "or")
                    if construct == "assert" and operand is not node.values[-1]
                    else construct
                )
                truth = self.test(operand, frame, asks, **facts)
                truths.append(truth)
                configuration = configuration or self.last_test_is_configuration
                if truth is (not is_and):
                    return truth
                if truth is None:
                    unknown, frame.undecided = True, CHOSEN  # what follows is asked only where this one does not decide
                    frame.spared = frame.spared or is_and and facts.get("raises", False) and self.is_left_out(operand, frame)
                if truth is None and frame.emits and self.last_test_is_configuration:
                    frame.condition = frame.condition or self.text(operand, frame.module)
                    if is_and and self.rarely_true(operand, frame) or self.last_test_usually is (not is_and):
                        frame.certainty = "possible"
                self.narrow(operand, is_and, frame)
        finally:
            frame.names, frame.condition, frame.certainty, frame.undecided = before, condition, certainty, undecided
            frame.spared = spared
            self.last_test_is_configuration, self.last_test_usually = configuration, None
        return None if unknown else is_and

    def is_left_out(self, test: ast.expr, frame: Frame) -> bool:
        """True for `x is not None` where x is an optional tensor, as `labels` is: without it the rest of the expression is
        not evaluated, though its line runs."""
        if type(test) is not ast.Compare or type(test.ops[0]) is not ast.IsNot or type(test.left) is not ast.Name:
            return False
        value = frame.names.get(test.left.id)
        if type(value) is not Union or not (type(right := test.comparators[0]) is ast.Constant and right.value is None):
            return False
        return all([o.is_none or o.is_tensor for o in value.options])

    def rarely_true(self, test: ast.expr, frame: Frame) -> bool:
        """A test for half precision: compiled regions run in float32 or bfloat16 unless the user says otherwise."""
        return (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], ast.Eq)
            and any(isinstance(c, ast.Attribute) and c.attr in ("float16", "half") for c in test.comparators)
        )

    def is_configuration(self, value: Value) -> bool:
        """True when who wrote or configured the model decides the value, not the data."""
        if value.is_unknown:
            return True
        return isinstance(value, Py | Const) or any(isinstance(o, Py) for o in options(value))

    def truth_of(self, value: Value, node: ast.expr, frame: Frame, construct: str, **facts) -> bool | None:
        """The truth of a value that Python asks for it."""
        kind = type(value)
        if kind is Const:
            return bool(value.value)
        if kind is Tensor:
            self.emit(Branch, node, frame, self.sureness(value), test=value, construct=construct, **facts)
            return None
        if kind is Union:
            verdicts = set()
            for option in value.options:
                if option.is_tensor:
                    certainty = "possible" if any(o.is_unknown for o in value.options) else "likely"
                    self.emit(Branch, node, frame, certainty, test=option, construct=construct, **facts)
                    verdicts.add(None)
                else:
                    verdicts.add(self.truth_of(option, node, frame, construct, **facts))
            return verdicts.pop() if len(verdicts) == 1 else None
        if construct == "assert" and facts.get("literal_message") and kind in _NO_CONSTANTS and self.is_opaque(value):
            self.emit(Statement, node, frame, self.sureness(value), construct="assert", value=value)
        if kind is Sequence:
            if value.items is not None and not value.home:
                return bool(value.items)
            if frame.emits and value.home:
                self.reads.setdefault((id(value), ""), (frame.activation, node))
            return None
        if kind is Dict:
            return bool(value.items) if not value.open and not value.home else None
        if kind is Instance:
            return self.truth_of_instance(value, node, frame)
        if kind in (Function, Class, External, Method):
            return True
        if kind is Py:
            if value.source == "draw":
                self.emit(Branch, node, frame, test=value, construct=construct, **facts)
            elif is_numpy_number(value):
                self.branch_on_numpy_number(node, frame, construct, **facts)
        return None

    def is_opaque(self, value: Value) -> bool:
        """True for an object, and a container with an object or a tensor in it: while Dynamo traces, none of them is a
        constant."""
        kind = type(value)
        if kind is Instance:
            return not self.field_names(value) or any(map(self.is_opaque, value.attributes.values()))
        if kind is Sequence:
            return any(map(self.is_opaque, value.items if value.items is not None else (value.element,)))
        if kind is Dict:
            return any(map(self.is_opaque, (*value.items.values(), value.element)))
        return kind is Tensor or kind is ExternalInstance and value.name.startswith("torch.nn.")

    def truth_of_instance(self, value: Instance, node: ast.expr, frame: Frame, called: bool = False) -> bool | None:
        """What `if value` finds, or `bool(value)`, which is `called`."""
        for name in ("__bool__", "__len__"):
            method = self.attribute(value, name, node, frame)
            if isinstance(method, Function):
                if called:
                    answer = self.call_value(method, [], {}, node, frame)
                else:
                    answer = self.call_implicitly(method, [], node, frame)
                return bool(answer.value) if answer.is_const else None
        return True

    def sureness(self, value: Value) -> str:
        """The certainty of an event that rests on this value being a tensor."""
        if isinstance(value, Tensor):
            return "certain" if value.sure else "likely"
        return "likely"

    def narrow(self, test: ast.expr, truth: bool, frame: Frame) -> None:
        """Use what a condition says of the names in it."""
        kind = type(test)
        if kind is ast.UnaryOp and type(test.op) is ast.Not:
            self.narrow(test.operand, not truth, frame)
        elif kind is ast.BoolOp:
            is_and = type(test.op) is ast.And
            if is_and == truth:
                for operand in test.values:
                    self.narrow(operand, truth, frame)
            else:  # `a and b` is false while b is true: so a is false
                truths = self.operand_truths.get(id(test), ())
                open_ = [o for o, known in zip(test.values, truths) if known is not is_and]
                if len(truths) == len(test.values) and len(open_) == 1:
                    self.narrow(open_[0], truth, frame)
        elif kind is ast.Compare and len(test.ops) == 1 and type(test.ops[0]) in (ast.Is, ast.IsNot):
            right = test.comparators[0]
            if type(right) is ast.Constant and right.value is None:
                self.narrow_to(test.left, (type(test.ops[0]) is ast.Is) == truth, frame)
        elif kind is ast.Call and type(test.func) is ast.Name and test.func.id == "isinstance" and len(test.args) == 2:
            self.narrow_isinstance(test.args[0], test.args[1], truth, frame)
        elif (
            kind is ast.Call
            and type(test.func) is ast.Attribute
            and test.func.attr == "is_tensor"
            and len(test.args) == 1
        ):
            self.narrow_isinstance(test.args[0], ast.copy_location(ast.Constant("is_tensor"), test), truth, frame)
        elif kind is ast.NamedExpr:
            self.narrow(test.target, truth, frame)
        elif kind in (ast.Name, ast.Attribute) and truth:
            self.narrow_to(test, False, frame)

    def narrow_to(self, node: ast.expr, is_none: bool, frame: Frame) -> None:
        """Keep only None, or everything but None, of a name or `self.attribute`."""
        value = self.peek(node, frame)
        if value is None:
            return
        if is_none:
            kept = [o for o in options(value) if o.is_none]
            self.rebind(node, kept[0] if kept else Const(None) if value.is_unknown else value, frame)
        elif type(value) is Union:
            kept = [o for o in value.options if not o.is_none]
            if kept and len(kept) < len(value.options):
                self.rebind(node, join_all(kept), frame)

    def narrow_isinstance(self, node: ast.expr, types: ast.expr, truth: bool, frame: Frame) -> None:
        value = self.peek(node, frame)
        if value is None:
            return
        emits, frame.emits = frame.emits, False
        wanted = External("torch.Tensor") if isinstance(types, ast.Constant) else self.eval(types, frame)
        frame.emits = emits
        verdicts = [(o, self.is_instance(o, wanted)) for o in options(value)]
        kept = [o for o, verdict in verdicts if verdict is truth or (verdict is None and not o.is_unknown)]
        if kept:
            self.rebind(node, join_all(kept), frame)
        elif truth:
            made = self.value_of_type(wanted)
            if made is not None:
                self.rebind(node, made, frame)

    def peek(self, node: ast.expr, frame: Frame) -> Value | None:
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

    def rebind(self, node: ast.expr, value: Value, frame: Frame) -> None:
        if type(node) is ast.Name:
            frame.names[node.id] = value
        else:
            frame.names[f"{node.value.id}.{node.attr}"] = value


def usual_truth(value: Value) -> bool | None:
    """The truth of a value where configuration keeps its defaults; None where that does not decide it."""
    return bool(value.usual) if type(value) is Py and value.usual is not None else None


def opposite(test: str) -> str:
    """The source of a test's negation, for a reader."""
    if test.startswith("not ") and not any(word in test for word in (" and ", " or ")):
        return test.removeprefix("not ")
    return f"not ({test})" if " " in test else f"not {test}"
