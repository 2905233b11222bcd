"""Reads type annotations: the abstract value of something that is annotated so."""

from __future__ import annotations

import ast
from functools import lru_cache

from breakscope import limits
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Instance,
    Py,
    Sequence,
    Value,
)
from breakscope.static.definitions.classes import (
    external_bases,
    find_member,
    is_tensor_dict,
    members_of,
    mro_of,
)
from breakscope.static.definitions.fields import fields_of
from breakscope.static.definitions.names import module_names
from breakscope.static.definitions.tensor_types import tensor_type, typed_tensor
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.library import TENSOR_DICT
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo, Import, ModuleInfo, Namespace


def value_of_annotation(machine: Machine, annotation: ast.expr | None, frame: Frame) -> Value:
    """The value that an annotation describes; UNKNOWN when that is nothing that matters."""
    objects = machine.objects
    before, objects.annotation_parts = objects.annotation_parts, objects.annotation_parts + 1
    if before > limits.MOST_ANNOTATION_PARTS:
        return UNKNOWN
    try:
        return _described(machine, annotation, frame)
    finally:
        if not before:
            if objects.annotation_parts > limits.MOST_ANNOTATION_PARTS:
                machine.give_up("this type has too many parts to be read", annotation, frame)
            objects.annotation_parts = 0


def _described(machine: Machine, annotation: ast.expr | None, frame: Frame) -> Value:
    kind = type(annotation)
    if kind is ast.Constant and isinstance(annotation.value, str):
        annotation = parsed_annotation(annotation.value.strip())
        kind = type(annotation)
    if kind is ast.Subscript:
        return value_of_generic(machine, annotation, frame)
    if kind is ast.BinOp and isinstance(annotation.op, ast.BitOr):
        return join(
            value_of_annotation(machine, annotation.left, frame),
            value_of_annotation(machine, annotation.right, frame),
        )
    if kind is ast.Constant and annotation.value is None:
        return NONE
    if kind is not ast.Name and kind is not ast.Attribute:
        return UNKNOWN
    try:
        named = machine.eval(annotation, frame)
    except Raised:
        return UNKNOWN
    if isinstance(named, Class):
        return value_of_class(machine, named)
    if isinstance(named, External):
        return machine.library.annotated(named.name)
    if type(named) is ExternalInstance:
        return machine.objects.type_variables.get(id(named), UNKNOWN)
    return (
        value_of_alias(machine, annotation, frame)
        if named.is_unknown or type(named) is Py
        else UNKNOWN
    )


def value_of_alias(machine: Machine, name: ast.Name | ast.Attribute, frame: Frame) -> Value:
    """What `OptTensor` stands for after `OptTensor = Optional[Tensor]` at the top of some module."""
    module, found = alias_of(machine, name, frame)
    if found is None or id(found) in machine.objects.open_aliases:  # a type that holds itself
        return UNKNOWN
    machine.objects.open_aliases.add(id(found))
    try:
        return value_of_annotation(machine, found, Frame(module))
    finally:
        machine.objects.open_aliases.discard(id(found))


def alias_of(
    machine: Machine, name: ast.Name | ast.Attribute, frame: Frame
) -> tuple[ModuleInfo | None, ast.expr | None]:
    """The type that a name stands for, with the module whose top level defines it."""
    if isinstance(name, ast.Name):
        module, member = frame.module, name.id
    else:
        owner = machine.eval(name.value, frame)
        if type(owner) is not Namespace:
            return None, None
        module, member = owner.info, name.attr
    for _ in range(limits.MOST_ALIAS_STEPS):
        bound = module_names(machine, module).get(member)
        if type(bound) is not Import:
            return module, aliases(module).get(member)
        found = machine.find(bound.module, bound.importer) if bound.member else None
        if found is None:
            return None, None
        module, member = found, bound.member
    return None, None


def value_of_class(machine: Machine, cls: Class) -> Value:
    """An argument annotated with a class of the checked source: fields by their annotations,
    the rest unknown."""
    externals = external_bases(machine, cls.info)
    if any(machine.library.is_enum(n) for n in externals):
        return Py("enum", "argument")
    if is_tensor_dict(machine, cls.info):
        return ExternalInstance(TENSOR_DICT)
    made = machine.objects.annotated.get(id(cls.info))
    if made is None:
        made = machine.objects.annotated[id(cls.info)] = Instance(cls)
        # each field is an annotation of its own
        parts, machine.objects.annotation_parts = machine.objects.annotation_parts, 0
        for name, annotation, _, owner in fields_of(machine, cls.info):
            frame = Frame(owner.module, scope=owner.scope)
            value = value_of_annotation(machine, annotation, frame)
            if not value.is_unknown:
                made.attributes[name] = value
        machine.objects.annotation_parts = parts
        machine.objects.kept.append(made)
    return made


