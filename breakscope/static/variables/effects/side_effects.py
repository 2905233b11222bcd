"""Changes of what outlives the call: stores, changes of containers, and what a driver sets
between the calls of a region."""

from __future__ import annotations

import ast
import re

from breakscope import limits
from breakscope.rulekit.events import Mutate, Store
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    Instance,
    Py,
    Sequence,
    Value,
    int_of,
    is_plain_value,
)
from breakscope.rulekit.walking import begin_of, walk
from breakscope.static.definitions.homes import home_of, note_nested
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.settling import longest_kept, settles

# methods that take items out of a container
SHRINKING = frozenset("clear pop popleft popitem remove discard __delitem__".split())
# the names in a condition: not attributes, nor texts
WORD = re.compile(r"""(?<![\w.'"])[A-Za-z_]\w*""")
OF_CONFIGURATION = frozenset("self and or not is in None True False".split())


def put_attribute(machine: Machine, owner: Instance, name: str, value: Value, frame: Frame) -> None:
    """Set an attribute as an assignment does: where a test is open, what another branch set stays
    possible."""
    before = owner.attributes.get(name)
    certain = before is None or (frame.skips == "" and not frame.undecided)
    machine.touch(owner)
    owner.attributes[name] = value if certain else join(before, value)


def note_closure(machine: Machine, container: Sequence | Dict, frame: Frame) -> None:
    """Note that a container which the region changes is a variable of a function that ran before."""
    scope = frame.scope if frame.emits and not container.home else None
    while scope is not None:
        if not scope.emits:
            for name, value in scope.names.items():
                if value is container:
                    machine.touch(container)
                    container.home = f"nonlocal {name}"
                    note_nested(machine, container, name)
                    return
        scope = scope.scope


def read_limit(machine: Machine, owner: Sequence, node: ast.AST, frame: Frame) -> Value:
    """`maxlen` of a deque, which Dynamo does not have of one that outlives the call; a file that gives none a
    limit asks in vain."""
    note_closure(machine, owner, frame)
    is_limited = b"maxlen=" in frame.module.text
    if is_limited and (owner.home or home_of(machine, owner)):
        emit_call(machine, "maxlen of a deque that is given", owner, (), {}, node, frame)
    return Py("int", "config")


def note_driver_item(
    machine: Machine,
    target: ast.Subscript,
    container: Sequence | Dict,
    index: Value,
    value: Value,
    frame: Frame,
    node: ast.AST,
) -> None:
    """A running driver sets an item that the region may read."""
    if machine.driver.notes and container.home and index.is_const:
        before = machine.getitem(container, index, target, frame)
        if type(container) is Dict and not container.open and index.value not in container.items:
            before = NONE
        note_outside(machine, container, ("item", index.value), value, before, frame, node)


def note_items_change(
    machine: Machine,
    target: ast.Subscript,
    container: Sequence | Dict,
    index: Value,
    value: Value,
    frame: Frame,
    node: ast.AST,
    augmented: bool,
) -> bool:
    """`container[index] += 1` in the region, or `container[index] = container[index] + 1`, of a
    container that outlives the call; True when a number is known to be there."""
    note_closure(machine, container, frame)
    if not frame.emits or index.is_tensor or not (container.home or home_of(machine, container)):
        return False
    key = (id(container), ("item", index.value if index.is_const else None))
    if key not in machine.region.reads:
        machine.region.stored_first.add(key)
    if augmented or _reads_item(node, target):
        return note_counter(machine, target, container, index, value, frame, node)
    return False


def _reads_item(node: ast.AST, target: ast.Subscript) -> bool:
    """True where the stored number is computed of the one that was there."""
    if type(node) is not ast.Assign or type(target.slice) is not ast.Constant:
        return False
    place = ast.unparse(target)
    return any(type(p) is ast.Subscript and ast.unparse(p) == place for p in walk(node.value))


