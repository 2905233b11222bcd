"""Which rule asks for which events, kept from run to run: a check loads only the rules that its code's events concern.

To load all the rule files takes a quarter of a check of one file, and most of them have nothing to say of it. What they
ask for is kept beside their bytecode and holds, as bytecode does, until the time or size of a file that it was made from
changes: a rule, or a module that rules import. Where nothing may be written there, all rules are loaded each time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from importlib.util import cache_from_source
from pathlib import Path

import msgspec
from msgspec import Struct

from breakscope.events import Event, Problem
from breakscope.knowledge import series, since, target_version
from breakscope.rule import Rule
from breakscope.rulebook import load_file, load_folder, load_rules, rule_files, rules_folder


class Asked(Struct, frozen=True):
    """What one `@rule.on(...)` of a rule file asks for under one torch version, without the rule."""

    path: str
    position: int  # among the handlers of the rule
    event: str  # the name of its class
    names: frozenset[str]
    fields: dict[str, tuple[str | bool | int | None, ...]]
    since: str
    until: str
    until_python: str

    def holds(self, python: tuple[int, ...]) -> bool:
        """True when the rule's pattern breaks under the judged torch and this Python."""
        ended = self.until_python and python >= tuple(map(int, self.until_python.split(".")))
        return not ended and since(self.since) and not (self.until and since(self.until))


class Kept(Struct, frozen=True):
    """What a file of the cache holds. `made_of`: file -> nanoseconds of its last change, bytes."""

    rules: tuple[str, ...]
    made_of: dict[str, tuple[int, int]]
    asked: tuple[Asked, ...]


class Listener:
    """A rule's wish for events, and the rule once one has come up."""

    def __init__(self, asked: Asked, rule: Rule | None = None) -> None:
        self.event, self.names, self.fields = asked.event, asked.names, asked.fields
        self._asked, self._rule = asked, rule

    @property
    def rule(self) -> Rule:
        if self._rule is None:
            self._rule = _loaded(self._asked.path)
        return self._rule

    def wants(self, event: Event) -> bool:
        """True when an event that has the right kind and name also has the right fields."""
        return all(getattr(event, name) in wanted for name, wanted in self.fields.items())

    def problems(self, event: Event) -> Iterable[Problem]:
        """What the rule says of an event that it wants."""
        return self.rule.handlers[self._asked.position].check(event) or ()


def listeners(python: tuple[int, ...], extra: tuple[str, ...] = ()) -> list[Listener]:
    """What the shipped rules and those of the folders in `extra` ask for, lower codes first, as far as their patterns break
    under the judged torch and this Python. Raises RuleError as `load_rules` does."""
    if extra:
        pairs = [(asked, rule) for rule in load_rules(extra) for asked in _asked_by(rule)]
    else:
        pairs = [(asked, None) for asked in _kept_or_made(rules_folder())]
    return [Listener(asked, rule) for asked, rule in pairs if asked.holds(python)]


def _kept_or_made(folder: Path) -> tuple[Asked, ...]:
    file, names = _cache_file(folder), tuple(rule_files(folder))
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=Kept)
        if kept.rules == names and all(_state(path) == state for path, state in kept.made_of.items()):
            return kept.asked
    except (OSError, ValueError):  # there is none, it is damaged, or something that it was made from is gone
        pass
    rules = load_folder(folder)
    asked = tuple(asked for rule in rules for asked in _asked_by(rule))
    _keep(file, Kept(names, _made_of(folder, rules), asked))
    return asked


def _cache_file(folder: Path) -> Path:
    """The file for the judged torch version, where Python would keep bytecode."""
    return Path(cache_from_source(str(folder / f"asked_{series(target_version())}.py"))).with_suffix(".json")


def _keep(file: Path, kept: Kept) -> None:
    if sys.dont_write_bytecode:
        return
    unfinished = file.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_bytes(msgspec.json.encode(kept))
        unfinished.replace(file)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()


def _made_of(folder: Path, rules: list[Rule]) -> dict[str, tuple[int, int]]:
    """The rules, all modules of ours that are loaded by now, among them those that rules import, and the tables."""
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] == "breakscope"]
    paths = [*(m.__file__ for m in modules if getattr(m, "__file__", None)), *(rule.path for rule in rules)]
    return {path: _state(path) for path in (*paths, *map(str, folder.glob("knowledge/*/*.json")))}


def _state(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _asked_by(rule: Rule) -> list[Asked]:
    return [
        Asked(rule.path, position, handler.event.__name__, handler.settled().names, handler.fields,
              rule.since, rule.until, rule.until_python)
        for position, handler in enumerate(rule.handlers)
    ]


@lru_cache(maxsize=None)
def _loaded(path: str) -> Rule:
    return load_file(Path(path), heavy=False)
