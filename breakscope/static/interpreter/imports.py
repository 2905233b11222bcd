"""Runs import statements: names are bound to imports that are resolved when they are used."""

from __future__ import annotations

import ast

from breakscope.rulekit.events import Statement
from breakscope.rulekit.values import UNKNOWN, Value
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import GO_ON, Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import Import, Namespace
from breakscope.static.project.program import absolute_name


def exec_import(machine: Machine, node: ast.Import, frame: Frame) -> int:
    for alias in node.names:
        emit_import(machine, node, alias.name, frame)
        if alias.asname:
            frame.names[alias.asname] = Import(alias.name, "", frame.module)
        else:
            root = alias.name.partition(".")[0]
            frame.names[root] = Import(root, "", frame.module)
    return GO_ON


def emit_import(machine: Machine, node: ast.stmt, module: str, frame: Frame) -> None:
    """`value` is the module's Namespace where an import that may fail finds it in the checked
    source."""
    if frame.emits and module:
        found = machine.find(module, frame.module) if frame.caught else None
        value = Namespace(found) if found is not None else UNKNOWN
        program = machine.world.program
        missing = frame.caught and found is None and program.is_missing(module, frame.module)
        missing = missing and not getattr(node, "is_needed", False)
        machine.emit(
            Statement,
            node,
            frame,
            construct="import",
            name=module,
            value=value,
            missing=missing,
        )


def note_needed(node: ast.Try) -> None:
    """Mark the imports of a `try` without which its function cannot go on, as its handlers raise, or import of the
    same package: who calls the function has that. It follows from the text alone, and is kept with it."""
    for statement in node.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            roots = _roots(statement)
            statement.is_needed = bool(node.handlers) and all(
                isinstance(handler.body[-1], ast.Raise)
                or any(not roots.isdisjoint(_roots(other)) for other in handler.body)
                for handler in node.handlers
            )


def _roots(node: ast.stmt) -> set[str]:
    """The packages that a statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    is_absolute = isinstance(node, ast.ImportFrom) and not node.level
    return {(node.module or "").partition(".")[0]} if is_absolute else set()


def exec_import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> int:
    module = absolute_name(frame.module.name, frame.module.is_package, node.module, node.level)
    emit_import(machine, node, module, frame)
    for alias in node.names:
        if alias.name == "*":
            found = machine.find(module, frame.module)
            # of a module that is still running it takes nothing, and has to be run again for that
            names = {} if found is None else module_names(machine, found)
            if found is not None and not found.executing:
                frame.names.update(
                    {k: v for k, v in names.items() if not (k[0] == "_" or is_back(v, k, frame))}
                )
        else:
            frame.names[alias.asname or alias.name] = Import(module, alias.name, frame.module)
    return GO_ON


def is_back(value: Value, name: str, frame: Frame) -> bool:
    """True for what a part of a package imported from the package itself, which has it already."""
    return (
        type(value) is Import
        and name in frame.names
        and (value.module, value.member) == (frame.module.name, name)
    )


def bind_imports(machine: Machine, body: list[ast.stmt], frame: Frame) -> None:
    """Bind what a module imports for type checkers only: a package that loads its names lazily
    lists them there, and others use them in annotations. Nothing is read before a name is used.
    """
    for statement in body:
        if isinstance(statement, ast.ImportFrom):
            if statement.names[0].name == "*":
                frame.module.has_stars = True
            else:
                exec_import_from(machine, statement, frame)
