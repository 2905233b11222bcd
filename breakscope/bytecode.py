"""The bytecode of our modules in one file: Python asks the system a dozen times for each module that it imports, and for a
hundred modules that takes a tenth of a check of one file.

The file lies in the user's cache, as what rules ask for does (see listeners.py). It answers for a module as long as its
source has the time and size that it had then, so as Python's own files of bytecode do, of which it is put together; all
else is imported as ever, and added behind the check. Nothing is written where Python may write no bytecode.
"""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec  # what importlib.machinery and importlib.util hand out: their import takes 2 ms
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from _io import FileIO

from breakscope.cache import cache_folder, number, state, write_over

LENGTH = 4  # bytes in which the file says how long its index is
HEADER = 16  # bytes before the code in Python's files of bytecode, see PEP 552
FIRST, MOST = 65_536, 4_000_000  # bytes that are read at once, a third of which an index has; bytes of the largest index

Entry = tuple[str, str, bool, int, int, int, int]  # source, Python's file of bytecode, is it a package, its state, offset, bytes


class Bytecode:
    """A finder (`sys.meta_path`) of the modules whose bytecode is in the file."""

    def __init__(self) -> None:
        folder = os.path.dirname(os.path.abspath(__file__))
        self._key = (folder, sys.version, sys.flags.optimize, MAGIC_NUMBER)
        self._name = os.path.join(cache_folder(), f"modules.{number(self._key)}")
        self._before = frozenset(sys.modules)
        self._file: FileIO | None = None
        self._entries: dict[str, Entry] = {}
        self._start = 0  # of the code in the file
        try:
            self._open()
        except (OSError, EOFError, ValueError, TypeError):  # there is none, or it is damaged
            self._entries = {}

    def _open(self) -> None:
        self._file = FileIO(self._name)
        data = self._file.read(FIRST)
        self._start = LENGTH + int.from_bytes(data[:LENGTH], "little")
        if FIRST < self._start < MOST:
            data += self._file.read(self._start - FIRST)
        key, entries = marshal.loads(data[LENGTH : self._start])
        if key == self._key and self._file.seek(0, os.SEEK_END) == self._start + sum(entry[6] for entry in entries.values()):
            self._entries = entries

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """What `import` asks of each finder; None for a module that has changed or that the file does not have."""
        entry = self._entries.get(name)
        if entry is None or state(entry[0]) != entry[3:5]:
            return None
        source, cached, is_package = entry[:3]
        spec = ModuleSpec(name, _Loader(name, source, self), origin=source, is_package=is_package)
        spec.has_location, spec.cached = True, cached
        if is_package:
            spec.submodule_search_locations.append(os.path.dirname(source))
        return spec

    def code(self, name: str) -> bytes:
        """A module's marshalled code; less than that when the file was cut short meanwhile."""
        offset, size = self._entries[name][5:]
        if hasattr(os, "pread"):  # one call less, and no position that a forked process would share
            return os.pread(self._file.fileno(), size, self._start + offset)
        self._file.seek(self._start + offset)
        return self._file.read(size)

    def keep(self) -> None:
        """Write the file again when a module was imported without it."""
        found = {} if sys.dont_write_bytecode else self._imported_otherwise()
        if not found:
            return
        for name, entry in self._entries.items():
            if name not in found and state(entry[0]) == entry[3:5] and len(code := self.code(name)) == entry[6]:
                found[name] = entry, code
        entries, offset = {}, 0
        for name, (entry, code) in found.items():
            entries[name] = (*entry[:5], offset, len(code))
            offset += len(code)
        index = marshal.dumps((self._key, entries))
        try:
            write_over(self._name, b"".join((len(index).to_bytes(LENGTH, "little"), index, *(code for _, code in found.values()))))
        except OSError:  # a full disk, or a folder that is not ours
            pass

    def _imported_otherwise(self) -> dict[str, tuple[Entry, bytes]]:
        """Our modules that came from Python's own files of bytecode, those that were imported before this one left out."""
        found = {}
        ours = [name for name in sys.modules if name.startswith("breakscope.") and name not in self._before]
        for name in ours:
            spec = getattr(sys.modules[name], "__spec__", None)
            if spec is not None and type(spec.loader) is SourceFileLoader and spec.cached:  # None where Python keeps none
                entry = (spec.origin, spec.cached, bool(spec.submodule_search_locations), *(state(spec.origin) or ()))
                if code := _compiled(*entry):
                    found[name] = entry, code
        return found


class _Loader(SourceFileLoader):
    """Python's own, but for where the code comes from."""

    def __init__(self, name: str, source: str, bytecode: Bytecode) -> None:
        super().__init__(name, source)
        self._bytecode = bytecode

    def get_code(self, fullname: str) -> object:
        try:
            return marshal.loads(self._bytecode.code(fullname))
        except (OSError, EOFError, ValueError, TypeError):
            return super().get_code(fullname)


def _compiled(source: str, cached: str, is_package: bool, changed: int = 0, size: int = 0) -> bytes:
    """The code in Python's file of bytecode; nothing when that is not made of the source as it is now."""
    made_of = (0, changed // 10**9 & 0xFFFFFFFF, size & 0xFFFFFFFF)
    try:
        with open(cached, "rb") as file:
            data = file.read()
    except OSError:
        return b""
    header = MAGIC_NUMBER + b"".join(part.to_bytes(4, "little") for part in made_of)
    return data[HEADER:] if data[:HEADER] == header else b""
