"""How the code is laid out: which room may lean on which, and that what a module needs of others
shows in its imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "breakscope"
MOST_LINES, MOST_FILES, MOST_BASES = 400, 20, 2
# Imports of ours inside functions count as imports, but for these, where they are what keeps the
# start-up short; imports of libcst, torch, rich and click are no imports of ours
LAZY = {
    ("breakscope", "breakscope.api"): "`import breakscope` imports nothing else",
}

# The rooms, from the one that leans on all others to the one that leans on none
HOUSE = (
    ("__main__",),
    ("cli", "integrations"),
    ("api",),
    ("workflows",),
    ("fixes",),
    ("static", "dynamic"),
    ("knowledge",),
    ("rulekit", "config"),
    ("report",),
    ("environment", "source_roots"),
    ("reading", "store"),
    ("errors", "texts"),
    ("limits",),
    ("__init__",),  # the version
)
STATIC = (
    ("__init__",),
    ("analyze",),
    ("jobs",),
    ("one_file", "cache"),
    ("follow",),
    ("answer",),
    ("usage", "findings"),
    ("regions",),
    ("interpreter",),
    ("variables",),
    ("definitions",),
    ("machine",),
    ("project",),
)


@dataclass
class Module:
    """A file of ours, and what of ours it names."""

    path: Path
    name: str
    tree: ast.Module
    imports: dict[str, bool] = field(default_factory=dict)  # module -> is it imported at the top
    names: dict[str, tuple[str, str]] = field(default_factory=dict)  # what an import binds


def is_table(path: Path) -> bool:
    """True for what is data in the form of Python."""
    return "probes" in path.parts


@cache
def modules() -> dict[str, Module]:
    """All modules of ours, by dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(path, name, ast.parse(path.read_bytes()))
    for module in found.values():
        for node, is_top in import_statements(module.tree, True):
            read_import(module, node, is_top, found)
    return found


