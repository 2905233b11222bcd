"""The program under check: which files it has, and how an import finds its file.

Nothing is imported or run. A module is parsed when it is first needed and forgotten again when the parsed source in
memory grows over a limit.
"""

from __future__ import annotations

import ast
import os
from collections import OrderedDict
from collections.abc import Set

from breakscope.static.importers import Importers
from breakscope.static.installed import Installed
from breakscope.static.modules import ModuleInfo
from breakscope.static.source import SourceError, parse, read_source
from breakscope.static.stars import Stars

PARSED_BYTES = 12_000_000  # source kept parsed; its trees take 20 to 30 times as much memory
CROWDED_BYTES = 1_500_000  # above it, function bodies that are not in use are dropped, see bodies.py
COMMON = 4  # folders still to come that import from a module which stays parsed when there is much
LIBRARIES = frozenset({"torch", "numpy"})  # known by tables, never read as source


class Program:
    """All modules that a check may look at, found through the import roots of the checked files."""

    def __init__(self, installed: Installed) -> None:
        """The folders of `installed` packages are searched last."""
        self._installed = installed
        self._modules: OrderedDict[str, ModuleInfo] = OrderedDict()
        self._size = 0
        self._most = CROWDED_BYTES
        self.state = 0  # another number whenever modules are dropped or a global name changes
        self._roots: dict[str, None] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._places: dict[str, tuple[str, str]] = {}
        self._directories: dict[str, frozenset[str]] = {}
        self._stars = Stars(self.imported)

    def add_root(self, path: str) -> None:
        """Make the import root of a checked file known to every other file."""
        name, root = self.place(path)
        self._roots.setdefault(root)
        self._installed.check(root, name.partition(".")[0])

    def place(self, path: str) -> tuple[str, str]:
        """(dotted module name, import root) of a file: the root is the first folder above without `__init__.py`."""
        found = self._places.get(path)
        if found is not None:
            return found
        folder, name = os.path.split(path)
        parts = [] if name == "__init__.py" else [name.removesuffix(".py")]
        while folder and "__init__.py" in self._listing(folder):
            folder, last = os.path.split(folder)
            parts.insert(0, last)
        found = self._places[path] = ".".join(parts) or "__init__", folder
        return found

    def module_at(self, path: str, source: str | None = None, tree: ast.Module | None = None) -> ModuleInfo:
        """The module of a file (absolute path), which is read and parsed unless its text and tree are given; raises
        SourceError."""
        module = self._modules.get(path)
        if module is not None:
            self._modules.move_to_end(path)
            return module
        name, root = self.place(path)
        source = read_source(path) if source is None else source
        tree = tree or parse(source, path)
        library = self._installed.library_of(root, name)
        module = ModuleInfo(path, name, root, path.endswith("__init__.py"), source.encode(errors="surrogatepass"), tree, library)
        self._modules[path] = module
        module.size = len(module.text)
        self._size += module.size
        return module

    def reads(self) -> set[str]:
        """The files and folders that were looked at."""
        return {*self._places, *self._directories, *self._stars.reads, *self._installed.reads()}

    @property
    def parsed(self) -> Set[str]:
        """The paths of the modules in memory."""
        return self._modules.keys()

    @property
    def is_crowded(self) -> bool:
        """True when it is time to look for what nobody needs now."""
        return self._size > self._most

    def slim(self, drop) -> None:
        """Make the modules smaller; `drop(module)` gives the size of the text without a tree after that."""
        for module in self._modules.values():
            module.size, before = len(module.text) - drop(module), module.size
            self._size += module.size - before
            module.lines = None
        self._most = max(CROWDED_BYTES, self._size + CROWDED_BYTES // 2)

    @property
    def is_full(self) -> bool:
        """True when more source is parsed than should stay in memory."""
        return self._size > PARSED_BYTES

    def forget(self) -> None:
        """Drop all that was made of the modules, and the trees of those used longest ago.

        Only between files: a module that is dropped while others need it would be parsed again and again. Functions and
        classes let go of their trees, so that these are freed at once: a garbage collection would visit every node.
        """
        self.state += 1
        for module in self._modules.values():
            for function in module.functions.values():
                function.node = function.module = function.owner = function.defaults = None
            for cls in module.classes.values():
                cls.node = cls.module = cls.scope = cls.bases = cls.mro = cls.members = cls.fields = cls.annotations = (
                    None
                )
                cls.values.clear()
            module.functions, module.classes, module.names = {}, {}, None
            module.asks.clear()
        while self._size > PARSED_BYTES * 3 // 5 and len(self._modules) > 1:
            _, oldest = self._modules.popitem(last=False)
            self._size -= oldest.size

    def leave(self, importers: Importers) -> list[ModuleInfo]:
        """Drop the modules that no file to come needs; the caller hollows them out.

        Kept are those that files to come import from, with everything that these need in turn; when much is parsed
        already, only what files of several folders will import from. Installed packages stay: through which files of the
        project they will be entered again, no text tells.
        """
        kept: set[ModuleInfo] = set()
        least = COMMON if self._size > PARSED_BYTES * 3 // 5 else 1
        asked = [m for path, m in self._modules.items() if importers.waiting_for(path) >= least]
        while asked:
            module = asked.pop()
            if module not in kept:
                kept.add(module)
                asked.extend(module.asks)
        gone = [m for m in self._modules.values() if m not in kept and not m.library]
        self.state += bool(gone)
        for module in gone:
            del self._modules[module.path]
            self._size -= module.size
        return gone

    def imported(self, importer: str, level: int, name: str) -> str | None:
        """The file that `from {'.' * level}{name} import ...` names in the file `importer`; None when there is none."""
        own, root = self.place(importer)
        name = absolute_name(own, importer.endswith("__init__.py"), name, level)
        return self._path_of(name, root) if name and name.partition(".")[0] not in LIBRARIES else None

    def find(self, name: str, importer: ModuleInfo) -> ModuleInfo | None:
        """The module `name` (absolute dotted name) as `importer` would import it; None when it is not in the source."""
        if name.partition(".")[0] in LIBRARIES:
            return None
        return self._asked(self._path_of(name, importer.root), importer)

    def starred(self, package: ModuleInfo, name: str, importer: ModuleInfo) -> ModuleInfo | None:
        """The module that defines a name which a package tells only type checkers of, by `from ... import *`."""
        return self._asked(self._stars.file_of(package.path, name), importer) if package.has_stars else None

    def _asked(self, path: str | None, importer: ModuleInfo) -> ModuleInfo | None:
        if path is None:
            return None
        try:
            module = self.module_at(path)
        except SourceError:
            return None
        if module not in importer.asks:
            importer.asks.add(module)
        return module

    def _path_of(self, name: str, root: str) -> str | None:
        key = (name, root)
        if key not in self._found:
            roots = dict.fromkeys((root, *self._roots, *self._installed.folders))
            self._found[key] = next((path for r in roots if (path := self._path_under(r, name))), None)
        return self._found[key]

    def _path_under(self, root: str, name: str) -> str | None:
        folder, *rest = root, *name.split(".")
        top = rest[0]
        if top not in (names := self._listing(root)) and top + ".py" not in names:
            return None
        if not self._installed.is_followed(root, top):
            return None
        for part in rest[:-1]:
            if part not in self._listing(folder):
                return None
            folder = os.path.join(folder, part)
        last, listing = rest[-1], self._listing(folder)
        package = os.path.join(folder, last)
        if last in listing and "__init__.py" in self._listing(package):
            return os.path.join(package, "__init__.py")
        if last + ".py" in listing:
            return package + ".py"
        return None

    def _listing(self, folder: str) -> frozenset[str]:
        names = self._directories.get(folder)
        if names is None:
            try:
                names = frozenset(os.listdir(folder))
            except OSError:
                names = frozenset()
            self._directories[folder] = names
        return names


def absolute_name(importer: str, is_package: bool, name: str | None, level: int) -> str:
    """The absolute dotted name of `from {'.' * level}{name} import ...` inside the module `importer`."""
    if not level:
        return name or ""
    parts = importer.split(".")
    keep = len(parts) - level + is_package
    return ".".join([*parts[: max(keep, 0)], *([name] if name else [])])
