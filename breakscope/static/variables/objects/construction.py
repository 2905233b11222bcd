"""Makes objects of classes of the checked source."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Value,
)
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.attrs_classes import written_by_attrs
from breakscope.static.definitions.binding import as_declared
from breakscope.static.definitions.classes import (
    bound_to,
    external_bases,
    find_member,
    is_tensor_dict,
)
from breakscope.static.definitions.fields import (
    fields_of,
    has_generated_init,
    has_optional_keys,
    is_plain,
)
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import key_of
from breakscope.static.machine.library import TENSOR_DICT
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.state import Made
from breakscope.static.project.modules import ClassInfo, ModuleInfo
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.modules.containers import hold_contents
from breakscope.static.variables.objects.decorated import (
    note_decorated,
    note_default_field,
    note_defaults,
)
from breakscope.static.variables.objects.prepared import prepare
from breakscope.static.variables.tensors.subclasses import note_tensor_subclass

TYPED_DICTS = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def instantiate(
    machine: Machine,
    cls: Class,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Make an object of a class of the checked source; equal arguments outside of regions give
    the same object, but for the file's own code around a region, which makes another in each turn."""
    info: ClassInfo = cls.info
    externals = external_bases(machine, info)
    if any(machine.library.is_enum(name) for name in externals):
        return Py("enum", args[0].source if args and isinstance(args[0], Py) else "")
    if is_tensor_dict(machine, info):
        return ExternalInstance(TENSOR_DICT, tuple(args), tuple(kwargs.items()))
    init = None if has_generated_init(machine, info) else find_member(machine, info, "__init__")
    if type(init) is Function:
        args, kwargs = as_declared(machine, init.info, args, kwargs)
    if frame.emits:
        note_tensor_subclass(machine, cls, init, args, kwargs, node, frame)
        for base in externals:
            emit_call(machine, f"subclass of {base}", cls, args, kwargs, node, frame)
        if written := written_by_attrs(machine, info):
            what = "object of a class that attrs completes"
            emit_call(machine, what, cls, [Const(written)], {}, node, frame)
        if TYPED_DICTS & set(externals) and has_optional_keys(machine, info):
            emit_call(machine, "typing.TypedDict()", cls, args, kwargs, node, frame)
    key = (
        id(info),
        frame.emits,
        machine.objects.configuring,
        # a program has several objects that are made alike
        id(node) if machine.driver.calls is not None and not frame.emits else 0,
        tuple([key_of(a) for a in args]),
        tuple([(k, key_of(v)) for k, v in kwargs.items()]),
    )
    instances = machine.objects.instances.setdefault(id(info), {})
    # what a library makes in a turn is as what it made before, and its own parts multiply
    afresh = machine.driver.sets and not frame.emits and frame.module is machine.file.module
    instance = None if afresh else instances.get(key)
    # one that was changed later is not what is made here
    if instance is not None and not instance.version:
        note_made(machine, instance, frame)
        # remembered as well; links what it emitted to this caller
        if frame.emits and init is not None:
            call_member(machine, instance, init, args, kwargs, node, frame)
        note_defaults_taken(machine, instance, init, args, kwargs, node, frame)
        return instance
    if instance is not None:
        machine.objects.kept.append(instance)
    instance = instances[key] = Instance(cls)
    machine.objects.kept.extend((cls, *args, *kwargs.values()))
    note_made(machine, instance, frame)
    if type(init) is Function:
        note_decorated(machine, bound_to(init, instance), node, frame, by_name=False)
    note_defaults_taken(machine, instance, init, args, kwargs, node, frame)
    try:
        if init is not None:
            call_member(machine, instance, init, args, kwargs, node, frame)
        else:
            fill_fields(machine, instance, args, kwargs, node, frame)
    except Raised:
        if frame.emits or frame.caught or frame.function is None:
            raise
        # as for any call that seems to raise; half an object would be taken for the whole
        return UNKNOWN
    if machine.objects.configuring and not frame.emits:
        prepare(machine, instance)
    return instance


