"""Expressions: what each evaluates to, and the events of reading a tensor's truth."""

from __future__ import annotations

import ast

from breakscope.events import Branch, Format, ScalarRead
from breakscope.static.frames import Activation, Frame, Raised, Step
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.program import Import, function_info
from breakscope.values import (
    FALSE, TRUE, UNKNOWN, Class, Const, Dict, External, ExternalInstance, Function, Instance, Method, Py, Scalar, Sequence,
    ShapeInt, Tensor, Union, Value, holds_tensor, options,
)

BOOL = Py("bool")
STR = Py("str")
COMPARES_VALUES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
MOST_UNROLLED = 16


class Expressions:
    """How each expression is evaluated."""

    last_test_is_configuration = False

    def eval_Constant(self, node: ast.Constant, frame: Frame) -> Value:
        return Const(node.value)

    def eval_Name(self, node: ast.Name, frame: Frame) -> Value:
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
            value = (self.module_names(frame.module) if names is None else names).get(name)
            if value is not None and frame.emits:
                self.reads.setdefault((id(frame.module), name), (frame.activation, node))
        if value is None:
            return External(name) if name in self.library.builtins else UNKNOWN
        return self.resolve(value) if type(value) is Import else value

    def eval_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        return self.attribute(self.eval(node.value, frame), node.attr, node, frame)

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

    # --- displays

    def eval_Tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return self.display("tuple", node, frame)

    def eval_List(self, node: ast.List, frame: Frame) -> Value:
        return self.display("list", node, frame)

    def eval_Set(self, node: ast.Set, frame: Frame) -> Value:
        return self.display("set", node, frame)

    def display(self, type_: str, node, frame: Frame) -> Value:
        items, known = [], True
        for part in node.elts:
            value = self.eval(part, frame)
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
            self.put(result, self.eval(key, frame), value)
        return result

    def put(self, target: Dict, key: Value, value: Value) -> None:
        """Set a key of an abstract dict in place."""
        if key.is_const and _hashable(key.value):
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
                    self.emit(ScalarRead, node, frame, self.sureness(value), value=value, how="format",
                              expression=self.text(part.value, frame.module))
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

    # --- comprehensions

    def eval_ListComp(self, node: ast.ListComp, frame: Frame) -> Value:
        return self.comprehension("list", node, frame)

    def eval_SetComp(self, node: ast.SetComp, frame: Frame) -> Value:
        return self.comprehension("set", node, frame)

    def eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        return self.comprehension("generator", node, frame)

    def eval_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        rows, known = self.rows(node, frame, lambda: (self.eval(node.key, frame), self.eval(node.value, frame)))
        result = Dict({}, UNKNOWN, open=not known)
        for key, value in rows:
            self.put(result, key, value)
        return result

    def comprehension(self, type_: str, node, frame: Frame) -> Value:
        rows, known = self.rows(node, frame, lambda: self.eval(node.elt, frame))
        return Sequence(type_, list(rows)) if known else Sequence(type_, None, join_all(rows))

    def rows(self, node, frame: Frame, produce) -> tuple[list, bool]:
        """What a comprehension produces, and whether that is exactly known (short, known source and no open filter)."""
        before, lost, outer = frame.names, frame.lost, frame.activation
        frame.names = dict(before)
        try:
            first = node.generators[0]
            source = self.eval(first.iter, frame)
            if self.python < (3, 12) and frame.emits:  # a comprehension is a frame of its own
                frame.activation = Activation(outer.function, outer.module, node.lineno)
                outer.steps.append(Step(None, frame.activation, lost, node))
            frame.lost = lost or "comprehension"
            items = source.items if isinstance(source, Sequence) else None
            if isinstance(source, Dict) and not source.open:
                items = [Const(k) for k in source.items]
            if items is None or len(items) > MOST_UNROLLED:
                element = self.iterate(source, first.iter, frame)
                return self.produced(node, 0, [element] if element is not None else [], frame, produce), False
            rows, known = [], True
            for item in items:
                more, sure = self.produced_known(node, item, frame, produce)
                rows.extend(more)
                known = known and sure
            return rows, known and len(node.generators) == 1
        finally:
            frame.names, frame.lost, frame.activation = before, lost, outer

    def produced_known(self, node, item: Value, frame: Frame, produce) -> tuple[list, bool]:
        self.assign(node.generators[0].target, item, frame, node)
        verdict = self.filters(node.generators[0].ifs, frame)
        if verdict is False:
            return [], True
        if len(node.generators) > 1:
            return self.nested(node, 1, frame, produce), False
        return [produce()], verdict is True

    def produced(self, node, depth: int, elements: list[Value], frame: Frame, produce) -> list:
        rows = []
        for element in elements:
            self.assign(node.generators[depth].target, element, frame, node)
            if self.filters(node.generators[depth].ifs, frame) is not False:
                rows.extend(self.nested(node, depth + 1, frame, produce) if depth + 1 < len(node.generators) else [produce()])
        return rows

    def nested(self, node, depth: int, frame: Frame, produce) -> list:
        iterable = self.eval(node.generators[depth].iter, frame)
        element = self.iterate(iterable, node.generators[depth].iter, frame)
        return self.produced(node, depth, [element] if element is not None else [], frame, produce)

    def filters(self, tests: list[ast.expr], frame: Frame) -> bool | None:
        verdict: bool | None = True
        for test in tests:
            truth = self.test(test, frame, "comprehension")
            if truth is False:
                return False
            self.narrow(test, True, frame)
            verdict = verdict if truth is True else None
        return verdict

    # --- operators

    def eval_BinOp(self, node: ast.BinOp, frame: Frame) -> Value:
        return self.binary(node, self.eval(node.left, frame), self.eval(node.right, frame), frame)

    def binary(self, node, left: Value, right: Value, frame: Frame) -> Value:
        """The result of an operator; `node` is a BinOp or an AugAssign."""
        op = type(node.op)
        if op is ast.BitOr and (left is TRUE or left == TRUE) and not right.is_tensor:
            return TRUE  # flags collected with `|=`
        if _is_text(left) and (op is ast.Mod and holds_tensor(right) or op is ast.Mult and right.is_tensor):
            self.emit(Format, node, frame, self.sureness(right) if right.is_tensor else "certain", value=right, construct="percent")
            return Py("str", "tensor")
        if left.is_tensor or right.is_tensor:
            return self.tensor_operator(op, left, right)
        if type(left) is Union or type(right) is Union:
            rows = [(a, b) for a in options(left) for b in options(right) if not a.is_none and not b.is_none]
            return join_all([self.binary(node, a, b, frame) for a, b in rows]) if rows else UNKNOWN
        if isinstance(left, Const) and isinstance(right, Const):
            return _fold(op, left.value, right.value)
        if isinstance(left, Sequence):
            return self.sequence_operator(op, left, right)
        if op is ast.Mod and _is_text(left):
            return Py("str", "shape") if right.is_shape else STR
        if left.is_scalar or right.is_scalar:
            return Scalar()
        if isinstance(left, Instance) or isinstance(right, Instance):
            return self.instance_operator(node, op, left, right, frame)
        numbers = _is_number(left), _is_number(right)
        if all(numbers):
            if left.is_shape or right.is_shape:
                return ShapeInt() if op is not ast.Div else Py("float", "shape")
            source = getattr(left, "source", "") or getattr(right, "source", "")
            if source == "draw":
                self.emit(ScalarRead, node, frame, value=left if getattr(left, "source", "") else right, how="draw",
                          expression=self.text(node, frame.module))
                source = "random"
            kinds = {_number_type(left), _number_type(right)}
            return Py("int" if kinds == {"int"} and op is not ast.Div else "float" if "float" in kinds else "number", source)
        if isinstance(left, Py) and left.type == "str" and op is ast.Add:
            return left
        if isinstance(left, Dict) and isinstance(right, Dict) and op is ast.BitOr:
            return Dict({**left.items, **right.items}, join(left.element, right.element), left.open or right.open)
        return UNKNOWN

    def sequence_operator(self, op: type, left: Sequence, right: Value) -> Value:
        if op is ast.Add and isinstance(right, Sequence):
            if left.items is not None and right.items is not None:
                return Sequence(left.type, [*left.items, *right.items])
            return Sequence(left.type, None, join(element_of(left), element_of(right)))
        if op is ast.Mult:
            if left.items is not None and isinstance(right, Const) and isinstance(right.value, int) and right.value * len(left.items) <= 64:
                return Sequence(left.type, left.items * right.value)
            return Sequence(left.type, None, element_of(left))
        return Sequence(left.type, None, element_of(left)) if left.type == "set" else UNKNOWN

    def instance_operator(self, node, op: type, left: Value, right: Value, frame: Frame) -> Value:
        name = _OPERATOR_METHODS.get(op)
        for owner, other, prefix in ((left, right, "__"), (right, left, "__r")):
            if name and isinstance(owner, Instance):
                method = self.attribute(owner, f"{prefix}{name}__", node, frame)
                if isinstance(method, Function):
                    return self.call_value(method, [other], {}, node, frame)
        return UNKNOWN

    def eval_UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> Value:
        if type(node.op) is ast.Not:
            truth = self.test(node, frame, "not")
            return BOOL if truth is None else Const(truth)
        value = self.eval(node.operand, frame)
        if isinstance(value, Const) and isinstance(value.value, int | float):
            if type(node.op) is ast.USub:
                return Const(-value.value)
            if type(node.op) is ast.Invert and isinstance(value.value, int):
                return Const(~value.value)
        return value

    def eval_BoolOp(self, node: ast.BoolOp, frame: Frame) -> Value:
        is_and, values = type(node.op) is ast.And, []
        before = frame.names
        frame.names = dict(before)
        for operand in node.values[:-1]:
            value = self.eval(operand, frame)
            truth = self.truth_of(value, operand, frame, "and" if is_and else "or")
            if truth is (not is_and):
                frame.names = before
                return join_all([*values, value])
            if truth is None:
                values.append(self.narrowed_value(value, not is_and))
            self.narrow(operand, is_and, frame)
        values.append(self.eval(node.values[-1], frame))
        frame.names = before
        return join_all(values)

    def narrowed_value(self, value: Value, truth: bool) -> Value:
        """The value given that it was found true or false: `x or default` never yields None for x."""
        if truth and type(value) is Union:
            kept = [o for o in value.options if not o.is_none]
            return join_all(kept) if kept else value
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
        results, before, condition = [], frame.names, frame.condition
        if frame.emits and self.last_test_is_configuration:
            frame.condition = condition or self.text(node.test, frame.module)
        for branch, side in ((node.body, True), (node.orelse, False)):
            frame.names = dict(before)
            self.narrow(node.test, side, frame)
            try:
                results.append(self.eval(branch, frame))
            except Raised:
                pass
            frame.condition = condition
        frame.names = before
        return join_all(results)

    def eval_Compare(self, node: ast.Compare, frame: Frame) -> Value:
        left, result = self.eval(node.left, frame), None
        for i, (op, right_node) in enumerate(zip(node.ops, node.comparators)):
            right = self.eval(right_node, frame)
            if i and self.truth_of(result, node, frame, "chained") is False:
                return FALSE
            result = self.compare(node, op, left, right, right_node, frame)
            left = right
        return result

    def compare(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value, right_node: ast.expr, frame: Frame) -> Value:
        kind = type(op)
        if kind in (ast.In, ast.NotIn):
            if left.is_tensor and isinstance(right, Sequence) and right.type in ("list", "tuple") and right.items != [] and kind is ast.In:
                return Tensor("bool", 0, (), left.sure)  # compared with each element in the graph
            found = self.contains(node, left, right, right_node, frame)
            return BOOL if found is None else Const(found == (kind is ast.In))
        if kind in (ast.Is, ast.IsNot):
            same = self.identical(left, right)
            return BOOL if same is None else Const(same == (kind is ast.Is))
        if left.is_tensor or right.is_tensor:
            other = right if left.is_tensor else left
            if other.is_none or (other.is_const and isinstance(other.value, str)):
                return Const(kind is ast.NotEq)
            tensor = left if left.is_tensor else right
            sure = tensor.sure
            return Tensor("bool", max((t.ndim for t in (left, right) if t.is_tensor and t.ndim is not None), default=None)
                          if all(not t.is_tensor or t.ndim is not None for t in (left, right)) else None, sure=sure, kind=tensor.kind)
        if type(left) is Union or type(right) is Union:
            return join_all([self.compare(node, op, a, b, right_node, frame) for a in options(left) for b in options(right)])
        if isinstance(left, Const) and isinstance(right, Const):
            return _fold_compare(kind, left.value, right.value)
        if kind in (ast.Eq, ast.NotEq) and isinstance(left, External) and isinstance(right, External):
            return Const((left.name == right.name) == (kind is ast.Eq)) if left.name == right.name else BOOL
        if isinstance(left, Sequence) and isinstance(right, Sequence):
            return BOOL
        if isinstance(left, Instance) and kind in _COMPARE_METHODS:
            method = self.attribute(left, _COMPARE_METHODS[kind], node, frame)
            if isinstance(method, Function):
                return self.call_value(method, [right], {}, node, frame)
            return BOOL
        if left.is_unknown or right.is_unknown:
            return UNKNOWN if left.is_unknown and right.is_unknown else self.open_bool(left, right)
        return self.open_bool(left, right)

    def open_bool(self, *values: Value) -> Value:
        """A bool that is not known, and who decides it."""
        for value in values:
            if isinstance(value, Py) and value.source:
                return Py("bool", value.source)
        return Py("bool", "shape") if any(v.is_shape for v in values) else BOOL

    def contains(self, node: ast.Compare, left: Value, right: Value, right_node: ast.expr, frame: Frame) -> bool | None:
        if right.is_tensor:
            self.emit(ScalarRead, node, frame, self.sureness(right), value=right, how="contains",
                      expression=self.text(right_node, frame.module))
            return None
        if isinstance(right, Sequence) and left.is_tensor:
            if right.type in ("list", "tuple") and right.items != []:  # `not in`: Python needs the answer
                self.emit(ScalarRead, node, frame, self.sureness(left), value=left, how="contains",
                          expression=self.text(node.left, frame.module))
            return None
        if left.is_const and _hashable(left.value):
            if isinstance(right, Sequence) and right.items is not None and all(v.is_const for v in right.items) and not right.home:
                return left.value in [v.value for v in right.items]
            if isinstance(right, Dict) and not right.open and not right.home:
                return left.value in right.items
            if right.is_const and isinstance(right.value, str) and isinstance(left.value, str):
                return left.value in right.value
        if isinstance(right, Dict) and right.home and frame.emits:
            self.reads.setdefault((id(right), ""), (frame.activation, node))
        if isinstance(right, Instance):
            method = self.attribute(right, "__contains__", node, frame)
            if isinstance(method, Function):
                self.call_value(method, [left], {}, node, frame)
        return None

    def identical(self, left: Value, right: Value) -> bool | None:
        """`left is right`, None when not known."""
        if left.is_unknown or right.is_unknown:
            return None
        if type(left) is Union or type(right) is Union:
            verdicts = {self.identical(a, b) for a in options(left) for b in options(right)}
            return verdicts.pop() if len(verdicts) == 1 else None
        if left.is_none or right.is_none:
            other = right if left.is_none else left
            if isinstance(other, Py) and other.type in ("object", "unknown"):
                return None
            return left.is_none and right.is_none
        if isinstance(left, Const) and isinstance(right, Const):
            return left.value is right.value if isinstance(left.value, bool) or isinstance(right.value, bool) else None
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            return True if left is right and left.origin == "argument" else None
        if isinstance(left, Class) and isinstance(right, Class):
            return left.info is right.info
        if isinstance(left, External) and isinstance(right, External):
            return left.name == right.name
        if {type(left), type(right)} & {Class} and {type(left), type(right)} & {External}:
            return False
        return None

    # --- truth

    def test(self, node: ast.expr, frame: Frame, construct: str, **facts) -> bool | None:
        """The truth of a condition, None when not known; emits a Branch for each operand that is a tensor."""
        self.last_test_is_configuration = False
        kind = type(node)
        if kind is ast.BoolOp:
            return self.test_bool_op(node, frame, construct, facts)
        if kind is ast.UnaryOp and type(node.op) is ast.Not:
            if frame.emits:
                facts.setdefault("condition_source", self.text(node, frame.module))
            truth = self.test(node.operand, frame, "not" if construct == "assert" else construct, **facts)
            return None if truth is None else not truth
        value = self.eval(node, frame)
        self.last_test_is_configuration = self.is_configuration(value)
        return self.truth_of(value, node, frame, construct, **facts)

    def test_bool_op(self, node: ast.BoolOp, frame: Frame, construct: str, facts: dict) -> bool | None:
        is_and, unknown, configuration = type(node.op) is ast.And, False, False
        before, condition, certainty = frame.names, frame.condition, frame.certainty
        frame.names = dict(before)
        truths = self.operand_truths[id(node)] = []
        try:
            for operand in node.values:  # an assert is traced only when its last operand is what decides
                asks = ("and" if is_and else "or") if construct == "assert" and operand is not node.values[-1] else construct
                truth = self.test(operand, frame, asks, **facts)
                truths.append(truth)
                configuration = configuration or self.last_test_is_configuration
                if truth is (not is_and):
                    return truth
                unknown = unknown or truth is None
                if truth is None and frame.emits and self.last_test_is_configuration:
                    frame.condition = frame.condition or self.text(operand, frame.module)
                    if is_and and self.rarely_true(operand, frame):
                        frame.certainty = "possible"
                self.narrow(operand, is_and, frame)
        finally:
            frame.names, frame.condition, frame.certainty = before, condition, certainty
            self.last_test_is_configuration = configuration
        return None if unknown else is_and

    def rarely_true(self, test: ast.expr, frame: Frame) -> bool:
        """A test for half precision: compiled regions run in float32 or bfloat16 unless the user says otherwise."""
        return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and any(
            isinstance(c, ast.Attribute) and c.attr in ("float16", "half") for c in test.comparators)

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
        if kind is Py and value.source == "draw":
            self.emit(Branch, node, frame, test=value, construct=construct, **facts)
        return None

    def truth_of_instance(self, value: Instance, node: ast.expr, frame: Frame) -> bool | None:
        for name in ("__bool__", "__len__"):
            method = self.attribute(value, name, node, frame)
            if isinstance(method, Function):
                answer = self.call_value(method, [], {}, node, frame)
                return bool(answer.value) if answer.is_const else None
        return True

    def sureness(self, value: Value) -> str:
        """The certainty of an event that rests on this value being a tensor."""
        if isinstance(value, Tensor):
            return "certain" if value.sure else "likely"
        return "likely"

    # --- narrowing

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
        elif kind is ast.Call and type(test.func) is ast.Attribute and test.func.attr == "is_tensor" and len(test.args) == 1:
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

    # --- subscripts

    def eval_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        return self.item(node, self.eval(node.value, frame), self.eval(node.slice, frame), frame)

    def eval_Slice(self, node: ast.Slice, frame: Frame) -> Value:
        bounds = []
        for bound in (node.lower, node.upper, node.step):
            value = self.eval(bound, frame) if bound is not None else Const(None)
            if value.is_tensor:
                self.emit(ScalarRead, bound, frame, self.sureness(value), value=value, how="slice",
                          expression=self.text(bound, frame.module))
                value = Scalar()
            bounds.append(value)
        return ExternalInstance("slice", tuple(bounds))


