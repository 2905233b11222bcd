"""Self, methods, functions and the modules that constructors make."""

from __future__ import annotations

import _ast

from breakscope.plain.classes import Class
from breakscope.plain.items import LAYER_TENSORS
from breakscope.plain.kinds import (
    ANY,
    LAYER,
    NONE,
    NUMBER,
    OUTER,
    SIZES,
    TENSOR,
    TEXT,
    UNKNOWN,
    Bound,
    Data,
    Function,
    Many,
    NotPlain,
    Self,
    Types,
    join,
    settled,
)
from breakscope.plain.names import LAYERS, MODULE_METHODS
from breakscope.plain.source import Source

LAYER_NUMBERS = frozenset({"in_features", "out_features", "in_channels", "out_channels", "num_heads", "embed_dim",
                           "num_embeddings", "embedding_dim", "eps", "head_dim", "p", "training"})
LAYER_ATTRIBUTES = dict.fromkeys(LAYER_NUMBERS, NUMBER) | dict.fromkeys(LAYER_TENSORS, TENSOR)
# An unknown value of which one of these is read is a tensor to the analyzer, and rules ask for calls of them.
TELLING = frozenset(
    """
    item tolist nonzero masked_select requires_grad_ repeat_interleave topk new_zeros new_ones new_full new_empty expand
    chunk norm matmul
    """.split()
)


DISPLAYS = (_ast.Dict, _ast.List, _ast.Set)
NOBODY: frozenset = frozenset()
COMPUTED = "*"  # stands for attributes whose names are computed


class Frame:
    """A running function. `owner` is the Self of a method, `cls` the class that has it; `left` are the names at the
    `break`s and `continue`s of each open loop. `is_open` until it ends; `is_partial` when some path ended before."""

    __slots__ = ("cls", "is_open", "is_partial", "left", "names", "owner", "result")

    def __init__(self, names: dict, owner: Self | Data | None, cls: Class | None) -> None:
        self.names = names
        self.owner = owner
        self.cls = cls
        self.result: object = NONE
        self.left: list[list[dict]] = []
        self.is_open = True
        self.is_partial = False


