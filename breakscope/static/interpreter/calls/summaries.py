"""What is remembered of the calls of one function, and when one more analysis of it would show
nothing new.

A call with the same arguments has the same outcome. Beside that, arguments of the same kind make a
group: objects count by where their class stands, not by identity. When several analyses of a group
all gave the same result, the same events and the same attributes, the next call of that kind is
answered with the last outcome, its own arguments put in the place of the old ones. And when many
kinds have shown nothing that others had not shown, a new kind is answered by the most similar.
"""

from __future__ import annotations

from msgspec import Struct

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
)
from breakscope.static.definitions.classes import is_module
from breakscope.static.machine.frames import Activation
from breakscope.static.machine.lattice import element_of, key_of
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import FunctionInfo

# distinguished by identity
OBJECTS = frozenset({Instance, Dict, Sequence, Function, Class, ExternalInstance})


class Outcome(Struct, eq=False):
    """What one analysed call gave."""

    value: Value
    activation: Activation | None
    raised: Value | None = None


class Group(Struct, eq=False):
    """The analyses of one function for arguments of one kind.

    `places` are the last one's arguments by identity, `given` the attributes that it gave to its
    arguments. `bound` when one of these is a closure over an argument, which another argument
    cannot take over.
    """

    count: int = 0
    alike: bool = True
    signature: object = None
    last: Outcome | None = None
    places: dict[int, str] = {}
    given: list[tuple[str, str, Value]] = []
    bound: bool = False

    def is_settled(self, for_effect: bool) -> bool:
        """True when one more analysis shows nothing new; `for_effect`: a framework's function does
        its work on an object of another file, which is what it does to all of them."""
        if self.bound:
            return False
        return self.count >= (limits.MOST_FOR_EFFECT if for_effect else limits.MOST_ALIKE) and (
            for_effect or self.alike
        )

    def add(self, outcome: Outcome, arguments: dict, before: dict) -> None:
        """Note one more analysis; `before` is what `snapshot` gave before it."""
        self.count += 1
        self.places = {
            id(v): place for place, v in reversed(arguments.items()) if type(v) in OBJECTS
        }
        self.given, touched = _given(arguments, before)
        self.bound = self.bound or any(
            _is_closure_over(value, self.places) for _, _, value in self.given
        )
        self.last = outcome
        signature = (
            relative(outcome.value, self.places),
            outcome.activation.mark() if outcome.activation is not None else 0,
            tuple([(place, name, sketch(value, None)) for place, name, value in self.given]),
        )
        if self.alike:
            self.alike = (
                outcome.raised is None
                and not touched
                and not self.bound
                and self.signature in (None, signature)
            )
        self.signature = signature

    @property
    def depends(self) -> bool:
        """True when the outcome holds an argument, or gave its arguments attributes."""
        return bool(self.given) or _names_argument(self.signature[0])

    def repeat(self, machine: Machine, arguments: dict) -> Outcome | None:
        """The outcome for other arguments of the same kind, or of a similar one; None when it is
        made of modules that are gone, or of an argument that is not given now."""
        value = moved(self.last.value, self.places, arguments)
        if value is None:
            return None
        for place, name, given in self.given:
            new = moved(given, self.places, arguments)
            owner = arguments.get(place)
            if (
                new is not None
                and type(owner) is Instance
                and (self.alike or name not in owner.attributes)
            ):
                machine.touch(owner)
                owner.attributes[name] = new
        return Outcome(value, self.last.activation)


