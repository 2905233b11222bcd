"""Constructors: what they set, the modules that they make, and what they pass to each other."""

from __future__ import annotations

from _collections_abc import Iterable

from breakscope.plain.classes import Class
from breakscope.plain.expressions import CHILDREN
from breakscope.plain.kinds import (
    ANY,
    LAYER,
    NONE,
    NUMBER,
    REST,
    STATIC,
    SURE,
    TENSOR,
    TEXT,
    UNKNOWN,
    Data,
    Many,
    NotPlain,
    Rest,
    Self,
    Types,
    before_rest,
    called,
    join,
    settled,
)
from breakscope.plain.names import LAYERS

MODULE_LISTS = {"torch.nn.ModuleList": "modules", "torch.nn.Sequential": "sequential", "torch.nn.ModuleDict": "dict",
                "torch.nn.ParameterList": "modules", "torch.nn.ParameterDict": "dict"}
HOLDING = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
VARARG = "*"
COPIES = frozenset({"copy.deepcopy", "copy.copy", "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm",
                    "torch.nn.utils.parametrizations.weight_norm", "torch.nn.utils.parametrizations.spectral_norm"})


class Construction:
    """How objects are made."""

    def construct(self, cls: Class) -> None:
        """Run the constructor with whatever the file's own calls pass, and what configuration may pass."""
        self.built[cls] = self.concerning(cls)
        method = self.own_method(cls, "__init__")
        before = self.source
        if method is not None:
            self.source = method[0].source
            names = self.parameters(method[1], 1, True)
            others = {}  # what `**rest` gets
            for name, kind in self.passed.get(cls, {}).items():
                if name.startswith(REST) and name != REST:
                    others[name.removeprefix(REST)] = join(NUMBER, kind)
                else:
                    names[name] = join(names[name], kind) if name in names else kind
            spec = method[1].args
            for rest, key, role in ((spec.vararg, VARARG, "list"), (spec.kwarg, REST, "dict")):
                kind = names.pop(key, NONE)
                if rest:
                    names[rest.arg] = self.many(rest, role).widen(join(NUMBER, kind))
            for kind in others.values() if spec.kwarg else ():
                names[spec.kwarg.arg].widen(kind)
            if spec.kwarg and REST not in self.passed.get(cls, {}):
                names[spec.kwarg.arg].root().passed = others
            self.run_function(method[1], method[0], self.self_of(cls), names)
        self.source = before

    def concerning(self, cls: Class) -> object:
        """What must not have changed for a constructor to be left as it ran."""
        return self.clock.now if self.shared else tuple(self.passed.get(cls, {}).items())

    def make(self, types: Types, args: list, named: dict, node) -> object:
        """A class is called: in a constructor it makes a module, in a region an object that is handed back."""
        if self.strict:
            return self.make_data(types, args, named)
        made: object = NONE
        for option in types.options:
            made = join(made, self.make_one(option, args, named, node))
        return made

    def make_data(self, types: Types, args: list, named: dict) -> object:
        """An object of a dataclass or NamedTuple that a region hands back."""
        self.plain_arguments([kind for kind in args if type(kind) is not Data], named)
        cls = next(iter(types.options))
        if len(types.options) > 1 or type(cls) is not Class or not cls.is_data or cls.method("__post_init__"):
            raise NotPlain
        fields = [name for one in reversed(cls.order()) for name in one.fields]
        if len(args) > len(fields) or not named.keys() <= set(fields) or any(type(kind) is Rest for kind in args):
            raise NotPlain
        defaults = {name: self.constant_of(one, name) for one in cls.order() for name in one.values}
        return Data(cls, {name: NONE for name in fields} | defaults | dict(zip(fields, args)) | named)

    def make_one(self, option: object, args: list, named: dict, node) -> object:
        if type(option) is Class:
            return self.make_own(option, args, named)
        if type(option) is not str:
            return self.call_option(option, args, named, node)
        if option in LAYERS:
            return frozenset({LAYER})
        if option == ANY:
            return NUMBER
        if option in MODULE_LISTS:
            return self.make_container(option, args, node)
        if option == "torch.nn.Parameter":
            return SURE
        if option.startswith("torch.nn.init."):
            return TENSOR
        if option in COPIES and args:
            return args[0]
        if option == "dataclasses.replace" and len(args) == 1 and type(args[0]) is Data and not args[0].kinds:
            return args[0] if _are_static(named.values()) else UNKNOWN
        if option == "collections.OrderedDict" and len(args) == 1 and type(args[0]) is Many:
            return args[0]
        if option == "collections.OrderedDict" and named and not args:
            pairs = self.many(node, "list")
            for kind in named.values():
                pairs.widen((TEXT, kind))
            return pairs
        if option == "functools.partial" and args and type(args[0]) is Types:
            for inner in args[0].options:
                if type(inner) is Class:
                    self.make_own(inner, args[1:], named)
            return args[0]
        return UNKNOWN

    def make_own(self, cls: Class, args: list, named: dict) -> object:
        if not cls.is_object:
            return Data(cls) if cls.is_data and _are_static((*args, *named.values())) else UNKNOWN
        if cls not in self.objects:
            self.objects.append(cls)
            self.clock.now += 1
        method = cls.method("__init__")
        if method is not None:
            self.pass_on(cls, method[1].args, args, named)
        else:
            self.keep_children(cls, args)
        return frozenset({cls})

    def pass_on(self, cls: Class, spec, args: list, named: dict) -> None:
        """Note what a constructor gets."""
        names = [p.arg for p in [*spec.posonlyargs, *spec.args]][1:]
        known = {*names, *(p.arg for p in spec.kwonlyargs)}
        certain = before_rest(args)
        if certain > len(names) and not spec.vararg:
            raise NotPlain
        given: list[tuple[str, object]] = [*zip(names, args[:certain])]
        for kind in args[min(certain, len(names)) :]:
            kind = kind.kind if type(kind) is Rest else kind
            given += [(name, kind) for name in (*names[certain:], VARARG)]
        for name, kind in named.items():
            if name == REST:
                open_ = (*names[certain:], *known.difference(names), REST)
                given += [(other, kind) for other in open_ if other not in named or other == REST and spec.kwarg]
            else:
                given.append((name if name in known else REST + name, kind))
        passed = self.passed.setdefault(cls, {})
        for name, kind in given:
            kind = UNKNOWN if type(kind) is Self else kind
            joined = join(passed[name], kind) if name in passed else kind
            self.shared = self.shared or type(kind) is Many
            if passed.get(name, NotPlain) != joined:
                passed[name] = joined
                self.clock.now += 1

    def keep_children(self, cls: Class, args: list) -> None:
        """The modules that are passed to a class of the file which is a Sequential or ModuleList."""
        for kind in args if holds_modules(cls) else ():
            inside = kind.kind if type(kind) is Rest else kind
            if type(inside) is Many:
                inside = inside.element
            self.keep_child(cls, inside)

    def keep_child(self, cls: Class, kind: object) -> None:
        """One more module, or a pair of its name and it, in an object of a class that is a container."""
        kind = kind[1] if type(kind) is tuple and len(kind) == 2 else kind
        self.set_attribute(self.attributes(cls), CHILDREN, called(kind) or UNKNOWN)

    def call_own_list(self, cls: Class, name: str, args: list, node) -> object:
        """`self.append(layer)` in a constructor, `self.items()` in a region, of a class that is a container."""
        held = self.attributes(cls).get(CHILDREN, NONE)
        if self.strict:
            made = {"items": (TEXT, held), "values": held, "keys": TEXT}.get(name)
            return self.listed(made, node) if made is not None and held != NONE and not args else self.fail()
        if name == "extend" or name == "update":
            self.keep_children(cls, args)
        elif name in ("append", "insert") and args:
            self.keep_child(cls, args[-1])
        else:
            raise NotPlain
        return NONE

    def make_container(self, name: str, args: list, node) -> object:
        made = self.many(node, MODULE_LISTS[name])
        if made.role == "dict" and len(args) == 1 and type(given := args[0]) is Many and given.keys and given.parts:
            return frozenset({made.show([called(kind) or kind for kind in given.parts], given.keys)})
        if name == "torch.nn.ModuleList" and len(args) == 1 and (parts := self.parts(args[0])) is not None:
            return frozenset({made.show([called(kind) or kind for kind in parts])})
        for kind in args:
            kind = inside = kind.kind if type(kind) is Rest else kind
            if type(kind) is Many or made.role != "sequential":
                inside = kind.element if type(kind) is Many else self.iterate(kind)
            if type(inside) is tuple and len(inside) == 2:
                inside = inside[1]  # of an OrderedDict's pairs
            self.grow(made, called(inside) or inside)
        return frozenset({made})


def holds_modules(cls: Class) -> bool:
    """True for a class that is a Sequential, ModuleList or ModuleDict."""
    return any(base in HOLDING for one in cls.order() for base in one.bases)


def _are_static(kinds: Iterable) -> bool:
    return all(type(kind) is not Rest and settled(kind) in STATIC for kind in kinds)
