"""Expressions: the kind of each, and in a region the refusal of all that may read a tensor's value."""

from __future__ import annotations

import _ast

from breakscope.plain.classes import Class
from breakscope.plain.kinds import (
    ANSWER,
    GIVEN,
    INDEX,
    INDICES,
    NONE,
    NUMBER,
    SIZES,
    STATIC,
    SURE,
    TENSOR,
    TEXT,
    UNKNOWN,
    WHOLE,
    Many,
    Self,
    Types,
    join,
    settled,
)
from breakscope.plain.names import TENSOR_NAMES

CHILDREN = "[]"  # stands for what a class of the file that is a Sequential or ModuleList holds
TENSOR_TENSORS = frozenset({"T", "mT", "H", "mH", "real", "imag", "data", "values", "indices"})
TENSOR_NUMBERS = frozenset({"dtype", "device", "ndim", "is_cuda", "requires_grad", "layout"})
NUMBER_NAMES = frozenset(
    """
    torch.float torch.float16 torch.float32 torch.float64 torch.half torch.double torch.bfloat16 torch.int torch.int8
    torch.int16 torch.int32 torch.int64 torch.long torch.short torch.uint8 torch.bool torch.complex64 torch.inf
    torch.nan torch.pi math.pi math.inf math.e math.nan torch.preserve_format torch.contiguous_format
    torch.channels_last
    """.split()
)
WHOLES = frozenset({INDEX, GIVEN, WHOLE, NUMBER})
WHOLE_OPERATORS = frozenset({_ast.Add, _ast.Sub, _ast.Mult, _ast.FloorDiv, _ast.Mod})
NUMERIC = frozenset({NUMBER, ANSWER, NONE})
BITWISE = frozenset({_ast.BitAnd, _ast.BitOr, _ast.BitXor})
TESTED = frozenset({NUMBER, ANSWER, TEXT, NONE, SIZES})


