"""Methods whose decorator keeps an object, or whose parameter has one as its default, called on what a
region has made. Dynamo reads a decorator's closure and the defaults by way of the object that has the
method, and one made inside is not yet anywhere."""

from __future__ import annotations

import ast
from collections.abc import Collection

from breakscope import limits
from breakscope.rulekit.values import (
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import names_in, positional_parameters
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.classes import external_bases
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

DECORATED = "decorated method of an object made inside"
DEFAULTS = "default of a method of an object made inside"
FACTORY = "default factory of an object made inside"
# objects of classes outside of the checked source that Dynamo takes only from a place that has them
WITHOUT_MODEL = frozenset(
    """
    collections.defaultdict functools.partial inspect.Signature logging.Logger
    pathlib.Path pathlib.PurePath threading.Lock threading.RLock
    """.split()
)
STREAMS = frozenset({"sys.stdin", "sys.stdout", "sys.stderr"})

NAMED_TUPLE = frozenset({"typing.NamedTuple"})
UNTRACED_FACTORIES = frozenset({"collections.OrderedDict", "collections.Counter"})


def note_decorated(
    machine: Machine, method: Function, node: ast.AST, frame: Frame, by_name: bool = True
) -> None:
    """Emit the call of such a method, with the name of what its decorator keeps; not `by_name` where the
    class or the object is called."""
    if not frame.emits or id(method.bound) not in machine.objects.made_inside:
        return
    if not machine.wanted(DECORATED):
        return
    kept = _context_of(method) or _kept_by_wrapper(machine, method)
    if not kept:
        return
    _emit(machine, DECORATED, method, (Const(kept), Const(by_name)), node, frame)


def note_defaults(
    machine: Machine,
    method: Function,
    count: int,
    named: Collection[str],
    node: ast.AST,
    frame: Frame,
    by_name: bool = True,
) -> None:
    """Emit the call of a method that takes an object from a parameter's default: the call gives so many
    arguments by position, and others by name."""
    bound = method.bound
    if not frame.emits or id(bound) not in machine.objects.made_inside or {"*", "**"} & {*named}:
        return
    if not machine.wanted(DEFAULTS):
        return
    spec = method.info.node.args
    open_to = positional_parameters(method.info.node)[1 + count :] + spec.kwonlyargs
    left = {parameter.arg for parameter in open_to}.difference(named)
    for name, value in defaults_of(machine, method.info, method.scope).items():
        if name in left and _is_object(machine, value):
            _emit(machine, DEFAULTS, method, (Const(name), Const(by_name)), node, frame)
            return


def note_default_field(
    machine: Machine, instance: Instance, name: str, value: Value, node: ast.AST, frame: Frame
) -> None:
    """Emit that a dataclass made in a region takes an object from a field's default, or makes it by a
    `default_factory`."""
    if not frame.emits:
        return
    given = {} if not _is_field(value) else dict(value.kwargs)
    factory = given.get("default_factory")
    if factory is not None and _is_untraced_factory(machine, factory):
        _emit(machine, FACTORY, instance.cls, (Const(name),), node, frame)
    is_taken = getattr(given.get("init"), "value", None) is not False
    if is_taken and _is_object(machine, given.get("default", value)):
        _emit(machine, DEFAULTS, instance.cls, (Const(name), Const(False)), node, frame)


def _is_field(value: Value) -> bool:
    return type(value) is ExternalInstance and value.name == "dataclasses.field"


def _is_untraced_factory(machine: Machine, factory: Value) -> bool:
    """True for a class of which Dynamo makes no object where the class has no place either."""
    if type(factory) is External:
        named, is_layer = factory.name, factory.name.startswith("torch.nn.")
        return named in UNTRACED_FACTORIES or (is_layer and named.rpartition(".")[2][:1].isupper())
    if type(factory) is not Class:
        return False
    bases = external_bases(machine, factory.info)
    return not any(base in NAMED_TUPLE or machine.library.is_enum(base) for base in bases)


def _emit(
    machine: Machine,
    event: str,
    method: Value,
    facts: tuple[Const, ...],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Emit an event of an object made inside, with the step since which it waits to be named."""
    made = machine.objects.made_inside.get(id(getattr(method, "bound", None)))
    steps = frame.activation.steps
    before = len(steps)
    emit_call(machine, event, method, facts, {}, node, frame, "likely")
    if made is not None:
        for step in steps[before:]:
            step.held_since = made.steps if made.activation == id(frame.activation) else 0


def _context_of(method: Function) -> str:
    """The context manager of torch's that a method runs under by a decorator."""
    return next((mark[8:] for mark in method.info.marks if mark.startswith("context ")), "")


def _kept_by_wrapper(machine: Machine, method: Function) -> str:
    """The variable of a decorator that its wrapper uses, and that holds an object."""
    if method.info.owner is not None or method.scope is None:
        return ""
    names = getattr(method.info.node, "read_names", None)
    if names is None:
        names = method.info.node.read_names = sorted(names_in(method.info.node, ast.Load))
    for name in names:
        scope = method.scope if name in method.scope.names else method.scope.enclosing(name)
        if scope is not None and _is_object(machine, scope.names[name]):
            return name
    return ""


def _is_object(machine: Machine, value: Value, depth: int = limits.DEEPEST_COPY) -> bool:
    """True for what Dynamo has no model of without a place that it comes from."""
    if type(value) is Function:
        return type(value.bound) is Instance
    if type(value) is ExternalInstance:
        return value.name in WITHOUT_MODEL or value.name.startswith("torch.nn.")
    if type(value) is External:
        return value.name in STREAMS
    if type(value) in (Sequence, Dict) and depth:
        parts = value.items.values() if type(value) is Dict else value.items or ()
        return any(_is_object(machine, part, depth - 1) for part in parts)
    if type(value) is Instance:
        return not NAMED_TUPLE & {*external_bases(machine, value.cls.info)}
    return type(value) is Tensor and value.sure
