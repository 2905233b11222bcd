"""What a machine has changed of values that others share, so that it can be taken back."""

from __future__ import annotations

from breakscope.rulekit.values import Dict, Instance, Sequence
from breakscope.static.machine.frames import Frame
from breakscope.static.project.modules import ClassInfo, FunctionInfo

CHANGING = frozenset({Sequence, Dict, Instance, ClassInfo, FunctionInfo, Frame})


class Journal:
    """The state that shared values had before a machine changed them: at the first change of each
    it is kept whole."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[object, object]] = {}
        self._names: dict[tuple[int, str], tuple[dict, str, object]] = {}

    def note(self, value: object) -> None:
        """Keep the state of a value that is about to be changed, unless it is kept."""
        if id(value) not in self._before and type(value) in CHANGING:
            self._before[id(value)] = value, _state(value)

    def note_name(self, names: dict, name: str) -> None:
        """Keep what a name of a namespace stands for."""
        self._names.setdefault((id(names), name), (names, name, names.get(name)))

    def swap(self) -> None:
        """Take all changes back; called again, do them again."""
        for key, (value, state) in self._before.items():
            now = _state(value)
            _restore(value, state)
            self._before[key] = value, now
        for key, (names, name, old) in self._names.items():
            now = names.get(name)
            if old is None:
                names.pop(name, None)
            else:
                names[name] = old
            self._names[key] = names, name, now

    def take_back(self) -> None:
        """Take all changes back, for good."""
        self.swap()
        self._before.clear()
        self._names.clear()


def _state(value: object) -> object:
    kind = type(value)
    if kind is Sequence:
        items = value.items
        copy = None if items is None else list(items)
        return items, copy, value.element, value.home, value.names
    if kind is Dict:
        return value.items, dict(value.items), value.element, value.open, value.home
    if kind is Instance:
        return value.attributes, dict(value.attributes), value.version
    if kind is ClassInfo:
        return dict(value.stored)
    if kind is FunctionInfo:
        return value.marks, value.defaults
    return value.names, dict(value.names)


def _restore(value: object, state: tuple) -> None:
    kind = type(value)
    if kind is Sequence:
        value.items, copy, value.element, value.home, value.names = state
        if copy is not None:
            value.items[:] = copy
    elif kind is Dict:
        value.items, copy, value.element, value.open, value.home = state
        _fill(value.items, copy)
    elif kind is Instance:
        value.attributes, copy, value.version = state
        _fill(value.attributes, copy)
    elif kind is ClassInfo:
        _fill(value.stored, state)
    elif kind is FunctionInfo:
        value.marks, value.defaults = state
    else:
        value.names, copy = state
        _fill(value.names, copy)


def _fill(found: dict, wanted: dict) -> None:
    found.clear()
    found.update(wanted)
