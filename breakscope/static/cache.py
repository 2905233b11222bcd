"""The answers of earlier checks.

An answer holds again where nothing has changed that it was made from: what was read for it, by
content; breakscope's own code, rules and tables; the settings; Python and the installed packages;
and the working directory, from which paths are shown. Whatever is wrong with what is stored, the
file is analysed again.
"""

from __future__ import annotations

import ast
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

import msgspec
from msgspec import Struct

import breakscope
from breakscope import limits
from breakscope.environment import names_in
from breakscope.reading import Unreadable, read_file
from breakscope.rulekit.loader import rules_folder
from breakscope.static.answer import Answer, Settings
from breakscope.static.project.reads import NO_SOURCES, Reads, Record
from breakscope.store import Store, opened

# parts of breakscope that no answer depends on
APART = frozenset({"__pycache__", "dynamic", "cli", "build", "fixes", "formats"})
KNOWN_TO_RULES = frozenset({"breakscope", "torch", "numpy"}) | sys.stdlib_module_names


class Stored(Struct, frozen=True):
    """An answer as it is stored: for which check and file it is, and what it was made from with
    the digest of all that."""

    key: bytes
    path: str
    facts: tuple[str, ...]
    digest: bytes
    answer: Answer


class Cache(Struct, frozen=True):
    """The answers of earlier checks that were made with the same settings; none where `folder`
    is ""."""

    folder: str
    key: bytes

    @classmethod
    def at(cls, folder: str, settings: Settings) -> Cache:
        """The cache in a folder (absolute path), "" for none."""
        with opened(folder) as store:
            key = key_of(settings) if store else b""
        return cls(folder if key else "", key)

    def answers(
        self, files: Iterable[str], sources: Mapping[str, bytes] = NO_SOURCES
    ) -> Iterator[tuple[str, Answer | None]]:
        """Each file with its answer, or None where it has to be analysed."""
        with opened(self.folder) as store:
            reads = Reads(sources)
            for path in files:
                yield path, self._answer(store, path, reads) if store else None

    def keep(self, path: str, answer: Answer, record: Record, reads: Reads) -> None:
        """Store an answer, unless something that it was made from changed meanwhile."""
        if not self.folder:
            return
        facts = tuple(record.facts())
        digest = _digest(facts, reads)
        if digest is None:
            return
        try:
            data = msgspec.msgpack.encode(Stored(self.key, path, facts, digest, answer))
        except (UnicodeEncodeError, OverflowError):  # names that are not UTF-8
            return
        with opened(self.folder) as store:
            if store:
                store.put(self._name(path), zlib.compress(data, 1))

    def trim(self) -> None:
        """Keep the cache below its size."""
        with opened(self.folder) as store:
            if store:
                store.trim(limits.LARGEST_CACHE)

    def _answer(self, store: Store, path: str, reads: Reads) -> Answer | None:
        data = store.get(self._name(path), limits.LARGEST_STORED_ANSWER)
        if data is None:
            return None
        try:
            stored = msgspec.msgpack.decode(_unpacked(data), type=Stored)
        except (zlib.error, msgspec.DecodeError, UnicodeDecodeError):
            return None
        if (stored.key, stored.path) != (self.key, path):
            return None
        return stored.answer if _digest(stored.facts, reads) == stored.digest else None

    def _name(self, path: str) -> str:
        return sha256(self.key + os.fsencode(path)).hexdigest()


def key_of(settings: Settings) -> bytes:
    """What all answers of a check depend on, as a digest; b"" where that cannot be told, because
    rules of the user's own import what is not theirs."""
    folders = dict.fromkeys((*map(os.path.abspath, sys.path), *settings.environment))
    digest = sha256(
        msgspec.msgpack.encode(
            (
                breakscope.__version__,
                sys.version,
                os.path.abspath(sys.executable),
                settings,
                os.getcwd(),
                # rules ask for installed packages, and these bring their versions
                [
                    (folder, [n for n in names_in(folder) if n != "__pycache__"])
                    for folder in folders
                ],
            )
        )
    )
    rules = tuple(map(os.path.normpath, settings.extra_rules))
    digest.update(bytes(map(os.path.isdir, rules)))
    folders = (os.path.dirname(breakscope.__file__), rules_folder(), *rules)
    for path in dict.fromkeys(path for folder in folders for path in _files(folder)):
        try:
            data = read_file(path)
        except Unreadable:
            return b""
        if os.path.dirname(path) in rules and not _stays_inside(data):
            return b""
        digest.update(f"{path}\0{len(data)}\0".encode(errors="surrogateescape"))
        digest.update(data)
    return digest.digest()


def _files(folder: str) -> list[str]:
    """The files below a folder that are code or tables, in order."""
    found = []
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in APART)
        found += [os.path.join(top, n) for n in sorted(names) if n.endswith((".py", ".json"))]
    return found


def _stays_inside(rule: bytes) -> bool:
    """False for a rule that may import what has no part in the key."""
    try:
        tree = ast.parse(rule)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    return imported <= KNOWN_TO_RULES


def _digest(facts: Iterable[str], reads: Reads) -> bytes | None:
    """The digest of all facts; None when one has none."""
    parts = [reads.digest(fact) for fact in facts]
    return None if None in parts else sha256(b"".join(parts)).digest()


def _unpacked(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, limits.LARGEST_STORED_ANSWER)
