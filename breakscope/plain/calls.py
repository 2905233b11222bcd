"""Calls: of the file's functions, methods and modules, of torch, and of a few builtins."""

from __future__ import annotations

import _ast

from breakscope.plain.kinds import (
    ANY,
    LAYER,
    NONE,
    NUMBER,
    SIZES,
    STATIC,
    TENSOR,
    TEXT,
    UNKNOWN,
    Many,
    NotPlain,
    Types,
    called,
    join,
    settled,
)
from breakscope.plain.names import FIRST, FREE, LAYERS, MADE, PYTHON_RESULTS, TENSOR_KEYWORDS
from breakscope.plain.objects import Bound, Function, Self
from breakscope.plain.source import Class

REFUSED_KEYWORDS = frozenset({"generator", "out", "requires_grad"})
MATH = frozenset({"sqrt", "log", "log2", "log10", "exp", "pow", "sin", "cos", "tan", "ceil", "floor", "prod", "gcd"})
FACTS = frozenset({"torch.finfo", "torch.iinfo", "torch.Size", "torch._assert"})
ANSWERS = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.compiler.is_compiling",
                     "torch.onnx.is_in_onnx_export", "torch.is_tensor"})
TEXT_METHODS = frozenset({"format", "startswith", "endswith", "lower", "upper", "split", "replace", "strip"})
NUMBERS_OF = frozenset({"int", "float", "bool", "abs", "round", "min", "max", "sum", "divmod", "pow"})
ORDERS = frozenset({"list", "tuple", "reversed"})
ASKS = {"isinstance": 2, "hasattr": 2}
LIST_METHODS = frozenset({"append", "extend", "insert", "items", "values", "keys"})
PLAIN_ARGUMENTS = (str, tuple, Many)


