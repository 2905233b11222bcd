"""Decorators, objects and super()."""

from __future__ import annotations

import ast
from typing import NamedTuple

from breakscope.events import Call
from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import key_of
from breakscope.static.modules import ClassInfo, ModuleInfo
from breakscope.values import UNKNOWN, Class, External, ExternalInstance, Function, Instance, Py, Value

MARKS = {
    "staticmethod": "staticmethod",
    "classmethod": "classmethod",
    "property": "property",
    "functools.cached_property": "cached_property",
    "contextlib.contextmanager": "contextmanager",
    "torch.compiler.disable": "disabled",
    "torch._dynamo.disable": "disabled",
    "torch._dynamo.disallow_in_graph": "disabled",
    "torch.compile": "compiled",
    "functools.lru_cache": "cached",
    "functools.cache": "cached",
    "abc.abstractproperty": "property",
}
OPAQUE_DECORATORS = frozenset(  # `torch.jit.script` is not: Dynamo traces the function that it was given
    {"torch.library.custom_op", "torch.library.triton_op", "numba.jit", "triton.jit"}
)

METHOD_OF_MADE = "method of an object made here"


class Made(NamedTuple):
    """When an object was made inside of a region: behind how many steps of which activation (its id), as which object."""

    activation: int
    steps: int
    count: int