def value_of_generic(machine: Machine, annotation: ast.Subscript, frame: Frame) -> Value:
    name = (
        annotation.value.attr
        if isinstance(annotation.value, ast.Attribute)
        else getattr(annotation.value, "id", "")
    )
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if name == "Optional":
        return join(value_of_annotation(machine, inner[0], frame), NONE)
    if name == "Union":
        return join_all([value_of_annotation(machine, i, frame) for i in inner])
    if name in ("List", "list", "Sequence", "Iterable", "Collection", "Set", "set"):
        return Sequence("list", None, value_of_annotation(machine, inner[0], frame))
    if name in ("Tuple", "tuple"):
        if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...:
            return Sequence("tuple", None, value_of_annotation(machine, inner[0], frame))
        return Sequence("tuple", [value_of_annotation(machine, i, frame) for i in inner])
    if name in ("Dict", "dict", "Mapping", "OrderedDict") and len(inner) == 2:
        return Dict({}, value_of_annotation(machine, inner[1], frame), open=True)
    if name == "Callable":
        return UNKNOWN
    if name in ("Literal",):
        return (
            Py("str", "argument")
            if isinstance(inner[0], ast.Constant) and isinstance(inner[0].value, str)
            else UNKNOWN
        )
    if name in ("Final", "Annotated", "ClassVar", "Required", "NotRequired"):
        return value_of_annotation(machine, inner[0], frame)
    return value_of_own_generic(machine, annotation, inner, frame)


def value_of_own_generic(
    machine: Machine, annotation: ast.Subscript, inner: list[ast.expr], frame: Frame
) -> Value:
    """A generic class of the source, or a library's type for tensors such as `Float[Tensor,
    "batch size"]`."""
    try:
        named = machine.eval(annotation.value, frame)
        is_factory = isinstance(named, Class) and makes_types(machine, named.info)
    except Raised:
        return UNKNOWN
    if name := tensor_type(named):
        return typed_tensor(name, value_of_annotation(machine, inner[0], frame), inner[-1])
    if isinstance(named, Class):
        if not is_factory:
            return value_of_class(machine, named)
        element = value_of_annotation(machine, inner[0], frame)
        is_tensor = element.is_unknown and "torch.Tensor" in external_bases(machine, named.info)
        return machine.library.annotated("torch.Tensor") if is_tensor else element
    return machine.library.annotated(named.name) if isinstance(named, External) else UNKNOWN


def makes_types(machine: Machine, info: ClassInfo) -> bool:
    """True for a class with an indexing of its own, as type libraries have: `Name[...]` is not
    the class itself."""
    for cls in mro_of(machine, info):
        if "__class_getitem__" in members_of(cls):
            return True
        for keyword in cls.node.keywords:
            if keyword.arg == "metaclass":
                meta = machine.eval(keyword.value, Frame(cls.module, scope=cls.scope))
                if (
                    isinstance(meta, Class)
                    and find_member(machine, meta.info, "__getitem__") is not None
                ):
                    return True
    return False


def aliases(module: ModuleInfo) -> dict[str, ast.expr]:
    """The names at a module's top level that are set to something written like a generic type or a
    union of types."""
    if module.aliases is None:
        module.aliases = {}
        for statement in module.tree.body:
            if isinstance(statement, ast.Assign):
                targets = statement.targets
            elif isinstance(statement, ast.AnnAssign):
                targets = [statement.target]
            elif type(statement).__name__ == "TypeAlias":
                module.aliases[statement.name.id] = statement.value
                continue
            else:
                continue
            if isinstance(statement.value, ast.Subscript | ast.BinOp) and isinstance(
                targets[0], ast.Name
            ):
                module.aliases[targets[0].id] = statement.value
    return module.aliases


@lru_cache(maxsize=4096)
def parsed_annotation(text: str) -> ast.expr | None:
    """The expression of an annotation written as a string."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
