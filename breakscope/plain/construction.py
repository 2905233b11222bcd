"""Constructors: what they set, the modules that they make, and what they pass to each other."""

from __future__ import annotations

from breakscope.plain.kinds import (
    ANY,
    LAYER,
    NONE,
    NUMBER,
    STATIC,
    TENSOR,
    UNKNOWN,
    Data,
    Many,
    NotPlain,
    Types,
    called,
    join,
    settled,
)
from breakscope.plain.names import LAYERS
from breakscope.plain.objects import Bound, Function, Self
from breakscope.plain.source import Class

MODULE_LISTS = {"torch.nn.ModuleList": "modules", "torch.nn.Sequential": "sequential", "torch.nn.ModuleDict": "dict",
                "torch.nn.ParameterList": "modules"}
COPIES = frozenset({"copy.deepcopy", "copy.copy", "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm",
                    "torch.nn.utils.parametrizations.weight_norm", "torch.nn.utils.parametrizations.spectral_norm"})


class Construction:
    """How objects are made."""

    def construct(self, cls: Class) -> None:
        """Run the constructor with whatever the file's own calls pass, and what configuration may pass."""
        self.built[cls] = self.concerning(cls)
        method = cls.method("__init__")
        if method is not None:
            names = self.parameters(method[1], 1, True)
            for name, kind in self.passed.get(cls, {}).items():
                names[name] = join(names[name], kind) if name in names else kind
            for rest in (method[1].args.vararg, method[1].args.kwarg):
                if rest:
                    names[rest.arg] = UNKNOWN
            self.run_function(method[1], method[0], self.self_of(cls), names)

    def concerning(self, cls: Class) -> object:
        """What must not have changed for a constructor to be left as it ran."""
        return self.clock.now if self.shared else tuple(self.passed.get(cls, {}).items())

    def make(self, types: Types, args: list, named: dict, node) -> object:
        """A class is called: in a constructor it makes a module, in a region an object that is handed back."""
        if self.strict:
            self.plain_arguments(args, named)
            if any(type(option) is not Class or not option.is_data or option.methods for option in types.options):
                raise NotPlain
            return UNKNOWN
        made: object = NONE
        for option in types.options:
            made = join(made, self.make_one(option, args, named, node))
        return made

    def make_one(self, option: object, args: list, named: dict, node) -> object:
        if type(option) is Class:
            return self.make_own(option, args, named)
        if option in LAYERS:
            return frozenset({LAYER})
        if option == ANY:
            return NUMBER
        if option in MODULE_LISTS:
            return self.make_container(option, args, node)
        if option == "torch.nn.Parameter" or option.startswith("torch.nn.init."):
            return TENSOR
        if option in COPIES and args:
            return args[0]
        if option == "collections.OrderedDict" and len(args) == 1 and type(args[0]) is Many:
            return args[0]
        if option == "functools.partial" and args and type(args[0]) is Types:
            return args[0]
        return UNKNOWN

    def make_own(self, cls: Class, args: list, named: dict) -> object:
        method = cls.method("__init__")
        if not cls.is_object:
            is_static = all(settled(kind) in STATIC for kind in (*args, *named.values()))
            return Data(cls) if cls.is_data and is_static else UNKNOWN
        if method is not None:
            spec = method[1].args
            names = [p.arg for p in [*spec.posonlyargs, *spec.args]][1:]
            if len(args) > len(names) and not spec.vararg:
                raise NotPlain
            passed = self.passed.setdefault(cls, {})
            for name, kind in {**dict(zip(names, args)), **named}.items():
                kind = UNKNOWN if type(kind) in (Self, Bound, Function) else kind
                joined = join(passed[name], kind) if name in passed else kind
                self.shared = self.shared or type(kind) is Many
                if passed.get(name, NotPlain) != joined:
                    passed[name] = joined
                    self.clock.now += 1
        return frozenset({cls})

    def make_container(self, name: str, args: list, node) -> object:
        made = self.many(node, MODULE_LISTS[name])
        for kind in args:
            inside = kind
            if type(kind) is Many or made.role != "sequential":
                inside = kind.element if type(kind) is Many else self.iterate(kind)
            if type(inside) is tuple and len(inside) == 2:
                inside = inside[1]  # of an OrderedDict's pairs
            self.grow(made, called(inside) or inside)
        return frozenset({made})
