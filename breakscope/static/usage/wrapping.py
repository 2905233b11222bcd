"""Calls that wrap: torch.compile, `model.compile()`, TorchScript; and how often they run."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.usage import COMPILE, IN_PLACE, Wrap, Wrapped
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Instance,
    Method,
    Sequence,
    Value,
)
from breakscope.rulekit.walking import plain_parameters, walk
from breakscope.static.definitions.classes import find_member
from breakscope.static.machine.library import GIVEN_MODULE
from breakscope.static.regions.configured import configured_instance
from breakscope.static.usage.loops import changed_in, path_of, varies
from breakscope.static.usage.scope import Local
from breakscope.static.usage.state import State
from breakscope.texts import middle_out

WRAPPERS = {
    "torch.compile": COMPILE,
    "torch.jit.script": "torch.jit.script",
    "torch.jit.trace": "torch.jit.trace",
    "torch.jit.trace_module": "torch.jit.trace",
    "torch.jit.freeze": "torch.jit.freeze",
    "torch.jit.optimize_for_inference": "torch.jit.freeze",
}
SETTINGS = frozenset({"fullgraph", "dynamic", "backend", "mode", "options", "disable"})
RESETS = frozenset(
    {"torch._dynamo.reset", "torch.compiler.reset", "torch._dynamo.reset_code_caches"}
)
# between a loop and a call in it: not in each pass
ONCE = (ast.If, ast.Try, ast.ExceptHandler, ast.While)


class Decorator(Value, eq=False):
    """`torch.compile(...)` without a function: it waits for one."""

    name: str
    settings: dict[str, Value]


def wrap(
    state: State, name: str, node: ast.Call, subject: ast.expr, target: Value, kwargs, result: str
) -> Value:
    """Something is wrapped by a call."""
    settings = {k: v for k, v in kwargs.items() if k in SETTINGS} if name == COMPILE else {}
    value = Wrapped(WRAPPERS[name], target, settings, node)
    state.emit(
        Wrap,
        node,
        "likely" if isinstance(target, Wrapped) and target.sometimes else "certain",
        name=value.name,
        target=target,
        settings=settings,
        subject=short(subject),
        result=result,
        repeats=_repeats(state, node, result),
        new_backend=_new_backend(state, node),
        checked=_is_checked(state),
        backend_parameters=_parameters(settings.get("backend")),
    )
    if isinstance(target, Instance) and name == COMPILE:
        state.compiled_of[id(target)] = value
    return value


def decorated(
    state: State, decorator: ast.expr, by: Value, value: Value, function: ast.AST
) -> Value:
    """What a decorator, whose value is `by`, makes of a function."""
    if isinstance(by, External) and by.name in WRAPPERS:
        by = Decorator(WRAPPERS[by.name], {})
    if not isinstance(by, Decorator):
        return value if path_of(decorator).startswith("torch.") else UNKNOWN
    settings = {k: v for k, v in by.settings.items() if k in SETTINGS}
    state.emit(
        Wrap,
        decorator,
        name=by.name,
        target=value,
        settings=settings,
        subject=function.name,
        checked=_is_checked(state),
        backend_parameters=_parameters(settings.get("backend")),
    )
    return Wrapped(by.name, value, settings, decorator)


def _repeats(state: State, node: ast.Call, result: str) -> str:
    """ "loop" or "step" when the same thing is wrapped again and again."""
    scope = state.scope
    if scope.loops:
        loop = scope.loops[-1]
        around = scope.nesting[scope.nesting.index(loop) + 1 :] if loop in scope.nesting else ()
        if any(isinstance(n, ONCE) for n in around) or _resets(state, loop) or _leaves(loop):
            return ""
        return "" if any(varies(part, loop) for part in _parts(node)) else "loop"
    if scope.repeated is None or any(isinstance(n, ONCE) for n in scope.nesting):
        return ""
    roots = {n.id for part in _parts(node) for n in walk(part) if isinstance(n, ast.Name)}
    made = any(isinstance(n, ast.Call) for part in _parts(node) for n in walk(part))
    if made or roots & scope.bound - scope.repeated:
        return ""
    taken = state.running
    name = (
        path_of(taken.targets[0]) if isinstance(taken, ast.Assign) and taken.value is node else ""
    )
    return "step" if result == "called" or (name in scope.bound and name not in scope.kept) else ""


def _new_backend(state: State, node: ast.Call) -> str:
    """The source of a backend that a loop makes anew in each pass."""
    backend = next((k.value for k in node.keywords if k.arg == "backend"), None)
    if backend is None or not state.scope.loops:
        return ""
    loop = state.scope.loops[-1]
    if any(varies(part, loop) for part in node.args):
        return ""
    made = isinstance(backend, ast.Lambda) or (
        isinstance(backend, ast.Name)
        and isinstance(state.look_up(backend.id), Local)
        and backend.id in changed_in(loop)
    )
    return short(backend) if made else ""


def compiles_in_place(state: State, callee: Value) -> bool:
    """`model.compile()` of something that certainly is an nn.Module."""
    if not isinstance(callee, Method):
        return False
    receiver = callee.receiver
    if (
        isinstance(receiver, Instance)
        and find_member(state.machine, receiver.cls.info, "compile") is not None
    ):
        return False
    return isinstance(receiver, Instance) or (
        isinstance(receiver, ExternalInstance) and receiver.name.startswith("torch.nn.")
    )


def part_of_module(state: State, node: ast.expr) -> Value | None:
    """The module of torch's that stands at `net.body`, as the class of `net` makes it; None for any other."""
    if not isinstance(node, ast.Attribute):
        return None
    owner = state.path_value(node.value)
    if not isinstance(owner, Instance):
        return None
    found = configured_instance(state.machine, owner.cls).attributes.get(node.attr, UNKNOWN)
    is_of_torch = isinstance(found, Sequence) and found.type == "Sequential"
    is_of_torch |= (
        isinstance(found, ExternalInstance)
        and found.name.startswith("torch.nn.")
        and found.name != GIVEN_MODULE
    )
    return found if is_of_torch else None