def note_counter(
    machine: Machine, target, container, index: Value, value: Value, frame: Frame, node: ast.AST
) -> bool:
    """`STATS["calls"] += 1` in the region; False when no number is known to be there."""
    initial = machine.getitem(container, index, target, frame)
    emit_store(
        machine,
        Store,
        node,
        frame,
        (id(container), ("item", index.value if index.is_const else None)),
        owner=machine.text(target, frame.module),
        name="",
        scope="attribute",
        value=value,
        initial=initial,
        reads_itself=True,
        of_plain=container.home.startswith("nonlocal "),
    )
    return isinstance(initial, Const | Py)


def note_mutation(
    machine: Machine, container: Sequence | Dict, method: str, frame: Frame, node: ast.AST
) -> None:
    """A running driver changes a container: its length, and with `update` any item that the
    region reads."""
    read = (
        [name for owner, name in machine.region.reads if owner == id(container)]
        if method == "update"
        else [""]
    )
    for name in read:
        note_outside(
            machine,
            container,
            name,
            Const(f"{method}, {len(machine.driver.outside)}"),
            NONE,
            frame,
            node,
        )


def _is_new_each_time(machine: Machine, home: str) -> bool:
    """True for what the function around a hook makes: each time that it puts one on, it makes another. A
    hook that it takes off again is another one each time itself."""
    region = machine.region
    return region.is_hook and (region.is_brief or home.startswith("nonlocal "))


def _is_emptied_by_another(machine: Machine, home: str) -> bool:
    """True where a hook fills what its file empties somewhere: one before a module's call and one behind
    it do that in turns, and each is a region of its own."""
    name = re.escape(home.rpartition(" ")[2].encode())
    emptied = rb"(?<![\w.])%s\.(?:pop|popleft|clear)\(" % name
    return machine.region.is_hook and re.search(emptied, machine.file.module.text) is not None


def is_full(machine: Machine, container: Sequence | Dict) -> bool:
    """True for a deque that has as many items as it holds, in each call: it drops one for each that it gains."""
    longest = machine.driver.longest.get(id(container), (container, None))[1]
    if id(container) in machine.driver.growing:
        return False
    is_counted = type(container) is Sequence and container.items is not None
    return is_counted and type(longest) is int and len(container.items) >= longest


def emit_mutate(
    machine: Machine,
    node: ast.AST,
    frame: Frame,
    container: Sequence | Dict,
    method: str,
    value: Value,
    key: Value = UNKNOWN,
) -> None:
    if machine.driver.sets and container.home and method != "clear":
        note_mutation(machine, container, method, frame, node)
    if machine.driver.inside and not is_full(machine, container):
        machine.driver.growing.add(id(container))
    note_closure(machine, container, frame)
    if not frame.emits:
        return
    home = container.home or home_of(machine, container)
    if not frame.within and _is_new_each_time(machine, home):
        return
    if home or (frame.within and id(container) in machine.region.outside_subgraph):
        before = len(frame.activation.steps)
        longest = machine.driver.longest.get(id(container), (container, None))[1]
        if type(longest) is int:
            machine.region.longest.setdefault(id(container), longest)
        machine.emit(
            Mutate,
            node,
            frame,
            home=home,
            method=method,
            value=value,
            key=key,
            is_read=(id(container), "") in machine.region.reads,
            read_at=_has_at(machine, node, frame, container),
            bounded=is_full(machine, container)
            or (
                frame.function is not None
                and (
                    settles(frame.function.node, node, home)
                    or _is_emptied_by_another(machine, home)
                )
            ),
        )
        if method in SHRINKING:
            if not shrinks_late(machine, node, home, frame, container):
                machine.region.shrunk.add(id(container))
        elif len(frame.activation.steps) > before:
            machine.region.grown.append((frame.activation, before, id(container)))


def _has_at(
    machine: Machine, node: ast.AST, frame: Frame, container: Sequence | Dict
) -> tuple[int, int] | None:
    """Where the running function has a container first: before the arguments of its method are known, or
    where it reads something of it."""
    reads = (key for key in machine.region.reads if key[0] == id(container))
    places = [_read_at(machine, key, frame) for key in reads]
    places.append(begin_of(node) if isinstance(node, ast.Call) else None)
    return min((place for place in places if place), default=None)


