"""Constructors that are not followed again: what a framework's base class did to one object, it does to the next."""

from __future__ import annotations

from dataclasses import dataclass

from breakscope.static.joins import key_of
from breakscope.static.program import is_hollow
from breakscope.values import Class, Const, Dict, ExternalInstance, Function, Instance, Sequence, Union, Value

OBJECTS = (Instance, Dict, Sequence, Function, Class, ExternalInstance)  # told apart by identity


@dataclass(eq=False, slots=True)
class Construction:
    """One run of a constructor: its arguments, the object first, and the attributes that the object had afterwards."""

    args: list[Value]
    kwargs: dict[str, Value]
    given: dict[str, Value]

    def repeat(self, args: list[Value], kwargs: dict[str, Value]) -> None:
        """Give `args[0]` the same attributes, with the new arguments in the place of the old ones."""
        pairs = [*zip(self.args, args), *((v, kwargs[k]) for k, v in self.kwargs.items() if k in kwargs)]
        places = {id(old): new for old, new in pairs if isinstance(old, OBJECTS)}
        for name, value in self.given.items():
            moved = _moved(value, places)
            if moved is not None:
                args[0].attributes.setdefault(name, moved)


def sketch(value: Value):
    """What a base class's constructor may depend on: constants, not the objects of one model."""
    return key_of(value) if type(value) is Const else type(value)


def _moved(value: Value, places: dict[int, Value]) -> Value | None:
    """What an attribute is on another object; None when it was left behind with the module it came from."""
    if id(value) in places:
        return places[id(value)]
    if type(value) is Instance:
        return None if is_hollow(value.cls.info) else value
    if type(value) is Function:
        bound = places.get(id(value.bound), value.bound)
        return None if is_hollow(value.info) else Function(value.info, bound, value.scope, value.args, value.kwargs)
    if type(value) is Union:
        options = [_moved(option, places) for option in value.options]
        return None if None in options else Union(tuple(options))
    return value
