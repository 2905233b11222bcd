"""Methods whose decorator keeps an object, called on what a region has made. Dynamo reads a decorator's
closure by way of the object that has the method, and one made inside is not yet anywhere."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.values import (
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import names_in
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

DECORATED = "decorated method of an object made inside"
# objects of classes outside of the checked source that Dynamo takes only from a place that has them
WITHOUT_MODEL = frozenset(
    """
    collections.defaultdict functools.partial inspect.Signature logging.Logger threading.Lock
    threading.RLock
    """.split()
)


def note_decorated(
    machine: Machine, method: Function, node: ast.AST, frame: Frame, by_name: bool = True
) -> None:
    """Emit the call of such a method, with the name of what its decorator keeps; not `by_name` where the
    class or the object is called."""
    if not frame.emits or id(method.bound) not in machine.objects.made_inside:
        return
    if not machine.wanted(DECORATED):
        return
    kept = _context_of(method) or _kept_by_wrapper(method)
    if not kept:
        return
    made, steps = machine.objects.made_inside[id(method.bound)], frame.activation.steps
    before = len(steps)
    facts = (Const(kept), Const(by_name))
    emit_call(machine, DECORATED, method, facts, {}, node, frame, "likely")
    for step in steps[before:]:
        step.held_since = made.steps if made.activation == id(frame.activation) else 0


def _context_of(method: Function) -> str:
    """The context manager of torch's that a method runs under by a decorator."""
    return next((mark[8:] for mark in method.info.marks if mark.startswith("context ")), "")


def _kept_by_wrapper(method: Function) -> str:
    """The variable of a decorator that its wrapper uses, and that holds an object."""
    if method.info.owner is not None or method.scope is None:
        return ""
    names = getattr(method.info.node, "read_names", None)
    if names is None:
        names = method.info.node.read_names = sorted(names_in(method.info.node, ast.Load))
    for name in names:
        scope = method.scope if name in method.scope.names else method.scope.enclosing(name)
        if scope is not None and _is_object(scope.names[name]):
            return name
    return ""


def _is_object(value: Value, depth: int = limits.DEEPEST_COPY) -> bool:
    """True for what Dynamo has no model of without a place that it comes from."""
    if type(value) is Function:
        return type(value.bound) is Instance
    if type(value) is ExternalInstance:
        return value.name in WITHOUT_MODEL or value.name.startswith("torch.nn.")
    if type(value) in (Sequence, Dict) and depth:
        parts = value.items.values() if type(value) is Dict else value.items or ()
        return any(_is_object(part, depth - 1) for part in parts)
    return type(value) is Instance or (type(value) is Tensor and value.sure)
