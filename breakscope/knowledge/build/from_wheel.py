"""What a torch wheel's own files say, read without importing them; a wheel of any platform serves."""

from __future__ import annotations

import ast
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

TRACE_RULES = "torch/_dynamo/trace_rules.py"
REGISTRY = "torch/_dynamo/graph_break_registry.json"
OPERATORS = "torchgen/packaged/ATen/native/native_functions.yaml"
TAGS = {"dynamic_output_shape": "shape", "data_dependent_output": "value"}
SKIPPED = ("BUILTIN_SKIPLIST", "THIRDPARTY_SKIPLIST", "MOD_SKIPLIST")
TRACED = ("MOD_INLINELIST", "LEGACY_MOD_INLINELIST")
FAMILIES = {
    "linalg_": "torch.linalg.",
    "fft_": "torch.fft.",
    "special_": "torch.special.",
    "sparse_": "torch.sparse.",
}


class WheelError(Exception):
    """The file or folder is no torch wheel; the message says what is missing."""


class Wheel:
    """A wheel file, or a folder that one was unpacked into. Raises WheelError when it is neither."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir() and not zipfile.is_zipfile(path):
            raise WheelError(f"{path} is neither a wheel nor a folder of an unpacked one")

    def text(self, name: str) -> str:
        """One file of the wheel; raises WheelError when it has none of that name."""
        try:
            if self.path.is_dir():
                return (self.path / name).read_text(encoding="utf-8")
            with zipfile.ZipFile(self.path) as archive:
                return archive.read(name).decode()
        except (KeyError, FileNotFoundError):
            raise WheelError(f"{self.path} holds no {name}, so it is no torch wheel") from None

    def version(self) -> str:
        """The torch version, without a local part ("+cpu")."""
        found = re.search(r"^__version__ = '([\d.]+)", self.text("torch/version.py"), re.MULTILINE)
        if not found:
            raise WheelError(f"{self.path}: torch/version.py names no version")
        return found[1]

    def registry(self) -> dict[str, str]:
        """Graph break id -> its type, in torch's words; {} before torch 2.8, which has no ids."""
        self.text(TRACE_RULES)
        try:
            entries = json.loads(self.text(REGISTRY))
        except WheelError:
            return {}
        return {gb_id: versions[0]["Gb_type"] for gb_id, versions in entries.items()}

    def skips(self) -> dict[str, str]:
        """Dotted module -> "trace" or "skip", from Dynamo's trace rules; "trace" wins over "skip"."""
        lists = _lists(ast.parse(self.text(TRACE_RULES)))
        found = {name: "skip" for group in SKIPPED for name in lists.get(group, ())}
        found |= {name: "trace" for group in TRACED for name in lists.get(group, ())}
        # named in functions, not in the lists
        found["torch.optim.lr_scheduler"] = found["unittest"] = "skip"
        return {
            name.removesuffix(".__init__"): verdict
            for name, verdict in found.items()
            if name != "torch.__init__"
        }

    def tagged(self) -> dict[str, str]:
        """Public name -> "shape" or "value": the operators that torch tags as data-dependent."""
        found = {}
        for declaration in re.split(r"^- func: ", self.text(OPERATORS), flags=re.MULTILINE)[1:]:
            operator = re.split(r"[.(]", declaration, maxsplit=1)[0]
            tags = re.search(r"^  tags: (.*)$", declaration, re.MULTILINE)
            kinds = (
                [TAGS[word] for word in re.findall(r"\w+", tags[1]) if word in TAGS] if tags else []
            )
            for name in _public_names(operator, declaration) if kinds else ():
                found[name] = kinds[0] if len(kinds) == 1 else "value"
        return found


def _lists(tree: ast.Module) -> dict[str, set[str]]:
    """Every name that is assigned, or grown by, a collection of strings or of modules."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        name, values = _grown(node)
        if name:
            found.setdefault(name, set()).update(values)
    return found


def _grown(node: ast.AST) -> tuple[str, list[str]]:
    """The collection that a statement makes or adds to, and with what; ("", []) for any other
    statement."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "add"
    ):
        return _name(node.func.value), [text for argument in node.args for text in _words(argument)]
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or node.value is None:
        return "", []
    return _name(target), [
        text for element in getattr(node.value, "elts", ()) for text in _words(element)
    ]


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield ast.unparse(node)


def _name(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _public_names(operator: str, declaration: str) -> Iterator[str]:
    """The names under which people call an operator, as its declaration says."""
    if operator.startswith("_"):
        return
    module = re.search(r"^  python_module: (\w+)", declaration, re.MULTILINE)
    variants = re.search(r"^  variants: (.*)$", declaration, re.MULTILINE)
    if module is None:
        yield from (f"Tensor.{operator}",) if variants and "method" in variants[1] else ()
        yield from (f"torch.{operator}",) if not variants or "function" in variants[1] else ()
    elif module[1] == "nn":
        yield f"torch.nn.functional.{operator}"
    for prefix, owner in FAMILIES.items() if module is not None else ():
        if operator.startswith(prefix):
            yield owner + operator.removeprefix(prefix)