def import_statements(node: ast.AST, is_top: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """All imports that run, and whether they do at module level."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, is_top
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.orelse:
                yield from import_statements(statement, is_top)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from import_statements(child, is_top and not inside)


def read_import(module: Module, node: ast.stmt, is_top: bool, known: dict[str, Module]) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            note(module, alias.name, is_top, known)
        return
    base = absolute(module, node)
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        note(module, inner if inner in known else base, is_top, known)
        module.names[alias.asname or alias.name] = (base, alias.name)


def absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    parts = parts[: len(parts) - node.level + (module.path.name == "__init__.py")]
    return ".".join([*parts, *([node.module] if node.module else [])])


def note(module: Module, name: str, is_top: bool, known: dict[str, Module]) -> None:
    if name in known and name != module.name:
        module.imports[name] = module.imports.get(name, False) or is_top


@cache
def classes() -> dict[tuple[str, str], ast.ClassDef]:
    """Our classes, by module and name."""
    return {
        (module.name, node.name): node
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }


def resolved(module: str, name: str, depth: int = 5) -> tuple[str, str] | None:
    """Where the class that a module knows by a name is defined."""
    if (module, name) in classes():
        return module, name
    if not depth or module not in modules() or name not in modules()[module].names:
        return None
    return resolved(*modules()[module].names[name], depth - 1)


def our_bases(key: tuple[str, str]) -> list[tuple[str, str]]:
    found = []
    for base in classes()[key].bases:
        if isinstance(base, ast.Subscript):
            base = base.value
        name = resolved(key[0], base.id) if isinstance(base, ast.Name) else None
        if name is not None and name != key:
            found.append(name)
    return found


def home_of(key: tuple[str, str], method: str) -> str | None:
    """The module that defines a method which a class has."""
    if any(isinstance(n, ast.FunctionDef) and n.name == method for n in classes()[key].body):
        return key[0]
    return next(filter(None, (home_of(base, method) for base in our_bases(key))), None)


def subclasses_home(key: tuple[str, str], method: str) -> set[str]:
    """The modules that define a method for subclasses of a class that has none itself."""
    subclasses = [other for other in classes() if key in our_bases(other)]
    return {home for subclass in subclasses if (home := home_of(subclass, method))} | {
        home for subclass in subclasses for home in subclasses_home(subclass, method)
    }


def calls_of_self(node: ast.ClassDef) -> Iterator[str]:
    for inner in ast.walk(node):
        if (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Attribute)
            and isinstance(inner.func.value, ast.Name)
            and inner.func.value.id == "self"
        ):
            yield inner.func.attr


def leans_on(module: Module) -> set[str]:
    """The modules that one needs: its imports, and where the methods are that it calls on self."""
    wanted = set(module.imports)
    for key, node in classes().items():
        if key[0] != module.name:
            continue
        for method in calls_of_self(node):
            home = home_of(key, method)
            wanted |= {home} if home else subclasses_home(key, method)
    return wanted - {module.name}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The groups of nodes that reach each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found)


def test_few_bases():
    many = {key: bases for key in classes() if len(bases := our_bases(key)) > MOST_BASES}
    assert not many


def test_no_circles():
    """Neither by imports, in functions too, nor by methods that a class has from elsewhere."""
    edges = {name: leans_on(module) for name, module in modules().items()}
    for importer, imported in LAZY:
        edges[importer].remove(imported)
    assert circles(edges) == []


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d2"}, "d2": {"a"}}) == [["b", "c"]]


def room(name: str, top: str) -> str:
    rest = name.removeprefix(top).lstrip(".")
    return rest.partition(".")[0] or "__init__"


def upward(top: str, order: tuple[tuple[str, ...], ...]) -> list[str]:
    """The imports against the order, and those between rooms of one rank."""
    rank = {name: number for number, names in enumerate(order) for name in names}
    found = []
    for module in modules().values():
        if module.name != top and not module.name.startswith(top + "."):
            continue
        own = room(module.name, top)
        for other in module.imports:
            its = room(other, top) if other.startswith(top + ".") else own
            is_lazy = (module.name, other) in LAZY
            if its != own and not is_lazy and not rank[own] < rank[its]:
                found.append(f"{module.name} imports {other}")
    return found


def test_every_room_has_its_place():
    for top, order in (("breakscope", HOUSE), ("breakscope.static", STATIC)):
        rooms = {room(name, top) for name in modules() if name.startswith(top + ".")}
        assert rooms <= {name for names in order for name in names}


def test_rooms_lean_one_way():
    assert upward("breakscope", HOUSE) == []


def test_rooms_of_the_static_analysis_lean_one_way():
    assert upward("breakscope.static", STATIC) == []


def test_files_are_short():
    lines = {
        str(module.path.relative_to(ROOT)): len(module.path.read_bytes().splitlines())
        for module in modules().values()
        if not is_table(module.path)
    }
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_folders_are_small():
    folders: dict[str, int] = {}
    for module in modules().values():
        if module.path.name != "__init__.py":
            folder = str(module.path.parent.relative_to(ROOT))
            folders[folder] = folders.get(folder, 0) + 1
    assert {folder: count for folder, count in folders.items() if count > MOST_FILES} == {}


def test_static_analysis_imports_torch_nowhere_at_module_level():
    found = [
        (module.name, ast.unparse(node))
        for module in modules().values()
        if module.name.startswith(
            ("breakscope.static", "breakscope.rulekit", "breakscope.report.m")
        )
        for node, is_top in import_statements(module.tree, True)
        if is_top
        for name in imported_names(node)
        if name.partition(".")[0] == "torch"
    ]
    assert found == []


def imported_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if not node.level else []


@pytest.mark.parametrize(
    "source",
    ["y = x", "y = x.item()", "y = self.compiled(x)\n        torch.compile(self)(x).item()"],
)
def test_check_leaves_torch_alone(tmp_path, source):
    path = tmp_path / "model.py"
    path.write_text(
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
        f"        {source}\n        return y\n"
    )
    program = (
        "import sys; from breakscope.static import analyze; result = analyze([sys.argv[1]]); "
        "assert result.files == 1 and not result.errors; "
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    )
    result = subprocess.run(
        [sys.executable, "-P", "-c", program, str(path)], capture_output=True, text=True, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
