"""Calls of the checked source, and what is remembered of them."""

from __future__ import annotations

import ast

from breakscope.events import CHOSEN, Call
from breakscope.static.abstract_methods import is_announced
from breakscope.static.binding import given_arguments, misfits
from breakscope.static.frames import GO_ON, RAISE, Activation, Frame, OutOfBudget, Raised, Step
from breakscope.static.generators import is_generator
from breakscope.static.identity import handed_back, is_foreign, wrapped_name
from breakscope.static.joins import join_all, key_of
from breakscope.static.memory import Group, Known, Outcome, effect_kind_of, kind_of, opened, snapshot
from breakscope.static.module_containers import HELD
from breakscope.static.modules import FunctionInfo
from breakscope.values import (
    NONE,
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Sequence,
    Tensor,
    Union,
    Value,
)

CALL_DEPTH = 40
MOST_NESTED = 3  # analyses of one function inside each other
MOST_WRAPPED = 3  # functions for which the wrapper that one decorator puts around them is followed
MOST_VARIANTS = 6  # analyses of one function for different constants; further ones share one for any constant


class Calls:
    """How functions of the checked source are called."""

    __slots__ = ()

    def arguments(self, node: ast.Call, frame: Frame) -> tuple[list[Value], dict[str, Value]]:
        """The evaluated arguments. `*rest` of unknown length puts a Sequence under the key "*", `**rest` a Dict under "**"."""
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        for part in node.args:
            value = self.eval_table[type(part)](part, frame)
            if type(part) is not ast.Starred:
                args.append(value)
            elif isinstance(value, Sequence) and value.items is not None:
                args.extend(value.items)
            elif isinstance(value, Instance) and self.field_names(value):
                args.extend(value.attributes.get(f, UNKNOWN) for f in self.field_names(value))
            else:
                kwargs["*"] = self.iterate(value, part, frame) or UNKNOWN
        for keyword in node.keywords:
            value = self.eval_table[type(keyword.value)](keyword.value, frame)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Dict):
                kwargs.update({k: v for k, v in value.items.items() if isinstance(k, str)})
                if value.open:
                    kwargs["**"] = value.element
            else:
                kwargs["**"] = UNKNOWN
        return args, kwargs

    def eval_Call(self, node: ast.Call, frame: Frame) -> Value:
        func = node.func
        if type(func) is ast.Name and func.id == "super" and "super" not in frame.names:
            return self.super_object(node, frame)
        callee = self.eval_table[type(func)](func, frame)
        if type(callee) is Function and id(callee.bound) in self.made_inside and not frame.lost:
            return self.call_method_of_made(callee, node, frame)
        args, kwargs = self.arguments(node, frame)
        if callee is UNKNOWN and kwargs and type(func) is ast.Attribute and self.takes_dim(func.attr, kwargs):
            return self.call_tensor_method(Tensor(sure=False), func.attr, args, kwargs, node, frame)
        return self.call_value(callee, args, kwargs, node, frame)

    def takes_dim(self, name: str, kwargs: dict[str, Value]) -> bool:
        """True for a method of tensors that is told a `dim`: what it is called on is one."""
        return ("dim" in kwargs or "keepdim" in kwargs) and name in self.library.tensor_names

    def call_value(
        self, callee: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """Call any abstract value."""
        kind = type(callee)
        if kind is Function:
            return self.call_function(callee, args, kwargs, node, frame)
        if kind is External:
            return self.call_external(callee.name, args, kwargs, node, frame)
        if kind is Method:
            return self.call_method(callee.receiver, callee.name, args, kwargs, node, frame)
        if kind is ExternalInstance:
            return self.call_external_instance(callee, args, kwargs, node, frame)
        if kind is Class:
            return self.instantiate(callee, args, kwargs, node, frame)
        if kind is Instance:
            return self.call_instance(callee, args, kwargs, node, frame)
        if kind is Union:
            return self.call_one_of(callee, args, kwargs, node, frame)
        if hasattr(callee, "record"):
            callee.record(args, kwargs, self.state)
            return UNKNOWN
        if kind is Sequence and callee.type == "Sequential":
            return self.call_sequential(callee, args, node, frame)
        return UNKNOWN

    def call_one_of(self, callee: Union, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        """Call each that it may be; a library's object beside a module of the source is only possibly what is called."""
        results, certainty, undecided = [], frame.certainty, frame.undecided
        chosen = len([o for o in callee.options if type(o) is Function]) > 1  # one function of several
        own = any([type(option) is Instance for option in callee.options])
        for option in callee.options:
            if not option.is_none:
                frame.certainty = "possible" if own and type(option) is ExternalInstance else certainty
                frame.undecided = CHOSEN if chosen else undecided
                try:
                    results.append(self.call_value(option, args, kwargs, node, frame))
                except Raised:
                    pass
                finally:
                    frame.certainty, frame.undecided = certainty, undecided
        return join_all(results)

    def call_implicitly(self, function: Value, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        """Call what an operator, a test or an attribute calls: Dynamo does not resume behind a break in it."""
        lost, frame.lost = frame.lost, frame.lost or "implicit"
        try:
            return self.call_value(function, args, {}, node, frame)
        finally:
            frame.lost = lost

    def call_sequential(self, modules: Sequence, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        value = args[0] if args else UNKNOWN
        for module in modules.items if modules.items is not None else [modules.element]:
            value = self.call_value(module, [value], {}, node, frame)
        return value

    def call_instance(
        self, instance: Instance, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        method = self.attribute(instance, "__call__", node, frame)
        if not isinstance(method, Function) and self.is_module(instance):
            method = self.attribute(instance, "forward", node, frame)
        if not isinstance(method, Function | Union):
            method = instance.attributes.get(HELD, UNKNOWN)
            if not isinstance(method, Sequence):
                return UNKNOWN
        args, kwargs = self.run_pre_hooks(instance, args, kwargs, node, frame)
        result = self.call_value(method, args, kwargs, node, frame)
        return self.run_hooks(instance, args, result, node, frame)

    def call_function(
        self, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """Call a function of the checked source; the result and the events are remembered by arguments."""
        info = function.info
        if function.args or function.kwargs:
            args, kwargs = [*function.args, *args], {**dict(function.kwargs), **kwargs}
        if "disabled" in info.marks and frame.emits:
            self.emit(
                Call, node, frame, name="torch.compiler.disable()", receiver=function, args=tuple(args), kwargs=kwargs
            )
        if function.bound is not None:
            args = [function.bound, *args]
        if frame.caught and frame.emits and kwargs and misfits(info, kwargs):
            self.emit(Call, node, frame, name="call that does not fit", receiver=function, args=tuple(args), kwargs=kwargs)
            raise Raised(External("TypeError"))
        if frame.depth >= CALL_DEPTH:
            return UNKNOWN
        if info.module.library and len(args) == 1 and type(args[0]) in (Class, Function) and is_foreign(info.module):
            return args[0]
        if not frame.emits and (same := handed_back(info)) is not None:
            at = [p.arg for p in info.node.args.args].index(same)
            if at < len(args) or same in kwargs:
                return args[at] if at < len(args) else kwargs[same]
        if emits_wrapper := frame.emits and function.scope is not None and wrapped_name(info):
            seen = self.wrappers.setdefault(id(info), set())
            inner = function.scope.names.get(emits_wrapper)
            if type(inner) is Function and len(seen) >= MOST_WRAPPED and id(function.scope) not in seen:
                return self.call_wrapped(info, inner, args, kwargs, node, frame)
            seen.add(id(function.scope))
        emits = frame.emits and not ("disabled" in info.marks or "opaque" in info.marks)
        outcome = self.followed(function, args, kwargs, node, frame, emits)
        if outcome is None:
            return UNKNOWN
        if emits and outcome.activation is not None:
            if emits_wrapper and type(inner) is Function:
                self.wrapper_runs.setdefault(id(info), (outcome.activation, inner.info.qualname))
            step = Step(None, outcome.activation, frame.lost, node, frame.condition, frame.undecided)
            frame.activation.steps.append(step)
        if (outcome.raised is not None or outcome.value.is_none) and self.is_a_subclass_s(function, frame):
            return self.told(function, {}, UNKNOWN)
        if outcome.raised is not None:
            if not frame.emits and not frame.caught and info.name != "__init__":
                return UNKNOWN  # this code ran in reality: what is known of the call's arguments was too little
            raise Raised(outcome.raised)
        return outcome.value

    def is_a_subclass_s(self, function: Function, frame: Frame) -> bool:
        """True when what runs is not this method, but what a subclass has in its place: by an annotation, or because
        the method as it stands here would end the program."""
        owner = function.bound
        if type(owner) is not Instance or type(function.info.node) is not ast.FunctionDef:
            return False
        is_open = self.annotated.get(id(owner.cls.info)) is owner or not frame.caught
        return is_open and is_announced(function.info)

    def followed(
        self, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame, emits: bool
    ) -> Outcome | None:
        """What the call gives, from memory when one more analysis would tell nothing new; None for a recursion, whose
        first call's result is not known yet."""
        info = function.info
        mode = (emits, frame.certainty, frame.caught, frame.within) if emits else (False,)
        remembered = self.remembered.get(id(info))
        if remembered is None:
            remembered = self.remembered[id(info)] = {}
        key = _call_key(function, mode, args, kwargs)
        outcome = remembered.get(key)
        if outcome is None and (variants := remembered.get(key[:3], 0)) >= MOST_VARIANTS:
            args, kwargs = [opened(a) for a in args], {k: opened(v) for k, v in kwargs.items()}
            key = _call_key(function, mode, args, kwargs)
            outcome = remembered.get(key)
        if outcome is not None:
            return outcome
        names = self.bind(info, args, kwargs, function.scope)
        everything = remembered.get(mode)
        if everything is None:
            everything = remembered[mode] = Known()
        arguments = given_arguments(info, names)
        for_effect = not emits and self.is_for_effect(function, args, node)
        if for_effect:
            kind = effect_kind_of(info, arguments, self.is_module)
        else:
            kind = kind_of(info, mode, names, self.filled_in(function) if emits else ())
        group = remembered.get(kind)
        if group is None:
            nearest = None if for_effect else everything.nearest(kind)
            if nearest is not None and (outcome := nearest.repeat(arguments)) is not None:
                return outcome
            group = remembered[kind] = Group()
        elif group.is_settled(for_effect) and (outcome := group.repeat(arguments)) is not None:
            return outcome
        running = self.running.setdefault(id(info), [])
        if running and (len(running) > MOST_NESTED or key in running):
            return None
        running.append(key)
        before = snapshot(arguments)
        try:
            outcome = self.run_function(function, args, names, frame, emits)
        finally:
            running.pop()
        if outcome.activation is not None:
            outcome.activation.seen = frozenset()
        if outcome.value is UNKNOWN or type(outcome.value) is Union or type(outcome.value) is Sequence:
            outcome.value = self.told(function, arguments, outcome.value)
        group.add(outcome, arguments, before)
        everything.add(kind, group)
        remembered[key] = outcome
        remembered[key[:3]] = variants + 1
        self.kept.extend((function, *names.values()))
        return outcome

    def call_wrapped(
        self, wrapper: FunctionInfo, inner: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """Call what a wrapper wraps, as the wrapper did when it was followed: whatever else it does was seen then, but a
        break inside may lose the wrapper's own frame."""
        activation, name = self.wrapper_runs.get(id(wrapper), (None, ""))
        steps = activation.steps if activation is not None else ()
        at = next((s for s in steps if s.child is not None and s.child.function == name), None)
        waiting = [s for s in steps if s.event is not None and s.event.only_when_lost]
        if at is None or not at.lost or not waiting:
            return self.call_function(inner, args, kwargs, node, frame)
        shell = Activation(wrapper.qualname, wrapper.module, activation.line, waiting)
        frame.activation.steps.append(Step(None, shell, frame.lost, node, frame.condition, frame.undecided))
        inside = Frame(wrapper.module, wrapper, None, shell, True, frame.depth, wrapper.qualname)
        inside.certainty, inside.caught, inside.lost = frame.certainty, frame.caught, at.lost
        return self.call_function(inner, args, kwargs, at.node, inside)

    def is_for_effect(self, function: Function, args: list[Value], node: ast.AST) -> bool:
        """True for an inherited constructor from another file, and for other such methods whose value is thrown away."""
        info, owner = function.info, args[0] if args else None
        return (
            type(owner) is Instance
            and info.module is not owner.cls.info.module
            and (info.name == "__init__" or node is self.for_effect)
        )

    def run_function(
        self, function: Function, args: list[Value], names: dict[str, Value], caller: Frame, emits: bool
    ) -> Outcome:
        """Analyse a call; `names` are the parameters' values."""
        info: FunctionInfo = function.info
        info.entered = self.turn
        activation = Activation(info.qualname, info.module, info.node.lineno) if emits else None
        frame = Frame(info.module, info, function.scope, activation, emits, caller.depth + 1, info.qualname)
        if emits:
            frame.began = self.made_count
            activation.is_compiled_apart = self.is_function_compiled_apart(function, names)
            frame.certainty = caller.certainty
            if (
                type(function.bound) is Instance
                and caller.certainty == "certain"
                and not any([a.is_unknown for a in args])
            ):
                self.note_reached((id(function.bound.cls.info), id(info)), names)
        frame.caught, frame.within = caller.caught, caller.within
        frame.names = names
        frame.bound = args[0] if args and function.bound is not None else None
        node = info.node
        try:
            if type(node) is ast.Lambda:
                return Outcome(self.eval(node.body, frame), activation)
            status = self.exec_block(node.body, frame)
        except Raised as problem:
            if not frame.returns:
                return Outcome(UNKNOWN, activation, problem.value)
            status = RAISE
        except (OutOfBudget, RecursionError):
            if activation is not None:  # what was seen until here stays
                step = Step(None, activation, caller.lost, None, caller.condition, caller.undecided)
                caller.activation.steps.append(step)
            raise
        if is_generator(info):
            return Outcome(Sequence("generator", None, join_all(frame.yields)), activation)
        returns = [*frame.returns, NONE] if status == GO_ON else frame.returns
        return Outcome(join_all(returns), activation)

    def note_reached(self, entered: tuple[int, int], names: dict[str, Value]) -> None:
        """Note that a region enters a method with known arguments, and which of them were None each time."""
        absent = frozenset([name for name, value in names.items() if value.is_none])
        before = self.reached.get(entered)
        self.reached[entered] = absent if before is None else before & absent


def _call_key(function: Function, mode: tuple, args: list[Value], kwargs: dict[str, Value]) -> tuple:
    return (
        id(function.info),
        id(function.scope),
        mode,
        tuple([key_of(a) for a in args]),
        tuple([(k, key_of(v)) for k, v in kwargs.items()]) if kwargs else (),
    )
