"""What changes the parameters of a module: methods, of torch's layers and of containers, too, and
parametrizations."""

from __future__ import annotations

import ast

from breakscope.rulekit.module_parameters import holds_parameters
from breakscope.rulekit.values import UNKNOWN, Const, ExternalInstance, Instance, Tensor, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.side_effects import note_outside

CHANGES = frozenset(
    "half bfloat16 double to to_empty type share_memory requires_grad_ load_state_dict".split()
)

PARAMETRIZE = "torch.nn.utils.parametrize.register_parametrization"
UTILS = "torch.nn.utils."
REPARAMETRIZES = frozenset(
    UTILS + name
    for name in """
    weight_norm spectral_norm remove_weight_norm remove_spectral_norm
    parametrizations.weight_norm parametrizations.spectral_norm parametrizations.orthogonal
    parametrize.register_parametrization parametrize.remove_parametrizations
    prune.l1_unstructured prune.random_unstructured prune.ln_structured prune.random_structured prune.identity
    prune.custom_from_mask prune.remove
    """.split()
)
STORED = "torch.nn.utils.parametrize.__set__"  # as its rule listens to it


def note_reparametrized(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Note that the code around a region has a parameter computed of others from here on, or no longer."""
    module = args[0] if args else kwargs.get("module", UNKNOWN)
    of = args[1] if len(args) > 1 else kwargs.get("name", Const("weight"))
    if isinstance(of, Const) and isinstance(of.value, str):
        before = Tensor("float", kind="parameter")
        note_outside(machine, module, of.value, ExternalInstance(name), before, frame, node)


def call_parametrize(machine: Machine, args, kwargs, node: ast.AST, frame: Frame) -> Value:
    """Keep which attribute of a module is computed from now on; returns the module."""
    match args:
        case [Instance() as owner, Const() as name, *_]:
            machine.objects.parametrized[id(owner), name.value] = owner
    return args[0] if args else UNKNOWN


def note_stored(
    machine: Machine, owner: Instance, name: str, value: Value, node: ast.AST, frame: Frame
) -> None:
    """Emit that such an attribute is set: torch writes into the parameter that it is computed of."""
    if frame.emits and (id(owner), name) in machine.objects.parametrized:
        emit_call(machine, STORED, owner, (value,), {}, node, frame)


def note_module_change(
    machine: Machine,
    owner: Value,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Emit such a call on what holds parameters."""
    if frame.emits and name in CHANGES and holds_parameters(owner):
        sure = certainty_of_change(name, node, frame)
        emit_call(machine, f"torch.nn.Module.{name}", owner, args, kwargs, node, frame, sure)


def certainty_of_change(name: str, node: ast.AST, frame: Frame) -> str:
    """Freezing what is frozen changes nothing. That another function of the class does it, or a line of
    the file to something of this name, is seen by the word alone: parameters are frozen in many ways."""
    if name != "requires_grad_" or not frame.emits or frame.function is None:
        return "certain"
    lines, own = frame.module.source_lines(), frame.function.node
    cls = frame.function.owner.node if frame.function.owner is not None else own
    target = getattr(getattr(node, "func", None), "value", None)
    called = getattr(target, "attr", "") or getattr(target, "id", "")
    others = [*enumerate(lines[: own.lineno - 1], 1)]
    others += enumerate(lines[own.end_lineno :], own.end_lineno + 1)
    for number, line in others:
        is_near = cls.lineno <= number <= cls.end_lineno or f"{called}.requires_grad" in line
        if is_near and "requires_grad" in line:
            return "possible"
    return "certain"
