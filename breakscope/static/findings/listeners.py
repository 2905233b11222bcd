"""Which rule listens to which events."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from breakscope.knowledge import since
from breakscope.rulekit.events import Call, Event
from breakscope.rulekit.problem import Problem
from breakscope.rulekit.rule import Handler, Rule


class Listener(Struct, frozen=True, eq=False):
    """One `@rule.on(...)` of a rule."""

    rule: Rule
    handler: Handler

    def wants(self, event: Event) -> bool:
        """True when an event that has the right kind and name also has the right fields."""
        for name, wanted in self.handler.fields.items():
            if getattr(event, name) not in wanted:
                return False
        return True

    def problems(self, event: Event) -> Iterable[Problem]:
        """What the rule reports of an event that it wants."""
        return self.handler.check(event) or ()


class Listeners:
    """All that rules listen to under the target version of torch and one version of Python."""

    def __init__(self, rules: Iterable[Rule], python: tuple[int, ...]) -> None:
        # by the class of events: who takes all of them, and who takes those of a canonical name
        self._to_all: dict[type[Event], list[Listener]] = {}
        self._to_named: dict[type[Event], dict[str, list[Listener]]] = {}
        rules = [rule for rule in rules if _breaks(rule, python)]
        self.codes = frozenset(rule.code for rule in rules if rule.handlers)
        for rule in rules:
            for handler in rule.handlers:
                listener, names = Listener(rule, handler), handler.settled().names
                if not names:
                    self._to_all.setdefault(handler.event, []).append(listener)
                    continue
                named = self._to_named.setdefault(handler.event, {})
                for name in names:
                    named.setdefault(name, []).append(listener)
        self._wanted = {kind.__name__ for kind in self._to_all}
        self._wanted.update(*self._to_named.values())
        self._wants_every_call = Call in self._to_all

    def to(self, event: Event) -> list[Listener]:
        """Those who want this event, lower codes first where they take all events of the kind, then
        those that name it."""
        kind = type(event)
        found = self._to_all.get(kind, ())
        if kind in self._to_named:
            named = self._to_named[kind].get(getattr(event, "name", None), ())
            found = [*found, *named]
        return [listener for listener in found if listener.wants(event)]

    def want(self, name: str) -> bool:
        """True when some rule listens to calls of this name, or to all events of a kind of this
        name."""
        return self._wants_every_call or name in self._wanted


def _breaks(rule: Rule, python: tuple[int, ...]) -> bool:
    """True when the rule's pattern breaks under the target version of torch and this Python."""
    ended = rule.until_python and python >= tuple(map(int, rule.until_python.split(".")))
    return not ended and since(rule.since) and not (rule.until and since(rule.until))
