"""Calls: of the file's functions, methods and modules, and of what may stand for one of them."""

from __future__ import annotations

import _ast

from breakscope.plain.classes import Class
from breakscope.plain.construction import holds_modules
from breakscope.plain.expressions import CHILDREN
from breakscope.plain.kinds import (
    ANY,
    LAYER,
    NONE,
    NUMBER,
    OUTER,
    REST,
    TENSOR,
    UNKNOWN,
    Bound,
    Function,
    Many,
    Rest,
    Self,
    Types,
    called,
    join,
    settled,
)
from breakscope.plain.library_calls import GROWING
from breakscope.plain.names import LAYERS
from breakscope.plain.source import MARKERS, MODULE

REFUSED_KEYWORDS = frozenset({"generator", "out", "requires_grad"})
LIST_METHODS = GROWING | {"items", "values", "keys", "update", "setdefault", "pop"}
OWN_METHODS = LIST_METHODS - {"add_module", "register_module"}
PLAIN_ARGUMENTS = (str, tuple, Many)
ONE_LAYER = frozenset({LAYER})
ABSTRACT = MARKERS | {MODULE}


class Calls:
    """What calls give."""

    def arguments(self, node, frame) -> tuple[list, dict]:
        """The kinds of a call's arguments; `*rest` stands as one Rest, `**rest` under REST."""
        args, named = [], {}
        for part in node.args:
            if type(part) is _ast.Starred:
                kind = self.eval(part.value, frame)
                args += kind if type(kind) is tuple else [Rest(self.iterate(kind))]
            else:
                args.append(self.eval(part, frame))
        for keyword in node.keywords:
            kind = self.eval(keyword.value, frame)
            if keyword.arg is not None:
                named[keyword.arg] = kind
            elif type(kind) is Many and kind.root().passed is not None:
                for name, passed in kind.root().passed.items():
                    named.setdefault(name, passed)
                named[REST] = join(named.get(REST, NONE), NUMBER)
            elif type(kind) is Many and kind.role == "dict":
                named[REST] = join(named[REST], kind.element) if REST in named else kind.element
            else:
                named[REST] = kind if settled(kind) == TENSOR or kind == NUMBER else self.fail()
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
            kind = type(base)
            if kind in PLAIN_ARGUMENTS or func.attr in LIST_METHODS and _has_containers(base):
                return self.call_method(base, func.attr, node, frame)
            if self.strict and base == ONE_LAYER and func.attr in ("parameters", "buffers"):
                return self.listed(TENSOR, node) if not node.args and not node.keywords else self.fail()
            if kind is Self and func.attr in OWN_METHODS and holds_modules(base.cls) and base.cls.method(func.attr) is None:
                return self.call_own_list(base.cls, func.attr, self.arguments(node, frame)[0], node)
            if kind is Self and base.cls.method(func.attr) is None and func.attr not in self.attributes(base.cls):
                return self.call_module_method(base, func.attr, node, frame)
            callee = self.attribute(base, func.attr)
            if callee == NUMBER and kind is frozenset and ANY in base:
                callee = self.fail()  # a method of what configuration passed in
        else:
            callee = self.eval(func, frame)
        args, named = self.arguments(node, frame)
        return self.call(callee, args, named, node)

    def call(self, callee: object, args: list, named: dict, node) -> object:
        kind = type(callee)
        if kind is Bound or kind is Function:
            return self.call_option(callee, args, named, node)
        if kind is Types and not (self.strict and called(callee)):
            return self.make(callee, args, named, node)
        if kind is Self:
            callee = frozenset({callee.cls})
        options = called(callee)
        if options is None:
            is_argument = settled(callee) == TENSOR or callee == NONE and self.strict
            return TENSOR if is_argument else self.fail()  # the analyzer follows no call of an argument
        made: object = NONE
        for option in options:
            made = join(made, self.call_option(option, args, named, node))
        return made

    def call_option(self, option: object, args: list, named: dict, node) -> object:
        """Call one of the modules and functions that stand for a callable."""
        kind = type(option)
        if kind is Bound:
            return self.call_function(option.node, option.cls, option.owner, args, named)
        if kind is Function:
            before = self.context
            self.context = before or (None if self.strict else node)
            found = self.call_closure(option, args, named)
            self.context = before
            return found
        if kind is Class:
            method = self.own_method(option, "forward")
            if method is None or not option.is_module:
                return self.call_layer(option, args, named)
            return self.call_function(method[1], method[0], self.self_of(option), args, named)
        if kind is Many:
            return self.call_sequential(option, args, named, node)
        if option == ANY or option == OUTER:
            return TENSOR if self.strict else NUMBER
        if option == LAYER:
            return self.plain_arguments(args, named)
        return self.call_library(option, args, named, node)

    def call_sequential(self, modules: Many, args: list, named: dict, node) -> object:
        if modules.role != "sequential":  # nobody calls a list
            return self.plain_arguments(args, named)
        return self.in_turn(modules.element, args, named, node)

    def in_turn(self, modules: object, args: list, named: dict, node) -> object:
        """Any number of such modules, each of which gets what the one before it gives."""
        if len(args) != 1 or named:
            return self.fail()
        result = args[0]
        for _ in range(2 if modules != NONE else 0):
            result = join(result, self.call(modules, [result], {}, node))
        return result

    def call_layer(self, cls: Class, args: list, named: dict) -> object:
        """A class of the file that inherits the forward of a layer, or has none: the analyzer follows no call of it."""
        bases = {base for one in cls.order() for base in one.bases}
        is_abstract = cls.is_module and bases <= ABSTRACT
        if "torch.nn.Sequential" in bases:
            return self.in_turn(self.attributes(cls).get(CHILDREN, NONE), args, named, cls.node)
        is_layer = not bases.isdisjoint(LAYERS)
        return self.plain_arguments(args, named) if is_layer or is_abstract else self.fail()

    def plain_arguments(self, args: list, named: dict) -> object:
        """TENSOR, when no argument is unknown or something to call."""
        for kind in (*args, *named.values()):
            kind = kind.kind if type(kind) is Rest else kind
            if type(kind) not in PLAIN_ARGUMENTS or kind == UNKNOWN or settled(kind) == UNKNOWN:
                return self.fail()
            if type(kind) is Many and (type(kind.element) not in PLAIN_ARGUMENTS or kind.element == UNKNOWN):
                return self.fail()
        return TENSOR if REFUSED_KEYWORDS.isdisjoint(named) else self.fail()


def _has_containers(kind: object) -> bool:
    """True for module lists and dicts, and no objects of the file's classes beside them."""
    return type(kind) is frozenset and Many in (kinds := [*map(type, kind)]) and Class not in kinds


def _is_super(node) -> bool:
    return type(node) is _ast.Call and type(node.func) is _ast.Name and node.func.id == "super"
