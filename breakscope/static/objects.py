"""Objects: classes and their members, attributes, items, iteration, annotations."""

from __future__ import annotations

import ast
from functools import lru_cache

from breakscope.events import Mutate, ScalarRead, Store
from breakscope.static.calls import Super
from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.program import ClassInfo, Import, Namespace, function_info
from breakscope.static.tensors import TENSOR_ONLY
from breakscope.values import (
    NONE, UNKNOWN, Class, Const, Dict, External, ExternalInstance, Function, Instance, Method, Py, Scalar, Sequence, ShapeInt,
    Tensor, Union, Value, options,
)

MODULE_BASES = ("torch.nn.Module", "torch.nn.modules.module.Module")
FACTORIES = {"list": "list", "dict": "dict", "tuple": "tuple", "set": "set"}


class Objects:
    """How attributes and items are read and stored."""

    # --- classes

    def bases(self, info: ClassInfo) -> list[Value]:
        """The values of a class's bases."""
        if info.bases is None:
            info.bases = []
            frame = Frame(info.module, None, info.scope, None, False, 0, "")
            for base in info.node.bases:
                try:
                    value = self.eval(base.value if type(base) is ast.Subscript else base, frame)
                except Raised:
                    value = UNKNOWN
                info.bases.extend(options(value))
        return info.bases

    def mro(self, info: ClassInfo) -> list[ClassInfo]:
        """The classes of the checked source in method resolution order (C3, else depth first)."""
        if info.mro is None:
            info.mro = [info]  # ends a cycle
            parents = [b.info for b in self.bases(info) if isinstance(b, Class) and b.info is not info]
            info.mro = [info, *_merge([*(list(self.mro(p)) for p in parents), parents])]
        return info.mro

    def external_bases(self, info: ClassInfo) -> tuple[str, ...]:
        """Canonical names of the bases outside of the checked source, of all classes in the order."""
        if info.external_bases is None:
            names: dict[str, None] = {}
            for cls in self.mro(info):
                for base in self.bases(cls):
                    if isinstance(base, External):
                        names.setdefault(base.name)
                    elif base.is_unknown:
                        names.setdefault("?")
            info.external_bases = tuple(names)
        return info.external_bases

    def is_module(self, value: Value) -> bool:
        """True for an object whose class derives from torch.nn.Module, as far as the source shows."""
        if isinstance(value, Instance):
            return self.is_module_class(value.cls.info)
        return isinstance(value, ExternalInstance) and value.name.startswith("torch.nn.")

    def is_module_class(self, info: ClassInfo) -> bool:
        for name in self.external_bases(info):
            if name in MODULE_BASES or name.startswith("torch.nn.") or name.endswith("Module"):
                return True
        return "?" in self.external_bases(info) and self.find_member(info, "forward") is not None

    def members(self, info: ClassInfo) -> dict[str, object]:
        """Statements that define each name in a class body; a name's last definition wins."""
        if info.members is None:
            info.members = {}
            _collect(info.node.body, info.members)
        return info.members

    def find_member(self, info: ClassInfo, name: str, after: ClassInfo | None = None) -> Value | None:
        """The value of a class attribute through the classes in order (behind `after` for super)."""
        order = self.mro(info)
        if after is not None:
            order = order[order.index(after) + 1:] if after in order else []
        for cls in order:
            if name in cls.values:
                return cls.values[name]
            statement = self.members(cls).get(name)
            if statement is not None:
                value = self.member_value(cls, name, statement)
                cls.values[name] = value
                return value
        return None

    def member_value(self, cls: ClassInfo, name: str, statement: ast.stmt) -> Value:
        frame = Frame(cls.module, None, cls.scope, None, False, 0, cls.qualname)
        for other in ("staticmethod", "classmethod", "property"):
            frame.names[other] = External(other)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            info = function_info(cls.module, statement, cls.qualname, cls)
            if name.partition(".")[0]:
                return self.decorate(statement, Function(info, scope=cls.scope), self.class_frame(cls, statement))
        if isinstance(statement, ast.ClassDef):
            self.exec_ClassDef(statement, frame)
            return frame.names[statement.name]
        try:
            self.exec_table[type(statement)](statement, self.class_frame(cls, statement, frame))
        except Raised:
            return UNKNOWN
        value = frame.names.get(name, UNKNOWN)
        if isinstance(value, Sequence | Dict) and not value.home:
            value.home = f"{cls.name}.{name}"
        return value

    def class_frame(self, cls: ClassInfo, statement: ast.stmt, frame: Frame | None = None) -> Frame:
        """A frame in which the names of the class body are visible to its later statements."""
        frame = frame or Frame(cls.module, None, cls.scope, None, False, 0, cls.qualname)
        used = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} if not isinstance(
            statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else {
            n.id for d in statement.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}
        for name in used & self.members(cls).keys():
            if self.members(cls)[name] is not statement:
                if name not in cls.values:
                    cls.values[name] = UNKNOWN  # ends a cycle
                    cls.values[name] = self.member_value(cls, name, self.members(cls)[name])
                frame.names[name] = cls.values[name]
        return frame

    def fields(self, info: ClassInfo) -> list[tuple[str, ast.expr, ast.expr | None, ClassInfo]]:
        """(name, annotation, default, class) of the fields of a dataclass or NamedTuple, bases first."""
        if info.fields is None:
            found: dict[str, tuple] = {}
            for cls in reversed(self.mro(info)):
                for statement in cls.node.body:
                    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                        if not _is_class_variable(statement.annotation):
                            found[statement.target.id] = (statement.target.id, statement.annotation, statement.value, cls)
            info.fields = list(found.values())
        return info.fields

    def annotations(self, info: ClassInfo) -> dict[str, ast.expr]:
        """The annotated names of a class body."""
        if info.annotations is None:
            info.annotations = {s.target.id: s.annotation for s in info.node.body
                                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
        return info.annotations

    def field_names(self, instance: Instance) -> list[str]:
        """The fields over which an object unpacks: those of a NamedTuple; none for other classes."""
        if "typing.NamedTuple" in self.external_bases(instance.cls.info):
            return [name for name, *_ in self.fields(instance.cls.info)]
        return []

    def bound_to(self, member: Value, owner: Value) -> Value:
        """A class member as an attribute of `owner` (an Instance or a Class)."""
        if not isinstance(member, Function) or member.bound is not None:
            return member
        marks = member.info.marks
        if "staticmethod" in marks:
            return member
        if "classmethod" in marks:
            return Function(member.info, owner.cls if isinstance(owner, Instance) else owner, member.scope)
        if isinstance(owner, Class) or member.info.owner is None and not member.info.node.args.args:
            return member
        return Function(member.info, owner, member.scope, member.args, member.kwargs)

    # --- attributes

    def attribute(self, owner: Value, name: str, node: ast.AST, frame: Frame) -> Value:
        """`owner.name`; runs properties."""
        kind = type(owner)
        if kind is Instance:
            return self.instance_attribute(owner, name, node, frame)
        if kind is External:
            return self.external_attribute(owner.name, name)
        if kind is Tensor:
            return self.tensor_attribute(owner, name, node, frame)
        if kind is Namespace:
            return self.namespace_attribute(owner, name)
        if kind is Union:
            return join_all([self.attribute(o, name, node, frame) for o in owner.options if not o.is_none])
        if kind is Class:
            return self.class_attribute(owner, name)
        if kind is Super:
            return self.super_attribute(owner, name, node, frame)
        if kind in (Sequence, Dict, Const, ExternalInstance, ShapeInt, Scalar, Py):
            return self.builtin_attribute(owner, name, node, frame)
        if kind is Function:
            if name in ("__name__", "__qualname__"):
                return Const(owner.info.name)
            return UNKNOWN
        if kind is type(UNKNOWN) and name in TENSOR_ONLY:
            return self.tensor_attribute(Tensor(sure=False), name, node, frame)
        return UNKNOWN

    def instance_attribute(self, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        if frame.emits:
            self.reads.setdefault((id(owner), name), (frame.activation, node))
            if type(node) is ast.Attribute and type(node.value) is ast.Name:
                narrowed = frame.names.get(f"{node.value.id}.{name}")
                if narrowed is not None:
                    return narrowed
        value = owner.attributes.get(name)
        if value is not None:
            return self.resolve(value) if type(value) is Import else value
        info = owner.cls.info
        member = self.find_member(info, name)
        if member is not None:
            return self.member_of_instance(owner, member, node, frame)
        if name == "__dict__":
            return Dict(owner.attributes, open=True)
        if name == "__class__":
            return owner.cls
        if name == "training" and self.is_module(owner):
            return Py("bool", "config")
        if self.is_module(owner) and name in self.library.module_methods:
            return Method(owner, name)
        return self.fallback_attribute(owner, name, node, frame)

    def member_of_instance(self, owner: Instance, member: Value, node: ast.AST, frame: Frame) -> Value:
        if isinstance(member, Function):
            bound = self.bound_to(member, owner)
            if "property" in member.info.marks:
                return self.call_value(bound, [], {}, node, frame)
            return bound
        if isinstance(member, Instance):  # a descriptor
            getter = self.find_member(member.cls.info, "__get__")
            if getter is not None:
                return self.call_member(member, getter, [owner, owner.cls], {}, node, frame)
        return member

    def fallback_attribute(self, owner: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
        """An attribute that nothing was seen to set: its annotation, else `__getattr__`, else unknown."""
        for cls in self.mro(owner.cls.info):
            annotation = self.annotations(cls).get(name)
            if annotation is not None:
                return self.value_of_annotation(annotation, Frame(cls.module, None, cls.scope, None, False, 0, ""))
        if self.field_names(owner) and name in ("_replace", "_asdict"):
            return Method(owner, name)
        return UNKNOWN

    def class_attribute(self, owner: Class, name: str) -> Value:
        member = self.find_member(owner.info, name)
        if member is None:
            if name == "apply" and any(n.startswith("torch.autograd.") for n in self.external_bases(owner.info)):
                return Method(owner, "apply")
            return Const(owner.info.name) if name in ("__name__", "__qualname__") else UNKNOWN
        if any(self.library.is_enum(n) for n in self.external_bases(owner.info)) and not isinstance(member, Function):
            return Py(f"enum {owner.info.name}.{name}")
        return self.bound_to(member, owner)

    def super_attribute(self, owner: Super, name: str, node: ast.AST, frame: Frame) -> Value:
        instance = owner.instance
        info = instance.cls.info if isinstance(instance, Instance) else instance.info
        member = self.find_member(info, name, after=owner.owner)
        if member is None:
            return Method(owner, name)
        if isinstance(member, Function) and "property" in member.info.marks and isinstance(instance, Instance):
            return self.call_value(self.bound_to(member, instance), [], {}, node, frame)
        if isinstance(member, Function) and name == "__new__":
            return member
        return self.bound_to(member, instance)

    def namespace_attribute(self, owner: Namespace, name: str) -> Value:
        value = self.module_names(owner.info).get(name)
        if value is not None:
            return self.resolve(value)
        inner = self.program.find(f"{owner.info.name}.{name}", owner.info)
        return Namespace(inner) if inner is not None else UNKNOWN

    def external_attribute(self, owner: str, name: str) -> Value:
        return self.external(f"{owner}.{name}")

    def store_attribute(self, target: ast.Attribute, owner: Value, name: str, value: Value, frame: Frame, node: ast.AST,
                        old: Value | None = None) -> None:
        for option in options(owner):
            if isinstance(option, Instance):
                self.store_on_instance(target, option, name, value, frame, node, old)
            elif option.is_tensor:
                self.emit(Store, node, frame, self.sureness(option), owner=self.text(target.value, frame.module), name=name,
                          scope="tensor", value=value)

    def store_on_instance(self, target: ast.Attribute, owner: Instance, name: str, value: Value, frame: Frame, node: ast.AST,
                          old: Value | None) -> None:
        frame.names.pop(f"{self.text(target.value, frame.module)}.{name}", None)
        setter = self.find_member(owner.cls.info, name)
        if isinstance(setter, Instance):
            method = self.find_member(setter.cls.info, "__set__")
            if method is not None:
                self.call_member(setter, method, [owner, value], {}, node, frame)
                return
        source = self.text(target.value, frame.module)
        before = owner.attributes.get(name)
        if frame.emits:
            if id(owner) in self.made_inside:
                owner.attributes[name] = value if before is None else join(before, value)
                return
            initial = before if before is not None else self.initial(owner, name)
            reads_itself = old is not None or _reads(node, source, name)
            self.emit_store(Store, node, frame, (id(owner), name), owner=source, name=name, scope="attribute", value=value,
                            initial=initial, reads_itself=reads_itself)
            self.later.setdefault((id(owner), name), []).append(value)
            if isinstance(target.value, ast.Name):
                frame.names[f"{source}.{name}"] = value
            if before is None:
                owner.attributes[name] = value
            return
        if isinstance(value, Sequence | Dict) and not value.home:
            value.home = f"{source}.{name}"
        if frame.function is not None and frame.bound is owner or before is None:
            owner.attributes[name] = value if frame.lost == "" or before is None else join(before, value)
        else:
            self.outside.append((owner, name, value, before, frame.module.path, node))
            owner.attributes[name] = join(before, value)

    def initial(self, owner: Instance, name: str) -> Value:
        member = self.find_member(owner.cls.info, name)
        return member if member is not None else UNKNOWN

    # --- items

    def item(self, node: ast.AST, container: Value, index: Value, frame: Frame, store: str = "") -> Value:
        """`container[index]`; `store` is the operator when the item is about to be changed in place."""
        kind = type(container)
        if kind is Tensor:
            return self.tensor_item(node, container, index, frame, store)
        if kind is Union:
            return join_all([self.item(node, o, index, frame, store) for o in container.options if not o.is_none])
        if kind is Sequence:
            return self.sequence_item(node, container, index, frame)
        if kind is Dict:
            return self.dict_item(container, index)
        if kind is Const and isinstance(container.value, str | bytes | tuple):
            if index.is_const and isinstance(index.value, int) and -len(container.value) <= index.value < len(container.value):
                return Const(container.value[index.value])
            return Py("str") if isinstance(container.value, str) else UNKNOWN
        if kind is Py:
            return Py("str", container.source) if container.type == "str" else Py("unknown", container.source) if container.source else UNKNOWN
        if kind is Instance:
            fields = self.field_names(container)
            if fields and index.is_const and isinstance(index.value, int) and index.value < len(fields):
                return container.attributes.get(fields[index.value], UNKNOWN)
            method = self.attribute(container, "__getitem__", node, frame)
            if isinstance(method, Function):
                return self.call_value(method, [index], {}, node, frame)
            if index.is_const and isinstance(index.value, str):
                return container.attributes.get(index.value, UNKNOWN)
        if container.is_scalar:
            return Scalar()
        if isinstance(index, Tensor) and index.dtype == "bool":  # only a tensor takes a mask
            return self.tensor_item(node, Tensor(sure=False), index, frame, store)
        return UNKNOWN

    def sequence_item(self, node: ast.AST, container: Sequence, index: Value, frame: Frame) -> Value:
        if index.is_tensor:
            self.emit(ScalarRead, node, frame, self.sureness(index), value=index, how="index",
                      expression=self.text(getattr(node, "slice", node), frame.module))
            return element_of(container)
        items = container.items
        if isinstance(index, ExternalInstance) and index.name == "slice":
            type_ = container.type if container.type not in ("size",) else "size"
            bounds = [b.value if b.is_const else "?" for b in index.args]
            if items is not None and all(b is None or isinstance(b, int) for b in bounds):
                return Sequence(type_, items[slice(*bounds)])
            return Sequence(type_, None, element_of(container))
        if items is not None and index.is_const and isinstance(index.value, int) and -len(items) <= index.value < len(items):
            return items[index.value]
        return element_of(container)

    def dict_item(self, container: Dict, index: Value) -> Value:
        if index.is_const:
            try:
                known = container.items.get(index.value)
            except TypeError:
                return UNKNOWN
            if known is not None:
                return known
            return container.element
        values = [*container.items.values(), *([container.element] if container.open else [])]
        return join_all(values)

    def store_item(self, target: ast.Subscript, container: Value, index: Value, value: Value, frame: Frame, node: ast.AST,
                   augmented: bool = False) -> None:
        for option in options(container):
            if option.is_tensor:
                self.store_tensor_item(target, option, index, value, frame)
            elif isinstance(option, Dict):
                new = not (index.is_const and _known_key(option, index))
                if option.home and new and frame.emits:
                    self.emit_mutate(node, frame, option, "__setitem__", value, index)
                if not (option.home and frame.emits):
                    self.put(option, index, value)
                else:
                    option.element, option.open = join(option.element, value) if not option.element.is_unknown else value, True
            elif isinstance(option, Sequence):
                if index.is_tensor:
                    self.emit(ScalarRead, target, frame, self.sureness(index), value=index, how="index",
                              expression=self.text(target.slice, frame.module))
                if option.items is not None:
                    if index.is_const and isinstance(index.value, int) and -len(option.items) <= index.value < len(option.items):
                        option.items[index.value] = value
                    else:
                        option.items = [join(v, value) for v in option.items]
                else:
                    option.element = join(option.element, value) if not option.element.is_unknown else value
            elif isinstance(option, Instance):
                method = self.attribute(option, "__setitem__", target, frame)
                if isinstance(method, Function):
                    self.call_value(method, [index, value], {}, target, frame)
                elif index.is_const and isinstance(index.value, str) and not frame.emits:
                    option.attributes[index.value] = value

    def emit_mutate(self, node: ast.AST, frame: Frame, container: Sequence | Dict, method: str, value: Value, key: Value = UNKNOWN) -> None:
        if frame.emits and container.home:
            self.emit(Mutate, node, frame, home=container.home, method=method, value=value, key=key,
                      is_read=(id(container), "") in self.reads)

    def extend(self, target: Sequence, value: Value, frame: Frame, node: ast.AST, method: str) -> None:
        """Grow a list in place by the elements of `value` (or by `value` itself for append)."""
        self.emit_mutate(node, frame, target, method, value)
        if method == "extend":
            added = value.items if isinstance(value, Sequence) and value.items is not None else None
            element = self.iterate(value, node, frame) or UNKNOWN if added is None else None
        else:
            added, element = [value], value
        known = target.items is not None and added is not None and not frame.lost and len(target.items) < 64 and not (
            target.home and frame.emits)
        if known:
            target.items.extend(added)
            return
        grown = join_all([*(target.items or []), *(added if added is not None else [element])])
        target.element = grown if target.items is not None or target.element.is_unknown else join(target.element, grown)
        target.items = None

    # --- iteration

    def iterate(self, value: Value, node: ast.AST, frame: Frame) -> Value | None:
        """What iterating yields each time; None when there is certainly nothing to iterate."""
        kind = type(value)
        if kind is Sequence:
            if value.items == [] and not value.home:
                return None
            return self.joined_modules(value)
        if kind is Tensor:
            return Tensor(value.dtype, value.ndim - 1 if value.ndim else None, None, value.sure, value.kind)
        if kind is Dict:
            keys = [Const(k) for k in value.items]
            return join_all(keys) if keys and not value.open else UNKNOWN if value.open else None
        if kind is Union:
            parts = [self.iterate(o, node, frame) for o in value.options if not o.is_none]
            return join_all([p for p in parts if p is not None])
        if kind is Instance:
            fields = self.field_names(value)
            if fields:
                return join_all([value.attributes.get(f, UNKNOWN) for f in fields])
            method = self.attribute(value, "__iter__", node, frame)
            if isinstance(method, Function):
                return self.iterate(self.call_value(method, [], {}, node, frame), node, frame)
            method = self.attribute(value, "__getitem__", node, frame)
            if isinstance(method, Function):
                return self.call_value(method, [Py("int")], {}, node, frame)
            return UNKNOWN
        if kind is Const and isinstance(value.value, str):
            return Py("str")
        if value.is_scalar:
            return Scalar()
        if isinstance(value, ExternalInstance) and value.name in ("range",):
            return Py("int")
        return UNKNOWN

    def joined_modules(self, value: Sequence) -> Value:
        """The element of a sequence; every different module of a ModuleList stays an option of its own."""
        if value.items is None:
            return value.element
        if value.type in ("ModuleList", "Sequential") or all(isinstance(v, Instance | Function | ExternalInstance) for v in value.items):
            different = list({id(v): v for v in value.items}.values())
            return different[0] if len(different) == 1 else Union(tuple(different[:24]))
        return element_of(value)

    # --- types

    def is_instance(self, value: Value, wanted: Value) -> bool | None:
        """isinstance, None when not known."""
        if isinstance(wanted, Sequence) and wanted.items is not None:
            verdicts = [self.is_instance(value, w) for w in wanted.items]
            return True if True in verdicts else None if None in verdicts or not verdicts else False
        if value.is_unknown or wanted.is_unknown or isinstance(value, Union):
            return None
        if isinstance(wanted, Class):
            if isinstance(value, Instance):
                return True if wanted.info in self.mro(value.cls.info) else None if "?" in self.external_bases(value.cls.info) else False
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
        if annotation is None:
            return UNKNOWN
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = parsed_annotation(annotation.value.strip())
            if annotation is None:
                return UNKNOWN
        if isinstance(annotation, ast.Constant):
            return NONE if annotation.value is None else UNKNOWN
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return join(self.value_of_annotation(annotation.left, frame), self.value_of_annotation(annotation.right, frame))
        if isinstance(annotation, ast.Subscript):
            return self.value_of_generic(annotation, frame)
        if not isinstance(annotation, ast.Name | ast.Attribute):
            return UNKNOWN
        try:
            named = self.eval(annotation, frame)
        except Raised:
            return UNKNOWN
        if isinstance(named, Class):
            return self.value_of_class(named)
        if isinstance(named, Union) or isinstance(named, Instance):
            return UNKNOWN
        return self.library.annotated(named.name) if isinstance(named, External) else UNKNOWN

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
        name = annotation.value.attr if isinstance(annotation.value, ast.Attribute) else getattr(annotation.value, "id", "")
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
            return Py("str", "argument") if isinstance(inner[0], ast.Constant) and isinstance(inner[0].value, str) else UNKNOWN
        if name in ("Final", "Annotated", "ClassVar", "Required", "NotRequired"):
            return self.value_of_annotation(inner[0], frame)
        return UNKNOWN


@lru_cache(maxsize=4096)
def parsed_annotation(text: str) -> ast.expr | None:
    """The expression of an annotation written as a string."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _is_class_variable(annotation: ast.expr) -> bool:
    named = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return getattr(named, "id", getattr(named, "attr", "")) == "ClassVar"


def _collect(body: list[ast.stmt], members: dict[str, object]) -> None:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = {d.attr for d in getattr(statement, "decorator_list", ()) if isinstance(d, ast.Attribute)}
            if not decorators & {"setter", "deleter"} and not any(
                    getattr(d, "id", getattr(d, "attr", "")) in ("overload", "_overload_method") for d in statement.decorator_list):
                members[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        members[name.id] = statement
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None and isinstance(statement.target, ast.Name):
            members[statement.target.id] = statement
        elif isinstance(statement, ast.If | ast.Try):
            _collect(statement.body, members)
            _collect(statement.orelse, members)


def _merge(rows: list[list[ClassInfo]]) -> list[ClassInfo]:
    """C3 linearization; when the order is contradictory, first come first served."""
    result: list[ClassInfo] = []
    rows = [r for r in rows if r]
    while rows:
        for row in rows:
            head = row[0]
            if not any(head in other[1:] for other in rows):
                break
        else:
            head = rows[0][0]
        result.append(head)
        rows = [[c for c in r if c is not head] for r in rows]
        rows = [r for r in rows if r]
    return result


def _known_key(container: Dict, index: Value) -> bool:
    try:
        return index.value in container.items
    except TypeError:
        return False


def _reads(node: ast.AST, source: str, name: str) -> bool:
    """True when the stored value is computed from the attribute itself."""
    value = getattr(node, "value", None)
    return value is not None and any(
        isinstance(n, ast.Attribute) and n.attr == name and ast.unparse(n.value) == source for n in ast.walk(value))
