"""Use of torch.compile itself: the values that it makes, and the events of wrapping and of using
what was wrapped.

These events come from whole files, not only from compiled regions: a training script, its
functions, its classes.
"""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Event
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    ExternalInstance,
    Instance,
    Sequence,
    Value,
)

COMPILE, IN_PLACE = "torch.compile", "Module.compile"


class Wrapped(Value, eq=False):
    """What a wrapper made of `target`.

    `name` is the wrapper: "torch.compile", "Module.compile" (`model.compile()`, which changes the
    module itself), "torch.jit.script", "torch.jit.trace", "torch.jit.freeze". `settings` are its
    keyword arguments. `sometimes`: only on some paths through the program.
    """

    name: str
    target: Value = UNKNOWN
    settings: dict[str, Value] = {}
    node: ast.AST | None = None  # the wrapping call or decorator
    sometimes: bool = False

    @property
    def is_compiled(self) -> bool:
        return self.name in (COMPILE, IN_PLACE)

    @property
    def innermost(self) -> Value:
        """What was wrapped first."""
        value: Value = self
        while isinstance(value, Wrapped):
            value = value.target
        return value

    @property
    def module_class(self) -> Class | None:
        """The class of the checked source whose object was wrapped, where that is known."""
        inner = self.innermost
        return inner.cls if isinstance(inner, Instance) else None

    @property
    def is_module(self) -> bool:
        """True when the thing that was wrapped certainly is an nn.Module."""
        return isinstance(self.innermost, Instance | ExternalInstance)

    def setting(self, name: str):
        """A constant setting's value; None when it is not given or not known."""
        value = self.settings.get(name)
        return value.value if isinstance(value, Const) else None

    def describe(self) -> str:
        return "a compiled callable" if self.is_compiled else "a TorchScript object"


class States(Value, eq=False):
    """`owner.state_dict()`."""

    owner: Wrapped
    node: ast.Call

    def describe(self) -> str:
        return "the state of a compiled module"


class Wrap(Event, frozen=True, kw_only=True):
    """Something is wrapped: `name` as for Wrapped, `target` what it is applied to.

    `subject` is the source of what is wrapped. `result`: "dropped" (nobody takes it), "assigned",
    "called", "used". `repeats`: "loop" when everything in the call is the same in each pass of the
    loop around it, "step" when the function around it is called in a loop (or is a module's
    forward) and wraps the same thing each time, else "". `new_backend` is the source of a backend
    that is made anew in each pass of a loop, else "". `ignored` is the exception a broad handler
    around the call catches, when nothing but wrapping happens under it. `checked`: a `try` or a
    test's `raises` stands around it. `backend_parameters`: those of a backend that the file
    defines; None when that is not known, or when it takes any.
    """

    name: str
    target: Value
    settings: dict[str, Value]
    subject: str = ""
    result: str = "used"
    repeats: str = ""
    new_backend: str = ""
    ignored: str = ""
    checked: bool = False
    backend_parameters: tuple[str, ...] | None = None

    @property
    def uses_inductor(self) -> bool:
        return "backend" not in self.settings or self.setting("backend") == "inductor"

    @property
    def module_of_torch(self) -> str:
        """The class of torch's whose object is wrapped, "torch.nn.Linear"; "" for anything else."""
        if isinstance(self.target, Sequence) and self.target.type == "Sequential":
            return "torch.nn.Sequential"
        name = self.target.name if isinstance(self.target, ExternalInstance) else ""
        return name if name.startswith("torch.nn.") else ""

    setting = Wrapped.setting


class Use(Event, frozen=True, kw_only=True):
    """A wrapped thing is used.

    `name`: "()" (it is called), "isinstance", "torch.save", "=" (an attribute of it is set), or the
    method that is called ("load_state_dict", "encode"). `value` is the wrapped thing, `subject` its
    source, `args` what goes with it. `computes`: the method is the module class's own, and calls
    the module or a part of it. `attribute` is the attribute that is set. `is_own_class` (for
    isinstance): the class tested for is the module's, or a base of it in the source. `varies`: what
    differs from pass to pass of the loop around it: "text", "size", "int". `swallowed`: a handler
    around a call drops every exception without a word. `saved` (for load_state_dict): the file
    saves such states, too.
    """

    name: str
    value: Wrapped
    subject: str = ""
    args: tuple[Value, ...] = ()
    computes: bool = False
    is_own_class: bool = False
    attribute: str = ""
    varies: str = ""
    swallowed: bool = False
    saved: bool = False


class Timed(Event, frozen=True, kw_only=True):
    """A clock runs over calls of something compiled, and over nothing but calls; `node` is the
    difference.

    `what` it measures besides, or instead: "compiling" (the first call is among them), "launching"
    (the file speaks of a GPU, and nothing waits for it before the clock is read again).
    """

    value: Wrapped
    subject: str = ""
    what: str = "compiling"


class Kept(Event, frozen=True, kw_only=True):
    """What a callable that records CUDA graphs returned is read after a later call has written over
    it; `node` is what was kept, as `kept` shows it, `holder` the name or attribute that keeps it
    ("" where none does)."""

    value: Wrapped
    subject: str = ""
    holder: str = ""
    kept: str = ""


class Added(Event, frozen=True, kw_only=True):
    """A backward pass adds to gradients that an earlier one, a CUDA graph, has made; `node` is the
    call of `backward`.

    `where` gradients are let go of: "in some rounds", "around the loop", "nowhere" (they are set to
    zero in place).
    """

    value: Wrapped
    subject: str = ""
    where: str = ""


class Differentiated(Event, frozen=True, kw_only=True):
    """A gradient of what a call of compiled code returned is made in such a way that it can be differentiated; `node` is
    the call that makes it, `subject` the source of what was called."""

    value: Wrapped
    subject: str = ""


class Configure(Event, frozen=True, kw_only=True):
    """A setting of torch is assigned: `name` is its dotted name, `value` what it gets."""

    name: str
    value: Value


class Frozen(Event, frozen=True, kw_only=True):
    """A function under `assume_constant_result` reads what changes; `node` is the read.

    `what`: "random", "clock", "attribute" (set by another method than `__init__`), "global" (set by
    a function).
    """

    what: str
    name: str
