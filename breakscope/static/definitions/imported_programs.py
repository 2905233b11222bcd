"""What a script takes from other files of the project that compile, or that call what is compiled for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from breakscope.rulekit.walking import kept_with_node, walk
from breakscope.static.machine.compiled_names import DEFINED, may_compile
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.program import absolute_name

if TYPE_CHECKING:
    from breakscope.static.machine.machine import Machine

LOOPS = ast.For | ast.While


def names_of_compilers(machine: Machine, module: ModuleInfo) -> frozenset[str]:
    """The names that a script has from files of the project that may compile something, or that import one which
    may."""
    if b"__main__" not in module.text:
        return frozenset()
    known: dict[str, bool] = {}
    found = [*_imports(machine, module)]
    for _, home in found:
        if home.path not in known:
            known[home.path] = may_compile(home.text) or any(
                may_compile(inner.text) for _, inner in _imports(machine, home)
            )
    return frozenset(name for name, home in found if known[home.path])


def loops_of_imports(machine: Machine, module: ModuleInfo) -> frozenset[int]:
    """The functions (by `id` of their `def`) with loops that stand in files of the project that this one imports:
    a trainer's, which is handed what is compiled."""
    modules = {found.path: found for _, found in _imports(machine, module)}
    return frozenset(
        id(node)
        for found in modules.values()
        for node in walk(found.tree)
        if isinstance(node, DEFINED) and any(isinstance(part, LOOPS) for part in walk(node))
    )


def _imports(machine: Machine, module: ModuleInfo) -> Iterator[tuple[str, ModuleInfo]]:
    """The names that a file's imports bind, each with the file of the project that it comes from."""
    for node in _statements(module.tree):
        if isinstance(node, ast.Import):
            found = [
                (alias.asname or alias.name.partition(".")[0], machine.find(alias.name, module))
                for alias in node.names
            ]
        else:
            found = [
                (alias.asname or alias.name, _defining(machine, module, node, alias.name))
                for alias in node.names
            ]
        for name, home in found:
            if home is not None and not home.library and not home.is_package:
                yield name, home


@kept_with_node
def _statements(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def _defining(
    machine: Machine, module: ModuleInfo, node: ast.ImportFrom, name: str, depth: int = 2
) -> ModuleInfo | None:
    """The file that `from ... import name` leads to: through packages as far as these import it by its name."""
    home = absolute_name(module.name, module.is_package, node.module, node.level)
    found = machine.find(f"{home}.{name}", module) or machine.find(home, module)
    if found is None or not found.is_package or not depth:
        return found
    for statement in found.tree.body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if name in (alias.asname, alias.name):
                    return _defining(machine, found, statement, alias.name, depth - 1)
    return None