class Construction:
    """How functions are decorated and objects made."""

    __slots__ = ()

    def decorate(self, node: ast.FunctionDef, value: Value, frame: Frame) -> Value:
        """Apply a definition's decorators, innermost first."""
        for decorator in reversed(node.decorator_list):
            try:
                made = self.eval(decorator, frame)
                if made.is_unknown and type(decorator) is ast.Call and type(value) is Function:
                    made = self.eval(decorator.func, frame)
                    if type(made) is External and made.name in OPAQUE_DECORATORS:
                        value.info.marks |= {"opaque"}
                    continue
                value = self.decorated(made, value, decorator, frame)
            except Raised:
                pass
        return value

    def decorated(self, decorator: Value, value: Value, node: ast.expr, frame: Frame) -> Value:
        name = decorator.name if isinstance(decorator, External | ExternalInstance) else ""
        if name in OPAQUE_DECORATORS:
            return ExternalInstance(name)
        if name in MARKS and isinstance(value, Function):
            value.info.marks |= {MARKS[name], "property"} if MARKS[name] == "cached_property" else {MARKS[name]}
            return value
        if isinstance(decorator, Function | Instance | Class):
            made = self.call_value(decorator, [value], {}, node, frame)
            return value if made.is_unknown or made.is_none else made
        return value

    def instantiate(
        self, cls: Class, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """Make an object of a class of the checked source; equal arguments outside of regions give the same object."""
        info: ClassInfo = cls.info
        externals = self.external_bases(info)
        if any(self.library.is_enum(name) for name in externals):
            return Py("enum", args[0].source if args and isinstance(args[0], Py) else "")
        init = None if self.has_generated_init(info) else self.find_member(info, "__init__")
        if type(init) is Function:
            args, kwargs = self.as_declared(init.info, args, kwargs)
        key = (
            id(info),
            frame.emits,
            tuple([key_of(a) for a in args]),
            tuple([(k, key_of(v)) for k, v in kwargs.items()]),
        )
        instances = self.instances.setdefault(id(info), {})
        instance = instances.get(key)
        if instance is not None and not instance.version:  # one that was changed later is not what is made here
            self.note_made(instance, frame)
            if frame.emits and init is not None:  # remembered as well; links what it emitted to this caller
                self.call_member(instance, init, args, kwargs, node, frame)
            return instance
        if instance is not None:
            self.kept.append(instance)
        instance = instances[key] = Instance(cls)
        self.kept.extend((cls, *args, *kwargs.values()))
        self.note_made(instance, frame)
        try:
            if init is not None:
                self.call_member(instance, init, args, kwargs, node, frame)
            else:
                self.fill_fields(instance, args, kwargs, node, frame)
        except Raised:
            if frame.emits or frame.caught or frame.function is None:
                raise
            return UNKNOWN  # as for any call that seems to raise; half an object would be taken for the whole
        return instance

    def call_namespace(self, args, kwargs, node: ast.AST, frame: Frame) -> Value:
        """`types.SimpleNamespace(a=1)`: outside of regions an object whose attributes are known."""
        if args or any(name.startswith("*") for name in kwargs):
            return ExternalInstance("types.SimpleNamespace", tuple(args), tuple(kwargs.items()))
        if self.namespace is None:
            module = ModuleInfo("", "types", "", False, b"", ast.parse("class SimpleNamespace:\n    pass\n"))
            self.namespace = Class(ClassInfo("SimpleNamespace", "SimpleNamespace", module.tree.body[0], module))
        made = Instance(self.namespace, dict(kwargs))
        self.kept.append(made)
        return made

    def call_member(self, instance: Instance, member: Value, args, kwargs, node: ast.AST, frame: Frame) -> Value:
        function = self.bound_to(member, instance)
        return self.call_value(function, args, kwargs, node, frame)

    def note_made(self, instance: Instance, frame: Frame) -> None:
        if frame.emits:
            self.made_count += 1
            self.made_inside[id(instance)] = Made(id(frame.activation), len(frame.activation.steps), self.made_count)

    def made_at(self, value: Value, frame: Frame) -> int:
        """How many steps the running function had taken when it made the object, by itself or by what it calls (then 0);
        -1 for any other object."""
        made = self.made_inside.get(id(value))
        if made is None or made.count <= frame.began or not frame.emits or frame.function is None:
            return -1
        if any(frame.names.get(parameter.arg) is value for parameter in frame.function.node.args.args):
            return -1  # equal objects are one here, and one of them may have been made later
        return made.steps if made.activation == id(frame.activation) else 0

    def call_method_of_made(self, method: Function, node: ast.Call, frame: Frame) -> Value:
        """Call a method of an object that was made inside of a region. While one waits that was made in this very function,
        Dynamo cannot hand the function on to Python, in which it has no name."""
        made = self.made_at(method.bound, frame)
        if made < 0:
            return self.call_function(method, *self.arguments(node, frame), node, frame)
        frame.lost = "object"
        try:
            args, kwargs = self.arguments(node, frame)
        finally:
            frame.lost = ""
        steps = frame.activation.steps
        before = len(steps)
        result = self.call_function(method, args, kwargs, node, frame)
        if len(steps) > before and steps[-1].child is not None and frame.activation.is_compiled_apart:
            step = steps[-1]
            self.emit(Call, node, frame, name=METHOD_OF_MADE, receiver=method, args=tuple(args), kwargs=kwargs)
            if steps[-1] is not step:
                step.event, step.made_at = steps.pop().event, made
        return result

    def fill_fields(
        self, instance: Instance, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        """Set the fields of a dataclass or NamedTuple, then run `__post_init__`; or what a module container is given."""
        self.hold(instance, args, kwargs, node, frame)
        for i, (name, annotation, default, owner) in enumerate(self.fields(instance.cls.info)):
            if i < len(args):
                value = args[i]
            elif name in kwargs:
                value = kwargs[name]
            elif default is not None:
                value = self.eval(default, Frame(owner.module, None, owner.scope, None, False, frame.depth + 1, ""))
                if isinstance(value, ExternalInstance) and value.name == "dataclasses.field":
                    given = dict(value.kwargs)
                    value = given.get("default") or (
                        self.call_value(given["default_factory"], [], {}, node, frame)
                        if "default_factory" in given
                        else UNKNOWN
                    )
            else:
                value = kwargs.get("**", UNKNOWN)
            if value.is_unknown:
                value = self.value_of_annotation(annotation, Frame(owner.module, None, owner.scope, None, False, 0, ""))
            instance.attributes[name] = value
        post = self.find_member(instance.cls.info, "__post_init__")
        if post is not None:
            self.call_member(instance, post, [], {}, node, frame)

    def super_object(self, node: ast.Call, frame: Frame) -> Value:
        """`super()`: a Method-like view of self that starts behind the class in which the function stands."""
        scope: Frame | None = frame
        while scope is not None and (scope.function is None or scope.function.owner is None):
            scope = scope.scope
        if scope is None:
            return UNKNOWN
        first = (
            scope.function.node.args.args[0].arg
            if getattr(scope.function.node, "args", None) and scope.function.node.args.args
            else ""
        )
        owner = scope.names.get(first, UNKNOWN)
        if not isinstance(owner, Class | Instance):
            return UNKNOWN
        named = self.eval(node.args[0], frame) if node.args else UNKNOWN  # `super(Base, self)` starts behind Base
        return Super(owner, named.info if type(named) is Class else scope.function.owner)


class Super(Value, eq=False):
    """`super()`: attributes are looked up behind `owner` in the classes of `instance`."""

    instance: Value
    owner: ClassInfo