def call_namespace(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    """`types.SimpleNamespace(a=1)`: outside of regions an object whose attributes are known."""
    if args or any(name.startswith("*") for name in kwargs):
        return ExternalInstance("types.SimpleNamespace", tuple(args), tuple(kwargs.items()))
    made = Instance(stand_in(machine, "SimpleNamespace"), dict(kwargs))
    machine.objects.kept.append(made)
    return made


def stand_in(machine: Machine, name: str) -> Class:
    """An empty class in the place of a library's, whose objects keep what they are given."""
    if name not in machine.objects.stand_ins:
        module = ModuleInfo("", "types", "", False, b"", ast.parse(f"class {name}:\n    pass\n"))
        machine.objects.stand_ins[name] = Class(ClassInfo(name, name, module.tree.body[0], module))
    return machine.objects.stand_ins[name]


def call_member(
    machine: Machine, instance: Instance, member: Value, args, kwargs, node: ast.AST, frame: Frame
) -> Value:
    function = bound_to(member, instance)
    return machine.call(function, args, kwargs, node, frame)


def note_made(machine: Machine, instance: Instance, frame: Frame) -> None:
    if frame.emits:
        machine.objects.made_count += 1
        machine.objects.made_inside[id(instance)] = Made(
            id(frame.activation), len(frame.activation.steps), machine.objects.made_count
        )


def made_at(machine: Machine, value: Value, frame: Frame) -> int:
    """How many steps the running function had taken when it made the object, by itself or by
    what it calls (then 0); -1 for any other object."""
    made = machine.objects.made_inside.get(id(value))
    made = made or machine.objects.made_by_reading.get(id(value))
    if made is None or made.count <= frame.began or not frame.emits or frame.function is None:
        return -1
    if any(frame.names.get(parameter.arg) is value for parameter in frame.function.node.args.args):
        return -1  # equal objects are one here, and one of them may have been made later
    return made.steps if made.activation == id(frame.activation) else 0


def fill_fields(
    machine: Machine,
    instance: Instance,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Set the fields of a dataclass or NamedTuple, then run `__post_init__`; or what a module
    container is given."""
    hold_contents(machine, instance, args, kwargs, node, frame)
    plain = is_plain(machine, instance.cls.info)
    for i, (name, annotation, default, owner) in enumerate(fields_of(machine, instance.cls.info)):
        if plain and default is not None:
            continue
        if i < len(args):
            value = args[i]
        elif name in kwargs:
            value = kwargs[name]
        elif default is not None:
            value = default_of_field(machine, default, owner, frame)
            if isinstance(value, ExternalInstance) and value.name == "dataclasses.field":
                given = dict(value.kwargs)
                value = given.get("default") or (
                    machine.call(given["default_factory"], [], {}, node, frame)
                    if "default_factory" in given
                    else UNKNOWN
                )
        else:
            value = kwargs.get("**", UNKNOWN)
        if value.is_unknown:
            value = value_of_annotation(machine, annotation, Frame(owner.module, scope=owner.scope))
        instance.attributes[name] = value
    post = find_member(machine, instance.cls.info, "__post_init__")
    if post is not None:
        call_member(machine, instance, post, [], {}, node, frame)


def default_of_field(machine: Machine, default: ast.expr, owner: ClassInfo, frame: Frame) -> Value:
    """The value of a field's default, which stands in a class body."""
    return machine.eval(
        default, Frame(owner.module, None, owner.scope, None, False, frame.depth + 1, "")
    )


def note_defaults_taken(
    machine: Machine,
    instance: Instance,
    init: Value | None,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Emit what a constructor takes from its defaults and Dynamo cannot take over."""
    if not frame.emits:
        return
    if type(init) is Function:
        bound = bound_to(init, instance)
        note_defaults(machine, bound, len(args), kwargs, node, frame, by_name=False)
    elif init is None and has_generated_init(machine, instance.cls.info) and "**" not in kwargs:
        fields = fields_of(machine, instance.cls.info)
        for name, _, default, owner in fields[len(args) :]:
            if default is not None and name not in kwargs:
                value = default_of_field(machine, default, owner, frame)
                note_default_field(machine, instance, name, value, node, frame)