class Expressions:
    """`eval` gives an expression's kind; `fail` refuses the file in a region and gives UNKNOWN elsewhere."""

    def eval(self, node, frame) -> object:
        run = self.expressions.get(type(node))
        return self.fail() if run is None else run(node, frame)

    def truth(self, kind: object) -> None:
        """Python asks for the truth of a value of this kind."""
        if type(kind) is str and kind not in TESTED or type(kind) is tuple and not kind:
            self.fail()

    def iterate(self, kind: object) -> object:
        """The kind of what iterating yields."""
        if type(kind) is str:
            kind = kind if kind == GIVEN else settled(kind)
            return NUMBER if kind == SIZES else kind if kind != NONE else self.fail()
        if type(kind) is tuple:
            made: object = NONE
            for part in kind:
                made = join(made, part)
            return made
        if type(kind) is Many:
            return TEXT if kind.role == "dict" else kind.element
        if type(kind) is frozenset:
            return self.element(kind)
        if type(kind) is Self:
            return self.attributes(kind.cls).get(CHILDREN) or self.fail()
        return self.fail()

    def element(self, modules: frozenset) -> object:
        """What the lists among some modules hold; the others cannot be iterated, nor indexed."""
        made: object = NONE
        for option in modules:
            if type(option) is Many:
                made = join(made, option.element)
            elif type(option) is Class:
                made = join(made, self.attributes(option).get(CHILDREN, NONE))
        return self.fail() if made == NONE else made

    def eval_Constant(self, node, frame) -> object:
        value = node.value
        return NONE if value is None else TEXT if type(value) is str or type(value) is bytes else NUMBER

    def eval_Name(self, node, frame) -> object:
        kind = frame.names.get(node.id)
        if kind is None and node.id == "Ellipsis" and node.id not in self.source.bound:
            return NUMBER
        return self.global_name(node.id) if kind is None else kind

    def eval_Attribute(self, node, frame) -> object:
        name = self.library_name(node, frame)
        if name:
            return self.library_value(name)
        return self.attribute(self.eval(node.value, frame), node.attr)

    def library_value(self, name: str) -> object:
        return NUMBER if name in NUMBER_NAMES else Types(frozenset({name}))

    def tensor_attribute(self, name: str) -> object:
        if name == "shape":
            return SIZES
        if name in TENSOR_NUMBERS:
            return NUMBER
        if name in TENSOR_TENSORS:
            return TENSOR
        return NUMBER if self.strict and is_of_no_tensor(name) else self.fail()

    def eval_Tuple(self, node, frame) -> object:
        if any(type(part) is _ast.Starred for part in node.elts):
            return self.eval_List(node, frame)
        return tuple([self.eval(part, frame) for part in node.elts])

    def eval_List(self, node, frame) -> object:
        made = self.many(node, "list")
        if not any(type(part) is _ast.Starred for part in node.elts):
            return made.show([self.eval(part, frame) for part in node.elts])
        for part in node.elts:
            is_star = type(part) is _ast.Starred
            kind = self.eval(part.value if is_star else part, frame)
            made.widen(self.iterate(kind) if is_star else kind)
        return made

    def eval_Dict(self, node, frame) -> object:
        made = self.many(node, "dict")
        keys = tuple([key.value for key in node.keys if type(key) is _ast.Constant])
        if node.keys and len(set(keys)) == len(node.keys):
            return made.show([self.eval(value, frame) for value in node.values], keys)
        for key, value in zip(node.keys, node.values):
            kind = self.eval(value, frame)
            if key is None and type(kind) is Many and kind.role == "dict":
                kind = kind.element
            elif key is None or self.eval(key, frame) not in STATIC:
                made.widen(self.fail())
            made.widen(kind)
        return made

    def eval_ListComp(self, node, frame) -> object:
        before = frame.names
        frame.names = dict(before)
        self.generators(node, frame)
        kind = self.eval(node.elt, frame)
        frame.names = before
        return self.listed(kind, node)

    eval_GeneratorExp = eval_SetComp = eval_ListComp

    def generators(self, node, frame) -> None:
        for part in node.generators:
            self.assign(part.target, self.iterate(self.eval(part.iter, frame)), frame)
            for test in part.ifs:
                self.truth(self.eval(test, frame))

    def eval_JoinedStr(self, node, frame) -> object:
        for part in node.values:
            if type(part) is _ast.Constant:
                continue
            if settled(self.eval(part.value, frame)) not in STATIC:
                self.fail()
            if part.format_spec is not None:
                self.eval(part.format_spec, frame)
        return TEXT

    def eval_BinOp(self, node, frame) -> object:
        left, right = self.eval(node.left, frame), self.eval(node.right, frame)
        if type(left) is Many and left.role == "list":
            made = self.listed(left.element, node)
            return made.widen(self.iterate(right) if right not in NUMERIC else NONE)
        if left == SIZES and type(right) is Many and right.role == "list" and right.element == NUMBER:
            return self.listed(NUMBER, node)  # `list(x.shape) + [n]`
        return self.binary(node.op, left, right)

    def binary(self, op, left: object, right: object) -> object:
        if type(left) is tuple and type(right) is tuple and type(op) is _ast.Add:
            return left + right
        if type(op) in WHOLE_OPERATORS and (left in WHOLES and right in WHOLES) and (left, right) != (NUMBER, NUMBER):
            return WHOLE if INDICES.isdisjoint((left, right)) else INDEX
        if ANSWER in (left, right) and type(op) in BITWISE and {left, right} <= {ANSWER, NUMBER}:
            return ANSWER
        if left == TEXT and type(op) is _ast.Mod and type(right) is tuple:
            right = [settled(part) for part in right]
            return TEXT if all(type(part) is str and part in STATIC for part in right) else self.fail()
        is_sure = SURE in (left, right) or WHOLE in (left, right)
        left, right = settled(left), settled(right)
        if type(left) is not str or type(right) is not str or UNKNOWN in (left, right):
            return self.fail()
        if TENSOR in (left, right):
            made = SURE if is_sure else TENSOR
            return made if {left, right} <= {TENSOR, NUMBER, NONE} else self.fail()
        if SIZES in (left, right):
            return SIZES if TEXT not in (left, right) else self.fail()
        return TEXT if TEXT in (left, right) else NUMBER

    def eval_UnaryOp(self, node, frame) -> object:
        kind = self.eval(node.operand, frame)
        if type(node.op) is _ast.Not:
            self.truth(kind)
            return NUMBER
        if kind == ANSWER and type(node.op) is _ast.Invert:
            return ANSWER
        return settled(kind) if settled(kind) in (NUMBER, TENSOR) else self.fail()

    def eval_BoolOp(self, node, frame) -> object:
        made: object = NONE
        before = frame.names
        for part in node.values:
            kind = self.eval(part, frame)
            made = join(made, kind)
            if part is node.values[-1]:
                break
            self.truth(kind)
            held = self.branches(part, frame)[0 if type(node.op) is _ast.And else 1]
            if held is None:
                break
            frame.names = held
        frame.names = before
        return made

    def eval_Compare(self, node, frame) -> object:
        kinds = [settled(self.eval(part, frame)) for part in (node.left, *node.comparators)]
        if all(type(op) is _ast.Is or type(op) is _ast.IsNot for op in node.ops):
            return NUMBER
        if all(type(kind) is str and kind in STATIC for kind in kinds):
            return ANSWER if NUMBER in kinds else NUMBER
        if len(node.ops) == 1 and type(node.ops[0]) not in (_ast.In, _ast.NotIn):
            if all(type(kind) is str and kind in (TENSOR, NUMBER) for kind in kinds):
                return TENSOR
        elif type(node.ops[0]) in (_ast.In, _ast.NotIn) and len(node.ops) == 1 and kinds[0] in STATIC:
            if type(kinds[1]) is Many and (kinds[1].role == "dict" or kinds[1].element in STATIC):
                return NUMBER
            among = node.comparators[0]
            if type(among) is _ast.Tuple and all(type(part) is _ast.Constant for part in among.elts):
                return NUMBER
        return self.fail()

    def eval_IfExp(self, node, frame) -> object:
        self.truth(self.eval(node.test, frame))
        before, made = frame.names, NONE
        for names, part in zip(self.branches(node.test, frame), (node.body, node.orelse)):
            if names is not None:
                frame.names = names
                made = join(made, self.eval(part, frame))
        frame.names = before
        return made

    def eval_Starred(self, node, frame) -> object:
        return self.fail()

    def eval_Lambda(self, node, frame) -> object:
        return self.closure(node, frame)

    def eval_NamedExpr(self, node, frame) -> object:
        kind = self.eval(node.value, frame)
        self.assign(node.target, kind, frame)
        return kind

    def eval_Set(self, node, frame) -> object:
        return self.eval_List(node, frame)

    def eval_DictComp(self, node, frame) -> object:
        before = frame.names
        frame.names = dict(before)
        self.generators(node, frame)
        if self.eval(node.key, frame) not in STATIC:
            self.fail()
        kind = self.eval(node.value, frame)
        frame.names = before
        return self.many(node, "dict").widen(kind)


def is_of_no_tensor(name: str) -> bool:
    """True for an attribute that no tensor has: then what has it is an argument of another type."""
    return name not in TENSOR_NAMES and not name.startswith(("_", "is_"))
