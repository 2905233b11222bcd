"""Calls of torch, of packages that nobody speaks of, and of methods of tensors, texts and containers."""

from __future__ import annotations

import _ast

from breakscope.plain.construction import holds_modules
from breakscope.plain.expressions import is_of_no_tensor
from breakscope.plain.kinds import (
    GIVEN,
    INDEX,
    INDICES,
    LAYER,
    NONE,
    NUMBER,
    OUTER,
    SIZES,
    STATIC,
    SURE,
    TENSOR,
    TEXT,
    UNKNOWN,
    WHOLE,
    Many,
    NotPlain,
    Rest,
    Self,
    Types,
    join,
    settled,
)
from breakscope.plain.names import FIRST, FREE, MADE, PYTHON_RESULTS, SEVERAL, TENSOR_KEYWORDS, TENSOR_ONLY
from breakscope.plain.objects import COMPUTED

MATH = frozenset({"sqrt", "log", "log2", "log10", "exp", "pow", "sin", "cos", "tan", "ceil", "floor", "gcd"})
FACTS = frozenset({"torch.finfo", "torch.iinfo", "torch.Size", "torch._assert"})
ANSWERS = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.compiler.is_compiling",
                     "torch.onnx.is_in_onnx_export", "torch.is_tensor"})
TEXT_METHODS = frozenset({"format", "startswith", "endswith", "lower", "upper", "split", "replace", "strip"})
WRITTEN_IN_C = frozenset({"to_bytes", "from_bytes", "fromhex", "index", "count"})  # methods of Python values
KEEPING = frozenset(
    {"permute", "contiguous", "clone", "long", "int", "clamp", "transpose", "repeat", "roll", "flip", "abs"}
)
SHAPING = frozenset({"view", "reshape", "flatten"})
JOINING = frozenset({"torch.stack", "torch.cat", "torch.flatten", "torch.meshgrid"})
MADE_INDICES = frozenset({"torch.arange", "torch.randperm", "torch.randint", "torch.argsort", "Tensor.argsort"})
GROWING = frozenset({"append", "extend", "insert", "add_module", "register_module"})
CHECKPOINT = "torch.utils.checkpoint.checkpoint"

DISPLAYS = (_ast.List, _ast.Tuple)
CHECKPOINT_KEYWORDS = frozenset({"use_reentrant", "preserve_rng_state", "determinism_check"})


class LibraryCalls:
    """What calls outside the file give."""

    def call_library(self, name: str, args: list, named: dict, node) -> object:
        """A function of torch or math, or of a package that the analyzer knows nothing of."""
        if name in FREE or name in FIRST or name in PYTHON_RESULTS:
            made = self.call_known(name, 0 if name in PYTHON_RESULTS else FIRST.get(name, len(args)), args, named)
            return INDEX if name == "torch.tensor" and _holds_numbers(node) else made
        head, _, last = name.rpartition(".")
        if name == "torch.where":
            return self.plain_arguments(args, named) if len(args) == 3 and not named else self.fail()
        if name == "torch.nn.functional.one_hot":
            return self.call_one_hot(args, named)
        if name == CHECKPOINT and args and self.strict:
            return self.call(args[0], args[1:], {k: v for k, v in named.items() if k not in CHECKPOINT_KEYWORDS}, node)
        if name in ANSWERS:
            return NUMBER
        if name == "collections.OrderedDict" and self.strict and not named and len(args) < 2:
            return self.call_ordered(args, node)
        if head == "math" and not self.strict:
            return NUMBER
        if (head == "math" and last in MATH or name in FACTS) and all(map(is_static, (*args, *named.values()))):
            return SIZES if last == "Size" else NUMBER
        if self.source.is_silent(name):
            return frozenset({OUTER}) if last[:1].isupper() else NUMBER
        if self.strict:
            if name not in MADE:
                raise NotPlain
            self.plain_arguments(args, named)
            return frozenset({LAYER})
        return self.make(Types(frozenset({name})), args, named, node)

    def call_ordered(self, args: list, node) -> object:
        pair = (TEXT, NONE) if not args else args[0].element if type(args[0]) is Many else NONE
        if type(pair) is not tuple or len(pair) != 2 or pair[0] not in STATIC:
            return self.fail()
        return self.many(node, "dict").widen(pair[1])

    def call_one_hot(self, args: list, named: dict) -> object:
        """With the number of classes, which may not be -1."""
        given = args[1] if len(args) > 1 else named.get("num_classes")
        return self.plain_arguments(args[:1], {}) if given == NUMBER and len(args) + len(named) == 2 else self.fail()

    def call_known(self, name: str, first: int, args: list, named: dict) -> object:
        """A function or method of the tables, of which the arguments behind the `first` ones must be Python values."""
        result = self.plain_arguments(args, named)
        if result == TENSOR:
            has_axis = name in MADE_INDICES and () not in (*args, *named.values())
            is_index = has_axis or name in JOINING and all(map(_is_index, args[:1]))
            result = INDEX if is_index else TENSOR if name in SEVERAL else SURE
        if name in PYTHON_RESULTS:
            return SIZES if name in ("Tensor.size", "Tensor.stride") and not args and not named else NUMBER
        given = args[first:] + [kind for kind in args[:first] if type(kind) is Rest]
        if name in FIRST:
            given += [kind for keyword, kind in named.items() if keyword not in TENSOR_KEYWORDS]
            return result if all(map(is_static, given)) else self.fail()
        return result

    def call_method(self, base: object, name: str, node, frame) -> object:
        """A method of a value that is no object of the file."""
        args, named = self.arguments(node, frame)
        if name == "tolist" and not self.strict and self.is_numpy(node.func.value, frame):
            return SIZES
        if type(base) is Many:
            if name == "update" and base.role == "dict":
                for kind in named.values():
                    self.grow(base, kind)
            return self.call_container(base, name, args, node)
        if type(base) is frozenset:
            return self.call_module_list(base, name, [*args, *named.values()], node)
        made = self.whole(base, name, args)
        if base == GIVEN and name in ("argmax", "argmin") and (args or "dim" in named):
            made = GIVEN
        if made is not None and all(map(is_static, (*args, *named.values()))):
            return made
        if name == "requires_grad_" and type(node.func.value) is _ast.Subscript and settled(base) == TENSOR:
            off = node.args[0].value if len(node.args) == 1 and type(node.args[0]) is _ast.Constant else None
            return TENSOR if off is False else self.fail()
        is_one = type(base) is str
        base = settled(base)
        if base == NUMBER:  # of which nothing is known but that it is no tensor, unless it is called like one
            if name not in TENSOR_ONLY:
                return NUMBER if name not in WRITTEN_IN_C else self.fail()
            base = TENSOR
        if not self.strict and base == TENSOR and name in ("item", "tolist"):
            return NUMBER if name == "item" else SIZES
        if base == SIZES and name == "numel" and not args:
            return NUMBER
        if base == TEXT and name in TEXT_METHODS and all(map(is_static, (*args, *named.values()))):
            return TEXT
        if base == NONE and self.strict:
            return NUMBER
        if base == TENSOR and is_one and self.strict and is_of_no_tensor(name):
            return TENSOR  # the analyzer follows no call of an argument
        full = f"Tensor.{name}"
        if base == TENSOR and args and name in ("repeat_interleave", "type"):
            return TENSOR if all(map(is_static, (*args, *named.values()))) else self.fail()
        if base != TENSOR or full not in FREE and full not in FIRST and full not in PYTHON_RESULTS:
            return self.fail()
        return self.call_known(full, FIRST.get(full, len(args)), args, named)

    def is_numpy(self, node, frame) -> bool:
        """True for a call of one of numpy's functions."""
        return type(node) is _ast.Call and self.library_name(node.func, frame).startswith("numpy.")

    def whole(self, base: object, name: str, args: list) -> str | None:
        """The kind of what a method makes of whole numbers; None when it is no such method."""
        if base in (INDEX, GIVEN, WHOLE):
            if name in SHAPING and (args or name == "flatten") or name == "unsqueeze":
                return INDEX
            if name in KEEPING:
                return base
            return WHOLE if name == "sum" else None
        return WHOLE if settled(base) == TENSOR and name in ("long", "int") and not args else None

    def call_container(self, base: Many, name: str, args: list, node) -> object:
        if name in GROWING and args:
            self.grow(base, self.iterate(args[-1]) if name == "extend" else args[-1])
            return NONE
        if base.role == "dict":
            if not args and name in ("items", "values", "keys"):
                made = {"items": (TEXT, base.element), "values": base.element, "keys": TEXT}[name]
                return self.listed(made, node)
            if name == "update" and len(args) < 2 and all(type(kind) is Many for kind in args):
                self.grow(base, NONE)
                for kind in args:
                    self.grow(base, kind.element)
                return NONE
            if name == "setdefault" and len(args) == 2:
                self.grow(base, args[1])
                return base.element
            if name == "get" and args and args[0] in STATIC:
                return join(base.element, args[1]) if len(args) > 1 else base.element
        if name == "pop" and base.role in ("list", "dict") and not (self.strict and base.is_kept):
            return join(base.element, args[1]) if len(args) > 1 else base.element
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

    def call_super(self, name: str, node, frame) -> object:
        """`super().name(...)`: of a class of the file, else of a layer; nn.Module's own methods do nothing here."""
        args, named = self.arguments(node, frame)
        owner = frame.owner
        if type(owner) is not Self or frame.cls is None or not _names_own_class(node.func.value, frame):
            return self.fail()
        order = owner.cls.order()
        for cls in order[order.index(frame.cls) + 1 :]:
            if name in cls.methods:
                return self.call_function(self.own_method(cls, name)[1], cls, owner, args, named)
        if name == "forward":
            return self.call_layer(owner.cls, args, named)
        if name == "__init__" and not self.strict:
            self.keep_children(owner.cls, args)
        return self.fail()

    def holds_only_layers(self, owner: Self) -> bool:
        """True when each attribute is a Python value, a tensor or a layer of torch.nn that is traced."""
        kinds = self.attributes(owner.cls).values()
        return all(kind <= {LAYER} if type(kind) is frozenset else type(kind) is str and kind != UNKNOWN for kind in kinds)

    def call_module_method(self, owner: Self, name: str, node, frame) -> object:
        """A method of nn.Module on self."""
        args, named = self.arguments(node, frame)
        if self.strict:
            if name in ("parameters", "buffers") and not args:  # a walk may meet a recurrent module
                return self.listed(TENSOR, node) if self.holds_only_layers(owner) else self.fail()
            return self.call(self.self_attribute(owner, name), args, named, node)
        given = node.args[0].value if node.args and type(node.args[0]) is _ast.Constant else None
        if name in ("register_buffer", "register_parameter") and type(given) is str:
            value = args[1] if len(args) > 1 else named.get("tensor", TENSOR)
            kept = type(value) is str and value in (INDEX, GIVEN, WHOLE)
            self.set_attribute(self.attributes(owner.cls), given, value if kept else SURE)
        elif name in ("add_module", "register_module") and type(given) is str and len(args) > 1:
            self.set_attribute(self.attributes(owner.cls), given, args[1])
            if holds_modules(owner.cls):
                self.keep_child(owner.cls, args[1])
        elif name in ("register_buffer", "register_parameter"):
            self.set_attribute(self.attributes(owner.cls), COMPUTED, SURE)
        elif name in ("add_module", "register_module"):
            raise NotPlain
        return UNKNOWN