class Known(Struct, eq=False):
    """All analyses of one function in one mode.

    `alike` while all had the same outcome whatever the arguments; `idle` counts the latest ones
    that showed nothing which others had not shown before.
    """

    count: int = 0
    alike: bool = True
    signature: object = None
    idle: int = 0
    seen: set = set()
    groups: list[tuple[tuple, Group]] = []

    def add(self, kind: tuple, group: Group) -> None:
        """Note the last analysis of a group; one that depends on its arguments ends the likeness."""
        self.count += 1
        if self.alike:
            new = self.signature is None
            self.alike = group.alike and (
                not group.depends if new else self.signature == group.signature
            )
            self.signature = group.signature
        self.idle = self.idle + 1 if group.signature in self.seen else 0
        self.seen.add(group.signature)
        if group.count == 1 and kind[0] == "kind" and len(self.groups) < limits.MOST_GROUPS:
            self.groups.append((kind, group))

    def nearest(self, kind: tuple, is_enough: bool) -> Group | None:
        """The group that answers for arguments of a new kind, once many kinds have shown nothing
        new, or there `is_enough`: the one whose arguments are most like these. None as long as
        analyses teach something, and when no group is much like it, except where all of them had
        the same outcome."""
        if not is_enough and (self.count < limits.MOST_ANALYSES or self.idle < limits.MOST_IDLE):
            return None
        best, most = None, len(kind[2]) * (2 if self.alike else 1)
        by_name = self.idle < limits.LONG_IDLE
        for other, group in self.groups:
            different = [(a, b) for a, b in zip(kind[2], other[2]) if a != b]
            if len(different) * 2 <= most and not _differ_in_tensors(different, by_name):
                best, most = group, len(different) * 2 - 1
        return best


def _differ_in_tensors(pairs: list[tuple], by_name: bool) -> bool:
    """True when of a pair of parameters one is a tensor, or an object with a tensor, where the
    other is none. `by_name`: an object with other tensors is such a one too."""
    for pair in pairs:
        a, b = map(_tensors_in, pair)
        if a is not None and b is not None and (a != b if by_name else bool(a) is not bool(b)):
            return True
    return False


def _tensors_in(key: object) -> object:
    """Whether the value that a key stands for is a tensor; for an object, the names of its tensors;
    None where it may be one or may not."""
    if not isinstance(key, tuple) or not key or key[0] in ("u", "s", "d"):
        return None
    return (
        frozenset([name for name in key[1:] if isinstance(name, str)])
        if key[0] == "i"
        else key[0] == "t"
    )


def _names_argument(key: object) -> bool:
    """True when a key of `relative` speaks of an argument."""
    kind = type(key)
    if kind is not tuple and kind is not frozenset:
        return False
    return (kind is tuple and key[:1] == ("argument",)) or any(map(_names_argument, key))


def snapshot(arguments: dict[str, Value]) -> dict[str, object]:
    """What a call may change of its arguments: attributes of objects and classes, contents of
    containers."""
    found: dict[str, object] = {}
    for place, value in arguments.items():
        kind = type(value)
        if kind is Instance:
            found[place] = dict(value.attributes)
        elif kind is Sequence or kind is Dict:
            found[place] = key_of(value)
        elif kind is Class:
            found[place] = dict(value.info.stored)
    return found


def _given(arguments: dict, before: dict) -> tuple[list[tuple[str, str, Value]], bool]:
    """(place, name, value) of each attribute that the call set, and whether it changed a container
    or a class."""
    given = []
    for place, old in before.items():
        value = arguments[place]
        if type(value) is Class:
            if value.info.stored != old:
                return [], True
        elif type(value) is not Instance:
            if key_of(value) != old:
                return [], True
        elif value.attributes != old:
            given += [(place, n, v) for n, v in value.attributes.items() if old.get(n) is not v]
    return given, False


def _is_closure_over(value: Value, places: dict[int, str]) -> bool:
    """True for a function defined inside a call that was given one of the arguments, or a method of
    one: a wrapper."""
    if type(value) is not Function or value.scope is None:
        return False
    held = value.scope.names.values()
    return any(
        (type(v) is Function and id(v.bound) in places) or (type(v) is Instance and id(v) in places)
        for v in held
    )


def kind_of(
    info: FunctionInfo, mode: tuple, names: dict[str, Value], filled_in: tuple[str, ...] = ()
) -> tuple:
    """The group of a call; `names` are the values of all parameters, in their order, `filled_in`
    what the first one has in the place of methods that the function may call."""
    home = info.module
    sketches = [sketch(value, home) for value in names.values()]
    if filled_in and type(sketches[0]) is tuple:
        sketches[0] += filled_in
    return ("kind", mode, tuple(sketches))


