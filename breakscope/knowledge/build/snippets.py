"""Reads the probe files: every statement of a function named `cases...` is one program to measure,
and a function named `program_...` is one by itself.

The parameters of these functions name ready-made inputs (see `inputs.py`). A comment behind a
statement may say `as: NAME` (the canonical name, when it cannot be derived) or `raises` (the
statement fails in plain Python too).
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import linecache
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from breakscope.knowledge.build.inputs import kind

FOLDER = Path(__file__).parent / "probes"


def topics() -> list[str]:
    """The probe files: `modules`, `torch/autograd`."""
    return sorted(p.relative_to(FOLDER).with_suffix("").as_posix() for p in FOLDER.rglob("*.py"))


@dataclass
class Snippet:
    """One program: its source, the parameters it wants, what the comment behind it says, the module
    it lives in."""

    topic: str
    source: str
    parameters: tuple[str, ...]
    module: types.ModuleType
    node: ast.stmt
    name: str = ""
    raises: bool = False
    whole: bool = False  # a function that is measured as it stands
    description: str = ""

    def function(self) -> Callable:
        """The function to compile: `x.sin()`, the statement, `.cos()` of the first result."""
        if self.whole:
            return self.module.__dict__[self.node.name]
        names = ", ".join(dict.fromkeys(("x", *self.parameters)))
        body = "\n".join("    " + line for line in self.source.splitlines())
        text = f"def probe({names}):\n    first_ = x.sin()\n{body}\n    return first_.cos()\n"
        file = f"<{self.topic}: {self.source}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        space = {}
        exec(compile(text, file, "exec"), self.module.__dict__, space)
        return space["probe"]


def read(topic: str) -> list[Snippet]:
    """The snippets of one probe file, in order."""
    path = FOLDER / f"{topic}.py"
    text = path.read_text()
    spec = importlib.util.spec_from_file_location(f"probe_{topic.replace('/', '_')}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines, found = text.splitlines(), []
    for function in ast.parse(text).body:
        if not isinstance(function, ast.FunctionDef) or not function.name.startswith(
            ("cases", "program_")
        ):
            continue
        parameters = tuple(
            a.arg
            for a in function.args.args[: len(function.args.args) - len(function.args.defaults)]
        )
        if function.name.startswith("program_"):
            source = "\n".join(lines[function.lineno - 1 : function.end_lineno])
            found.append(
                Snippet(
                    topic,
                    source,
                    parameters,
                    module,
                    function,
                    function.name.removeprefix("program_"),
                    whole=True,
                    description=ast.get_docstring(function) or "",
                )
            )
            continue
        for node in function.body:
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                continue
            source = inspect.cleandoc(" " * node.col_offset + ast.get_source_segment(text, node))
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            snippet = Snippet(
                topic, source, tuple(p for p in parameters if p in used), module, node
            )
            comment = (
                lines[node.end_lineno - 1]
                .encode()[node.end_col_offset :]
                .decode()
                .strip()
                .removeprefix("#")
            )
            for word in comment.split(";"):
                key, _, value = word.strip().partition(":")
                if key == "as":
                    snippet.name = value.strip()
                snippet.raises |= key == "raises"
            found.append(snippet)
    return found


@dataclass(frozen=True)
class Named:
    """What a snippet is about: `table` "calls", "contexts", "attributes" or "statements", the
    canonical name and the kinds of its arguments."""

    table: str
    name: str
    arguments: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()


def identify(snippet: Snippet, values: dict[str, Any]) -> Named:
    """Find out what a snippet calls, reads or enters; `values` are its inputs, which may be changed
    by this."""
    node, space = snippet.node, dict(snippet.module.__dict__)
    if snippet.whole:
        return Named("statements", snippet.name)
    space.update(values)
    table = "calls"
    if isinstance(node, ast.With):
        target, table = node.items[0].context_expr, "contexts"
    elif isinstance(node, (ast.Expr, ast.Assign, ast.Return)):
        target = node.value
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            return Named("attributes", snippet.name or _name(node.targets[0], space) + " =")
    else:
        return Named("statements", snippet.name or snippet.source)
    if isinstance(target, ast.Attribute):
        return Named(
            "attributes" if table == "calls" else table, snippet.name or _name(target, space)
        )
    if isinstance(target, ast.Name) and table == "contexts":
        return Named(table, snippet.name or class_name(type(eval(target.id, space))))
    if not isinstance(target, ast.Call):
        return Named("statements", snippet.name or snippet.source)
    arguments = tuple(_kind(a, space) for a in target.args)
    keywords = tuple(sorted((k.arg or "**", _kind(k.value, space)) for k in target.keywords))
    return Named(table, snippet.name or _name(target.func, space), arguments, keywords)


def returned(snippet: Snippet, values: dict[str, Any]) -> tuple[Any] | None:
    """What the call or the attribute of a one-expression snippet gives, in a tuple; None for any
    other statement."""
    if (
        snippet.whole
        or not isinstance(snippet.node, ast.Expr)
        or not isinstance(snippet.node.value, (ast.Call, ast.Attribute))
    ):
        return None
    return (eval(snippet.source, {**snippet.module.__dict__, **values}),)


def _kind(node: ast.expr, space: dict[str, Any]) -> str:
    if isinstance(node, ast.Starred):
        return "*"
    try:
        return kind(eval(compile(ast.Expression(node), "<argument>", "eval"), space))
    except Exception:
        return "?"


def _name(node: ast.expr, space: dict[str, Any]) -> str:
    """Canonical name of what an expression names: imports resolved, the receiver replaced by its
    class."""
    if isinstance(node, ast.Name):
        value = space.get(node.id, node)
        if isinstance(value, types.ModuleType):
            return value.__name__
        if (
            isinstance(value, type)
            or not hasattr(type(value), "forward")
            or inspect.isroutine(value)
        ):
            return node.id
        return class_name(type(value)) + ".forward"
    if isinstance(node, ast.Attribute):
        dotted = ast.unparse(node.value)
        root = dotted.partition(".")[0]
        if dotted.replace(".", "").isidentifier() and isinstance(space.get(root), types.ModuleType):
            value = eval(dotted, space)
            if isinstance(value, (type, types.ModuleType)):
                return _name(node.value, space) + "." + node.attr
        value = eval(compile(ast.Expression(node.value), "<receiver>", "eval"), space)
        owner = value if isinstance(value, type) else type(value)
        return f"{class_name(_definer(owner, node.attr))}.{node.attr}"
    return ast.unparse(node)


def _definer(cls: type, attribute: str) -> type:
    """The class that defines a method: the optimizer base class for SGD.zero_grad, pathlib.Path for
    a PosixPath's."""
    for base in cls.__mro__:
        if attribute in vars(base) and base is not object:
            return base
    return next((base for base in cls.__mro__ if not base.__module__.startswith("probe_")), cls)


def class_name(cls: type) -> str:
    """The name people write for a class: `torch.nn.LSTM`, not `torch.nn.modules.rnn.LSTM`; `Tensor`
    for tensors."""
    import torch

    if issubclass(cls, torch.Tensor) or cls in torch.Tensor.__mro__[:-1]:
        return "Tensor"
    if cls.__module__ == "builtins":
        return cls.__name__
    parts = cls.__module__.removeprefix("_").split(".")
    module = sys.modules.get(parts[0])
    for part in parts:
        if part is not parts[0]:
            module = getattr(module, part, None)
        if module is not None and getattr(module, cls.__name__, None) is cls:
            return f"{module.__name__}.{cls.__name__}"
    return f"{cls.__module__.removeprefix('_')}.{cls.__qualname__}"
