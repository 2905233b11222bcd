"""Applies decorators: marks that Dynamo looks at, and calls of what the checked source defines."""

from __future__ import annotations

import ast
import re

from msgspec.structs import replace

from breakscope.rulekit.events import Call
from breakscope.rulekit.values import Class, External, ExternalInstance, Function, Instance, Value
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.machine import Machine

MARKS = {
    "staticmethod": "staticmethod",
    "classmethod": "classmethod",
    "property": "property",
    "functools.cached_property": "cached_property",
    "contextlib.contextmanager": "contextmanager",
    "torch.compiler.disable": "disabled",
    "torch._dynamo.disallow_in_graph": "disabled",
    "torch.compile": "compiled",
    "torch.compiler.assume_constant_result": "opaque",  # run while tracing, not traced
    "torch._dynamo.assume_constant_result": "opaque",
    "functools.lru_cache": "cached",
    "functools.cache": "cached",
    "abc.abstractproperty": "property",
    "torch.distributions.utils.lazy_property": "property",
}
# what runs the function under a context manager of torch's
CONTEXTS = frozenset(
    """
    torch.no_grad torch.enable_grad torch.set_grad_enabled torch.inference_mode torch.autocast
    torch.amp.autocast torch.cuda.amp.autocast torch.profiler.record_function
    torch.autograd.profiler.record_function
    """.split()
)
# what makes an object in C of the function, whose call ends the graph
COMPILERS = frozenset(f"numba.{name}" for name in "jit njit vectorize guvectorize stencil".split())
CUSTOM_OP = "torch.library.custom_op"
# an operator's name before what gives it a fake, and what may give any of a file's operators one
FAKED = re.compile(rb"(\w+)\.register_fake\b")
FAKES = re.compile(rb"\bimpl_abstract\b|[\"'][Mm]eta[\"']|\bimport .*\bregister_fake\b")
# `torch.jit.script` is not: Dynamo traces the function that it was given
OPAQUE_DECORATORS = COMPILERS | frozenset(
    """
    torch.library.custom_op torch.library.triton_op triton.jit functools.singledispatch
    functools.singledispatchmethod
    """.split()
)


# what warns in each call of the function
WARNING = ("typing.deprecated", "warnings.deprecated")


def decorate(machine: Machine, node: ast.FunctionDef, value: Value, frame: Frame) -> Value:
    """Apply a definition's decorators, innermost first."""
    for decorator in reversed(node.decorator_list):
        try:
            made = machine.eval(decorator, frame)
            if made.is_unknown and isinstance(decorator, ast.Call) and type(value) is Function:
                made = machine.eval(decorator.func, frame)
                if type(made) is External and made.name in COMPILERS:
                    value = ExternalInstance(made.name)
                elif type(made) is External and made.name in OPAQUE_DECORATORS:
                    machine.touch(value.info)
                    value.info.marks |= {"opaque"}
                    if made.name == CUSTOM_OP and _needs_fake(node, frame):
                        value.info.marks |= {"without fake"}
                elif type(made) is External and made.name in WARNING and _warns(decorator):
                    machine.touch(value.info)
                    value.info.marks |= {"deprecated"}
                continue
            if type(value) is Function and value.info.node is not node:
                value = replace(value, info=replace(value.info))  # a wrapper is that of others too
            value = apply_decorator(machine, made, value, decorator, frame)
        except Raised:
            pass
    return value


def _needs_fake(node: ast.FunctionDef, frame: Frame) -> bool:
    """True for an operator that returns something, and that its file gives no fake implementation."""
    text = frame.module.text
    gives = node.returns is not None and not (
        isinstance(node.returns, ast.Constant) and node.returns.value is None
    )
    return (
        gives
        and {node.name.encode(), b"library"}.isdisjoint(FAKED.findall(text))
        and FAKES.search(text) is None
    )


def _warns(decorator: ast.Call) -> bool:
    """False for `deprecated("...", category=None)`, which is for type checkers alone."""
    given = [word.value for word in decorator.keywords if word.arg == "category"]
    return not any(isinstance(value, ast.Constant) and value.value is None for value in given)


def apply_decorator(
    machine: Machine, decorator: Value, value: Value, node: ast.expr, frame: Frame
) -> Value:
    if (
        type(decorator) is ExternalInstance
        and decorator.name == "functools.partial"
        and decorator.args
    ):
        decorator = decorator.args[0]
    name = decorator.name if isinstance(decorator, External | ExternalInstance) else ""
    if frame.emits and type(decorator) is External and machine.wanted(name):
        machine.emit(Call, node, frame, "certain", name=name, args=(value,), kwargs={})
    if name in OPAQUE_DECORATORS:
        return ExternalInstance(name)
    if name in MARKS and isinstance(value, Function):
        machine.touch(value.info)
        value.info.marks |= (
            {MARKS[name], "property"} if MARKS[name] == "cached_property" else {MARKS[name]}
        )
        return value
    if name in CONTEXTS and isinstance(value, Function):
        machine.touch(value.info)
        value.info.marks |= {f"context {name}"}
        return value
    if isinstance(decorator, Function | Instance | Class):
        if isinstance(value, Function) and "compiled" in value.info.marks and not frame.emits:
            machine.file.note_compiled(value, {})  # its name may stand for another function
        made = machine.call(decorator, [value], {}, node, frame)
        return value if made.is_unknown or made.is_none else made
    return value
