"""Sparse tensors among a function's parameters: what only such a one has, and what such a one holds."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import NONE, Sequence, Tensor, Value, options
from breakscope.rulekit.walking import begin_of, kept_with_node, walk
from breakscope.static.machine.lattice import join

# what only sparse tensors have
OF_SPARSE = frozenset(
    "coalesce is_coalesced _indices _values _nnz crow_indices col_indices".split()
)
OF_TORCH = frozenset({"spmm", "smm", "hspmm"})
FIRST_SPARSE = frozenset({"mm", "sum", "softmax", "log_softmax"})


@kept_with_node
def sparse_uses(function: ast.AST) -> dict[str, tuple[int, int]]:
    """By name, where a function first asks it for what only a sparse tensor has, or hands it to what takes nothing
    else."""
    found: dict[str, tuple[int, int]] = {}
    for part in walk(function):
        if isinstance(part, ast.Attribute | ast.Call) and (name := _taken_for_sparse(part)):
            found[name] = min(begin_of(part), found.get(name, begin_of(part)))
    return found


def _taken_for_sparse(part: ast.Attribute | ast.Call) -> str:
    if isinstance(part, ast.Attribute):
        return getattr(part.value, "id", "") if part.attr in OF_SPARSE else ""
    if not isinstance(part.func, ast.Attribute):
        return ""
    if not part.args:
        is_own = part.func.attr == "indices" and not part.keywords
        return getattr(part.func.value, "id", "") if is_own else ""
    return getattr(part.args[0], "id", "") if _takes_sparse(part.func) else ""


def _takes_sparse(function: ast.Attribute) -> bool:
    """True for `torch.sparse.mm` and its like, and `torch.spmm`, which has the same meaning."""
    owner = function.value
    if isinstance(owner, ast.Name):
        return owner.id == "torch" and function.attr in OF_TORCH
    return (
        isinstance(owner, ast.Attribute)
        and owner.attr == "sparse"
        and function.attr in FIRST_SPARSE
    )


def as_sparse(found: Value, default: Value | None) -> Value:
    """What a sparse parameter holds: a tensor, or a container of them where it is annotated as one."""
    containers = [o for o in options(found) if isinstance(o, Sequence)]
    value = containers[0].rebuilt(_made_sparse) if containers else _made_sparse(Tensor())
    return join(value, NONE) if default is not None and default.is_none else value


def _made_sparse(value: Value) -> Value:
    return Tensor(sure=False, kind="sparse", origin="argument") if type(value) is Tensor else value
