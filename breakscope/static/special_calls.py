"""Library calls with a meaning of their own: module lists, partial, checkpoint, and so on."""

from __future__ import annotations

import ast

from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import join_all
from breakscope.static.library_calls import MODULE_LISTS
from breakscope.values import (
    UNKNOWN,
    Class,
    Const,
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


class SpecialCalls:
    """Calls that are more than their result."""

    __slots__ = ()

    def call_chosen_module(self, args, kwargs, node, frame) -> Value:
        """`getattr(nn, name)(...)` with an open name: only the recurrent modules take these keywords."""
        if "bidirectional" in kwargs or "num_layers" in kwargs and "batch_first" in kwargs:
            return ExternalInstance("torch.nn.RNNBase", tuple(args), tuple(kwargs.items()))
        return UNKNOWN

    def module_list(self, name: str, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        type_ = MODULE_LISTS[name]
        if type_ == "Sequential" and not (len(args) == 1 and isinstance(args[0], Dict)):
            return Sequence("Sequential", list(args))
        if args and isinstance(args[0], Dict):
            return Sequence(type_, list(args[0].items.values()), names=tuple(map(str, args[0].items)))
        source = args[0] if args else Sequence("list", [])
        if isinstance(source, Sequence):
            return Sequence(type_, list(source.items) if source.items is not None else None, source.element)
        element = self.iterate(source, node, frame)
        return Sequence(type_, None, element if element is not None else UNKNOWN)

    def call_module_dict(self, args, kwargs, node, frame) -> Value:
        return self.builtin_dict(args, {}, node, frame)

    def call_parameter(self, args, kwargs, node, frame) -> Value:
        value = args[0] if args else kwargs.get("data", UNKNOWN)
        if isinstance(value, Tensor):
            return Tensor(value.dtype, value.ndim, value.shape, True, "parameter", requires_grad=True)
        return Tensor("float", kind="parameter", requires_grad=True)

    def call_partial(self, args, kwargs, node, frame) -> Value:
        if args and isinstance(args[0], Function):
            target = args[0]
            return Function(
                target.info, target.bound, target.scope, (*target.args, *args[1:]), (*target.kwargs, *kwargs.items())
            )
        if args and isinstance(args[0], Union):
            return join_all([self.call_partial([option, *args[1:]], kwargs, node, frame) for option in args[0].options])
        if args and isinstance(args[0], External | Class | ExternalInstance):
            return args[0] if not kwargs.get("**") else UNKNOWN
        return UNKNOWN

    def call_cast(self, args, kwargs, node, frame) -> Value:
        """`cast(type, value)`: the value, or what the type says where nothing else is known."""
        value = args[1] if len(args) > 1 else UNKNOWN
        if not value.is_unknown or not isinstance(node, ast.Call) or not node.args:
            return value
        return self.value_of_annotation(node.args[0], frame)

    def call_partialmethod(self, args, kwargs, node, frame) -> Value:
        """What stands in a class body; it is bound where it is read."""
        return ExternalInstance("functools.partialmethod", tuple(args), tuple(kwargs.items()))

    def call_checkpoint(self, args, kwargs, node, frame) -> Value:
        rest = {
            k: v
            for k, v in kwargs.items()
            if k
            not in ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")
        }
        return self.call_within("checkpoint", args[0], args[1:], rest, node, frame) if args else UNKNOWN

    def call_within(self, what: str, callee: Value, args, kwargs, node: ast.AST, frame: Frame) -> Value:
        """Call what runs as a subgraph of its own: what it does to the world outside is told by the event's `within`."""
        before, frame.within = frame.within, what
        scope = callee.scope if isinstance(callee, Function) else None
        while frame.emits and scope is not None:
            self.outside_subgraph |= {id(v) for v in scope.names.values() if isinstance(v, Sequence | Dict)}
            scope = scope.scope
        if isinstance(callee, Method):
            self.outside_subgraph.add(id(callee.receiver))
        try:
            return self.call_value(callee, args, kwargs, node, frame)
        finally:
            frame.within = before

    def call_hook(self, hook: Value, gradient: Tensor, node: ast.AST, frame: Frame) -> None:
        """Autograd calls a tensor's hook with its gradient: Dynamo makes it a part of the backward graph."""
        try:
            self.call_within("hook", hook, [gradient], {}, node, frame)
        except Raised:
            pass

    def call_transform(self, args, kwargs, node, frame) -> Value:
        """torch.func transforms give a function that is called with tensors."""
        return Method(args[0], "transformed") if args and isinstance(args[0], Method) else args[0] if args else UNKNOWN

    def call_cond(self, args, kwargs, node, frame) -> Value:
        results = [
            self.call_value(
                f, list(args[3].items or []) if len(args) > 3 and isinstance(args[3], Sequence) else [], {}, node, frame
            )
            for f in args[1:3]
        ]
        return join_all(results)

    def call_replace(self, args, kwargs, node, frame) -> Value:
        if args and isinstance(args[0], Instance):
            made = Instance(args[0].cls, {**args[0].attributes, **kwargs})
            self.kept.append(made)
            return made
        return UNKNOWN

    def call_wraps(self, args, kwargs, node, frame) -> Value:
        return External("functools.wraps")

    def call_ordered_dict(self, args, kwargs, node, frame) -> Value:
        return self.builtin_dict(args, kwargs, node, frame)

    def call_deque(self, args, kwargs, node, frame) -> Value:
        return self.ordered("deque", args, node, frame)

    def call_default_dict(self, args, kwargs, node, frame) -> Value:
        made = self.call_value(args[0], [], {}, node, frame) if args and not args[0].is_none else UNKNOWN
        return Dict({}, made, open=True)

    def call_getlogger(self, args, kwargs, node, frame) -> Value:
        return ExternalInstance("logging.Logger")

    def call_where(self, args, kwargs, node, frame) -> Value:
        if len(args) == 1:
            return Sequence("tuple", None, Tensor("int", 1))
        tensors = [a for a in args[1:] if isinstance(a, Tensor)]
        dtypes = {t.dtype for t in tensors}
        ranks = [0 if isinstance(a, Const) else getattr(a, "ndim", None) for a in args]
        rank = max(ranks) if ranks and None not in ranks else None
        return Tensor(
            dtypes.pop() if len(dtypes) == 1 and len(tensors) == 2 else None, rank, sure=all(t.sure for t in tensors)
        )
