"""Binds the arguments of a call to the parameters of a function of the checked source."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.rulekit.walking import defaults_in, plain_parameters, positional_parameters
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import mro_of
from breakscope.static.definitions.documented_types import documented_tensors, with_documented_dtype
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import FunctionInfo

PYTHON_TYPES = frozenset({"int", "float", "bool", "str"})


def bind_arguments(
    machine: Machine,
    info: FunctionInfo,
    args: list[Value],
    kwargs: dict[str, Value],
    scope: Frame | None,
) -> dict[str, Value]:
    """The values of the function's parameters, in their order: the same however the call passes
    them."""
    spec, names, more, rest = info.node.args, {}, None, None
    if kwargs:
        kwargs = dict(kwargs)
        more, rest = kwargs.pop("*", None), kwargs.pop("**", None)
    positional = [*spec.posonlyargs, *spec.args] if spec.posonlyargs else spec.args
    defaults = defaults_of(machine, info, scope)
    for i, parameter in enumerate(positional):
        name = parameter.arg
        if i < len(args):
            value = args[i]
        elif name in kwargs:
            value = kwargs.pop(name)
        elif more is not None and name not in defaults:
            value = more
        else:
            value = missing_argument(machine, parameter, info, defaults, rest)
        if value.is_unknown or (type(value) is Tensor and not value.sure):
            value = settled_argument(machine, value, parameter, info)
        names[name] = value
    for parameter in spec.kwonlyargs:
        name = parameter.arg
        value = (
            kwargs.pop(name)
            if name in kwargs
            else missing_argument(machine, parameter, info, defaults, rest)
        )
        if value.is_unknown or (type(value) is Tensor and not value.sure):
            value = settled_argument(machine, value, parameter, info)
        names[name] = value
    if spec.vararg:
        extra = list(args[len(positional) :])
        names[spec.vararg.arg] = (
            Sequence("tuple", extra)
            if more is None
            else Sequence("tuple", None, join_all([*extra, more]))
        )
    if spec.kwarg:
        names[spec.kwarg.arg] = Dict(
            kwargs, rest if rest is not None else UNKNOWN, open=rest is not None
        )
    return names


def missing_argument(
    machine: Machine,
    parameter: ast.arg,
    info: FunctionInfo,
    defaults: dict[str, Value],
    rest: Value | None,
) -> Value:
    """The value of a parameter that the call does not name; `rest` is what an open `**kwargs`
    holds."""
    default = defaults.get(parameter.arg)
    if default is None:
        return rest if rest is not None else UNKNOWN
    if rest is None or (rest.is_tensor and not default.is_none):
        return default
    if any(option.is_tensor for option in options(rest)):
        declared = options(as_annotated(machine, UNKNOWN, parameter, info))
        if not any(option.is_tensor or option.is_unknown for option in declared):
            rest = join_all(
                [option for option in options(rest) if not option.is_tensor] or [default]
            )
    if rest.is_unknown:
        if type(default) is Const and type(default.value) is bool:
            return default  # a flag that the call does not name is seldom among them
        rest = settled_argument(machine, rest, parameter, info)
    return join_all([default, rest])


def settled_argument(
    machine: Machine, value: Value, parameter: ast.arg, info: FunctionInfo
) -> Value:
    """The value of an argument; what is not known of it comes from the parameter's annotation, and
    from the docstring."""
    if value.is_unknown:
        annotated = as_annotated(machine, value, parameter, info)
        if info.module.library:
            annotated = handed_over(annotated)
        is_bare = annotated.is_unknown and parameter.annotation is None
        if is_bare:
            return documented_tensors(info).get(parameter.arg, value)
        return with_documented_dtype(annotated, info, parameter.arg)
    if value.is_argument and parameter.annotation is not None:
        declared = as_annotated(machine, value, parameter, info)
        if is_of_python(declared):
            return declared
        if info.module.library and value.origin == "guess" and type(declared) is Union:
            plain = handed_over(declared)
            value = plain if type(plain) is Tensor else value
    return with_documented_dtype(value, info, parameter.arg)


def is_of_python(declared: Value) -> bool:
    """True for a number, a text or a flag, and for a list or a tuple of such."""
    if type(declared) is Sequence:
        inside = declared.inside
        return bool(inside) and all(map(is_of_python, inside))
    return type(declared) is Py and declared.type in PYTHON_TYPES


def as_annotated(machine: Machine, value: Value, parameter: ast.arg, info: FunctionInfo) -> Value:
    """An unknown argument is what the parameter's annotation, or the function's type comment,
    says."""
    annotation = parameter.annotation or type_comments(info).get(parameter.arg)
    if annotation is None:
        return value
    return value_of_annotation(machine, annotation, Frame(info.module))


def handed_over(declared: Value) -> Value:
    """What a compiled model hands to a parameter of a library that is declared to take a tensor, an object of the
    library's class that stands in for one, or None: the tensor."""
    parts = options(declared)
    tensors = [part for part in parts if type(part) is Tensor]
    others = [
        part
        for part in parts
        if not (isinstance(part, Instance | Tensor) or part.is_unknown or part.is_none)
    ]
    return join_all([*tensors, *others]) if tensors else declared


