"""What names stand for: through frames, modules, imports and the builtins."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from breakscope.rulekit.values import UNKNOWN, Const, External, Value
from breakscope.static.definitions.imported_programs import loops_of_imports, names_of_compilers
from breakscope.static.machine.compiled_names import compiled_names, may_compile
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.packages import TOKENIZER
from breakscope.static.machine.world import run_top_level
from breakscope.static.project.modules import Import, ModuleInfo, Namespace

if TYPE_CHECKING:
    from breakscope.static.machine.machine import Machine


def module_names(machine: Machine, module: ModuleInfo) -> dict[str, Value]:
    """The module's namespace after its top level has run (without emitting anything)."""
    if module is not machine.file.module:
        names = machine.world.names(module)
        if module.gaps:
            machine.file.gaps.include(module.gaps)
        return names
    if module.names is None:
        # what a program without torch does when it is started compiles nothing of this file
        is_program = starts_program(machine, module)
        starts = is_program or b"torch" in module.text or b".compile(" in module.text
        module.names, module.executing = module.first_names(is_imported=not starts), True
        if is_program:
            # its own code is what calls what it compiles
            module.names["__name__"] = Const("__main__")
            with machine.driver.following(module, machine.file.compiled_names()) as found:
                run_top_level(machine, module)
            machine.file.programs.extend(found)
        else:
            run_top_level(machine, module)
        module.executing = False
    return module.names


def starts_program(machine: Machine, module: ModuleInfo) -> bool:
    """True where a file's own code may call what it, or what a script imports from the project, compiles."""
    file = machine.file
    if file.names is None and b"__main__" in module.text:
        called = names_of_compilers(machine, module)
        if called or may_compile(module.text):
            file.names = compiled_names(module, called, loops_of_imports(machine, module))
    return file.names is not None or may_compile(module.text)


def resolve_import(machine: Machine, value: Value) -> Value:
    """Follow an import to what it names."""
    if type(value) is not Import:
        return value
    known = machine.objects.imports.get(id(value))
    if known is not None:
        return known[1]
    imported = value
    for _ in range(12):
        if type(value) is not Import:
            if not machine.objects.executing:
                machine.objects.imports[id(imported)] = imported, value
            return value
        value = import_step(machine, value)
    return UNKNOWN


def import_step(machine: Machine, imported: Import) -> Value:
    if not imported.member:
        found = machine.find(imported.module, imported.importer)
        return Namespace(found) if found else External(imported.module)
    if TOKENIZER.fullmatch(f"{imported.module}.{imported.member}"):
        return External(f"{imported.module}.{imported.member}")
    found = machine.find(imported.module, imported.importer)
    if found is not None:
        if (measured := measured_member(machine, found, imported.member)) is not None:
            return measured
        value = module_names(machine, found).get(imported.member)
        if value is not None and not (type(value) is Import and _is_own_submodule(value, imported)):
            return value
        inner = machine.find(f"{imported.module}.{imported.member}", imported.importer)
        if inner is not None:
            return Namespace(inner)
        defining = machine.starred(found, imported.member)
        if defining is not None:
            return module_names(machine, defining).get(imported.member, UNKNOWN)
        full = f"{imported.module}.{imported.member}"
        is_compiled = machine.world.program.is_compiled(full, imported.importer)
        return External(full) if is_compiled else UNKNOWN
    inner = machine.find(f"{imported.module}.{imported.member}", imported.importer)
    if inner is not None:
        return Namespace(inner)
    return external_value(machine, f"{imported.module}.{imported.member}")


def measured_member(machine: Machine, module: ModuleInfo, name: str) -> External | None:
    """A function of an installed package that the tables know: what is compiled has no source, or
    stands in a module of another name."""
    full = f"{module.name}.{name}"
    return External(full) if module.library and full in machine.library.tables.calls else None


def external_value(machine: Machine, name: str) -> Value:
    """A library member as a value: a known constant, else its canonical name."""
    known = machine.library.constant(name)
    return known if known is not None else External(canonical_name(machine, name))


def canonical_name(machine: Machine, name: str) -> str:
    """The name under which tables and rules know a library member."""
    return machine.library.canonical(name)


def lookup_name(machine: Machine, name: str, frame: Frame, node: ast.AST | None = None) -> Value:
    """The value of a name, through the frame, its closure, the module and the builtins."""
    value = frame.names.get(name)
    if value is not None and not frame.globals_:
        return resolve_import(machine, value) if type(value) is Import else value
    if name in frame.globals_:
        value = None
    elif value is None and frame.scope is not None:
        scope = frame.enclosing(name)
        if scope is not None:
            value = scope.names[name]
            if frame.emits:
                machine.region.note_read((id(scope), name), node, frame)
    if value is None:
        value = module_names(machine, frame.module).get(name)
        if value is not None and frame.emits:
            machine.region.note_read((id(frame.module), name), node, frame)
    if value is None:
        return External(name) if name in machine.library.builtins else UNKNOWN
    return resolve_import(machine, value) if type(value) is Import else value


def _is_own_submodule(value: Import, imported: Import) -> bool:
    """True for what `from . import part` in a package says of `package.part`: the module of that
    name."""
    return value.member == imported.member and value.module == imported.module
