"""The global state, and that of the object, in which a region is called: what of it differs between the calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope import limits
from breakscope.rulekit.events import Varies
from breakscope.rulekit.values import Dict, ExternalInstance, Instance, Sequence, Value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

STATES = tuple(
    "autocast grad_mode default_dtype module_dtype requires_grad training global_state hooks".split()
)
BY_TRAINING = tuple(
    """
    Dropout AlphaDropout FeatureAlphaDropout BatchNorm SyncBatchNorm InstanceNorm RReLU
    MultiheadAttention TransformerEncoder TransformerDecoder
    """.split()
)


def emit_states(
    machine: Machine, node: ast.AST, frame: Frame, owner: Value | None, states: list[dict]
) -> None:
    """Emit what of the global state, and of the object's own, differs between the calls."""
    for what in STATES:
        seen = {state.get(what, "train" if what == "training" else "") for state in states}
        if what == "training" and not depends_on_training(machine, owner):
            continue
        if what == "hooks" and not states[0].get(what):
            continue  # what the first call does not find is not guarded
        if len(seen) > 1:
            values = tuple(sorted(s for s in seen if s))
            machine.emit(Varies, node, frame, name=what, what=what, values=values)


def depends_on_training(machine: Machine, value: Value | None, depth: int = 6) -> bool:
    """True when the region reads `training`, or the model holds a layer that does."""
    if any(name == "training" for _, name in machine.region.reads):
        return True
    if isinstance(value, ExternalInstance):
        return value.name.startswith("torch.nn.") and value.name.rpartition(".")[2].startswith(
            BY_TRAINING
        )
    if depth == 0:
        return False
    return any(depends_on_training(machine, part, depth - 1) for part in inside(value))


def parts_of(value: Value | None, depth: int = limits.DEEPEST_MODULE_WALK) -> Iterator[Value]:
    """A module, and the modules in it."""
    if value is None or depth == 0:
        return
    yield value
    for part in inside(value):
        yield from parts_of(part, depth - 1)


def inside(value: Value | None) -> list[Value]:
    """What an object or a container holds itself."""
    if isinstance(value, Instance):
        return [part.original for part in value.attributes.values()]
    if isinstance(value, Sequence):
        return value.inside
    return [*value.items.values(), value.element] if isinstance(value, Dict) else []
