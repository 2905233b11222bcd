"""The program around a checked file: which modules it has, and how an import finds its file.

Nothing is imported or run. What an import names depends on the importing file and on the disk alone:
its own import root comes first, then the project that it lies in, then the environment's packages.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import OrderedDict
from functools import partial
from itertools import chain

from msgspec import Struct

from breakscope import limits
from breakscope.reading import Unreadable
from breakscope.static.project.eviction import drop_idle_bodies
from breakscope.static.project.installed import Installed
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.reads import CONTENT, Kept, Reads
from breakscope.static.project.source import SourceError, decode, parse, split_lines
from breakscope.static.project.star_imports import Stars

LIBRARIES = frozenset({"torch", "numpy", "einops"})  # known by name, never read as source
COMPILED = (".so", ".pyd")
SOURCE_FOLDERS = ("", "src")  # where a project's packages lie in its top folder


class Parsed(Struct, eq=False):
    """A file's text and tree. `size` is how much of the text has its tree in memory."""

    text: bytes
    tree: ast.Module
    lines: list[str]
    size: int


class Sources:
    """The files that were read, for all modules that are made of them."""

    def __init__(self, reads: Reads) -> None:
        self.reads = reads
        self.turn = 0  # counts the checked files
        self._parsed: OrderedDict[str, Parsed] = OrderedDict()
        self._places: Kept[tuple[str, str]] = Kept(reads)
        self._size = 0
        self._most = limits.MOST_BYTES_WITH_BODIES

    def parsed(self, path: str, source: str | None = None) -> Parsed:
        """A file (absolute path), which is read unless its text is given; raises SourceError."""
        self.reads.note(f"{CONTENT}:{path}")
        found = self._parsed.get(path)
        if found is not None:
            self._parsed.move_to_end(path)
            return found
        source = self.read(path) if source is None else source
        text = source.encode(errors="surrogatepass")
        found = Parsed(text, parse(source, path), split_lines(source), len(text))
        self._parsed[path] = found
        self._size += found.size
        return found

    def read(self, path: str) -> str:
        """A file's text; raises SourceError."""
        try:
            return decode(self.reads.file(path))
        except Unreadable as problem:
            raise SourceError(str(problem)) from None

    def place(self, path: str) -> tuple[str, str]:
        """(dotted module name, import root) of a file: the root is the first folder above without
        `__init__.py`."""
        return self._places.get(path, lambda: self._place(path))

    def _place(self, path: str) -> tuple[str, str]:
        folder, name = os.path.split(path)
        parts = [] if name == "__init__.py" else [name.removesuffix(".py").removesuffix(".ipynb")]
        while self.reads.is_package(folder):
            folder, last = os.path.split(folder)
            parts.insert(0, last)
        return ".".join(parts) or "__init__", folder

    @property
    def is_full(self) -> bool:
        """True when more source is parsed than should stay in memory."""
        return self._size > limits.MOST_PARSED_BYTES

    def make_room(self) -> None:
        """Drop function bodies that were not entered lately, when there is much parsed; twice while one
        gets out of use, since a look at all of it takes time."""
        if self._size <= self._most or self.turn % (limits.MOST_FILES_OF_USE // 2 or 1):
            return
        for parsed in self._parsed.values():
            size = len(parsed.text) - drop_idle_bodies(
                parsed.tree, parsed.lines, self.turn - limits.MOST_FILES_OF_USE
            )
            self._size += size - parsed.size
            parsed.size = size
        self._most = max(
            limits.MOST_BYTES_WITH_BODIES, self._size + limits.MOST_BYTES_WITH_BODIES // 2
        )

    def forget(self) -> None:
        """Drop the files that were used longest ago; only where no module is made of them."""
        while self._size > limits.MOST_PARSED_BYTES * 3 // 5 and len(self._parsed) > 1:
            _, oldest = self._parsed.popitem(last=False)
            self._size -= oldest.size


class Program:
    """All modules that a check may look at, as the files of one package see them."""

    def __init__(
        self, sources: Sources, installed: Installed, environment: tuple[str, ...] = ()
    ) -> None:
        """`installed` says which of the environment's packages are followed, `environment` are the
        folders of all of them; none where that is not known."""
        self.sources = sources
        self.reads = sources.reads
        self._installed = installed
        self._environment = environment
        self._found: Kept[str | None] = Kept(self.reads)
        self._compiled: Kept[bool] = Kept(self.reads)
        self._shown: Kept[dict[str, set[str]]] = Kept(self.reads)
        self._roots: Kept[tuple[str, ...]] = Kept(self.reads)
        self._stars = Stars(self.imported, self.reads)

    def module_at(self, path: str, source: str | None = None) -> ModuleInfo:
        """A module of a file (absolute path), of which nothing has run; raises SourceError."""
        parsed = self.sources.parsed(path, source)
        name, root = self.sources.place(path)
        return ModuleInfo(
            path,
            name,
            root,
            path.endswith("__init__.py"),
            parsed.text,
            parsed.tree,
            self._installed.library_of(root, name),
            lines=parsed.lines,
        )

    def module_or_none(self, path: str) -> ModuleInfo | None:
        """The same; None for a file that cannot be read as Python."""
        try:
            return self.module_at(path)
        except SourceError:
            return None

    def imported(self, importer: str, level: int, name: str) -> str | None:
        """The file that `from {'.' * level}{name} import ...` names in the file `importer`; None
        when there is none."""
        own, root = self.sources.place(importer)
        name = absolute_name(own, importer.endswith("__init__.py"), name, level)
        is_own = bool(name) and name.partition(".")[0] == self._installed.library_of(root, own)
        return self._path_of(name, root, is_own) if name else None

    def path_of(self, name: str, importer: ModuleInfo) -> str | None:
        """The file of the module `name` (absolute dotted name) as `importer` would import it; None
        when it is not in the source."""
        return self._path_of(name, importer.root, name.partition(".")[0] == importer.library)

    def path_of_entered(self, name: str, importer: ModuleInfo) -> str | None:
        """The same in a region that is under check: Dynamo enters packages that do without torch, too."""
        return self._path_of(name, importer.root, is_entered=True)

    def is_missing(self, name: str, importer: ModuleInfo) -> bool:
        """True when the import of a module fails: the user's environment is known, and neither it
        nor the source has a module or package of that name."""
        top = name.partition(".")[0]
        if not self._environment or top in sys.stdlib_module_names:
            return False
        roots = self._roots.get(importer.root, lambda: self._roots_of(importer.root))
        folders = (*roots, *_around(importer.root, top), *self._environment)
        return not any(map(partial(_names, top), chain(*map(self.reads.names, folders))))

    def is_compiled(self, name: str, importer: ModuleInfo) -> bool:
        """True for a module that is an extension of compiled code, with no source beside it."""
        top = name.partition(".")[0]
        if not top or top in LIBRARIES or top in sys.stdlib_module_names:
            return False
        key = (name, importer.root)
        return self._compiled.get(key, lambda: self._is_compiled(name, importer.root))

    def is_compiled_code(self, name: str, importer: ModuleInfo) -> bool:
        """True for what is called by this name and stands in an extension module, or in a package that is not
        followed and imports it from one of its own: `from ._fast import lookup`."""
        package, _, last = name.rpartition(".")
        return self.is_compiled(package, importer) or any(
            self.is_compiled(module, importer)
            for module in self._shown.get(
                (package, importer.root), lambda: self._shown_by(package)
            ).get(last, ())
        )

    def _shown_by(self, package: str) -> dict[str, set[str]]:
        """By name, the modules from which a package that is not followed imports what it shows."""
        top = package.partition(".")[0]
        if not top or top in LIBRARIES or top in sys.stdlib_module_names:
            return {}
        shown: dict[str, set[str]] = {}
        for folder in self._installed.folders:
            if top not in self.reads.names(folder) or self._installed.is_followed(folder, top):
                continue
            file = os.path.join(folder, *package.split("."), "__init__.py")
            for node in ast.walk(tree_of(self.reads.bytes_of(file))):
                if isinstance(node, ast.ImportFrom):
                    module = absolute_name(package, True, node.module, node.level)
                    for alias in node.names:
                        shown.setdefault(alias.asname or alias.name, set()).add(module)
            break
        return shown

    def _is_compiled(self, name: str, root: str) -> bool:
        package, _, last = name.rpartition(".")
        roots = self._roots.get(root, lambda: self._roots_of(root))
        top = name.partition(".")[0]
        for folder in dict.fromkeys((*roots, *self._installed.folders)):
            entries = self.reads.names(folder)
            if package and top not in entries:
                continue
            inner = self.reads.names(os.path.join(folder, *package.split(".")))
            found = [entry for entry in inner if entry.partition(".")[0] == last]
            if found or package:
                return bool(found) and all(e.endswith(COMPILED) for e in found)
        return False

    def is_without_torch(self, top: str, importer: ModuleInfo) -> bool:
        """True for a top-level package that is there and not followed, since it does not import torch."""
        roots = self._roots.get(importer.root, lambda: self._roots_of(importer.root))
        folders = dict.fromkeys((*roots, *self._installed.folders))
        holding = [f for f in folders if {top, top + ".py"} & {*self.reads.names(f)}]
        return bool(holding) and not any(self._installed.is_followed(f, top) for f in holding)

    def starred(self, package: ModuleInfo, name: str) -> str | None:
        """The file that defines a name which a package shows only to type checkers, by
        `from ... import *`."""
        return self._stars.file_of(package.path, name)

    def _path_of(self, name: str, root: str, is_entered: bool) -> str | None:
        if name.partition(".")[0] in LIBRARIES:
            return None
        key = (name, root, is_entered)
        return self._found.get(key, lambda: self._searched(name, root, is_entered))

    def _searched(self, name: str, root: str, is_entered: bool) -> str | None:
        roots = self._roots.get(root, lambda: self._roots_of(root))
        own = _around(root, name)
        found = (
            self._path_under(folder, name, folder in own, is_entered)
            for folder in dict.fromkeys((*roots, *own, *self._installed.folders))
        )
        return next((path for path in found if path is not None), None)

    def _roots_of(self, root: str) -> tuple[str, ...]:
        """Where a file's imports are looked up: its import root, and the folders of its project."""
        folder = root
        while not self.reads.marks(folder):
            folder, below = os.path.dirname(folder), folder
            if folder == below:
                return (root,)
        inner = (os.path.join(folder, inner).rstrip(os.sep) for inner in SOURCE_FOLDERS)
        return (root, *inner)

    def _path_under(self, root: str, name: str, is_own: bool, is_entered: bool) -> str | None:
        """The file of a module below a folder; the importer's own package is always followed."""
        folder, *rest = root, *name.split(".")
        top = rest[0]
        if top not in (names := self.reads.names(root)) and top + ".py" not in names:
            return None
        if not is_own and not self._installed.is_followed(root, top, is_entered):
            return None
        for part in rest[:-1]:
            if part not in self.reads.names(folder):
                return None
            folder = os.path.join(folder, part)
        last, listing = rest[-1], self.reads.names(folder)
        package = os.path.join(folder, last)
        if last in listing and "__init__.py" in self.reads.names(package):
            return os.path.join(package, "__init__.py")
        if last + ".py" in listing:
            return package + ".py"
        return None


def tree_of(text: bytes) -> ast.Module:
    """The tree of a file; an empty one where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _around(root: str, name: str) -> list[str]:
    """The folder that holds a package without `__init__.py` in which an import root lies."""
    top, folder = name.partition(".")[0], root
    while os.path.basename(folder) not in ("", top):
        folder = os.path.dirname(folder)
    return [os.path.dirname(folder)] if os.path.basename(folder) else []


def _names(module: str, entry: str) -> bool:
    """True when an entry of a folder is a module or package of this name, or what an installation
    by a link to the source has left for it."""
    return entry.partition(".")[0] == module or (
        entry.startswith(("__editable__", "_editable_")) and module in entry
    )


def absolute_name(importer: str, is_package: bool, name: str | None, level: int) -> str:
    """The absolute dotted name of `from {'.' * level}{name} import ...` inside the module
    `importer`."""
    if not level:
        return name or ""
    parts = importer.split(".")
    keep = len(parts) - level + is_package
    return ".".join([*parts[: max(keep, 0)], *([name] if name else [])])
