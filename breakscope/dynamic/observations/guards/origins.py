"""Where a guarded name comes from, for the guards of which Dynamo names no line: those on tensors
and their sizes."""

from __future__ import annotations

import ast
import re

from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame
from breakscope.rulekit.walking import all_parameters, begin_of

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NAME = re.compile(r"(?P<root>[A-Za-z_]\w*)(?:\.(?P<attribute>[A-Za-z_]\w*))?")


def origin(frame: FrameCompile, name: str) -> Frame | None:
    """The parameter, the assignment or the use in the frame's function that the guarded `name` goes
    back to.

    Of a local variable behind a break the last assignment before it; of an attribute its first use
    in the function, else where its class assigns it. None when the source does not show it.
    """
    source = SourceFile.read(frame.path)
    function = function_of(source, frame)
    if function is None:
        return None
    if name.startswith("___stack"):
        return Frame(frame.path, frame.resumed_at, frame.function) if frame.resumed_at else None
    found = NAME.match(name)
    if found is None:
        return None
    node = (
        _attribute(source, function, frame, found["root"], found["attribute"])
        if found["attribute"]
        else None
    )
    if node is None and frame.resumed_at:
        node = _assigned(function, found["root"], frame.resumed_at)
    node = node or _parameter(function, found["root"])
    return _frame(source, frame, node) if node is not None else None


def is_parameter(frame: FrameCompile, name: str) -> bool:
    """True when a caller passes what the guarded name begins with, so that it can be marked there;
    nothing of a resumed function is passed by a caller."""
    function = None if frame.resumed_at else function_of(SourceFile.read(frame.path), frame)
    root = NAME.match(name)
    return (
        function is not None
        and root is not None
        and root["root"] != "self"
        and (_parameter(function, root["root"]) is not None)
    )


def is_captured(frame: FrameCompile, name: str) -> bool:
    """True when the function neither takes nor assigns the name, so that it is a variable of a
    function around it."""
    source = SourceFile.read(frame.path)
    function = function_of(source, frame)
    if function is None or not name.isidentifier() or name.startswith("___"):
        return False
    return (
        _parameter(function, name) is None
        and _assigned(function, name, 0) is None
        and any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function))
    )


def function_of(source: SourceFile, frame: FrameCompile) -> Function | None:
    """The innermost function of the frame's name around its first line (of a resume function: the
    line that broke)."""
    for node in reversed(source.enclosing(frame.line)):
        if isinstance(node, ast.Lambda) and frame.function == "<lambda>":
            return node
        if (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name == frame.function
        ):
            return node
    if frame.function == "<lambda>":
        return next(
            (
                node
                for statement in source.enclosing(frame.line)[-1:]
                for node in ast.walk(statement)
                if isinstance(node, ast.Lambda) and node.lineno == frame.line
            ),
            None,
        )
    return None


def _parameter(function: Function, name: str) -> ast.AST | None:
    return next((given for given in all_parameters(function) if given.arg == name), None)


def _assigned(function: Function, name: str, before: int) -> ast.AST | None:
    """The last assignment to a local variable; with `before` the last one above that line."""
    names = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Store)
        and (not before or node.lineno < before)
    ]
    return max(names, key=lambda node: node.lineno) if names else None


def _attribute(
    source: SourceFile, function: Function, frame: FrameCompile, root: str, attribute: str
) -> ast.AST | None:
    used = [node for node in ast.walk(function) if _is_attribute(node, root, attribute)]
    if used:
        return min(used, key=lambda node: begin_of(node))
    around = [node for node in source.enclosing(frame.line) if isinstance(node, ast.ClassDef)]
    made = (
        [
            node
            for node in ast.walk(around[-1])
            if _is_attribute(node, root, attribute) and isinstance(node.ctx, ast.Store)
        ]
        if around
        else []
    )
    return made[0] if made else None


def _is_attribute(node: ast.AST, root: str, attribute: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and node.value.id == root
    )


def _frame(source: SourceFile, frame: FrameCompile, node: ast.AST) -> Frame:
    """Columns count from the first character of the line's code, as those that Dynamo marks do."""
    text = source.line(node.lineno)
    indent = len(text) - len(text.lstrip())
    ends_here = node.end_lineno == node.lineno
    first = len(text.encode()[: node.col_offset].decode("utf-8", "replace")) - indent + 1
    last = (
        len(text.encode()[: node.end_col_offset].decode("utf-8", "replace")) - indent + 1
        if ends_here
        else first
    )
    return (
        Frame(frame.path, node.lineno, frame.function, first, max(first, last))
        if last > first
        else Frame(frame.path, node.lineno, frame.function)
    )
