"""How a function's body uses its parameters: what it reads of them, calls on them, and hands on."""

from __future__ import annotations

import ast
import re

from breakscope.rulekit.walking import walk
from breakscope.static.project.modules import FunctionInfo

# what only sparse tensors have, and what stands for a call that takes nothing else
OF_SPARSE = frozenset(
    "coalesce is_coalesced _indices _values _nnz crow_indices col_indices".split()
)
SPARSE = "sparse()"
ASKED = frozenset({"is_sparse", "layout", "isinstance"})
NOTHING: frozenset[str] = frozenset()
# the types of parameters in docstrings
DOCUMENTED = r"^\s*(?:{0} ?: ?(.+)|{0} \(([^)]+)\)|:type {0}: (.+)|:param (\S+) {0}:)"
OTHER = re.compile(
    r"(?i)\W*(?:an? |(?:(?:union|optional|list|tuple|sequence)(?:\[| of )))?"
    r"(?:(?:int|integer|float|str|string|bool|boolean|dict|callable|function)s?\b|None$)"
)
TENSOR = re.compile(r"(?i)tensor|array|variable|matri|vector")
OF_TORCH = frozenset({"spmm", "smm", "hspmm"})
FIRST_SPARSE = frozenset({"mm", "sum", "softmax", "log_softmax"})


class Usage:
    """How a function's body uses its parameters, looked up when one has neither annotation nor
    default, or when the module that it stands in speaks of sparse tensors."""

    def __init__(self, info: FunctionInfo) -> None:
        self.node, text = info.node, info.module.text
        self.has_sparse = any(word in text for word in (b"sparse", b"coalesce", b"smm", b"spmm"))
        self.names: dict[str, frozenset[str]] | None = None
        self.given: dict[str, list[tuple[str, int]]] | None = None

    def bare(self, name: str) -> frozenset[str]:
        """The methods of it that the body calls without an argument, as "step()", and "backward"
        where the body calls that of anything."""
        calls = [
            part
            for part in walk(self.node)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
        ]
        found = {
            f"{call.func.attr}()"
            for call in calls
            if not (call.args or call.keywords)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == name
        }
        if any(call.func.attr == "backward" for call in calls):
            found.add("backward")
        return frozenset(found)

    def is_sparse(self, name: str) -> bool:
        """True where the body takes it for a sparse tensor, asks nothing about that, and makes none of
        it."""
        used = self.of(name) if self.has_sparse else NOTHING
        if (SPARSE not in used and used.isdisjoint(OF_SPARSE)) or not used.isdisjoint(ASKED):
            return False
        return self._is_kept(name)

    def handed(self, name: str) -> list[tuple[str, int]]:
        """The parts of the object that are called with it as it is, and the place among the
        arguments."""
        if self.given is None:
            self.given = {}
            for part in walk(self.node):
                if type(part) is ast.Call and type(part.func) is ast.Attribute:
                    is_own = getattr(part.func.value, "id", "") == "self"
                    for at, argument in enumerate(part.args if is_own else ()):
                        if type(argument) is ast.Name:
                            self.given.setdefault(argument.id, []).append((part.func.attr, at))
        given = self.given.get(name, [])
        return given if given and self._is_kept(name) else []

    def _is_kept(self, name: str) -> bool:
        """True where the function gives the name no other value."""
        names = (part for part in walk(self.node) if type(part) is ast.Name and part.id == name)
        return all(type(part.ctx) is ast.Load for part in names)

    def is_documented_as_other(self, name: str) -> bool:
        """True where the docstring gives the parameter a type, and that is no tensor's: `rank : int`,
        `rank (int)`, `:type rank: int`, `:param int rank:`."""
        if isinstance(self.node, ast.Lambda):
            return False
        text = ast.get_docstring(self.node, clean=False) or ""
        found = re.search(DOCUMENTED.format(re.escape(name)), text, re.MULTILINE)
        kind = next(filter(None, found.groups()), "") if found else ""
        return bool(OTHER.match(kind)) and not TENSOR.search(kind)

    def of(self, name: str) -> frozenset[str]:
        if self.names is None:
            self.names = usage(self.node)
        return self.names.get(name, frozenset())


def usage(node: ast.AST) -> dict[str, frozenset[str]]:
    """For each name, the attributes that the function reads of it; "()" when it is called, "[str]"
    for string keys, "for" when it is unpacked or iterated as a whole, "sparse()" when it is the first
    argument of a function of torch.sparse."""
    found: dict[str, set[str]] = {}
    for part in walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            found.setdefault(part.value.id, set()).add(part.attr)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            first = part.args[0] if part.args else None
            if isinstance(first, ast.Name) and _is_of_sparse(part.func):
                found.setdefault(first.id, set()).add(SPARSE)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            found.setdefault(part.func.id, set()).add("()")
            if (
                part.func.id in ("isinstance", "range")
                and part.args
                and isinstance(part.args[0], ast.Name)
            ):
                found.setdefault(part.args[0].id, set()).add(part.func.id)
        elif (
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and isinstance(part.slice, ast.Constant)
            and isinstance(part.slice.value, str)
        ):
            found.setdefault(part.value.id, set()).add("[str]")
    return {name: frozenset(attributes) for name, attributes in found.items()}


def _is_of_sparse(function: ast.Attribute) -> bool:
    """True for `torch.sparse.mm` and its like, and `torch.spmm`, which has the same meaning."""
    owner = function.value
    if isinstance(owner, ast.Name):
        return owner.id == "torch" and function.attr in OF_TORCH
    return (
        isinstance(owner, ast.Attribute)
        and owner.attr == "sparse"
        and function.attr in FIRST_SPARSE
    )
