"""Where a caller switches what a guard on torch's state is about: gradients or autocast on or off,
the default dtype, ..."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame, original_name

NAMES = {
    "grad_mode": frozenset({"no_grad", "enable_grad", "inference_mode", "set_grad_enabled"}),
    "autocast": frozenset({"autocast", "autocast_mode", "set_autocast_enabled"}),
    "default_dtype": frozenset({"set_default_dtype"}),
    "global_state": frozenset(
        {"use_deterministic_algorithms", "set_float32_matmul_precision", "set_num_threads"}
    ),
}
# its callers are outside of the region, the others in it
ENTRY = re.compile(r"[/\\]_dynamo[/\\]eval_frame\.py$")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def switch(frame: FrameCompile, family: str, places: Places) -> Frame | None:
    """The `with`, decorator or call that switched the state for this compile, in the nearest caller
    that has one; else the line that called the compiled region, which did so in another state than
    before. None when no caller is known, or of other families.
    """
    names = NAMES.get(family)
    callers = [
        f
        for f in frame.stack[:-1]
        if places.is_user(f.path)
        and (f.path, original_name(f.function)) != (frame.path, frame.function)
    ]
    if names is None or not callers:
        return None
    for caller in reversed(callers):
        line = _switched(SourceFile.read(caller.path), caller.line, names)
        if line:
            return Frame(caller.path, line, original_name(caller.function))
    entered = next((i for i, f in enumerate(frame.stack) if ENTRY.search(f.path)), len(frame.stack))
    outside = [f for f in frame.stack[:entered] if f in callers]
    return (
        Frame(outside[-1].path, outside[-1].line, original_name(outside[-1].function))
        if outside
        else None
    )


def _switched(source: SourceFile, line: int, names: frozenset[str]) -> int:
    """The line of what switches the state at a line of one function (or of the module's own code);
    0 when nothing does."""
    around = source.enclosing(line)
    inside = max((i for i, node in enumerate(around) if isinstance(node, FUNCTIONS)), default=-1)
    for node in reversed(around[inside + 1 :]):
        if (
            isinstance(node, (ast.With, ast.AsyncWith))
            and node.body
            and line >= node.body[0].lineno
        ):
            for item in node.items:
                if _names(item.context_expr) & names:
                    return item.context_expr.lineno
    owner = around[inside] if inside >= 0 else source.tree
    called = [
        node
        for node in _own(owner)
        if isinstance(node, ast.Expr)
        and node.lineno < line
        and isinstance(node.value, ast.Call)
        and _names(node.value.func) & names
    ]
    if called:
        return max(node.lineno for node in called)
    decorators = getattr(owner, "decorator_list", ())
    return next((node.lineno for node in decorators if _names(node) & names), 0)


def _own(owner: ast.AST | None) -> Iterator[ast.AST]:
    """The nodes of a function or module without those of the functions and classes in it."""
    nodes = list(ast.iter_child_nodes(owner)) if owner is not None else []
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            nodes += ast.iter_child_nodes(node)


def _names(node: ast.AST) -> set[str]:
    return {
        getattr(inner, "attr", "") or getattr(inner, "id", "")
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Attribute, ast.Name))
    }
