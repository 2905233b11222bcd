"""Context managers."""

from __future__ import annotations

import ast

from breakscope.events import Enter
from breakscope.static.frames import GO_ON, Frame, Raised
from breakscope.static.joins import element_of, join_all
from breakscope.values import FALSE, NONE, UNKNOWN, ExternalInstance, Function, Instance, Sequence, Value, options

STATES = {
    "torch.autocast": "autocast",
    "torch.amp.autocast": "autocast",
    "torch.cpu.amp.autocast": "autocast",
    "torch.cuda.amp.autocast": "autocast",
    "torch.no_grad": "grad_mode",
    "torch.inference_mode": "grad_mode",
    "torch.enable_grad": "grad_mode",
    "torch.set_grad_enabled": "grad_mode",
}

GENERATOR = "function under contextlib.contextmanager"  # as the tables call it


class WithBlocks:
    """How a `with` is entered and left, and whether a break inside it can be resumed."""

    __slots__ = ()

    def exec_With(self, node: ast.With, frame: Frame) -> int:
        lost, emits_leave, state = frame.lost, [], dict(self.state)
        swallows = False
        for item in node.items:
            manager = self.eval(item.context_expr, frame)
            if any(isinstance(option, Instance) for option in options(manager)):
                frame.lost = frame.lost or "with"  # nor can a break inside its __enter__ and __exit__ be resumed
            entered = self.enter(manager, item.context_expr, frame)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, frame, node)
            if self.loses_frame(manager):
                frame.lost = frame.lost or "with"
            if self.driver is not None and isinstance(manager, ExternalInstance) and manager.name in STATES:
                off = dict(manager.kwargs).get("enabled") == FALSE
                self.state[STATES[manager.name]] = "" if off else self.text(item.context_expr, frame.module)
            swallows = swallows or (isinstance(manager, ExternalInstance) and manager.name == "contextlib.suppress")
            emits_leave.append(manager)
        try:
            status = self.exec_block(node.body, frame)
        except Raised:
            if not swallows:
                raise
            status = GO_ON
        self.state = state
        for manager in reversed(emits_leave):
            self.leave_context(manager, node, frame)
        frame.lost = lost
        return status

    exec_AsyncWith = exec_With

    def enter(self, manager: Value, node: ast.expr, frame: Frame) -> Value:
        """What `as` binds when a context manager is entered."""
        results = []
        for option in options(manager):
            if isinstance(option, Instance):
                method = self.attribute(option, "__enter__", node, frame)
                results.append(self.call_value(method, [], {}, node, frame) if isinstance(method, Function) else option)
            elif isinstance(option, ExternalInstance):
                self.emit(
                    Enter, node, frame, name=option.name, value=option, args=option.args, kwargs=dict(option.kwargs)
                )
                is_given = option.name in ("contextlib.nullcontext", "contextlib.closing")
                results.append((*option.args, NONE)[0] if is_given else option)
            elif isinstance(option, Sequence) and option.type == "generator":
                self.emit(Enter, node, frame, name=GENERATOR, value=option, args=(), kwargs={})
                results.append(element_of(option))
            else:
                results.append(UNKNOWN)
        return join_all(results)

    def leave_context(self, manager: Value, node: ast.With, frame: Frame) -> None:
        for option in options(manager):
            if isinstance(option, Instance):
                method = self.attribute(option, "__exit__", node, frame)
                if isinstance(method, Function):
                    try:
                        self.call_value(method, [NONE, NONE, NONE], {}, node, frame)
                    except Raised:
                        pass

    def loses_frame(self, manager: Value) -> bool:
        """True when a break inside this `with` cannot be resumed: Dynamo rebuilds only the context managers it knows."""
        for option in options(manager):
            if isinstance(option, Instance) or (isinstance(option, Sequence) and option.type == "generator"):
                return True
            if isinstance(option, ExternalInstance) and not option.name.startswith("torch."):
                return True
        return False
