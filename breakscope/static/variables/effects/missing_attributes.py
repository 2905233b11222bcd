"""Attributes that a region asks for, with `hasattr` or a default for `getattr`, before anything has set them: guards are
on the answer."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import Instance
from breakscope.rulekit.walking import begin_of, kept_with_node, walk
from breakscope.static.definitions.classes import external_bases, find_member, mro_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import FunctionInfo

# classes outside of the checked source that give their objects no attributes of their own
PLAIN_BASES = frozenset(
    {"object", "abc.ABC", "torch.nn.Module", "typing.Generic", "typing.NamedTuple"}
)


def has_unseen_attributes(machine: Machine, owner: Instance) -> bool:
    """True when an object may have attributes that the source does not show."""
    return not PLAIN_BASES.issuperset(external_bases(machine, owner.cls.info))


def note_absent(machine: Machine, owner: Instance, name: str, node: ast.AST, frame: Frame) -> None:
    """Note that the region asks for an attribute that its object has not, unless another function may have set it."""
    if not frame.emits or id(owner) in machine.objects.made_inside or name in owner.attributes:
        return
    members = (name, "__getattr__", "__setattr__")
    if any(find_member(machine, owner.cls.info, member) is not None for member in members):
        return
    is_seen = not has_unseen_attributes(machine, owner)
    if is_seen and not _is_set_elsewhere(machine, owner, name, frame.function):
        key = (id(owner), name)
        machine.region.missing.add(key)
        machine.region.note_attribute_read(key, node, frame)


def _is_set_elsewhere(
    machine: Machine, owner: Instance, name: str, function: FunctionInfo | None
) -> bool:
    """True where a function other than the region's names the attribute, as one to set or in a text."""
    own = _named_in(function.node).get(name, ()) if function is not None else ()
    return any(
        place not in own or cls.module.path != function.module.path
        for cls in mro_of(machine, owner.cls.info)
        if name.encode() in cls.module.text
        for place in _named_in(cls.node).get(name, ())
    )


@kept_with_node
def _named_in(node: ast.AST) -> dict[str, list[tuple[int, int]]]:
    """Where the attributes stand that code sets, and its texts, by name."""
    named: dict[str, list[tuple[int, int]]] = {}
    for part in walk(node):
        if type(part) is ast.Attribute and type(part.ctx) is ast.Store:
            named.setdefault(part.attr, []).append(begin_of(part))
        elif type(part) is ast.Constant and type(part.value) is str:
            named.setdefault(part.value, []).append(begin_of(part))
    return named
