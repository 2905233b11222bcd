"""Call expressions: their arguments, the calls of functions in source, `super()`."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.events import Comprehension
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Dict,
    External,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.rulekit.walking import handed_generator, names_in
from breakscope.static.definitions.annotated_results import completed
from breakscope.static.definitions.classes import is_tensor_class
from breakscope.static.definitions.custom_ops import WITHOUT_FAKE
from breakscope.static.definitions.fields import field_names
from breakscope.static.interpreter.calls.abstract_calls import (
    call_of_own_classes,
    call_of_subclasses,
    is_a_subclass_s,
    is_left_to_subclasses,
)
from breakscope.static.interpreter.calls.by_name import call_by_name, is_unseen
from breakscope.static.interpreter.calls.disabled import call_disabled
from breakscope.static.interpreter.calls.running import followed_call
from breakscope.static.interpreter.narrowing import narrow_by_call, narrow_by_guard
from breakscope.static.machine.frames import Activation, Frame, Raised
from breakscope.static.machine.gaps import TOO_DEEP
from breakscope.static.machine.lattice import join
from breakscope.static.project.modules import FunctionInfo
from breakscope.static.project.pass_through import (
    gives_text_of_elsewhere,
    handed_back,
    is_foreign,
    traced_instead,
    wrapped_name,
)
from breakscope.static.variables.effects.emitting import emit_call, emit_sparse
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.effects.unmade_iterators import note_handed
from breakscope.static.variables.misc import Super
from breakscope.static.variables.objects.construction import made_at
from breakscope.static.variables.objects.decorated import note_decorated, note_defaults
from breakscope.static.variables.tensor import call_tensor_method
from breakscope.static.variables.user_defined import call_inherited

# methods that no container of Python has, called without an argument
REDUCTIONS = frozenset({"max", "min", "sum", "mean", "std", "prod"})
OF_ARGUMENT = Py("unknown", "argument")
METHOD_OF_MADE = "method of an object made here"
# builtins that Dynamo replaces by Python functions, which draw from the generator one by one
DRAWN_BY = frozenset({"sum", "any", "all", "dict", "set"})
METHOD_OF_TENSOR = "method of a tensor class"


def eval_arguments(machine, node: ast.Call, frame: Frame) -> tuple[list[Value], dict[str, Value]]:
    """The evaluated arguments. `*rest` of unknown length puts a Sequence under the key "*",
    `**rest` a Dict under "**"."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    for part in node.args:
        value = machine.eval(part, frame)
        if not isinstance(part, ast.Starred):
            args.append(value)
            continue
        extends = "star" if len(node.args) > 1 else "arguments"
        note_kept(machine, [value], part.value, frame, extends)
        if (
            isinstance(value, Sequence)
            and value.items is not None
            and len(args) + len(value.items) <= limits.MOST_FOLDED_ITEMS
        ):
            args.extend(value.items)
        elif isinstance(value, Instance) and field_names(machine, value):
            args.extend(value.attributes.get(f, UNKNOWN) for f in field_names(machine, value))
        else:
            kwargs["*"] = machine.iterate(value, part, frame) or UNKNOWN
    for keyword in node.keywords:
        value = machine.eval(keyword.value, frame)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Dict):
            kwargs.update({k: v for k, v in value.items.items() if isinstance(k, str)})
            if value.open:
                kwargs["**"] = value.element
        else:
            kwargs["**"] = UNKNOWN
    return args, kwargs


def eval_call(machine, node: ast.Call, frame: Frame) -> Value:
    func = node.func
    if isinstance(func, ast.Name) and func.id == "super" and "super" not in frame.names:
        return super_object(machine, node, frame)
    callee = machine.eval(func, frame)
    if frame.emits:
        narrow_by_call(machine, node, callee, frame)
    if type(callee) is Function and not frame.skips and type(callee.bound) is Instance:
        if id(callee.bound) in machine.objects.made_inside:
            note_decorated(machine, callee, node, frame)
            if not any(isinstance(argument, ast.Starred) for argument in node.args):
                named = [word.arg or "**" for word in node.keywords]
                note_defaults(machine, callee, len(node.args), named, node, frame)
            return call_method_of_made(machine, callee, node, frame)
        if id(callee.bound) in machine.objects.made_by_reading:
            return call_method_of_made(machine, callee, node, frame)
        if frame.emits and is_tensor_class(machine, callee.bound.cls.info):
            name, at = METHOD_OF_TENSOR, len(frame.activation.steps) + 1
            return call_method_in_graph(machine, callee, node, frame, name, at)
    args, kwargs = eval_arguments(machine, node, frame)
    if isinstance(func, ast.Attribute):
        found = _method_by_name(machine, callee, func, args, kwargs, node, frame)
        if found is not None:
            return found
    if frame.emits and (generator := handed_generator(node)) is not None:
        note_handed_generator(machine, callee, generator, node, frame)
    value = machine.call(callee, args, kwargs, node, frame)
    if frame.emits:
        narrow_by_guard(node, callee, frame)
    return value