def effect_kind_of(machine: Machine, info: FunctionInfo, arguments: dict[str, Value]) -> tuple:
    """The group of a call that is made for its effect on the first argument: that one does not
    matter, nor does the configuration of one model, but a module that it is given does."""
    given = list(arguments.items())[1:]
    return (
        "effect",
        tuple(
            [
                (n, key_of(v) if is_module(machine, v) else sketch(v, info.module, 0))
                for n, v in given
            ]
        ),
    )


def sketch(value: Value, home: object, depth: int = 2):
    """The kind of a value: constants, types and library names; of an object its class when it
    stands in `home` (None: in any module), else the tensors it has: a framework's function does not
    care whose model calls it."""
    kind = type(value)
    if kind is Tensor or kind is Const or kind is Py:
        return key_of(value)
    if kind is Instance:
        info = value.cls.info
        return ("i", id(info)) if home is None or info.module is home else ("i", *tensors_of(value))
    if kind is Union:
        return ("u", frozenset([sketch(o, home, depth) for o in value.options]))
    if kind is Sequence:
        if depth == 0 or (value.items is not None and len(value.items) > limits.MOST_ITEMS_IN_KEY):
            return ("s", value.type)
        if value.items is None:
            return ("s", value.type, value.home, sketch(value.element, home, depth - 1))
        return (
            "s",
            value.type,
            value.home,
            tuple([sketch(v, home, depth - 1) for v in value.items]),
        )
    if kind is Dict:
        if depth == 0 or len(value.items) > limits.MOST_ENTRIES_IN_KEY:
            return ("d", value.open)
        return (
            "d",
            value.open,
            value.home,
            tuple([(k, sketch(v, home, depth - 1)) for k, v in value.items.items()]),
        )
    if kind is Function:
        return ("f", id(value.info)) if value.info.module is home else "f"
    if kind is Class:
        return ("k", id(value.info)) if value.info.module is home else "k"
    if kind is ExternalInstance:
        return ("x", value.name)
    if value is UNKNOWN:
        return "?"
    return key_of(value)


def tensors_of(instance: Instance) -> list[str]:
    """The attributes of an object that are tensors: what other objects have that is none, a branch
    may read."""
    return [name for name, value in instance.attributes.items() if value.is_tensor]


def relative(value: Value, places: dict[int, str]):
    """A value's key in which arguments count by their place."""
    place = places.get(id(value))
    if place is not None:
        return ("argument", place)
    kind = type(value)
    if kind is Union:
        return ("u", frozenset([relative(o, places) for o in value.options]))
    if kind is Function and value.bound is not None:
        return ("f", id(value.info), relative(value.bound, places), id(value.scope))
    return key_of(value)


def moved(value: Value, places: dict[int, str], arguments: dict) -> Value | None:
    """A value with the new arguments in the place of the old ones; None when it was left behind
    with a module."""
    place = places.get(id(value))
    if place is not None:
        return arguments.get(place)
    kind = type(value)
    if kind is Function:
        at = places.get(id(value.bound))
        if at is None:
            return value
        return (
            Function(value.info, arguments[at], value.scope, value.args, value.kwargs)
            if at in arguments
            else None
        )
    if kind is Union:
        options = [moved(option, places, arguments) for option in value.options]
        return None if None in options else Union(tuple(options))
    return value


def opened(value: Value) -> Value:
    """The value with its constants forgotten: text and numbers become any text and number."""
    if (
        isinstance(value, Const)
        and isinstance(value.value, int | float | str)
        and not isinstance(value.value, bool)
    ):
        return Py(type(value.value).__name__)
    if (
        isinstance(value, Sequence)
        and value.items is not None
        and not value.home
        and value.type in ("list", "tuple")
    ):
        if value.items and all(isinstance(v, Const | Py | ShapeInt) for v in value.items):
            return Sequence(value.type, None, opened(element_of(value)))
    return value