def _hashable(value) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) or isinstance(value, Py) and value.type == "str"


def _is_number(value: Value) -> bool:
    return value.is_shape or value.is_scalar or (isinstance(value, Py) and value.type in ("int", "float", "number", "bool")) or (
        isinstance(value, Const) and isinstance(value.value, int | float))


def _number_type(value: Value) -> str:
    if isinstance(value, Const):
        return type(value.value).__name__
    return value.type if isinstance(value, Py) else "int" if value.is_shape else "number"


_OPERATOR_METHODS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}
_COMPARE_METHODS = {ast.Eq: "__eq__", ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__", ast.NotEq: "__ne__"}
_FOLDS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b, ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b, ast.BitXor: lambda a, b: a ^ b, ast.LShift: lambda a, b: a << min(b, 64),
    ast.RShift: lambda a, b: a >> b,
}
_COMPARES = {
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b,
}


def _fold(op: type, left, right) -> Value:
    """Constant folding of plain numbers and short strings."""
    if op is ast.Pow and isinstance(left, int | float) and isinstance(right, int | float) and abs(right) <= 64 and abs(left) < 1e6:
        try:
            result = left**right
        except (ArithmeticError, ValueError):
            return UNKNOWN
        return Const(result) if isinstance(result, int | float) else UNKNOWN
    if op not in _FOLDS or not isinstance(left, int | float | str) or not isinstance(right, int | float | str):
        return STR if isinstance(left, str) and op is ast.Mod else UNKNOWN
    if op is ast.Mult and (isinstance(left, str) or isinstance(right, str)):
        return STR
    try:
        return Const(_FOLDS[op](left, right))
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN


def _fold_compare(kind: type, left, right) -> Value:
    try:
        return Const(bool(_COMPARES[kind](left, right)))
    except TypeError:
        return BOOL