def _method_by_name(
    machine,
    callee: Value,
    func: ast.Attribute,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.Call,
    frame: Frame,
) -> Value | None:
    """What a method of an object gives of which nothing is known, as far as its name shows; None where that
    shows nothing."""
    name = func.attr
    if name in REDUCTIONS and not args and not kwargs:
        if callee is UNKNOWN or callee == OF_ARGUMENT:
            return call_tensor_method(machine, Tensor(sure=False), name, [], {}, node, frame)
    if not is_unseen(callee):
        return None
    if len(args) == 1 and not kwargs:
        if name == "apply" and type(args[0]) is Function:  # a module's, for each inside
            machine.call(args[0], [UNKNOWN], {}, node, frame)
            return UNKNOWN
        if name == "index":  # of a list, a tuple, a string
            return Py("int", "config")
    if frame.emits:
        found = call_of_own_classes(machine, name, args, kwargs, node, frame)
        if found is not None:
            return found
    owner = frame.names.get(func.value.id) if type(func.value) is ast.Name else None
    if type(owner) is Instance:
        call_inherited(machine, owner, name, args, kwargs, node, frame)
    found = call_by_name(machine, name, args, kwargs, node, frame)
    return found if found is not UNKNOWN or callee is UNKNOWN else None


def note_handed_generator(
    machine, callee: Value, generator: ast.GeneratorExp, node: ast.Call, frame: Frame
) -> None:
    """A generator expression is handed to a function that Dynamo follows, as it is or unpacked."""
    followed = isinstance(callee, Function | Class | Instance)
    if machine.python < (3, 12) and (followed or getattr(callee, "name", "") in DRAWN_BY):
        over = generator.generators[0].iter
        is_range = isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range"
        machine.emit(
            Comprehension,
            over,
            frame,
            iterable=UNKNOWN,
            is_generator=True,
            is_not_rebuilt=not is_range or _names_a_local(generator, frame),
            is_unpacked=isinstance(node.args[0], ast.Starred),
        )


def _names_a_local(generator: ast.GeneratorExp, frame: Frame) -> bool:
    """True where it names a variable of the function that it stands in, beside what it goes over."""
    inside = [generator.elt, *(test for part in generator.generators for test in part.ifs)]
    inside += [part.iter for part in generator.generators[1:]]
    named = {name for part in inside for name in names_in(part)}
    own = {name for part in generator.generators for name in names_in(part.target)}
    return frame.function is not None and not frame.names.keys().isdisjoint(named - own)


