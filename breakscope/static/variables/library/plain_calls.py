"""Calls of the standard library and of packages outside of the checked source: what they enter, and what they return
where nothing but their name is known."""

from __future__ import annotations

import ast
import types

from breakscope.knowledge import since
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    External,
    ExternalInstance,
    Function,
    Py,
    Value,
)
from breakscope.rulekit.walking import walk
from breakscope.static.definitions.names import resolve_import
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.packages import MAKES, TOKENIZER, is_given_up
from breakscope.static.project.modules import Namespace
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.library.followed.draws import drawn_by_python
from breakscope.static.variables.tensors.results import returned_value

BUILT_IN_TYPES = {
    kind.__name__: kind
    for kind in (bytes, complex, dict, float, frozenset, int, list, set, str, tuple)
}
# before the name of compiled code that is built or loaded while the program runs
LOADED = "<compiled>."
BUILDERS = frozenset(f"torch.utils.cpp_extension.load{how}" for how in ("", "_inline"))
LOADERS = frozenset(
    ("ctypes.CDLL", "ctypes.PyDLL", "ctypes.WinDLL", "ctypes.OleDLL", "ctypes.cdll.LoadLibrary")
)
TRACED_DRAWS = {"random.uniform": "float", "random.randint": "int", "random.randrange": "int"}


def enter_package(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> bool:
    """A function, class or method outside of the checked source is called; to make an exception
    is no harm. False where its name says nothing of the call."""
    if not frame.emits or name.endswith(("Error", "Exception", "Warning")):
        return True
    if name.startswith(LOADED):
        given = External(name.removeprefix(LOADED))
        emit_call(machine, "call of an extension module", given, args, kwargs, node, frame)
    elif is_kept_method(name, node, frame):
        emit_call(machine, "call of a kept method", External(name), args, kwargs, node, frame)
    elif name.partition(".")[0] in machine.library.skipped_packages:
        emit_call(machine, "call of a skipped package", External(name), args, kwargs, node, frame)
    elif is_given_up(name):
        what = "call of a function that is entered and given up"
        emit_call(machine, what, External(name), args, kwargs, node, frame, "likely")
    elif machine.world.program.is_compiled_code(name, frame.module):
        what = "call of an extension module"
        emit_call(machine, what, External(name), args, kwargs, node, frame, "likely")
    else:
        return False
    return True


def loaded_code(name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The module of compiled code that torch builds from its source, or the library that ctypes opens; None for other
    calls. What is built to register operators, without a module, is called by `torch.ops`."""
    if name in LOADERS:
        return External(f"{LOADED}{name}(...)")
    if name not in BUILDERS:
        return None
    if kwargs.get("is_python_module", Const(True)) != Const(True):
        return UNKNOWN
    given = args[0] if args else kwargs.get("name", UNKNOWN)
    known = given.value if isinstance(given, Const) else f"{name.rpartition('.')[2]}(...)"
    return External(f"{LOADED}{known}")


def call_in_source(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    """A call of what an installed package without torch defines, where a region that is under check enters it;
    None where its source is not there, and for what such packages call in their turn."""
    region = machine.region
    if not frame.emits or frame.module.library or region.entered_at is not None:
        return None
    callee = _found_in_source(machine, name, node, frame)
    if callee is None:
        return None
    region.entered_at = frame.depth
    try:
        return machine.call(callee, args, kwargs, node, frame)
    finally:
        region.entered_at = None


def _found_in_source(machine: Machine, name: str, node: ast.AST, frame: Frame) -> Value | None:
    """The function, class or method that a dotted name stands for."""
    parts = name.split(".")
    for at in range(len(parts) - 1, 0, -1):
        path = machine.world.program.path_of_entered(".".join(parts[:at]), frame.module)
        if path is None:
            continue
        module = machine.world.module(path)
        value = Namespace(module) if module is not None else UNKNOWN
        outside = Frame(frame.module)
        for part in parts[at:]:
            value = resolve_import(machine, machine.getattr(value, part, node, outside))
        return value if isinstance(value, Class | Function) else None
    return None


def is_kept_method(name: str, node: ast.AST, frame: Frame) -> bool:
    """True for a method of a built-in type (`str.split`) that the running function is not seen to name: it was put
    into a variable, an attribute or a default before the region began."""
    owner, _, method = name.rpartition(".")
    kind = BUILT_IN_TYPES.get(owner)
    if kind is None or type(kind.__dict__.get(method)) is not types.MethodDescriptorType:
        return False
    body = node if frame.function is None else frame.function.node.body  # defaults are made before
    statements = body if isinstance(body, list) else [body]
    return not any(
        type(part) is ast.Attribute
        and part.attr == method
        and type(part.value) is ast.Name
        and part.value.id == owner
        for statement in statements
        for part in walk(statement)
    )


def plain_result(machine: Machine, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of the standard library or of an unknown library."""
    if name in TRACED_DRAWS or (name == "random.random" and since("2.15")):
        return machine.region.draw(TRACED_DRAWS.get(name, "float"))
    if (returned := returned_value(machine, name)) is not None:
        return returned
    if name in MAKES:
        return MAKES[name]
    owner, _, last = name.rpartition(".")
    if last == "from_pretrained" and TOKENIZER.fullmatch(owner):
        return ExternalInstance(owner)
    root = name.partition(".")[0]
    if root in ("time", "random") and name != "random.Random":
        return drawn_by_python(machine, name, args)
    if root in ("os", "sys", "platform"):
        return Py("unknown", "environment")
    is_class = last[:1].isupper() or name == "dataclasses.field"
    if is_class or root in ("contextlib", "threading", "warnings", "tempfile"):
        return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
    return UNKNOWN
