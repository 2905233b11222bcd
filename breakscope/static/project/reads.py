"""Reads the files and folders that an analysis asks for, and notes which of them each result was
made from.

Results are kept from one checked file to the next: a parsed module, what an import names, a
namespace. Whoever uses one leans on all that it was made from, though nothing is read again: each
kept result has a record, and using it notes the record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Generic, TypeVar

from breakscope.environment import PROJECT_FILES
from breakscope.reading import Unreadable, read_file
from breakscope.static.project.class_lines import Classes, classes_in

Result = TypeVar("Result")

# What can be known of a path. A fact is one of these words, a colon and an absolute path.
CONTENT, NAMES, MARKS, CLASSES = "content", "names", "marks", "classes"
UNSTEADY = ""  # the fact that is never the same again
# names by which something is found: modules, and what packages leave where they are installed
ENDINGS = (".py", ".so", ".pyd", ".pth", ".dist-info", ".egg-info")
NO_SOURCES: Mapping[str, bytes] = MappingProxyType({})


class Record:
    """What a result was made from: facts, and the records of other results."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: set[str | Record] = set()

    def facts(self) -> list[str]:
        """All facts behind the result, sorted."""
        seen: set[str | Record] = {self}
        waiting = [self]
        while waiting:
            fresh = waiting.pop().parts - seen
            seen |= fresh
            waiting += [part for part in fresh if type(part) is Record]
        return sorted(part for part in seen if type(part) is str)


class Reads:
    """What one analyzer reads. A digest is that of what was read when the fact was first asked for;
    none when it was read again and had changed."""

    def __init__(self, sources: Mapping[str, bytes] = NO_SOURCES) -> None:
        """`sources`, by absolute path, are read instead of what lies on disk."""
        self._sources = sources
        self._digests: dict[str, bytes | None] = {UNSTEADY: None}
        self._names: dict[str, frozenset[str]] = {}
        self._classes: dict[str, Classes] = {}
        self._recording = [Record()]  # the innermost last

    # -- reading

    def file(self, path: str) -> bytes:
        """A file's bytes; raises Unreadable."""
        fact = f"{CONTENT}:{path}"
        self.note(fact)
        try:
            data = self._read(path)
        except Unreadable as problem:
            self._settle(fact, sha256(f"unreadable: {problem}".encode(errors="replace")))
            raise
        self._settle(fact, sha256(data))
        return data

    def bytes_of(self, path: str) -> bytes:
        """The same; none of a file that cannot be read."""
        try:
            return self.file(path)
        except Unreadable:
            return b""

    def is_file(self, path: str) -> bool:
        """Can the file be read?"""
        try:
            self.file(path)
        except Unreadable:
            return False
        return True

    def names(self, folder: str) -> frozenset[str]:
        """The names in a folder by which files are found: what can be imported, and what marks a
        project or an installed package. None when it cannot be read."""
        return self._settled_names(NAMES, folder, self._names_in(folder))

    def is_package(self, folder: str) -> bool:
        """True for a folder with an `__init__.py`; a folder that packages are installed in is none, whatever one of
        them has left there."""
        names = self.names(folder) if os.path.basename(folder) else frozenset()
        return "__init__.py" in names and not _has_installed(names)

    def marks(self, folder: str) -> frozenset[str]:
        """Those of them that the top folder of a project has. Above a project there may be folders
        in which names come and go, such as that of temporary files."""
        return self._settled_names(MARKS, folder, self._names_in(folder) & PROJECT_FILES)

    def classes(self, path: str) -> Classes:
        """What a file's lines say of its classes; nothing when it cannot be read."""
        fact = f"{CLASSES}:{path}"
        self.note(fact)
        classes = self._classes.get(path)
        if classes is None:
            try:
                classes = classes_in(self._read(path))
            except Unreadable:
                classes = Classes()
            self._classes[path] = classes
            parts = (sorted(classes.defined), sorted(classes.bases), sorted(classes.imported))
            self._settle(fact, sha256(repr(parts).encode()))
        return classes

    # -- what results were made from

    def note(self, part: str | Record) -> None:
        """The result that is being made leans on this."""
        self._recording[-1].parts.add(part)

    @contextmanager
    def record(self) -> Iterator[Record]:
        """Within, a result is made; whoever asked for it leans on the same."""
        record = Record()
        self._recording.append(record)
        try:
            yield record
        finally:
            self._recording.pop()
            if len(self._recording) > 1:  # nobody asks what all of it was made from
                self.note(record)

    def digest(self, fact: str) -> bytes | None:
        """The digest of a fact, which is read unless it has been; None for one that changed
        meanwhile, and for what is no fact."""
        if fact not in self._digests:
            kind, _, path = fact.partition(":")
            looks = {
                CONTENT: self.bytes_of,
                NAMES: self.names,
                MARKS: self.marks,
                CLASSES: self.classes,
            }
            if kind not in looks:
                return None
            looks[kind](path)
        return self._digests.get(fact)

    def _read(self, path: str) -> bytes:
        source = self._sources.get(path)
        return read_file(path) if source is None else source

    def _names_in(self, folder: str) -> frozenset[str]:
        names = self._names.get(folder)
        if names is None:
            names = self._names[folder] = frozenset(filter(_says_something, _listed(folder)))
        return names

    def _settled_names(self, kind: str, folder: str, names: frozenset[str]) -> frozenset[str]:
        fact = f"{kind}:{folder}"
        self.note(fact)
        if fact not in self._digests:
            self._settle(fact, sha256("\0".join(sorted(names)).encode(errors="surrogateescape")))
        return names

    def _settle(self, fact: str, found) -> None:
        digest = found.digest()
        if self._digests.setdefault(fact, digest) != digest:
            self._digests[fact] = None


class Kept(Generic[Result]):
    """Results that are worked out once, each with its record."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._known: dict[Hashable, tuple[Result, Record]] = {}

    def get(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """The result for the key, which is made at the first time."""
        known = self._known.get(key)
        if known is None:
            with self._reads.record() as record:
                result = make()
            self._known[key] = result, record
            return result
        self._reads.note(known[1])
        return known[0]


@lru_cache(maxsize=256)
def _has_installed(names: frozenset[str]) -> bool:
    return any(name.endswith(".dist-info") for name in names)


def _says_something(name: str) -> bool:
    return (
        ("." not in name and name != "__pycache__")
        or name.endswith(ENDINGS)
        or name in PROJECT_FILES
    )


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []
