"""Calls of Python's builtins."""

from __future__ import annotations

import _ast

from breakscope.plain.kinds import (
    NONE,
    NUMBER,
    REST,
    SIZES,
    STATIC,
    TENSOR,
    TEXT,
    UNKNOWN,
    Many,
    Rest,
    Self,
    join,
    settled,
)
from breakscope.plain.library_calls import is_static
from breakscope.plain.objects import COMPUTED

NUMBERS_OF = frozenset({"int", "float", "bool", "abs", "round", "min", "max", "sum", "divmod", "any", "all"})
CONVERTERS = frozenset({"int", "float", "bool"})
ORDERS = frozenset({"list", "tuple", "reversed"})
ASKS = {"isinstance": 2, "hasattr": 2, "callable": 1}


class BuiltinCalls:
    """What builtins give."""

    def call_builtin(self, name: str, node, frame) -> object:
        if name in ASKS and len(node.args) == ASKS[name]:
            return self.call_asking(name, node, frame)
        if name == "map" and len(node.args) > 1 and type(node.args[0]) is _ast.Name:
            if node.args[0].id in NUMBERS_OF and node.args[0].id not in self.source.bound:
                kinds = [self.eval(part, frame) for part in node.args[1:]]
                return self.listed(NUMBER, node) if all(map(is_static, kinds)) else self.fail()
        args, named = self.arguments(node, frame)
        if name == "dict" and len(args) < 2:
            made = self.many(node, "dict")
            if named and not args and REST not in named:
                return made.show([*named.values()], tuple(named))
            made.widen(self.values_of(args[0]) if args else NONE)
            for kind in named.values():
                made.widen(kind)
            return made
        if name == "getattr" and 2 <= len(args) <= 3 and type(node.args[1]) is _ast.Constant:
            found = self.attribute(args[0], str(node.args[1].value))
            return join(found, args[2]) if len(args) > 2 else found
        if name == "getattr" and len(args) == 2 and type(args[0]) is Self and args[1] == TEXT:
            return self.attributes(args[0].cls).get(COMPUTED) or self.fail()
        if any(type(kind) is Rest for kind in args):
            return self.fail()
        if name == "enumerate" and named.get("start") == NUMBER or name == "zip" and named.get("strict") == NUMBER:
            named = {}
        if named or not args:
            return self.many(node, "list") if name == "list" and not named else self.fail()
        return self.call_on(name, args, node)

    def values_of(self, kind: object) -> object:
        """The kind of the values in what `dict(...)` is made of: a dict, or pairs."""
        if type(kind) is not Many or kind.role not in ("dict", "list"):
            return self.fail()
        if kind.role == "dict":
            return kind.element
        pair = kind.element
        return pair[1] if type(pair) is tuple and len(pair) == 2 and pair[0] in STATIC else self.fail()

    def call_on(self, name: str, args: list, node) -> object:
        """A builtin of positional arguments."""
        first = settled(args[0])
        if name == "len":
            return NUMBER if first != UNKNOWN else self.fail()
        if name == "range":
            return SIZES if all(map(is_static, args)) else self.fail()
        if name == "slice" and all(map(is_static, args)):
            return NUMBER
        if name in CONVERTERS and not self.strict:
            return NUMBER
        if name in NUMBERS_OF and all(map(is_static, args)):
            return self.fail() if name in ("min", "max") and _is_made_item_by_item(node) else NUMBER
        if name == "sum" and type(args[0]) is Many and settled(self.iterate(args[0])) == TENSOR:
            return TENSOR if len(args) == 1 or args[1] == NUMBER else self.fail()
        if name == "type" or name == "str" and is_static(first):
            return TEXT if len(args) == 1 else self.fail()
        if name in ORDERS and len(args) == 1:
            return self.ordered(name, args[0], node)
        if name == "enumerate":
            return self.listed((NUMBER, self.iterate(args[0])), node)
        if name == "zip":
            return self.listed(tuple([self.iterate(kind) for kind in args]), node)
        if name in ("next", "iter") and type(args[0]) is Many and args[0].role == "list" and len(args) == 1:
            return args[0].element if name == "next" else args[0]
        if name == "map" and len(args) > 1:
            return self.listed(self.call(args[0], [self.iterate(kind) for kind in args[1:]], {}, node), node)
        return self.fail()

    def ordered(self, name: str, kind: object, node) -> object:
        """A list or tuple of what the value holds."""
        element = self.iterate(kind)
        if settled(kind) == SIZES or name == "tuple" and element == NUMBER:
            return SIZES
        return self.listed(element, node)

    def call_asking(self, name: str, node, frame) -> object:
        """The answer is not known. What nothing is known of becomes a tensor where it is asked to be one."""
        kind = self.eval(node.args[0], frame)
        if name == "isinstance" and any(type(self.meant(part)) is _ast.Tuple for part in self.types_in(node.args[1])):
            self.fail()
        if name == "isinstance" and kind == NUMBER and type(node.args[0]) is not _ast.Name:
            asked = node.args[1].elts if type(node.args[1]) is _ast.Tuple else [node.args[1]]
            if any(map(self.may_be_tensor, asked)):
                self.fail()
        return NUMBER

    def types_in(self, types) -> list:
        """The entries of a tuple of types, which may have a name."""
        types = self.meant(types)
        return types.elts if type(types) is _ast.Tuple else []

    def meant(self, node):
        """The expression that a name of the file stands for, else the node."""
        return self.source.constants.get(node.id, node) if type(node) is _ast.Name else node


def _is_made_item_by_item(call: _ast.Call) -> bool:
    """True for `max(zip(a, b))` and `max((n, n) for n in a)`, where the elements may be tuples."""
    made = call.args[0] if len(call.args) == 1 else None
    return type(made) is _ast.Call or type(made) is _ast.GeneratorExp and type(made.elt) in (_ast.Tuple, _ast.List)