def _read_at(machine: Machine, key: tuple, frame: Frame) -> tuple[int, int] | None:
    """Where the running function reads first what has the key; before its first line where the region had read it
    when it called the function."""
    activation, node = machine.region.reads.get(key, (None, None))
    if activation is frame.activation:
        return begin_of(node)
    is_here = activation is None or any(s.child is activation for s in frame.activation.steps)
    return None if is_here else (0, 0)  # before all lines


def shrinks_late(
    machine: Machine, node: ast.AST, home: str, frame: Frame, container: object
) -> bool:
    """True for items that are taken out of a container only when it is so long: as far as that it grows."""
    longest = longest_kept(frame.function.node, node, home) if frame.function and home else None
    if longest is None:
        return False
    with frame.silent():
        most = int_of(machine.eval(longest, frame))
    if most is None or most < 1:
        return False
    if most < limits.MOST_COMPILED_LENGTHS:
        machine.region.longest[id(container)] = most
    return True


def note_outside(
    machine: Machine, owner: object, name, value: Value, before: Value, frame: Frame, node: ast.AST
) -> None:
    """A running driver changes what the region may read: `name` of `owner` (an object, a
    module, a container)."""
    if machine.driver.notes and not before.is_unknown:
        machine.driver.outside.append((owner, name, value, before, frame.module.path, node))


def note_change(machine: Machine, container: Sequence | Dict, node: ast.AST, frame: Frame) -> None:
    """An item is set, moved or deleted, which matters to a subgraph that has the container from outside."""
    if frame.emits and frame.within:
        emit_mutate(machine, node, frame, container, "__setitem__", UNKNOWN)


def emit_store(
    machine: Machine, event_type, node: ast.AST, frame: Frame, key: tuple[int, str], **fields
) -> None:
    """Emit a Store whose `is_read` is settled when the whole region is known."""
    if frame.emits:
        before = len(frame.activation.steps)
        if machine.region.is_brief and fields["scope"] == "attribute":
            fields["scope"] = "restored"  # by who puts the hook on anew for the next call
        counted_from = machine.region.overwritten.get(key) if fields.get("reads_itself") else None
        if counted_from is frame.activation:
            fields["reads_itself"] = False  # it counts on from what it has set itself
        if key not in machine.region.reads and _is_set_by_configuration(frame):
            machine.region.overwritten.setdefault(key, frame.activation)
        elif key not in machine.region.reads and _always_runs(node, frame):
            if fields["value"].is_none:
                machine.region.emptied.setdefault(key, max(2, frame.depth))
            else:
                machine.region.overwritten.setdefault(key, frame.activation)
        if key not in machine.region.reads:
            machine.region.stored_first.add(key)
        is_read_first = key in machine.region.reads and key not in machine.region.stored_first
        read_at = _read_at(machine, key, frame)
        machine.emit(
            event_type, node, frame, is_read_first=is_read_first, read_at=read_at, **fields
        )
        if frame.within and fields["scope"] == "attribute" and is_plain_value(fields["value"]):
            text = ".".join(filter(None, (fields["owner"], fields["name"])))
            machine.region.changed_plainly.append((key, text, fields["initial"], fields["value"]))
        if len(frame.activation.steps) > before:
            machine.region.pending.append((frame.activation, before, key))
            if counted_from is not None:  # it may begin a graph of its own, behind what has set it
                frame.activation.steps[before].apart = 1


def _is_set_by_configuration(frame: Frame) -> bool:
    """True where what an object was made with decides whether the code runs, so that every call of the region
    goes the same way: what it reads behind a store is what it has stored."""
    words = set(WORD.findall(frame.condition))
    return "self" in words and "training" not in frame.condition and words <= OF_CONFIGURATION


def _always_runs(node: ast.AST, frame: Frame) -> bool:
    """True for a store that the first call of the region surely runs: in no block of the region's own
    function; or behind no open test, nor does the call of its function."""
    if not frame.always or frame.function is None:
        return False
    if frame.depth == 1 and node in getattr(frame.function.node, "body", ()):
        return True
    return not frame.is_in_branch()
