"""Expressions: names, displays, text and choices."""

from __future__ import annotations

import ast

from breakscope.events import CHOSEN, Format, ScalarRead
from breakscope.static.conditions import opposite, usual_truth
from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import join, join_all
from breakscope.static.modules import Import, function_info
from breakscope.static.numpy_numbers import is_numpy_number
from breakscope.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    Union,
    Value,
    holds_tensor,
    options,
)

STR = Py("str")


class Expressions:
    """How each expression is evaluated."""

    __slots__ = ()

    def eval_Constant(self, node: ast.Constant, frame: Frame) -> Value:
        value = getattr(node, "abstract", None)
        if value is None:
            value = node.abstract = Const(node.value)
        return value

    def eval_Name(self, node: ast.Name, frame: Frame) -> Value:
        value = frame.names.get(node.id)  # what `lookup` does first, without the call: most names are local
        if value is not None and not frame.globals_ and type(value) is not Import:
            return value
        return self.lookup(node.id, frame, node)

    def lookup(self, name: str, frame: Frame, node: ast.AST | None = None) -> Value:
        """The value of a name, through the frame, its closure, the module and the builtins."""
        value = frame.names.get(name)
        if value is not None and not frame.globals_:
            return self.resolve(value) if type(value) is Import else value
        if name in frame.globals_:
            value = None
        elif value is None and frame.scope is not None:
            scope = frame.enclosing(name)
            if scope is not None:
                value = scope.names[name]
                if frame.emits:
                    self.reads.setdefault((id(scope), name), (frame.activation, node))
        if value is None:
            names = frame.module.names
            if names is None:
                names = self.module_names(frame.module)
            value = names.get(name)
            if value is not None and frame.emits:
                self.reads.setdefault((id(frame.module), name), (frame.activation, node))
        if value is None:
            return External(name) if name in self.library.builtins else UNKNOWN
        return self.resolve(value) if type(value) is Import else value

    def eval_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        part = node.value
        owner = self.eval_table[type(part)](part, frame)
        if type(owner) is Instance:
            return self.instance_attribute(owner, node.attr, node, frame)
        return self.attribute(owner, node.attr, node, frame)

    def eval_NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        frame.names[node.target.id] = value
        return value

    def eval_Lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        info = function_info(frame.module, node, frame.prefix)
        if frame.function:
            info.defaults = None
        self.defaults(info, frame)
        return Function(info, scope=frame if frame.function or frame.scope else None)

    def eval_Starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def eval_Await(self, node: ast.Await, frame: Frame) -> Value:
        self.eval(node.value, frame)
        return UNKNOWN

    def eval_Yield(self, node: ast.Yield, frame: Frame) -> Value:
        frame.yields.append(self.eval(node.value, frame) if node.value else UNKNOWN)
        return UNKNOWN

    def eval_YieldFrom(self, node: ast.YieldFrom, frame: Frame) -> Value:
        frame.yields.append(self.iterate(self.eval(node.value, frame), node.value, frame) or UNKNOWN)
        return UNKNOWN

    def eval_Tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return self.display("tuple", node, frame)

    def eval_List(self, node: ast.List, frame: Frame) -> Value:
        return self.display("list", node, frame)

    def eval_Set(self, node: ast.Set, frame: Frame) -> Value:
        return self.display("set", node, frame)

    def display(self, type_: str, node, frame: Frame) -> Value:
        items, known = [], True
        for part in node.elts:
            value = self.eval_table[type(part)](part, frame)
            if type(part) is ast.Starred:
                if isinstance(value, Sequence) and value.items is not None:
                    items.extend(value.items)
                else:
                    items.append(self.iterate(value, part, frame) or UNKNOWN)
                    known = False
            else:
                items.append(value)
        return Sequence(type_, items) if known else Sequence(type_, None, join_all(items))

    def eval_Dict(self, node: ast.Dict, frame: Frame) -> Value:
        result = Dict({}, UNKNOWN)
        for key, value_node in zip(node.keys, node.values):
            value = self.eval(value_node, frame)
            if key is None:
                for option in options(value):
                    if isinstance(option, Dict):
                        result.items.update(option.items)
                        result.open = result.open or option.open
                    else:
                        result.open = True
                continue
            named = self.eval(key, frame)
            if type(named) is Py and named.source == "tensor":
                self.emit(Format, node, frame, value=named, construct="key")
            self.put(result, named, value)
        return result

    def put(self, target: Dict, key: Value, value: Value) -> None:
        """Set a key of an abstract dict in place."""
        if key.is_const and is_hashable(key.value):
            target.items[key.value] = value
        else:
            target.element = value if target.element.is_unknown and not target.open else join(target.element, value)
            target.open = True

    def eval_JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        text, parts = "", []
        for part in node.values:
            if type(part) is ast.Constant:
                text = None if text is None else text + part.value
                continue
            value = self.eval(part.value, frame)
            parts.append(value)
            if holds_tensor(value):
                spec = part.format_spec is not None and bool(part.format_spec.values)
                if spec and value.is_tensor:
                    self.emit(
                        ScalarRead,
                        node,
                        frame,
                        self.sureness(value),
                        value=value,
                        how="format",
                        expression=self.text(part.value, frame.module),
                    )
                else:
                    self.emit(Format, node, frame, self.sureness(value), value=value, construct="fstring")
            plain = value.is_const and part.conversion == -1 and part.format_spec is None
            text = text + str(value.value) if plain and text is not None else None
        if text is not None:
            return Const(text)
        if any(holds_tensor(p) for p in parts):
            return Py("str", "tensor")
        return Py("str", "shape" if any(p.is_shape for p in parts) else "")

    def eval_FormattedValue(self, node: ast.FormattedValue, frame: Frame) -> Value:
        self.eval(node.value, frame)
        return STR

    def eval_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        is_and, values, usual = type(node.op) is ast.And, [], None
        before, certainty, undecided = frame.names, frame.certainty, frame.undecided
        spared, frame.names = frame.spared, dict(before)
        try:
            for operand in node.values[:-1]:
                value = self.eval(operand, frame)
                truth = self.truth_of(value, operand, frame, "and" if is_and else "or")
                if truth is (not is_and):
                    return join_all([*values, value])
                if usual_truth(value) is (not is_and):
                    frame.certainty, usual = "possible", not is_and  # the defaults end it here
                if truth is None:
                    frame.undecided = CHOSEN
                    frame.spared = frame.spared or is_and and self.is_left_out(operand, frame)
                    values.append(self.narrowed_value(value, not is_and))
                self.narrow(operand, is_and, frame)
            values.append(self.eval(node.values[-1], frame))
            usual = usual if usual_truth(values[-1]) is not (not is_and) else not is_and
        finally:
            frame.names, frame.certainty, frame.undecided, frame.spared = before, certainty, undecided, spared
        result = join_all(values)
        return Py(result.type, result.source, usual) if usual is not None and type(result) is Py else result

    def narrowed_value(self, value: Value, truth: bool) -> Value:
        """The value given that it was found true or false: `x or default` never yields None for x."""
        if truth and type(value) is Union:
            kept = [o for o in value.options if not o.is_none]
            return join_all(kept) if kept else value
        if type(value) is Py and value.type == "bool":
            return Const(truth)
        return value

    def eval_IfExp(self, node: ast.IfExp, frame: Frame) -> Value:
        truth = self.test(node.test, frame, "ternary")
        if truth is not None:
            before = frame.names
            frame.names = dict(before)
            self.narrow(node.test, truth, frame)
            value = self.eval(node.body if truth else node.orelse, frame)
            frame.names = before
            return value
        results, before, condition, undecided = [], frame.names, frame.condition, frame.undecided
        certainty, usual, spared = frame.certainty, self.last_test_usually, frame.spared
        left_out = self.is_left_out(node.test, frame)
        test = self.text(node.test, frame.module) if frame.emits and self.last_test_is_configuration else ""
        frame.undecided = CHOSEN
        for branch, side in ((node.body, True), (node.orelse, False)):
            frame.names = dict(before)
            frame.condition = condition or (test if side else test and opposite(test))
            frame.certainty = "possible" if usual is (not side) else certainty
            frame.spared = spared or side and left_out
            self.narrow(node.test, side, frame)
            try:
                results.append(self.eval(branch, frame))
            except Raised:
                pass
        frame.names, frame.condition, frame.undecided, frame.certainty = before, condition, undecided, certainty
        frame.spared = spared
        return join_all(results)

    def eval_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        container = self.eval_table[type(node.value)](node.value, frame)
        index = self.eval_table[type(node.slice)](node.slice, frame)
        if frame.emits and not index.is_const:
            index = self.masked(node.slice, index)
        return self.item(node, container, index, frame)

    def eval_Slice(self, node: ast.Slice, frame: Frame) -> Value:
        bounds = []
        for bound in (node.lower, node.upper, node.step):
            if bound is None:
                bounds.append(NONE)
                continue
            value = self.eval(bound, frame)
            if is_numpy_number(value):
                self.read_numpy_number("slice", value, bound, frame)
            elif value.is_tensor:
                self.emit(
                    ScalarRead,
                    bound,
                    frame,
                    self.sureness(value),
                    value=value,
                    how="slice",
                    expression=self.text(bound, frame.module),
                )
                value = Scalar()
            bounds.append(value)
        return ExternalInstance("slice", tuple(bounds))


def is_hashable(value) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
