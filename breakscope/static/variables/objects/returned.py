"""Objects and generators made inside of a region that the region returns, or keeps in an attribute: Dynamo must make
them anew from what it noted."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from breakscope.rulekit.values import Const, Dict, Function, Instance, Sequence, Value, options
from breakscope.static.definitions.binding import defaults_of
from breakscope.static.definitions.classes import find_member
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call

GENERATOR = "generator leaves the region"


def note_returned(machine: Machine, value: Value, node: ast.Return, frame: Frame) -> None:
    """The region returns this. An object that holds a function which only a default of its constructor
    names, or a method of itself, cannot be made anew."""
    if not frame.emits or frame.depth > 1:
        return
    if type(value) in (Sequence, Dict) and not _is_generator(value):
        if any(map(_is_generator, _parts(value))):
            emit_call(machine, GENERATOR, value, (Const("returns"),), {}, node, frame, "likely")
            return
    if not machine.objects.made_inside:
        return
    for owner in _made_objects(machine, value):
        name = _unnamed_function(machine, owner)
        if name:
            what = "return of an object with a function"
            emit_call(machine, what, owner, (), {"attribute": owner.attributes[name]}, node, frame)
            return


def note_left_behind(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> None:
    """The region sets an attribute of an object from outside to this."""
    if frame.emits and _is_generator(value):
        emit_call(machine, GENERATOR, value, (Const("keeps"),), {}, node, frame, "likely")


def _is_generator(value: Value) -> bool:
    """True for a generator expression of the region's; what a function with `yield` gives is made anew."""
    is_made = type(value) is Sequence and value.type == "generator" and not value.home
    return is_made and value.is_once


def _parts(value: Value) -> list[Value]:
    """What a container holds."""
    held = value.items if type(value) is Sequence else value.items.values()
    return [option for part in held or () for option in options(part)]


def _made_objects(machine: Machine, value: Value) -> list[Instance]:
    """The objects made inside that are returned: by themselves, in containers or as attributes of others."""
    found, open_, seen = [], [*options(value)], set()
    while open_:
        part = open_.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        inside: Iterable[Value] = ()
        if type(part) is Instance and id(part) in machine.objects.made_inside:
            found.append(part)
            inside = part.attributes.values()
        elif type(part) is Sequence:
            inside = part.items or ()
        elif type(part) is Dict:
            inside = part.items.values()
        open_ += [option for held in inside for option in options(held)]
    return found


def _unnamed_function(machine: Machine, owner: Instance) -> str:
    """The attribute that holds such a function, or ""."""
    init = find_member(machine, owner.cls.info, "__init__")
    defaults = defaults_of(machine, init.info, init.scope) if type(init) is Function else {}
    for name, value in owner.attributes.items():
        if type(value) is Function and (
            value.bound is owner or any(value is default for default in defaults.values())
        ):
            return name
    return ""