class Objects:
    """Attributes, functions and construction."""

    def self_of(self, cls: Class) -> Self:
        made = self.selves.get(cls)
        if made is None:
            made = self.selves[cls] = Self(cls)
        return made

    def attributes(self, cls: Class) -> dict:
        """What constructors set on objects of the class."""
        found = self.known.get(cls)
        if found is None:
            found = self.known[cls] = {}
        return found

    def store_attribute(self, base: object, name: str, value: object) -> None:
        """A constructor sets an attribute: of self, of modules, or of what is not known."""
        if type(base) is Self:
            self.set_attribute(self.attributes(base.cls), name, value)
        elif type(base) is frozenset:
            self.shared = True
            for option in base:
                if type(option) is Class:
                    self.set_attribute(self.attributes(option), name, value)
        elif type(base) is Data:
            self.set_attribute(self.attributes(base.cls), name, value)
        elif type(base) is Types:
            raise NotPlain  # of a class
        elif settled(base) not in (TENSOR, NUMBER):
            self.set_attribute(self.anywhere, name, value)

    def set_attribute(self, found: dict, name: str, value: object) -> None:
        made = join(found[name], value) if name in found else value
        if type(made) is Self:
            made = UNKNOWN
        if found.get(name, NotPlain) != made:
            found[name] = made
            self.clock.now += 1

    def attribute(self, base: object, name: str) -> object:
        kind = type(base)
        if kind is Self:
            return self.self_attribute(base, name)
        if kind is frozenset:
            if len(base) == 1 and type(only := next(iter(base))) is Class:
                return self.attribute_of(only, name)
            made: object = NONE
            for option in base:
                made = join(made, self.module_attribute(option, name))
            return made
        if kind is Data:
            return self.field(base, name)
        if kind is Source:
            inner = self.files.module(f"{base.place[0]}.{name}") if name not in base.bound else None
            return self.borrowed((base, name) if inner is None else inner)
        if kind is Types and all(type(option) is Class for option in base.options):
            return self.class_attribute(base.options, name)
        if name == "shape" and not self.strict:
            return SIZES  # of a tensor or array, whose sizes are known when the object is made
        base = settled(base)
        if base == TENSOR:
            return self.tensor_attribute(name)
        if base == NONE and self.strict:
            return NUMBER
        return NUMBER if base == NUMBER and name not in TELLING else self.fail()

    def module_attribute(self, option: object, name: str) -> object:
        if type(option) is Class:
            found = self.attribute_of(option, name)
            return self.fail() if type(found) is Bound else found
        if option == LAYER:
            return LAYER_ATTRIBUTES[name] if name in LAYER_ATTRIBUTES else self.fail()
        if option == OUTER:
            return frozenset({OUTER})
        if type(option) is Many and option.role == "dict":
            return option.held(name) or option.element
        return NUMBER if option == ANY and name not in TELLING else self.fail()

    def attribute_of(self, cls: Class, name: str) -> object:
        """An attribute of an object of the class, which is made first."""
        if not self.strict:
            self.shared = True
            if cls not in self.built:
                self.construct(cls)
        return self.self_attribute(self.self_of(cls), name)

    def field(self, owner: Data, name: str) -> object:
        """A field of a dataclass, by its annotation and by what its own methods set; or one of its methods."""
        cls = owner.cls
        for one in cls.order():
            if name in one.methods:
                return self.member(owner, one, one.methods[name])
        if name in owner.kinds:
            return owner.kinds[name]
        self.settle(owner)
        if self.is_set_unseen(cls, name):
            return self.fail()
        for one in cls.order():
            if name in one.fields:
                kind = self.annotated(one.fields[name])
                kind = UNKNOWN if kind is None else join(kind, self.attributes(cls).get(name, NONE))
                return self.fail() if kind == UNKNOWN else kind
        return self.attributes(cls)[name] if name in self.attributes(cls) else self.fail()

    def settle(self, owner: Data) -> None:
        """Run what a dataclass does behind its constructor, once."""
        method = owner.cls.method("__post_init__")
        if method is not None and owner.cls not in self.built:
            self.built[owner.cls] = None
            before, self.strict = self.strict, False
            self.run_function(method[1], method[0], owner, {})
            self.strict = before

    def is_set_unseen(self, cls: Class, name: str) -> bool:
        """True when code that the look has not followed, and that the analyzer may run, sets such an attribute of an
        object of the class."""
        unseen = self.files.stored.get(name, NOBODY) - self.ran
        if unseen:
            of_self, order = self.files.of_self, (*cls.order(), None)
            unseen = {node for node in unseen if of_self.get((node, name)) in order}
        if unseen and not self.strict:  # constructors that are still to run
            unseen = {node for node in unseen if node is None or node.name != "__init__"}
        return bool(unseen) and not unseen.isdisjoint(self.files.reached())

    def self_attribute(self, owner: Self, name: str) -> object:
        if self.strict and self.is_set_unseen(owner.cls, name):
            return self.fail()
        known = self.attributes(owner.cls)
        computed = known.get(COMPUTED, NONE)
        if name in known:
            return join(known[name], self.anywhere.get(name, NONE))
        order = owner.cls.order()
        for cls in order:
            if name in cls.methods:
                return self.member(owner, cls, cls.methods[name])
            if name in cls.values:
                return join(self.constant_of(cls, name), self.anywhere.get(name, NONE))
        if name == "training":
            return NUMBER
        if name == "_modules":
            raise NotPlain
        if computed != NONE:
            return computed
        if name in LAYER_ATTRIBUTES and any(base in LAYERS for cls in order for base in cls.bases):
            return LAYER_ATTRIBUTES[name]
        if name in self.files.stored or name in MODULE_METHODS or name.startswith("__"):
            return self.fail()
        if any(name in cls.fields for cls in order):
            return self.fail()
        return NUMBER if self.strict else self.fail()  # nobody sets it: nothing is known of it

    def function(self, node) -> Function:
        """The function of a `def` at the top of the file."""
        made = self.sites.get(node)
        if made is None:
            made = self.sites[node] = Function(node, None)
        return made

    def constant(self, node) -> object:
        """The kind of a value at the top of the file or of a class; mutable ones are UNKNOWN."""
        kind = type(node)
        if kind is _ast.Constant:
            return self.eval_Constant(node, None)
        if kind is _ast.Tuple:
            return settled(tuple([self.constant(part) for part in node.elts]))
        if kind is _ast.Attribute or kind is _ast.Name and node.id in self.source.imports:
            name = self.source.dotted(node)
            return self.library_value(name) if name else UNKNOWN
        if kind is _ast.UnaryOp or kind is _ast.BinOp:
            parts = [node.operand] if kind is _ast.UnaryOp else [node.left, node.right]
            return NUMBER if all(self.constant(part) == NUMBER for part in parts) else UNKNOWN
        if kind is _ast.Call and not node.keywords and all(self.constant(part) in (NUMBER, TEXT) for part in node.args):
            name = self.source.dotted(node.func)
            return NUMBER if name.startswith("math.") or name in ("float", "int") else UNKNOWN
        return UNKNOWN

    def global_name(self, name: str) -> object:
        source = self.source
        if name in source.twice:
            return self.fail()
        if name in source.borrowed:
            return self.borrowed(source.taken(name))
        if name in source.classes:
            return Types(frozenset({source.classes[name]}))
        if name in source.functions:
            node = source.functions[name]
            is_plain = type(node) is _ast.FunctionDef and self.sort(node) == ""
            return self.function(node) if is_plain else self.fail()
        if name in source.constants:
            found = self.constant(source.constants[name])
            if found == UNKNOWN and type(source.constants[name]) in DISPLAYS and source.is_only_read(name):
                found = self.eval(source.constants[name], Frame({}, None, None))
                for one in source.registered.get(name, ()):
                    found.widen(Types(frozenset({one})) if type(one) is Class else self.function(one))
            return self.fail() if found == UNKNOWN else found
        if name in source.imports:
            return self.library_value(source.dotted(_ast.Name(name, _ast.Load())))
        return self.fail()

    def borrowed(self, found: object) -> object:
        """What is imported from another file of the project."""
        if type(found) is not tuple:
            return self.fail() if found is None else found
        before, self.source = self.source, found[0]
        made = self.global_name(found[1])
        self.source = before
        return made

    def library_name(self, node, frame: Frame) -> str:
        """The library name of `torch.nn.functional.relu`; "" for anything that a local or the file defines."""
        inner = node
        while type(inner) is _ast.Attribute:
            inner = inner.value
        if type(inner) is not _ast.Name or inner.id in frame.names or inner.id not in self.source.imports:
            return ""
        return self.source.dotted(node)
