"""The expressions of a file, followed for what torch.compile makes and what is done with it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from breakscope.rulekit.usage import COMPILE, Configure, States, Use, Wrapped
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Value,
)
from breakscope.rulekit.walking import names_in, positional_parameters, walk
from breakscope.static.definitions.classes import find_member, is_module_class, mro_of
from breakscope.static.machine.machine import Machine
from breakscope.static.usage.loops import counts, path_of, sizes, varies
from breakscope.static.usage.scope import Choice, Local, merge
from breakscope.static.usage.state import State
from breakscope.static.usage.wrapping import (
    WRAPPERS,
    Decorator,
    compile_in_place,
    compiles_in_place,
    part_of_module,
    short,
    wrap,
)

SAME_MODULE = frozenset(
    "to cuda cpu xpu half float double bfloat16 train eval requires_grad_ apply".split()
)
SAVERS = frozenset({"torch.save", "safetensors.torch.save_file"})
CREATORS = frozenset(
    f"torch.{n}" for n in "randn rand ones zeros empty full randint arange".split()
)
OF_EVERY_MODULE = frozenset(
    "parameters named_parameters buffers modules named_modules children state_dict load_state_dict register_buffer "
    "register_parameter add_module train eval to requires_grad_ zero_grad apply float half cuda cpu".split()
)


class Expressions:
    """Evaluates the expressions of a file; `enter` follows a function of the file that is called."""

    def __init__(self, state: State, enter: Callable[..., Value]) -> None:
        self.state = state
        self.enter = enter

    def eval(self, node: ast.expr | None, result: str = "used") -> Value:
        """What an expression holds; `result` says what becomes of a call's value."""
        kind = type(node)
        if kind is ast.Call:
            return self.call(node, result)
        if kind is ast.Name:
            return self.state.look_up(node.id)
        if kind is ast.Attribute:
            return self.attribute(node)
        if kind is ast.Constant:
            return Const(node.value) if node.value.__hash__ else UNKNOWN
        if kind is ast.Dict:
            return self.dictionary(node)
        if kind is ast.IfExp:
            self.eval(node.test)
            return self.chosen(node)
        if kind is ast.NamedExpr:
            value = self.eval(node.value, "assigned")
            self.bind(node.target, value)
            return value
        if kind is ast.Lambda:
            self.inside_lambda(node)
            return Local(node, "<lambda>", self.state.scope)
        if node is not None:
            self.children(node)
        return UNKNOWN

    def children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
            elif isinstance(child, ast.comprehension | ast.keyword):
                self.children(child)

    def inside_lambda(self, node: ast.Lambda) -> None:
        hidden = {a.arg: self.state.scope.names.pop(a.arg, None) for a in node.args.args}
        loops, self.state.scope.loops = self.state.scope.loops, []
        self.eval(node.body)
        self.state.scope.loops = loops
        self.state.scope.names.update(
            {name: value for name, value in hidden.items() if value is not None}
        )

    def dictionary(self, node: ast.Dict) -> Value:
        values = [self.eval(v) for v in node.values]
        for name in node.keys:
            self.eval(name)
        items = {k.value: v for k, v in zip(node.keys, values) if isinstance(k, ast.Constant)}
        return Dict(items, open=len(items) < len(values))

    def chosen(self, node: ast.IfExp) -> Value:
        then, otherwise = self.eval(node.body), self.eval(node.orelse)
        states = [value for value in (then, otherwise) if isinstance(value, States)]
        value = states[0] if states else merge(then, otherwise)
        path = path_of(node.body) or path_of(node.orelse)
        if isinstance(value, Wrapped) and value.sometimes and path:
            self.state.scope.choices[path] = Choice(ast.unparse(node.test), value, then, otherwise)
        return value

    def attribute(self, node: ast.Attribute) -> Value:
        if path_of(node):
            return self.state.path_value(node)
        return self.state.member(self.eval(node.value), node.attr)

    def call(self, node: ast.Call, result: str) -> Value:
        callee = self.eval(node.func, "called")
        args = [self.eval(a) for a in node.args]
        kwargs = {k.arg or "**": self.eval(k.value) for k in node.keywords}
        handed_on = [v for v in (*args, *kwargs.values()) if isinstance(v, Wrapped)]
        if isinstance(callee, External):
            return self.external_call(callee.name, node, args, kwargs, result, handed_on)
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "compile"
            and compiles_in_place(self.state, callee)
        ):
            return compile_in_place(self.state, callee.receiver, node, kwargs, result)
        if getattr(node.func, "attr", "") == "compile" and callee.is_unknown:
            part = part_of_module(self.state, node.func.value)
            if part is not None:
                return compile_in_place(self.state, part, node, kwargs, result)
        if isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(args) == 2:
            self.asked_for_type(node, args)
            return UNKNOWN
        for value in handed_on:
            self.used(value)
        if isinstance(callee, Wrapped):
            return self.wrapped_call(callee, node, args)
        if isinstance(callee, Method):
            return self.method_call(callee, node, args)
        if isinstance(callee, Class):
            return Instance(callee) if is_module_class(self.state.machine, callee.info) else UNKNOWN
        if isinstance(callee, Local) and not isinstance(callee.node, ast.Lambda):
            return self.local_call(callee, node, args, kwargs)
        return UNKNOWN

    def external_call(
        self, name: str, node: ast.Call, args, kwargs, result: str, handed_on: list[Wrapped]
    ) -> Value:
        if name in WRAPPERS:
            target = args[0] if args else kwargs.get("model", UNKNOWN)
            if not args and "model" not in kwargs:
                return Decorator(name, kwargs) if name == COMPILE else UNKNOWN
            return wrap(
                self.state, name, node, node.args[0] if node.args else node, target, kwargs, result
            )
        if (
            name == "functools.partial"
            and args
            and isinstance(args[0], External)
            and args[0].name == COMPILE
        ):
            return Decorator(COMPILE, kwargs)
        if name in SAVERS:
            for value in args[:1]:
                self.saved(value)
        for value in handed_on:
            self.used(value)
        if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper():
            return ExternalInstance(name)
        return UNKNOWN

    def asked_for_type(self, node: ast.Call, args: list[Value]) -> None:
        value, cls = args
        if isinstance(value, Wrapped) and isinstance(cls, Class) and value.module_class is not None:
            own = cls.info in mro_of(self.state.machine, value.module_class.info)
            self.use("isinstance", value, node, node.args[0], args, is_own_class=own)

    def saved(self, value: Value) -> None:
        for part in [value, *(value.items.values() if isinstance(value, Dict) else ())]:
            if (
                isinstance(part, States)
                and part.owner.name == COMPILE
                and not self.state.knows_prefix
            ):
                self.state.saves_prefix = True
                self.use("torch.save", part.owner, part.node, part.node.func.value)

    def used(self, value: Wrapped, node: ast.AST | None = None) -> None:
        """Something wrapped is called, or handed to somebody who may call it."""
        if value.is_compiled:
            self.state.uses += 1
            self.state.first_calls.setdefault(id(value.node), node)

    def use(
        self, name: str, value: Wrapped, node: ast.AST, subject: ast.expr, args=(), **fields
    ) -> None:
        certainty = "likely" if value.sometimes else "certain"
        self.state.emit(
            Use,
            node,
            certainty,
            name=name,
            value=value,
            subject=short(subject),
            args=tuple(args),
            **fields,
        )

    def wrapped_call(self, value: Wrapped, node: ast.Call, args: list[Value]) -> Value:
        self.used(value, node)
        if value.is_compiled:
            self.state.compiled_calls[id(node)] = value
            self.use("()", value, node, node.func, args, varies=self.argument_varies(node))
        return UNKNOWN

    def argument_varies(self, node: ast.Call) -> str:
        """ "text" or "size" when the loop around a call gives it another such argument in each pass."""
        if not self.state.scope.loops:
            return ""
        loop = self.state.scope.loops[-1]
        for given in [*node.args, *(k.value for k in node.keywords)]:
            if isinstance(given, ast.Name):
                given = _assigned_in(loop, given.id) or given
            names = names_in(given)
            if isinstance(given, ast.JoinedStr) and names & counts(loop):
                return "text"
            if isinstance(given, ast.Call) and names & sizes(loop):
                creator = self.eval(given.func)
                if isinstance(creator, External) and creator.name in CREATORS:
                    return "size"
        return ""

    def method_call(self, callee: Method, node: ast.Call, args: list[Value]) -> Value:
        receiver, name = callee.receiver, callee.name
        if name in SAME_MODULE:
            return receiver
        if not isinstance(receiver, Wrapped) or not receiver.is_compiled:
            return UNKNOWN
        self.state.first_calls.setdefault(id(receiver.node), None)
        self.state.uses += 1
        subject = node.func.value
        if name == "state_dict" and not node.args:
            return States(receiver, node)
        if name == "load_state_dict":
            own = bool(args) and isinstance(args[0], States) and args[0].owner.name == receiver.name
            if receiver.name == COMPILE and not own and not self.state.knows_prefix:
                self.use(name, receiver, node, subject, args)
            return UNKNOWN
        self.use(name, receiver, node, subject, args, computes=self.computes(receiver, name))
        return UNKNOWN

    def computes(self, value: Wrapped, name: str) -> bool:
        """True when the wrapped module's class defines the method, and that calls the module or a
        part of it."""
        if value.module_class is None:
            return False
        info = value.module_class.info
        member = find_member(self.state.machine, info, name)
        if not isinstance(member, Function) or not isinstance(member.info.node, ast.FunctionDef):
            return False
        if any("compile" in ast.unparse(d) for d in member.info.node.decorator_list):
            return False
        for node in walk(member.info.node):
            called = path_of(node.func) if isinstance(node, ast.Call) else ""
            if called in ("self", "self.forward"):
                return True
            owner, _, part = called.rpartition(".")
            if (
                owner == "self"
                and find_member(self.state.machine, info, part) is None
                and part not in OF_EVERY_MODULE
            ):
                return True
        return False

    def bind(self, target: ast.expr, value: Value, statement: ast.stmt | None = None) -> None:
        """Give a name or path a value; what hangs below that path is forgotten."""
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self.bind(part, UNKNOWN)
            return
        path = path_of(target)
        if isinstance(target, ast.Attribute):
            owner = self.eval(target.value)
            if isinstance(owner, External):
                self.state.emit(
                    Configure, statement or target, name=f"{owner.name}.{target.attr}", value=value
                )
            self.attribute_set(owner, target, statement)
        if path:
            for known in [p for p in self.state.scope.names if p.startswith(path + ".")]:
                del self.state.scope.names[known]
            self.state.scope.names[path] = value

    def attribute_set(
        self, owner: Value, target: ast.Attribute, statement: ast.stmt | None
    ) -> None:
        """`model.step = i` in a loop that counts `i`, where the compiled module reads `self.step`."""
        value = owner if isinstance(owner, Wrapped) else self.state.compiled_of.get(id(owner))
        given = statement.value if isinstance(statement, ast.Assign) else None
        if (
            value is None
            or not value.is_compiled
            or not self.state.scope.loops
            or not isinstance(given, ast.Name)
        ):
            return
        loop = self.state.scope.loops[-1]
        called = any(
            isinstance(n, ast.Call)
            and path_of(n.func)
            and _is_it(self.state.look_up(path_of(n.func)), value)
            for n in walk(loop)
        )
        if called and given.id in counts(loop) and _reads(self.state.machine, value, target.attr):
            self.use("=", value, statement, target.value, attribute=target.attr, varies="int")

    def local_call(self, callee: Local, node: ast.Call, args: list[Value], kwargs) -> Value:
        """A function of the file is entered when something that matters goes in, or when it may
        wrap something."""
        names = [a.arg for a in positional_parameters(callee.node)]
        known = {
            n: v for n, v in zip(names, args) if isinstance(v, Wrapped | Instance | States | Dict)
        }
        known |= {
            n: v
            for n, v in kwargs.items()
            if n in names and isinstance(v, Wrapped | Instance | States | Dict)
        }
        repeated = None
        if self.state.scope.loops and not any(isinstance(a, ast.Starred) for a in node.args):
            loop = self.state.scope.loops[-1]
            same = {
                n
                for n, a in zip(names, node.args)
                if not varies(a, loop) and not isinstance(a, ast.Call)
            }
            same |= {k.arg for k in node.keywords if k.arg and not varies(k.value, loop)}
            repeated = frozenset(same)
        if any(isinstance(a, ast.Starred) for a in node.args):
            return UNKNOWN
        known = {n: v for n, v in known.items() if not isinstance(v, Dict)}
        return self.enter(
            callee.node, callee.qualname, known, outer=callee.scope, repeated=repeated
        )


def _is_it(found: Value, value: Wrapped) -> bool:
    return isinstance(found, Wrapped) and found.node is value.node


def _assigned_in(loop: ast.AST, name: str) -> ast.expr | None:
    """The one expression that the loop gives a name."""
    found = [
        n.value for n in walk(loop) if isinstance(n, ast.Assign) and path_of(n.targets[0]) == name
    ]
    return found[0] if len(found) == 1 else None


def _reads(machine: Machine, value: Wrapped, attribute: str) -> bool:
    """A method of the module's class other than `__init__` reads `self.attribute`."""
    if value.module_class is None:
        return False
    for info in mro_of(machine, value.module_class.info):
        for method in info.node.body:
            if isinstance(method, ast.FunctionDef) and method.name != "__init__":
                for n in walk(method):
                    if (
                        isinstance(n, ast.Attribute)
                        and n.attr == attribute
                        and path_of(n) == f"self.{attribute}"
                    ):
                        if isinstance(n.ctx, ast.Load):
                            return True
    return False
