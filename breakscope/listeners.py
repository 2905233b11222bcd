"""Which rule asks for which events, kept from run to run: a check loads only the rules that its code's events concern.

To load all the rule files takes a quarter of a check of one file, and most of them have nothing to say of it. What they
ask for is kept in the user's cache and holds, as bytecode does, until the time or size of a file that it was made from
changes: a rule, or a module that rules import. Where nothing can be written there, all rules are loaded each time. (Beside
the rules' bytecode it would outlive an uninstallation, and what is left of a package's folder hides another installation.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from breakscope.cache import cache_folder, number, state, write_over
from breakscope.events import Event, Problem
from breakscope.knowledge import series, since, target_version
from breakscope.rule import Rule
from breakscope.rulebook import load_file, load_folder, load_rules, rule_files, rules_folder


class Asked(Struct, frozen=True):
    """Who asks for what, without the rules."""

    handlers: tuple[tuple[str, int], ...] = ()  # a rule's file, the place of an `@rule.on(...)` in it
    fields: tuple[dict[str, tuple[str | bool | int | None, ...]], ...] = ()  # those that an event must have, by handler
    by_event: dict[str, list[int]] = {}  # class of events -> handlers that take all of them
    by_name: dict[str, str] = {}  # class of events -> who asks for those of a canonical name, see Named


class Kept(Struct, frozen=True):
    """What a file of the cache holds. `made_of`: file -> nanoseconds of its last change, bytes."""

    folder: str
    rules: tuple[str, ...]
    made_of: dict[str, tuple[int, int]]
    asked: Asked


class Named:
    """Who asks for events of each name, a line for each: "\\nname\\tplaces of the handlers". It is read name by name: most
    files call twenty of the three thousand."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, tuple[int, ...]] = {}

    @staticmethod
    def text(handlers: Mapping[str, Iterable[int]]) -> str:
        """The lines for names and the places of their handlers."""
        return "".join(f"\n{name}\t{' '.join(map(str, places))}" for name, places in handlers.items()) + "\n"

    def __getitem__(self, name: str) -> tuple[int, ...]:
        """The places of the handlers that ask for the name; none when nobody does."""
        found = self._known.get(name)
        if found is None:
            start = self._text.find(f"\n{name}\t") + 1
            line = self._text[start : self._text.index("\n", start)] if start else ""
            found = self._known[name] = tuple(map(int, line[len(name) :].split()))
        return found


class Listener:
    """One `@rule.on(...)`; its rule is loaded when it is asked for."""

    def __init__(self, path: str, position: int, fields: dict[str, tuple], rule: Rule | None) -> None:
        self.fields = fields
        self._path, self._position, self._rule = path, position, rule

    @property
    def rule(self) -> Rule:
        if self._rule is None:
            self._rule = _loaded(self._path)
        return self._rule

    def wants(self, event: Event) -> bool:
        """True when an event that has the right kind and name also has the right fields."""
        return not self.fields or all(getattr(event, name) in wanted for name, wanted in self.fields.items())

    def problems(self, event: Event) -> Iterable[Problem]:
        """What the rule says of an event that it wants."""
        return self.rule.handlers[self._position].check(event) or ()


class Listeners:
    """All that rules ask for under one version of torch and of Python."""

    def __init__(self, asked: Asked, rules: Mapping[str, Rule]) -> None:
        """`rules` by path, as far as they are loaded."""
        self.asked = asked
        self.all = [
            Listener(path, position, fields, rules.get(path))
            for (path, position), fields in zip(asked.handlers, asked.fields)
        ]
        self.named = {kind: Named(text) for kind, text in asked.by_name.items()}
        self._wanted: dict[str, bool] = {}

    def to(self, event: Event) -> list[Listener]:
        """Those who want this event, lower codes first where they take all events of the kind, then those that name it."""
        kind = type(event).__name__
        found = [*self.asked.by_event.get(kind, ())]
        name = getattr(event, "name", None)
        if name is not None and kind in self.named:
            found += self.named[kind][name]
        return [listener for listener in map(self.all.__getitem__, found) if listener.wants(event)]

    def want(self, name: str) -> bool:
        """True when some rule asks for calls of this name, or for all events of a kind of this name."""
        wanted = self._wanted.get(name)
        if wanted is None:
            by_event = self.asked.by_event
            wanted = name in by_event or "Call" in by_event or any(named[name] for named in self.named.values())
            self._wanted[name] = wanted
        return wanted


def listeners(python: tuple[int, ...], extra: tuple[str, ...] = ()) -> Listeners:
    """What the shipped rules and those of the folders in `extra` ask for, as far as their patterns break under the judged
    torch and this Python. Raises RuleError as `load_rules` does."""
    if extra:
        rules = load_rules(extra)
        return Listeners(_asked_by(rules, python), {rule.path: rule for rule in rules})
    return Listeners(_kept_or_made(rules_folder(), python), {})


def _kept_or_made(folder: Path, python: tuple[int, ...]) -> Asked:
    file, names = _cache_file(folder, python), tuple(rule_files(folder))
    try:
        with open(file, "rb") as opened:
            kept = msgspec.json.decode(opened.read(), type=Kept)
        if (kept.folder, kept.rules) == (str(folder), names) and all(state(path) == made for path, made in kept.made_of.items()):
            return kept.asked
    except (OSError, ValueError):  # there is none, it is damaged, or something that it was made from is gone
        pass
    rules = load_folder(folder)
    asked = _asked_by(rules, python)
    with suppress(OSError):
        write_over(file, msgspec.json.encode(Kept(str(folder), names, _made_of(folder, rules), asked)))
    return asked


def _cache_file(folder: Path, python: tuple[int, ...]) -> str:
    """The file for an installation and the judged versions, where the system keeps what can be made again."""
    versions = f"{series(target_version())}-{'.'.join(map(str, python[:2]))}"
    return os.path.join(cache_folder(), f"asked-{versions}-{number(str(folder))}.json")


def _made_of(folder: Path, rules: list[Rule]) -> dict[str, tuple[int, int]]:
    """The rules, all modules of ours that are loaded by now, among them those that rules import, and the tables."""
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] == "breakscope"]
    paths = [*(m.__file__ for m in modules if getattr(m, "__file__", None)), *(rule.path for rule in rules)]
    return {path: state(path) for path in (*paths, *map(str, folder.glob("knowledge/*/*.json")))}


def _asked_by(rules: Iterable[Rule], python: tuple[int, ...]) -> Asked:
    handlers: list[tuple[str, int]] = []
    fields: list[dict[str, tuple]] = []
    by_event: dict[str, list[int]] = {}
    by_name: dict[str, dict[str, list[int]]] = {}
    for rule in rules:
        for position, handler in enumerate(rule.handlers if _breaks(rule, python) else ()):
            kind = handler.event.__name__
            names = handler.settled().names
            for name in names:
                by_name.setdefault(kind, {}).setdefault(name, []).append(len(handlers))
            if not names:
                by_event.setdefault(kind, []).append(len(handlers))
            handlers.append((rule.path, position))
            fields.append(handler.fields)
    return Asked(tuple(handlers), tuple(fields), by_event, {kind: Named.text(names) for kind, names in by_name.items()})


def _breaks(rule: Rule, python: tuple[int, ...]) -> bool:
    """True when the rule's pattern breaks under the judged torch and this Python."""
    ended = rule.until_python and python >= tuple(map(int, rule.until_python.split(".")))
    return not ended and since(rule.since) and not (rule.until and since(rule.until))


@lru_cache(maxsize=None)
def _loaded(path: str) -> Rule:
    return load_file(Path(path), heavy=False)
