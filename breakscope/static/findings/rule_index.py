"""What the rules listen to, known without loading their files.

Few rules have something to say of a file, and to load all of them takes as long as to analyse it. So
what they listen to is kept beside their bytecode, under a digest of all that it was made from.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.util import cache_from_source

import msgspec
from msgspec import Struct

import breakscope
from breakscope.reading import Unreadable, read_file
from breakscope.rulekit.loader import load_file, load_folder, rule_files, rules_folder, together
from breakscope.rulekit.rule import Handler, Rule
from breakscope.store import put_beside_code

# below the package: all that the rules import, and this file
CODE = (
    *("__init__.py", "environment.py", "errors.py", "limits.py", "reading.py", "texts.py"),
    *("knowledge", "report", "rulekit", "static/findings/rule_index.py"),
)
# fields of a rule that are not kept as they are, or that matching has no use for
LEFT_OUT = frozenset({"handlers", "rewriter", "examples", "page"})


class KeptHandler(Struct, frozen=True, array_like=True):
    """A `Handler` without its functions; `more` is how many of them return names."""

    event: tuple[str, str]  # module and name of its class
    names: frozenset[str]
    fields: dict[str, tuple[str | bool, ...]]
    more: int


class KeptRule(Struct, frozen=True, array_like=True):
    """A `Rule` without its functions, examples and page."""

    facts: dict[str, str | bool | tuple[str, ...]]
    rewrites: bool
    handlers: tuple[KeptHandler, ...]


class Index(Struct, frozen=True, array_like=True):
    """All shipped rules, and the digest of what decides what they are."""

    digest: bytes
    rules: tuple[KeptRule, ...]


@lru_cache(maxsize=4)
def rules_to_match(extra: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    """The rules as `load_rules` gives them, but for examples and pages. A shipped rule's functions are
    loaded when one of them is first called."""
    folder = rules_folder()
    digest = _digest(folder)
    shipped = _kept(folder, digest)
    if shipped is None:
        shipped = load_folder(folder)
        if digest and digest == _digest(folder) and not sys.dont_write_bytecode:
            index = Index(digest, tuple(map(_without_functions, shipped)))
            put_beside_code(_place(folder), msgspec.msgpack.encode(index))
    return together(shipped, extra)


def _digest(folder: str) -> bytes:
    """Of the rules and the code that they lean on; b"" where one cannot be read."""
    digest = sha256(breakscope.__version__.encode())
    try:
        for path in _files(folder):
            data = read_file(path)
            digest.update(f"{os.path.basename(path)}\0{len(data)}\0".encode())
            digest.update(data)
    except (Unreadable, OSError):
        return b""
    return digest.digest()


def _files(folder: str) -> Iterator[str]:
    for name in rule_files(folder):
        yield os.path.join(folder, name)
    package = os.path.dirname(breakscope.__file__)
    for part in CODE:
        path = os.path.join(package, part)
        if os.path.isfile(path):
            yield path
        for top, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name not in ("build", "__pycache__"))
            yield from (os.path.join(top, name) for name in sorted(names) if name.endswith(".py"))


def _place(folder: str) -> str:
    return cache_from_source(os.path.join(folder, "rules.py")).removesuffix(".pyc") + ".index"


def _kept(folder: str, digest: bytes) -> list[Rule] | None:
    """The rules of the index; None where there is none of this digest."""
    try:
        index = msgspec.msgpack.decode(read_file(_place(folder)), type=Index)
    except (Unreadable, OSError, ValueError, NotImplementedError):
        return None
    if not digest or index.digest != digest:
        return None
    return [_with_functions(rule, folder) for rule in index.rules]


def _without_functions(rule: Rule) -> KeptRule:
    facts = {name: getattr(rule, name) for name in rule.__struct_fields__ if name not in LEFT_OUT}
    return KeptRule(
        {**facts, "path": os.path.basename(rule.path)},
        rule.rewriter is not None,
        tuple(
            KeptHandler(
                (handler.event.__module__, handler.event.__name__),
                handler.names,
                handler.fields,
                len(handler.more_names),
            )
            for handler in rule.handlers
        ),
    )


def _with_functions(kept: KeptRule, folder: str) -> Rule:
    rule = Rule(**{**kept.facts, "path": os.path.join(folder, kept.facts["path"])})
    if kept.rewrites:
        rule.rewriter = _later(rule.path, lambda loaded: loaded.rewriter)
    rule.handlers = [_handler(rule.path, n, handler) for n, handler in enumerate(kept.handlers)]
    return rule


def _handler(path: str, number: int, kept: KeptHandler) -> Handler:
    module, name = kept.event
    return Handler(
        getattr(import_module(module), name),
        kept.names,
        kept.fields,
        _later(path, lambda rule: rule.handlers[number].check),
        tuple(
            _later(path, lambda rule, more=more: rule.handlers[number].more_names[more])
            for more in range(kept.more)
        ),
    )


def _later(path: str, function_of: Callable[[Rule], Callable]) -> Callable:
    """One of the functions of a rule's file."""
    return lambda *given: function_of(_loaded(path))(*given)


@cache
def _loaded(path: str) -> Rule:
    return load_file(path, heavy=False)