def as_declared(
    machine: Machine, init: FunctionInfo, args: list[Value], kwargs: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """A constructor's arguments, where its annotations say which of several objects one can be."""
    spec = init.node.args
    parameters = positional_parameters(init.node)[1:]
    declared = [one_declared(machine, v, p, init) for v, p in zip(args, parameters)]
    args = [*declared, *args[len(parameters) :]]
    if kwargs:
        named = {p.arg: p for p in (*parameters, *spec.kwonlyargs)}
        kwargs = {
            k: one_declared(machine, v, named[k], init) if k in named else v
            for k, v in kwargs.items()
        }
    return args, kwargs


def one_declared(machine: Machine, value: Value, parameter: ast.arg, info: FunctionInfo) -> Value:
    """Of `config.text_config`, which is a dict, None or some configuration, a parameter
    `config: TextConfig` takes only the last."""
    kind = type(value)
    if parameter.annotation is None or (kind is not Union and kind is not Instance):
        return value
    declared = value_of_annotation(machine, parameter.annotation, Frame(info.module))
    if type(declared) is not Instance:
        return value
    wanted = declared.cls.info
    objects = [o for o in options(value) if type(o) is Instance]
    fitting = [o for o in objects if wanted in mro_of(machine, o.cls.info)]
    if fitting:
        return join_all(fitting)
    order = mro_of(machine, wanted)
    return declared if any(o.cls.info in order for o in objects) else value


def defaults_of(machine: Machine, info: FunctionInfo, scope: Frame | None) -> dict[str, Value]:
    """The values of a function's parameter defaults, evaluated once where the function was
    defined."""
    if info.defaults is None:
        machine.touch(info)
        info.defaults = {}
        pairs = list(defaults_in(info.node))
        if pairs:
            frame = Frame(info.module, scope=scope)
            for parameter, default in pairs:
                try:
                    value = machine.eval(default, frame)
                except Raised:
                    value = UNKNOWN
                if isinstance(value, Sequence | Dict) and isinstance(
                    default, ast.List | ast.Dict | ast.Call
                ):
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
                _, mark, rest = text.partition("# type: (")
                if mark and "->" in rest:
                    try:
                        wanted = ast.parse(
                            f"({rest.rpartition('->')[0].strip()[:-1]},)", mode="eval"
                        ).body
                    except SyntaxError:
                        break
                    names = [p.arg for p in plain_parameters(node)]
                    given = wanted.elts if isinstance(wanted, ast.Tuple) else []
                    info.comments = dict(zip(names[len(names) - len(given) :], given))
                    break
    return info.comments