def inline(
    machine,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Call a function of the checked source."""

    def run() -> Value:
        return follow(machine, function, args, kwargs, node, frame)

    if "disabled" not in function.info.marks:
        return run()
    if frame.emits:
        return call_disabled(machine, function, args, kwargs, node, frame, run)
    with machine.driver.leaves_to_python():
        return run()


def follow(
    machine,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Follow a call of a function of the checked source; the result and the events are remembered by
    arguments."""
    info = function.info
    if frame.emits and function.scope is not None and function.scope.function is not None:
        inner = function.scope.names.get(traced_instead(info, function.scope.function))
        if type(inner) is Function:
            function, info = inner, inner.info
    if function.args or function.kwargs:
        args, kwargs = [*function.args, *args], {**dict(function.kwargs), **kwargs}
    if function.bound is not None:
        args = [function.bound, *args]
    if frame.caught and frame.emits and kwargs and misfits(info, kwargs):
        emit_call(machine, "call that does not fit", function, args, kwargs, node, frame)
        raise Raised(External("TypeError"))
    machine.budget.spend(1)
    if frame.depth >= limits.DEEPEST_CALL:
        machine.give_up(TOO_DEEP, node, frame)
        return UNKNOWN
    entered = machine.region.entered_at
    if entered is not None and frame.depth - entered >= limits.DEEPEST_ENTERED_CALL:
        return UNKNOWN
    if (same := without_following(info, args, kwargs, frame)) is not None:
        return same
    if emits_wrapper := frame.emits and function.scope is not None and wrapped_name(info):
        seen = machine.summaries.wrappers.setdefault(id(info), set())
        inner = function.scope.names.get(emits_wrapper)
        if (
            type(inner) is Function
            and len(seen) >= limits.MOST_WRAPPED
            and id(function.scope) not in seen
        ):
            return call_wrapped(machine, info, inner, args, kwargs, node, frame)
        seen.add(id(function.scope))
    if WITHOUT_FAKE in info.marks and frame.emits:
        emit_call(machine, WITHOUT_FAKE, function, args, kwargs, node, frame)
    emits = frame.emits and not ("disabled" in info.marks or "opaque" in info.marks)
    outcome = followed_call(machine, function, args, kwargs, node, frame, emits)
    if outcome is None:
        return UNKNOWN
    if (outcome.raised is not None or outcome.value.is_none) and is_a_subclass_s(
        machine, function, frame
    ):
        given = args[function.bound is not None :]
        of_subclasses = call_of_subclasses(machine, function, given, kwargs, node, frame)
        return completed(machine, function, {}, of_subclasses)
    if emits and outcome.activation is not None:
        if emits_wrapper and type(inner) is Function:
            machine.summaries.wrapper_runs.setdefault(
                id(info), (outcome.activation, inner.info.qualname)
            )
        frame.note_call(outcome.activation, node)
        note_handed(machine, function, args, kwargs, node, frame)
        emit_sparse(machine, (*args, *kwargs.values()), node, frame)
    if outcome.raised is not None:
        if not frame.emits and not frame.caught and info.name != "__init__":
            # this code ran in reality: what is known of the call's arguments was too little
            return UNKNOWN
        raise Raised(outcome.raised)
    if is_left_to_subclasses(machine, function):
        of_subclasses = call_of_subclasses(machine, function, args[1:], kwargs, node, frame)
        return outcome.value if of_subclasses is UNKNOWN else join(outcome.value, of_subclasses)
    return outcome.value


def without_following(
    info: FunctionInfo, args: list[Value], kwargs: dict[str, Value], frame: Frame
) -> Value | None:
    """What a call gives that need not be followed: the argument as it is, where it is a decorator of a
    library without torch, or a function that hands it back; a text of elsewhere outside of regions."""
    if info.module.library and len(args) == 1 and isinstance(args[0], Class | Function):
        if is_foreign(info.module):
            return args[0]
    if frame.emits:
        return None
    if gives_text_of_elsewhere(info):
        return UNKNOWN
    if (name := handed_back(info)) is None:
        return None
    at = [p.arg for p in info.node.args.args].index(name)
    return args[at] if at < len(args) else kwargs.get(name)


def call_wrapped(
    machine,
    wrapper: FunctionInfo,
    inner: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """Call what a wrapper wraps, as the wrapper did when it was followed: whatever else it does
    was seen then, but a break inside may lose the wrapper's own frame."""
    activation, name = machine.summaries.wrapper_runs.get(id(wrapper), (None, ""))
    steps = activation.steps if activation is not None else ()
    at = next((s for s in steps if s.child is not None and s.child.function == name), None)
    waiting = [s for s in steps if s.event is not None and s.event.only_when_skipped]
    if at is None or not at.skips or not waiting:
        return machine.inline(inner, args, kwargs, node, frame)
    shell = Activation(wrapper.qualname, wrapper.module, activation.line, wrapper.node, waiting)
    frame.note_call(shell, node)
    inside = Frame(wrapper.module, wrapper, None, shell, True, frame.depth, wrapper.qualname)
    inside.certainty, inside.caught, inside.skips = frame.certainty, frame.caught, at.skips
    return machine.inline(inner, args, kwargs, at.node, inside)


def call_method_of_made(machine, method: Function, node: ast.Call, frame: Frame) -> Value:
    """Call a method of an object that was made inside of a region. While one waits that was
    made in this very function, Dynamo cannot hand the function on to Python, in which it has no
    name."""
    made = made_at(machine, method.bound, frame)
    if made < 0:
        return machine.inline(method, *eval_arguments(machine, node, frame), node, frame)
    return call_method_in_graph(machine, method, node, frame, METHOD_OF_MADE, made)


def call_method_in_graph(
    machine, method: Function, node: ast.Call, frame: Frame, event: str, made: int
) -> Value:
    """Call a method of an object that Dynamo cannot hand on to Python. A break inside skips the
    function, where none comes between the step `made` and the call: that is the `event`."""
    frame.skips = "object"
    try:
        args, kwargs = eval_arguments(machine, node, frame)
    finally:
        frame.skips = ""
    steps = frame.activation.steps
    before = len(steps)
    result = machine.inline(method, args, kwargs, node, frame)
    if (
        len(steps) > before
        and steps[-1].child is not None
        and frame.activation.is_compiled_by_itself
    ):
        step = steps[-1]
        emit_call(machine, event, method, args, kwargs, node, frame)
        if steps[-1] is not step:
            step.event, step.made_at = steps.pop().event, made
    return result


def super_object(machine, node: ast.Call, frame: Frame) -> Value:
    """`super()`: a Method-like view of self that starts behind the class in which the function
    stands."""
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
    # `super(Base, self)` starts behind Base
    named = machine.eval(node.args[0], frame) if node.args else UNKNOWN
    return Super(owner, named.info if type(named) is Class else scope.function.owner)


def misfits(info: FunctionInfo, kwargs: dict[str, Value]) -> bool:
    """True when a call names a parameter that the function does not have; a dict of which not all is known
    may have lost the name."""
    spec = info.node.args
    if spec.kwarg is not None or "**" in kwargs:
        return False
    known = {p.arg for p in (*spec.args, *spec.kwonlyargs)}
    return any(name not in known for name in kwargs if not name.startswith("*"))