def _names_own_class(call, frame) -> bool:
    """True for `super()` and for `super(Cls, self)` in class Cls."""
    named = call.args[0] if call.args else None
    return named is None or type(named) is _ast.Name and named.id == frame.cls.name


def _is_index(kind: object) -> bool:
    """True for an INDEX, and lists of them."""
    if type(kind) is tuple:
        return bool(kind) and all(map(_is_index, kind))
    kind = kind.element if type(kind) is Many else kind
    return type(kind) is str and kind in INDICES


def _holds_numbers(node: _ast.Call) -> bool:
    """True for `torch.tensor([...])` of written numbers, without a keyword that may make bools of them."""
    waiting = list(node.args)
    if len(waiting) != 1 or type(waiting[0]) not in DISPLAYS or any(k.arg == "dtype" for k in node.keywords):
        return False
    while waiting:
        part = waiting.pop()
        if type(part) in DISPLAYS:
            waiting += part.elts
        elif type(part) is not _ast.Constant or type(part.value) is not int:
            return False
    return True


def is_static(kind: object) -> bool:
    """True for Python values, and lists of them."""
    kind = settled(kind.kind if type(kind) is Rest else kind)
    if type(kind) is Many:
        return kind.role == "list" and is_static(kind.element)
    return type(kind) is str and kind in STATIC
