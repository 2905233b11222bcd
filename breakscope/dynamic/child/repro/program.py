"""A program of its own for a target: its file's source, and lines that compile and call it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from breakscope import limits


@dataclass(frozen=True)
class Form:
    """How a program calls what it compiled."""

    calls: int = 1
    backward: bool = False


# what every call changes shows in several
FORMS = (Form(), Form(limits.SAME_CALLS), Form(1, True), Form(limits.SAME_CALLS, True))


def standing_alone(path: Path, device: str) -> str:
    """The file's source as a script: what it imports from beside it is found, and what it does when
    it is run as a script is left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    root, package = path.parent, []
    while root.name and (root / "__init__.py").is_file():
        package.insert(0, root.name)
        root = root.parent
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = package[: len(package) - node.level + 1]
            node.module, node.level = ".".join([*above, *filter(None, [node.module])]), 0
    tree.body = [node for node in tree.body if not _is_script_part(node)]
    first = ["import sys", f"sys.path.insert(0, {str(root)!r})", "import torch"]
    first += [f"torch.set_default_device({device!r})"] if device else []
    first += ["torch.manual_seed(0)"]
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    rest = [n for n in tree.body if n not in future and not _is_text(n)]
    tree.body = [*future, *ast.parse("\n".join(first)).body, *rest]
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_script_part(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def calling(start: str, job: dict, form: Form) -> str:
    """The lines behind the source; `start` makes `function`, `args` and `kwargs`."""
    lines = [start]
    lines.append(f"compiled = torch.compile(function, backend={job['backend']!r})")
    call = "compiled(*args, **kwargs)"
    if job["drive"]:
        return "\n".join([*lines, f"{job['drive']}(compiled, function)"])
    if job["calls"]:
        lines.append(f"for args in {job['calls']}():")
        call, indent = "compiled(*args)", "    "
    elif form.calls > 1:
        lines.append(f"for _ in range({form.calls}):")
        indent = "    "
    else:
        indent = ""
    return "\n".join([*lines, f"{indent}{call}{'.sum().backward()' if form.backward else ''}"])


def whole(source: str, lines: str) -> str:
    """The program's text; its last lines use torch, whatever the source still imports."""
    head = "" if "import torch" in source.splitlines() else "import torch\n\n"
    return f"{head}{source.rstrip()}\n\n\n{lines}\n".lstrip()
