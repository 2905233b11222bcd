"""Binding arguments to parameters."""

from __future__ import annotations

import ast
from itertools import repeat

from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import join_all
from breakscope.static.modules import FunctionInfo
from breakscope.values import UNKNOWN, Dict, Instance, Py, Sequence, Tensor, Union, Value, options

PYTHON_TYPES = frozenset({"int", "float", "bool", "str"})


class Binding:
    """How a call's arguments become parameters."""

    __slots__ = ()

    def bind(
        self, info: FunctionInfo, args: list[Value], kwargs: dict[str, Value], scope: Frame | None
    ) -> dict[str, Value]:
        """The values of the function's parameters, in their order: the same however the call passes them."""
        spec, names, more, rest = info.node.args, {}, None, None
        if kwargs:
            kwargs = dict(kwargs)
            more, rest = kwargs.pop("*", None), kwargs.pop("**", None)
        positional = [*spec.posonlyargs, *spec.args] if spec.posonlyargs else spec.args
        defaults = self.defaults(info, scope)
        for i, parameter in enumerate(positional):
            name = parameter.arg
            if i < len(args):
                value = args[i]
            elif name in kwargs:
                value = kwargs.pop(name)
            elif more is not None and name not in defaults:
                value = more
            else:
                value = self.missing(name, defaults, rest)
            if value.is_unknown or type(value) is Tensor and not value.sure:
                value = self.settled(value, parameter, info)
            names[name] = value
        for parameter in spec.kwonlyargs:
            name = parameter.arg
            value = kwargs.pop(name) if name in kwargs else self.missing(name, defaults, rest)
            if value.is_unknown or type(value) is Tensor and not value.sure:
                value = self.settled(value, parameter, info)
            names[name] = value
        if spec.vararg:
            extra = list(args[len(positional) :])
            names[spec.vararg.arg] = (
                Sequence("tuple", extra) if more is None else Sequence("tuple", None, join_all([*extra, more]))
            )
        if spec.kwarg:
            names[spec.kwarg.arg] = Dict(kwargs, rest if rest is not None else UNKNOWN, open=rest is not None)
        return names

    def missing(self, name: str, defaults: dict[str, Value], rest: Value | None) -> Value:
        """The value of a parameter that the call does not name; `rest` is what an open `**kwargs` holds."""
        default = defaults.get(name)
        if default is None:
            return rest if rest is not None else UNKNOWN
        if rest is not None and (default.is_none or not rest.is_tensor):
            return join_all([default, rest])
        return default

    def settled(self, value: Value, parameter: ast.arg, info: FunctionInfo) -> Value:
        """The value of an argument; what is not known of it, the parameter's annotation tells."""
        if value.is_unknown:
            return self.as_annotated(value, parameter, info)
        if value.origin == "argument" and parameter.annotation is not None:
            declared = self.as_annotated(value, parameter, info)
            return declared if type(declared) is Py and declared.type in PYTHON_TYPES else value
        return value

    def as_annotated(self, value: Value, parameter: ast.arg, info: FunctionInfo) -> Value:
        """An unknown argument is what the parameter's annotation, or the function's type comment, says."""
        annotation = parameter.annotation or type_comments(info).get(parameter.arg)
        if annotation is None:
            return value
        return self.value_of_annotation(annotation, Frame(info.module, None, None, None, False, 0, ""))

    def as_declared(
        self, init: FunctionInfo, args: list[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], dict[str, Value]]:
        """A constructor's arguments, where its annotations say which of several objects one can be."""
        spec = init.node.args
        parameters = [*spec.posonlyargs, *spec.args][1:]
        args = [*map(self.one_declared, args, parameters, repeat(init)), *args[len(parameters) :]]
        if kwargs:
            named = {p.arg: p for p in (*parameters, *spec.kwonlyargs)}
            kwargs = {k: self.one_declared(v, named[k], init) if k in named else v for k, v in kwargs.items()}
        return args, kwargs

    def one_declared(self, value: Value, parameter: ast.arg, info: FunctionInfo) -> Value:
        """Of `config.text_config`, which is a dict, None or some configuration, a parameter `config: TextConfig` takes
        only the last."""
        kind = type(value)
        if parameter.annotation is None or kind is not Union and kind is not Instance:
            return value
        declared = self.value_of_annotation(parameter.annotation, Frame(info.module, None, None, None, False, 0, ""))
        if type(declared) is not Instance:
            return value
        wanted = declared.cls.info
        objects = [o for o in options(value) if type(o) is Instance]
        fitting = [o for o in objects if wanted in self.mro(o.cls.info)]
        if fitting:
            return join_all(fitting)
        order = self.mro(wanted)
        return declared if any(o.cls.info in order for o in objects) else value

    def defaults(self, info: FunctionInfo, scope: Frame | None) -> dict[str, Value]:
        """The values of a function's parameter defaults, evaluated once where the function was defined."""
        if info.defaults is None:
            info.defaults = {}
            spec = info.node.args
            positional = [*spec.posonlyargs, *spec.args]
            pairs = list(zip(positional[len(positional) - len(spec.defaults) :], spec.defaults))
            pairs += [(p, d) for p, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None]
            if pairs:
                frame = Frame(info.module, None, scope, None, False, 0, "")
                for parameter, default in pairs:
                    try:
                        value = self.eval(default, frame)
                    except Raised:
                        value = UNKNOWN
                    if isinstance(value, Sequence | Dict) and isinstance(default, ast.List | ast.Dict | ast.Call):
                        value.home = f"default {parameter.arg}"
                    info.defaults[parameter.arg] = value
        return info.defaults


def type_comments(info: FunctionInfo) -> dict[str, ast.expr]:
    """Annotations from a `# type: (Tensor, int) -> Tensor` comment between the header and the body."""
    if info.comments is None:
        info.comments = {}
        node = info.node
        if isinstance(node, ast.FunctionDef) and info.module.has_type_comments():
            for text in info.module.source_lines()[node.lineno - 1 : node.body[0].lineno]:
                before, mark, rest = text.partition("# type: (")
                if mark and "->" in rest:
                    try:
                        wanted = ast.parse(f"({rest.rpartition('->')[0].strip()[:-1]},)", mode="eval").body
                    except SyntaxError:
                        break
                    names = [p.arg for p in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
                    given = wanted.elts if isinstance(wanted, ast.Tuple) else []
                    info.comments = dict(zip(names[len(names) - len(given) :], given))
                    break
    return info.comments


def misfits(info: FunctionInfo, kwargs: dict[str, Value]) -> bool:
    """True when a call names a parameter that the function does not have."""
    spec = info.node.args
    if spec.kwarg is not None:
        return False
    known = {p.arg for p in (*spec.args, *spec.kwonlyargs)}
    return any(name not in known for name in kwargs if not name.startswith("*"))


def given_arguments(info: FunctionInfo, names: dict[str, Value]) -> dict[str, Value]:
    """What the parameters hold, with the contents of `*args` and `**kwargs`, which are made anew for each call, instead of
    these."""
    spec = info.node.args
    if not spec.vararg and not spec.kwarg:
        return dict(names)
    arguments = dict(names)
    rest = arguments.pop(spec.kwarg.arg) if spec.kwarg else None
    more = arguments.pop(spec.vararg.arg) if spec.vararg else None
    if more is not None and more.items:
        arguments.update({f"*{i}": value for i, value in enumerate(more.items)})
    if rest is not None:
        arguments.update({f"**{name}": value for name, value in rest.items.items()})
    return arguments
