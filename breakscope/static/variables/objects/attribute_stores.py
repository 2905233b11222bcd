"""`owner.name = value` on objects and classes of the checked source: properties, descriptors,
`__setattr__`, and stores that outlive the call."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.rulekit.events import Store
from breakscope.rulekit.values import (
    MISSING,
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.classes import bound_to, class_facts, find_member, is_module
from breakscope.static.definitions.homes import note_nested
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.given import by_condition, excludes, opposite, taken
from breakscope.static.machine.lattice import ALWAYS, Given, join, join_under
from breakscope.static.machine.library import SET_ON_MADE
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.side_effects import emit_store, note_outside, put_attribute
from breakscope.static.variables.modules.changes import note_stored
from breakscope.static.variables.modules.containers import HELD
from breakscope.static.variables.modules.hidden_properties import is_kept_apart
from breakscope.static.variables.objects.construction import call_member
from breakscope.static.variables.objects.returned import note_left_behind
from breakscope.static.variables.tensors.dtypes import PRECISIONS

SET_IN_C = "types.SimpleNamespace.__setattr__"


def run_setter(
    machine: Machine, owner: Instance, name: str, value: Value, node: ast.AST, frame: Frame
) -> bool:
    """Run the `__setattr__` of a class that keeps its attributes elsewhere; True where its
    `__getattr__` finds this one there."""
    setter = find_member(machine, owner.cls.info, "__setattr__")
    if (
        type(setter) is not Function
        or type(find_member(machine, owner.cls.info, "__getattr__")) is not Function
    ):
        return False
    try:
        machine.call_implicitly(bound_to(setter, owner), [Const(name), value], node, frame)
    except Raised:
        return False
    return name not in owner.attributes and machine.getattr(owner, name, node, frame) == value


def inherited_attribute_method(
    machine: Machine, owner: Instance, method: str, args: list[Value], frame: Frame
) -> Value:
    """`super().__getattr__(name)` and `super().__setattr__(name, value)` of an object or
    module."""
    name = args[0].value if args and type(args[0]) is Const else None
    if type(name) is not str:
        return UNKNOWN
    if method == "__setattr__":
        if len(args) == 2 and id(owner) not in machine.objects.made_inside:
            put_attribute(machine, owner, name, args[1], frame)
        return NONE
    if name in owner.attributes:
        return owner.attributes[name]
    if method == "__getattr__" and frame.caught:
        raise Raised(External("AttributeError"))
    return UNKNOWN


def store_on_class(
    machine: Machine,
    target: ast.Attribute,
    owner: Class,
    name: str,
    value: Value,
    frame: Frame,
    node: ast.AST,
    old: Value | None,
) -> None:
    if not frame.emits:
        before = find_member(machine, owner.info, name) or UNKNOWN
        note_outside(machine, owner.info, name, value, before, frame, node)
        machine.touch(owner.info)
        owner.info.stored[name] = value
        class_facts(machine, owner.info).values.pop(name, None)
        return
    if id(owner.info) in machine.objects.called_classes:
        emit_call(machine, SET_ON_MADE, owner, (Const(name), value), {}, node, frame)
        return
    source, initial = (
        machine.text(target.value, frame.module),
        find_member(machine, owner.info, name),
    )
    emit_call(machine, "type.__setattr__", owner, (Const(name), value), {}, node, frame)
    if frame.function is not None and frame.function.name in ("__enter__", "__exit__"):
        return  # what a context manager sets, it sets back
    emit_store(
        machine,
        Store,
        node,
        frame,
        (id(owner.info), name),
        owner=source,
        name=name,
        scope="attribute",
        value=value,
        initial=initial if initial is not None else UNKNOWN,
        reads_itself=old is not None or _reads(node, source, name),
    )


def _where_it_holds(value: Value, condition: str) -> Value:
    """What a value may be where the condition holds."""
    rows = by_condition(value, condition)
    return join_under(*zip(*rows)) if len(rows) < len(options(value)) else value


def fill_attributes(machine: Machine, owner: Instance, value: Value, frame: Frame) -> None:
    """`owner.__dict__ = value`: another dict, or the object itself where its class derives from dict."""
    contents = owner.attributes.get(HELD) if value is owner else value
    for name, part in contents.items.items() if type(contents) is Dict else ():
        if isinstance(name, str):
            put_attribute(machine, owner, name, part, frame)


def store_on_instance(
    machine: Machine,
    target: ast.Attribute,
    owner: Instance,
    name: str,
    value: Value,
    frame: Frame,
    node: ast.AST,
    old: Value | None,
) -> None:
    source = (
        target.value.id
        if type(target.value) is ast.Name
        else machine.text(target.value, frame.module)
    )
    if name == "__dict__" and not frame.emits:
        fill_attributes(machine, owner, value, frame)
        return
    if name == "__class__":
        emit_call(machine, "object.__class__", owner, (value,), {}, node, frame)
    if owner.cls is machine.objects.stand_ins.get("SimpleNamespace"):
        emit_call(machine, SET_IN_C, owner, (Const(name), value), {}, node, frame)
    note_stored(machine, owner, name, value, node, frame)
    narrowed = frame.names.pop(f"{source}.{name}", None)
    member = find_member(machine, owner.cls.info, name)
    if isinstance(member, Instance):
        method = find_member(machine, member.cls.info, "__set__")
        if method is not None:
            call_member(machine, member, method, [owner, value], {}, node, frame)
            return
    elif type(member) is Function and "property" in member.info.marks:
        setter = find_member(machine, owner.cls.info, f"{name}.setter")
        if setter is not None and not is_kept_apart(machine, owner, value):
            call_member(machine, owner, setter, [value], {}, node, frame)
            return
    if run_setter(machine, owner, name, value, node, frame) and not frame.emits:
        return
    before = owner.attributes.get(name)
    if getattr(before, "kind", "") == "buffer" and type(value) is Tensor:
        if value.kind not in PRECISIONS:
            value = replace(value, kind="buffer")
        if frame.emits:  # a module looks for it among its buffers before it sets it
            machine.region.note_read((id(owner), name), target, frame)
    if not frame.emits:
        _store_outside(machine, owner, source, name, value, before, member, frame, node)
    elif id(owner) in machine.objects.made_inside:
        owner.attributes[name] = value if before is None else join(before, value)
        if frame.within and outlives_subgraph(machine, owner):
            emit_enclosing(machine, source, name, value, node, frame)
    else:
        note_left_behind(machine, value, node, frame)
        reads_itself = old is not None or _reads(node, source, name)
        initial = _initial(machine, owner, name, value, narrowed, reads_itself, frame)
        _store_in_region(machine, owner, source, name, value, initial, reads_itself, frame, node)
        if isinstance(target.value, ast.Name):
            frame.names[f"{source}.{name}"] = value


def _initial(
    machine: Machine,
    owner: Instance,
    name: str,
    value: Value,
    narrowed: Value | None,
    reads_itself: bool,
    frame: Frame,
) -> Value:
    """What an attribute holds when a region begins that stores `value` there."""
    before = owner.attributes.get(name)
    initial = before if before is not None else initial_value(machine, owner, name)
    initial = _where_it_holds(initial, frame.condition)
    if narrowed is not None and not any(option.is_none for option in options(narrowed)):
        if options(initial)[0].is_none:
            initial = narrowed  # a test, or a store, has ended the time when it was None
    if initial is not UNKNOWN:
        return initial
    if reads_itself:  # `getattr(self, name, 0) + 1`: a number from the second call on
        return Py(type(value.value).__name__) if isinstance(value, Const) else value
    return MISSING if (id(owner), name) in machine.region.missing else initial


def _store_in_region(
    machine: Machine,
    owner: Instance,
    source: str,
    name: str,
    value: Value,
    initial: Value,
    reads_itself: bool,
    frame: Frame,
    node: ast.AST,
) -> None:
    """A region stores into an object that it did not make."""
    emit_store(
        machine,
        Store,
        node,
        frame,
        (id(owner), name),
        owner=source,
        name=name,
        scope="attribute",
        value=value,
        initial=initial,
        reads_itself=reads_itself,
        of_plain=not is_module(machine, owner),
    )
    before = owner.attributes.get(name)
    if isinstance(before, Sequence | Dict) and isinstance(value, Sequence | Dict):
        machine.region.shrunk.add(id(before))  # another takes its place in every call
    if before is None:
        owner.attributes[name] = value
    elif before.is_none and not value.is_none:  # what is called from here on finds it
        owner.attributes[name] = join(before, value)
        owner.version += 1


def _store_outside(
    machine: Machine,
    owner: Instance,
    source: str,
    name: str,
    value: Value,
    before: Value | None,
    member: Value | None,
    frame: Frame,
    node: ast.AST,
) -> None:
    """The code around regions stores, as `__init__` does."""
    if isinstance(value, Sequence | Dict) and not value.home:
        machine.touch(value)
        value.home = f"{source}.{name}"
        note_nested(machine, value, value.home)
    if frame.bound is not owner and frame.function is not None and is_module(machine, owner):
        owner.version += 1
    if (frame.function is not None and frame.bound is owner) or before is None:
        of_class = UNKNOWN if member is None or type(member) is Function else member
        note_outside(machine, owner, name, value, before or of_class, frame, node)
        certain = before is None or (frame.skips == "" and not frame.undecided)
        given = given_by_branch(machine, owner, name, frame, before)
        owner.attributes[name] = value if certain else join(before, value, 0, given)
    else:
        if not machine.driver.inside:
            machine.driver.outside.append((owner, name, value, before, frame.module.path, node))
        is_followed = machine.driver.function is not None
        is_sure = is_followed and not frame.skips and not frame.undecided
        owner.attributes[name] = value if is_sure else join(before, value)


def outlives_subgraph(machine: Machine, owner: Instance) -> bool:
    """False for an object that the subgraph makes itself."""
    is_made = id(owner) in machine.objects.made_inside
    return not is_made or id(owner) in machine.region.outside_subgraph


def emit_enclosing(
    machine: Machine, source: str, name: str, value: Value, node: ast.AST, frame: Frame
) -> None:
    """Emit that a subgraph changes an attribute of an object that the code around it has made."""
    machine.emit(
        Store, node, frame, owner=source, name=name, scope="enclosing", value=value, of_plain=True
    )


def given_by_branch(
    machine: Machine, owner: Instance, name: str, frame: Frame, before: Value | None
) -> Given:
    """The conditions under which an attribute is what it was before, and what a branch of the
    constructor sets: the last store of it in a branch is noted for the next one."""
    branch, key = frame.branch, (id(owner), name)
    earlier, module = machine.objects.stored_in.pop(key, (None, frame.module))
    if branch is None:
        return ALWAYS
    machine.objects.stored_in[key] = branch, frame.module  # a base's constructor may be in another
    if before is None:
        return ALWAYS
    here = taken(machine, branch, frame.module)
    there = "" if earlier is None else taken(machine, earlier, module)
    if there and (earlier[0] is branch[0] or excludes(here, there)):
        has_own = type(before) is Union and before.conditions  # each option
        return "" if has_own else there, here
    test = machine.text(branch[0], frame.module)
    other = opposite(test) if branch[1] else test
    return "" if branch[2] else other, here


def initial_value(machine: Machine, owner: Instance, name: str) -> Value:
    member = find_member(machine, owner.cls.info, name)
    return member if member is not None else UNKNOWN


def _reads(node: ast.AST, source: str, name: str) -> bool:
    """True when the stored value is computed from the attribute itself."""
    is_setattr = type(node) is ast.Call and node.args
    value = node.args[-1] if is_setattr else getattr(node, "value", None)
    return value is not None and any(_is_read(part, source, name) for part in walk(value))


def _is_read(node: ast.AST, source: str, name: str) -> bool:
    """True for `source.name` and `getattr(source, "name", ...)`."""
    if isinstance(node, ast.Attribute):
        return node.attr == name and ast.unparse(node.value) == source
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Name)
        or node.func.id != "getattr"
    ):
        return False
    return (
        len(node.args) > 1
        and getattr(node.args[1], "value", None) == name
        and ast.unparse(node.args[0]) == source
    )
