"""Self, methods, functions and the modules that constructors make."""

from __future__ import annotations

import _ast

from breakscope.plain.kinds import (
    ANY,
    LAYER,
    NONE,
    NUMBER,
    TENSOR,
    TEXT,
    UNKNOWN,
    Data,
    Many,
    NotPlain,
    Types,
    join,
    settled,
)
from breakscope.plain.names import LAYERS
from breakscope.plain.source import Class

LAYER_TENSORS = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias", "running_mean", "running_var"})
LAYER_NUMBERS = frozenset({"in_features", "out_features", "in_channels", "out_channels", "num_heads", "embed_dim",
                           "num_embeddings", "embedding_dim", "eps", "head_dim", "p", "training"})
# An unknown value of which one of these is read is a tensor to the analyzer, and rules ask for calls of them.
TELLING = frozenset(
    """
    item tolist nonzero masked_select requires_grad_ repeat_interleave topk new_zeros new_ones new_full new_empty expand
    chunk norm matmul
    """.split()
)
MOST_CALLS = 12  # of functions inside each other


class Self:
    """The object whose method runs."""

    __slots__ = ("cls",)

    def __init__(self, cls: Class) -> None:
        self.cls = cls


class Bound:
    """A method of `owner`, found in `cls`."""

    __slots__ = ("cls", "node", "owner")

    def __init__(self, node: _ast.FunctionDef, cls: Class, owner: Self) -> None:
        self.node = node
        self.cls = cls
        self.owner = owner


class Function:
    """A function of the file; `scope` are the names of the function around it."""

    __slots__ = ("node", "scope")

    def __init__(self, node: _ast.FunctionDef, scope: dict | None = None) -> None:
        self.node = node
        self.scope = scope