class Calls:
    """What calls give."""

    def arguments(self, node, frame) -> tuple[list, dict]:
        """The kinds of a call's arguments; those of `*rest` stand as one."""
        args = []
        for part in node.args:
            if type(part) is _ast.Starred:
                args.append(self.iterate(self.eval(part.value, frame)))
                if args[-1] != NUMBER:
                    self.fail()
            else:
                args.append(self.eval(part, frame))
        named = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.fail()
                self.eval(keyword.value, frame)
            else:
                named[keyword.arg] = self.eval(keyword.value, frame)
        return args, named

    def eval_Call(self, node, frame) -> object:
        func = node.func
        name = self.library_name(func, frame)
        if name:
            return self.call_library(name, *self.arguments(node, frame), node)
        if type(func) is _ast.Name and func.id not in frame.names and func.id not in self.source.bound:
            return self.call_builtin(func.id, node, frame)
        if type(func) is _ast.Attribute:
            if _is_super(func.value):
                return self.call_super(func.attr, node, frame)
            base = self.eval(func.value, frame)
            if type(base) in PLAIN_ARGUMENTS or type(base) is frozenset and func.attr in LIST_METHODS:
                return self.call_method(base, func.attr, node, frame)
            if type(base) is Self and base.cls.method(func.attr) is None and func.attr not in self.attributes(base.cls):
                return self.call_module_method(base, func.attr, node, frame)
            callee = self.attribute(base, func.attr)
            if callee == NUMBER and type(base) is frozenset and ANY in base:
                callee = self.fail()  # a method of what configuration passed in
        else:
            callee = self.eval(func, frame)
        args, named = self.arguments(node, frame)
        return self.call(callee, args, named, node)

    def call(self, callee: object, args: list, named: dict, node) -> object:
        kind = type(callee)
        if kind is Bound:
            return self.call_function(callee.node, callee.cls, callee.owner, args, named)
        if kind is Function:
            return self.call_function(callee.node, None, None, args, named, callee.scope)
        if kind is Types:
            return self.make(callee, args, named, node)
        options = called(callee)
        if options is None:
            return TENSOR if callee == TENSOR else self.fail()  # the analyzer follows no call of an argument
        made: object = NONE
        for option in options:
            made = join(made, self.call_option(option, args, named, node))
        return made

    def call_option(self, option: object, args: list, named: dict, node) -> object:
        """Call one of the modules and functions that stand for a callable."""
        kind = type(option)
        if kind is Class:
            method = option.method("forward")
            if method is None:
                return self.call_layer(option, args, named)
            return self.call_function(method[1], method[0], self.self_of(option), args, named)
        if kind is Many:
            if option.role != "sequential":  # nobody calls a list
                return self.plain_arguments(args, named)
            if len(args) != 1 or named:
                return self.fail()
            result = args[0]
            for _ in range(2 if option.element != NONE else 0):
                result = join(result, self.call(option.element, [result], {}, node))
            return result
        if option == ANY:
            return TENSOR if self.strict else NUMBER
        if option == LAYER:
            return self.plain_arguments(args, named)
        return self.call_library(option, args, named, node)

    def call_layer(self, cls: Class, args: list, named: dict) -> object:
        """A class of the file that inherits the forward of a layer."""
        layers = [base for one in cls.order() for base in one.bases if base in LAYERS or base == "torch.nn.Sequential"]
        return self.plain_arguments(args, named) if layers else self.fail()

    def plain_arguments(self, args: list, named: dict) -> object:
        """TENSOR, when no argument is unknown or something to call."""
        for kind in (*args, *named.values()):
            if type(kind) not in PLAIN_ARGUMENTS or kind == UNKNOWN or settled(kind) == UNKNOWN:
                return self.fail()
            if type(kind) is Many and (type(kind.element) not in PLAIN_ARGUMENTS or kind.element == UNKNOWN):
                return self.fail()
        return TENSOR if REFUSED_KEYWORDS.isdisjoint(named) else self.fail()

    def call_library(self, name: str, args: list, named: dict, node) -> object:
        """A function of torch or math."""
        if name in FREE or name in FIRST or name in PYTHON_RESULTS:
            return self.call_known(name, 0 if name in PYTHON_RESULTS else FIRST.get(name, len(args)), args, named)
        head, _, last = name.rpartition(".")
        if name == "torch.where":
            return self.plain_arguments(args, named) if len(args) == 3 and not named else self.fail()
        if name in ANSWERS:
            return NUMBER
        if (head == "math" and last in MATH or name in FACTS) and all(_is_static(k) for k in (*args, *named.values())):
            return SIZES if last == "Size" else NUMBER
        if self.strict:
            if name not in MADE:
                raise NotPlain
            self.plain_arguments(args, named)
            return frozenset({LAYER})
        return self.make(Types(frozenset({name})), args, named, node)

    def call_known(self, name: str, first: int, args: list, named: dict) -> object:
        """A function or method of the tables, of which the arguments behind the `first` ones must be Python values."""
        result = self.plain_arguments(args, named)
        if name in PYTHON_RESULTS:
            return SIZES if name in ("Tensor.size", "Tensor.stride") and not args and not named else NUMBER
        given = args[first:]
        if name in FIRST:
            given += [kind for keyword, kind in named.items() if keyword not in TENSOR_KEYWORDS]
        return result if all(map(_is_static, given)) else self.fail()

    def call_method(self, base: object, name: str, node, frame) -> object:
        """A method of a value that is no object of the file."""
        args, named = self.arguments(node, frame)
        if type(base) is Many:
            return self.call_container(base, name, args, node)
        if type(base) is frozenset:
            return self.call_module_list(base, name, args, node)
        base = settled(base)
        if not self.strict and base == TENSOR and name in ("item", "tolist"):
            return NUMBER if name == "item" else SIZES
        if base == SIZES and name == "numel" and not args:
            return NUMBER
        if base == TEXT and name in TEXT_METHODS and all(map(_is_static, (*args, *named.values()))):
            return TEXT
        full = f"Tensor.{name}"
        if base == TENSOR and name == "repeat_interleave" and args and all(map(_is_static, (*args, *named.values()))):
            return TENSOR
        if base != TENSOR or full not in FREE and full not in FIRST and full not in PYTHON_RESULTS:
            return self.fail()
        return self.call_known(full, FIRST.get(full, len(args)), args, named)

    def call_container(self, base: Many, name: str, args: list, node) -> object:
        if name in ("append", "extend", "insert") and args:
            self.grow(base, self.iterate(args[-1]) if name == "extend" else args[-1])
            return NONE
        if base.role == "dict" and not args and name in ("items", "values", "keys"):
            made = {"items": (TEXT, base.element), "values": base.element, "keys": TEXT}[name]
            return self.listed(made, node)
        return self.fail()

    def listed(self, element: object, node) -> Many:
        """A list with such elements, made at this place."""
        return self.many(node, "list").widen(element)

    def call_module_list(self, base: frozenset, name: str, args: list, node) -> object:
        """`self.layers.append(layer)` in a constructor, `self.heads.items()` anywhere."""
        made: object = NONE
        for option in base:
            if type(option) is Many:
                made = join(made, self.call_container(option, name, args, node))
        return made if made != NONE or not self.strict else self.fail()

    def call_builtin(self, name: str, node, frame) -> object:
        if name in ASKS and len(node.args) == ASKS[name]:  # the types are looked at by nobody
            self.eval(node.args[0], frame)
            return NUMBER
        args, named = self.arguments(node, frame)
        if name == "dict" and not self.strict and not args:
            made = self.many(node, "dict")
            for kind in named.values():
                made.widen(kind)
            return made
        if named or not args:
            return self.fail()
        first = settled(args[0])
        if name == "len":
            return NUMBER if first != UNKNOWN else self.fail()
        if name == "range":
            return SIZES if all(_is_static(kind) for kind in args) else self.fail()
        if name in NUMBERS_OF and all(_is_static(kind) for kind in args):
            return NUMBER
        if name == "sum" and len(args) == 1 and type(args[0]) is Many and self.iterate(args[0]) == TENSOR:
            return TENSOR
        if name == "type" or name == "str" and _is_static(first):
            return TEXT if len(args) == 1 else self.fail()
        if name in ORDERS and len(args) == 1:
            if first == SIZES:
                return SIZES
            return self.listed(self.iterate(args[0]), node)
        if name == "enumerate":
            return self.listed((NUMBER, self.iterate(args[0])), node)
        if name == "zip":
            return self.listed(tuple([self.iterate(kind) for kind in args]), node)
        return self.fail()

    def call_super(self, name: str, node, frame) -> object:
        """`super().name(...)`: of a class of the file, else of a layer; nn.Module's own methods do nothing here."""
        args, named = self.arguments(node, frame)
        owner = frame.owner
        if type(owner) is not Self or frame.cls is None:
            return self.fail()
        order = owner.cls.order()
        for cls in order[order.index(frame.cls) + 1 :]:
            if name in cls.methods:
                return self.call_function(cls.methods[name], cls, owner, args, named)
        if name == "forward":
            return self.call_layer(owner.cls, args, named)
        return self.fail()

    def call_module_method(self, owner: Self, name: str, node, frame) -> object:
        """A method of nn.Module on self."""
        args, named = self.arguments(node, frame)
        if self.strict:
            raise NotPlain
        given = node.args[0].value if node.args and type(node.args[0]) is _ast.Constant else None
        if name in ("register_buffer", "register_parameter") and type(given) is str:
            self.set_attribute(self.attributes(owner.cls), given, TENSOR)
        elif name in ("add_module", "register_module") and type(given) is str and len(args) > 1:
            self.set_attribute(self.attributes(owner.cls), given, args[1])
        elif name in ("add_module", "register_module", "register_buffer", "register_parameter"):
            raise NotPlain
        return UNKNOWN


def _is_super(node) -> bool:
    return type(node) is _ast.Call and type(node.func) is _ast.Name and node.func.id == "super"


def _is_static(kind: object) -> bool:
    """True for Python values, and lists of them."""
    kind = settled(kind)
    if type(kind) is Many:
        return kind.role == "list" and _is_static(kind.element)
    return type(kind) is str and kind in STATIC
