"""Types: isinstance, and what an annotation says of a value."""

from __future__ import annotations

import ast
from functools import lru_cache

from breakscope.static.classes import MODULE_BASES
from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import join, join_all
from breakscope.static.modules import ClassInfo, Import, ModuleInfo, Namespace
from breakscope.values import (
    NONE,
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)


class Annotations:
    """What types tell."""

    __slots__ = ()

    def is_instance(self, value: Value, wanted: Value) -> bool | None:
        """isinstance, None when not known."""
        if isinstance(wanted, Sequence) and wanted.items is not None:
            verdicts = [self.is_instance(value, w) for w in wanted.items]
            return True if True in verdicts else None if None in verdicts or not verdicts else False
        if value.is_unknown or wanted.is_unknown or isinstance(value, Union):
            return None
        if isinstance(wanted, Class):
            if isinstance(value, Instance):
                return (
                    True
                    if wanted.info in self.mro(value.cls.info)
                    else None
                    if "?" in self.external_bases(value.cls.info)
                    else False
                )
            return None if isinstance(value, ExternalInstance | Py) else False
        if not isinstance(wanted, External):
            return None
        if isinstance(value, Instance):
            names = self.external_bases(value.cls.info)
            if wanted.name in names or (wanted.name in MODULE_BASES and self.is_module(value)):
                return True
            return None if "?" in names or names else False
        return self.library.is_instance(value, wanted.name)

    def value_of_type(self, wanted: Value) -> Value | None:
        """A value of the given type, for isinstance narrowing of an unknown."""
        if isinstance(wanted, External):
            if wanted.name in ("torch.Tensor", "torch.nn.Parameter"):
                return Tensor(origin="argument")
            if wanted.name in ("int", "float", "bool", "str"):
                return Py(wanted.name)
            if wanted.name in ("list", "tuple"):
                return Sequence(wanted.name, None)
            if wanted.name == "dict":
                return Dict({}, open=True)
        return None

    def value_of_annotation(self, annotation: ast.expr | None, frame: Frame) -> Value:
        """What an annotation says of a value; UNKNOWN when it says nothing that matters."""
        kind = type(annotation)
        if kind is ast.Constant and isinstance(annotation.value, str):
            annotation = parsed_annotation(annotation.value.strip())
            kind = type(annotation)
        if kind is ast.Subscript:
            return self.value_of_generic(annotation, frame)
        if kind is ast.BinOp and isinstance(annotation.op, ast.BitOr):
            return join(
                self.value_of_annotation(annotation.left, frame), self.value_of_annotation(annotation.right, frame)
            )
        if kind is ast.Constant and annotation.value is None:
            return NONE
        if kind is not ast.Name and kind is not ast.Attribute:
            return UNKNOWN
        try:
            named = self.eval(annotation, frame)
        except Raised:
            return UNKNOWN
        if isinstance(named, Class):
            return self.value_of_class(named)
        if isinstance(named, External):
            return self.library.annotated(named.name)
        if type(named) is ExternalInstance:
            return self.type_variables.get(id(named), UNKNOWN)
        return self.value_of_alias(annotation, frame) if named.is_unknown or type(named) is Py else UNKNOWN

    def value_of_alias(self, name: ast.Name | ast.Attribute, frame: Frame) -> Value:
        """What `OptTensor` says after `OptTensor = Optional[Tensor]` at the top of some module."""
        module, found = self.alias(name, frame)
        if found is None or id(found) in self.open_aliases:  # a type that holds itself
            return UNKNOWN
        self.open_aliases.add(id(found))
        try:
            return self.value_of_annotation(found, Frame(module, None, None, None, False, 0, ""))
        finally:
            self.open_aliases.discard(id(found))

    def alias(self, name: ast.Name | ast.Attribute, frame: Frame) -> tuple[ModuleInfo | None, ast.expr | None]:
        """The type that a name stands for, with the module whose top level says so."""
        if type(name) is ast.Name:
            module, member = frame.module, name.id
        else:
            owner = self.eval(name.value, frame)
            if type(owner) is not Namespace:
                return None, None
            module, member = owner.info, name.attr
        for _ in range(8):
            bound = self.module_names(module).get(member)
            if type(bound) is not Import:
                return module, aliases(module).get(member)
            found = self.program.find(bound.module, bound.importer) if bound.member else None
            if found is None:
                return None, None
            module, member = found, bound.member
        return None, None

    def value_of_class(self, cls: Class) -> Value:
        """An argument annotated with a class of the checked source: fields by their annotations, the rest unknown."""
        externals = self.external_bases(cls.info)
        if any(self.library.is_enum(n) for n in externals):
            return Py("enum", "argument")
        cached = self.annotated.get(id(cls.info))
        if cached is None:
            cached = self.annotated[id(cls.info)] = Instance(cls)
            for name, annotation, _, owner in self.fields(cls.info):
                value = self.value_of_annotation(annotation, Frame(owner.module, None, owner.scope, None, False, 0, ""))
                if not value.is_unknown:
                    cached.attributes[name] = value
            self.kept.append(cached)
        return cached

    def value_of_generic(self, annotation: ast.Subscript, frame: Frame) -> Value:
        name = (
            annotation.value.attr
            if isinstance(annotation.value, ast.Attribute)
            else getattr(annotation.value, "id", "")
        )
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        if name == "Optional":
            return join(self.value_of_annotation(inner[0], frame), NONE)
        if name == "Union":
            return join_all([self.value_of_annotation(i, frame) for i in inner])
        if name in ("List", "list", "Sequence", "Iterable", "Collection", "Set", "set"):
            return Sequence("list", None, self.value_of_annotation(inner[0], frame))
        if name in ("Tuple", "tuple"):
            if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...:
                return Sequence("tuple", None, self.value_of_annotation(inner[0], frame))
            return Sequence("tuple", [self.value_of_annotation(i, frame) for i in inner])
        if name in ("Dict", "dict", "Mapping", "OrderedDict") and len(inner) == 2:
            return Dict({}, self.value_of_annotation(inner[1], frame), open=True)
        if name == "Callable":
            return UNKNOWN
        if name in ("Literal",):
            return (
                Py("str", "argument")
                if isinstance(inner[0], ast.Constant) and isinstance(inner[0].value, str)
                else UNKNOWN
            )
        if name in ("Final", "Annotated", "ClassVar", "Required", "NotRequired"):
            return self.value_of_annotation(inner[0], frame)
        return self.value_of_own_generic(annotation, inner, frame)

    def value_of_own_generic(self, annotation: ast.Subscript, inner: list[ast.expr], frame: Frame) -> Value:
        """A generic class of the source, or a library's type for tensors such as `Float[Tensor, "batch size"]`."""
        try:
            named = self.eval(annotation.value, frame)
            makes_types = isinstance(named, Class) and self.makes_types(named.info)
        except Raised:
            return UNKNOWN
        if isinstance(named, Class):
            if not makes_types:
                return self.value_of_class(named)
            told = self.value_of_annotation(inner[0], frame)
            is_tensor = told.is_unknown and "torch.Tensor" in self.external_bases(named.info)
            return self.library.annotated("torch.Tensor") if is_tensor else told
        return self.library.annotated(named.name) if isinstance(named, External) else UNKNOWN

    def makes_types(self, info: ClassInfo) -> bool:
        """True for a class with an indexing of its own, as type libraries have: `Name[...]` is not the class itself."""
        for cls in self.mro(info):
            if "__class_getitem__" in self.members(cls):
                return True
            for keyword in cls.node.keywords:
                if keyword.arg == "metaclass":
                    meta = self.eval(keyword.value, Frame(cls.module, None, cls.scope, None, False, 0, ""))
                    if isinstance(meta, Class) and self.find_member(meta.info, "__getitem__") is not None:
                        return True
        return False


def aliases(module: ModuleInfo) -> dict[str, ast.expr]:
    """The names at a module's top level that are set to something written like a generic type or a union of types."""
    if module.aliases is None:
        module.aliases = {}
        for statement in module.tree.body:
            if type(statement) is ast.Assign:
                targets = statement.targets
            elif type(statement) is ast.AnnAssign:
                targets = [statement.target]
            elif type(statement).__name__ == "TypeAlias":
                module.aliases[statement.name.id] = statement.value
                continue
            else:
                continue
            if isinstance(statement.value, ast.Subscript | ast.BinOp) and type(targets[0]) is ast.Name:
                module.aliases[targets[0].id] = statement.value
    return module.aliases


@lru_cache(maxsize=4096)
def parsed_annotation(text: str) -> ast.expr | None:
    """The expression of an annotation written as a string."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