class Frame:
    """A running function. `owner` is the Self of a method, `cls` the class that has it; `left` are the names at the
    `break`s and `continue`s of each open loop."""

    __slots__ = ("cls", "left", "names", "owner", "result")

    def __init__(self, names: dict, owner: Self | None, cls: Class | None) -> None:
        self.names = names
        self.owner = owner
        self.cls = cls
        self.result: object = NONE
        self.left: list[list[dict]] = []


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
        elif base not in (TENSOR, NUMBER):
            self.set_attribute(self.anywhere, name, value)

    def set_attribute(self, found: dict, name: str, value: object) -> None:
        made = join(found[name], value) if name in found else value
        if type(made) is Self or type(made) is Bound or type(made) is Function:
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
            return self.field(base.cls, name)
        if kind is Types and all(type(option) is Class and option.is_enum for option in base.options):
            return TEXT
        base = settled(base)
        if base == TENSOR:
            return self.tensor_attribute(name)
        return NUMBER if base == NUMBER and name not in TELLING else self.fail()

    def module_attribute(self, option: object, name: str) -> object:
        if type(option) is Class:
            found = self.attribute_of(option, name)
            return self.fail() if type(found) is Bound else found
        if option == LAYER:
            return TENSOR if name in LAYER_TENSORS else NUMBER if name in LAYER_NUMBERS else self.fail()
        if type(option) is Many and option.role == "dict":
            return option.element
        return NUMBER if option == ANY and name not in TELLING else self.fail()

    def attribute_of(self, cls: Class, name: str) -> object:
        """An attribute of an object of the class, which is made first."""
        if not self.strict:
            self.shared = True
            if cls not in self.built:
                self.construct(cls)
        return self.self_attribute(self.self_of(cls), name)

    def field(self, cls: Class, name: str) -> object:
        """A field of a dataclass, by its annotation."""
        for one in cls.order():
            if name in one.fields and name not in self.source.elsewhere and not one.methods:
                kind = self.annotated(one.fields[name])
                return self.fail() if kind is None or kind == UNKNOWN or kind == TENSOR else kind
        return self.fail()

    def self_attribute(self, owner: Self, name: str) -> object:
        stored = self.source.stored.get(name)
        if stored is not None and self.strict and not stored <= self.ran:
            return self.fail()  # by code that the look does not follow
        found = self.attributes(owner.cls).get(name)
        if found is not None:
            return join(found, self.anywhere[name]) if name in self.anywhere else found
        order = owner.cls.order()
        for cls in order:
            if name in cls.methods:
                return self.member(owner, cls, cls.methods[name])
            if name in cls.values:
                return self.constant(cls.values[name])
        if name == "training":
            return NUMBER
        if name in LAYER_TENSORS and any(base in LAYERS for cls in order for base in cls.bases):
            return TENSOR
        return self.fail()

    def member(self, owner: Self, cls: Class, node: _ast.FunctionDef) -> object:
        """A method as an attribute; a property is run."""
        names = [d.id if type(d) is _ast.Name else "?" for d in node.decorator_list]
        if names == ["property"]:
            return self.call_function(node, cls, owner, [], {})
        if names == ["staticmethod"]:
            return Function(node)
        return Bound(node, cls, owner) if not names else self.fail()

    def constant(self, node) -> object:
        """The kind of a value at the top of the file or of a class; mutable ones are UNKNOWN."""
        kind = type(node)
        if kind is _ast.Constant:
            return self.eval_Constant(node, None)
        if kind is _ast.Tuple:
            return settled(tuple([self.constant(part) for part in node.elts]))
        if kind is _ast.UnaryOp or kind is _ast.BinOp:
            parts = [node.operand] if kind is _ast.UnaryOp else [node.left, node.right]
            return NUMBER if all(self.constant(part) == NUMBER for part in parts) else UNKNOWN
        return UNKNOWN

    def global_name(self, name: str) -> object:
        source = self.source
        if name in source.twice:
            return self.fail()
        if name in source.classes:
            return Types(frozenset({source.classes[name]}))
        if name in source.functions:
            return Function(source.functions[name]) if not source.functions[name].decorator_list else self.fail()
        if name in source.constants:
            found = self.constant(source.constants[name])
            return self.fail() if found == UNKNOWN else found
        if name in source.imports:
            return self.library_value(source.dotted(_ast.Name(name, _ast.Load())))
        return self.fail()

    def library_name(self, node, frame: Frame) -> str:
        """The library name of `torch.nn.functional.relu`; "" for anything that a local or the file defines."""
        inner = node
        while type(inner) is _ast.Attribute:
            inner = inner.value
        if type(inner) is not _ast.Name or inner.id in frame.names or inner.id not in self.source.imports:
            return ""
        return self.source.dotted(node)

    def call_function(
        self, node, cls: Class | None, owner: Self | None, args: list, named: dict, scope: dict | None = None
    ) -> object:
        """A function or method of the file; in a region once for all calls with arguments of the same kinds."""
        spec = node.args
        skip = 1 if owner is not None else 0
        declared = self.parameters(node, skip, node.name == "__init__")
        names = [p.arg for p in [*spec.posonlyargs, *spec.args]][skip:]
        given = {**dict(zip(names, args)), **named}
        if spec.vararg or spec.kwarg or len(args) > len(names) or not named.keys() <= declared.keys():
            if self.strict:
                raise NotPlain
            declared = dict.fromkeys(declared, UNKNOWN)
            for rest in (spec.vararg, spec.kwarg):
                if rest:
                    declared[rest.arg] = UNKNOWN
            given = {}
        if not self.strict:
            return self.run_function(node, cls, owner, {**(scope or {}), **declared, **given})
        names = {**declared, **given}
        key = (node, owner, self.clock.now, *names.values())
        found = self.results.get(key)
        if found is None:
            self.results[key] = NotPlain  # a recursion is not followed
            found = self.results[key] = self.run_function(node, cls, owner, names)
        if found is NotPlain:
            raise NotPlain
        return found

    def run_function(self, node, cls: Class | None, owner: Self | None, names: dict) -> object:
        if self.depth > MOST_CALLS:
            return self.fail()
        if owner is not None and node.args.args:
            names[node.args.args[0].arg] = owner
        frame = Frame(names, owner, cls)
        self.ran.add(node)
        self.depth += 1
        self.block(node.body, frame)
        self.depth -= 1
        return frame.result