def compile_in_place(state: State, receiver: Value, node: ast.Call, kwargs, result: str) -> Value:
    settings = {k: v for k, v in kwargs.items() if k in SETTINGS}
    state.emit(
        Wrap,
        node,
        name=IN_PLACE,
        target=receiver,
        settings=settings,
        subject=short(node.func.value),
        result=result,
        checked=_is_checked(state),
        backend_parameters=_parameters(settings.get("backend")),
    )
    path = path_of(node.func.value)
    if path:
        state.scope.names[path] = Wrapped(IN_PLACE, receiver, settings, node)
    return Const(None)


def _is_checked(state: State) -> bool:
    """A `try`, or a test's `with raises(...)`, stands around the running statement."""
    for around in state.scope.nesting:
        if isinstance(around, ast.Try):
            return True
        if isinstance(around, ast.With):
            calls = [
                i.context_expr.func for i in around.items if isinstance(i.context_expr, ast.Call)
            ]
            if any("raises" in path_of(f).lower() for f in calls):
                return True
    return False


def short(node: ast.AST) -> str:
    return middle_out(ast.unparse(node), limits.LONGEST_USAGE_TEXT)


def _parameters(backend: Value | None) -> tuple[str, ...] | None:
    """The parameters of a backend that the file defines; None when it is not known, or takes any
    keyword."""
    if not isinstance(backend, Local) or backend.node.args.kwarg is not None:
        return None
    return tuple(a.arg for a in plain_parameters(backend.node))


def _parts(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(k.value for k in node.keywords)]


def _resets(state: State, loop: ast.AST) -> bool:
    """The loop makes Dynamo forget: it measures compiling, or tests it."""
    calls = (
        n.func for n in walk(loop) if isinstance(n, ast.Call) and path_of(n.func).endswith("reset")
    )
    return any(isinstance(v := state.path_value(f), External) and v.name in RESETS for f in calls)


def _leaves(loop: ast.AST) -> bool:
    """The loop's own body ends it: the first pass is the only one."""
    return any(isinstance(s, ast.Break | ast.Return) for s in loop.body)
