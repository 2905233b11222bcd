"""Sparse tensors among a function's parameters: what only such a one has, and what such a one holds."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import NONE, Sequence, Tensor, Value, options
from breakscope.static.machine.lattice import join

# what only sparse tensors have
OF_SPARSE = frozenset(
    "coalesce is_coalesced _indices _values _nnz crow_indices col_indices".split()
)
OF_TORCH = frozenset({"spmm", "smm", "hspmm"})
FIRST_SPARSE = frozenset({"mm", "sum", "softmax", "log_softmax"})


def is_of_sparse(part: ast.AST, name: str) -> bool:
    """True for what only a sparse tensor has, and for a call that takes nothing else."""
    if isinstance(part, ast.Attribute):
        return part.attr in OF_SPARSE and getattr(part.value, "id", "") == name
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
        return False
    if not part.args:
        is_own = getattr(part.func.value, "id", "") == name
        return is_own and part.func.attr == "indices" and not part.keywords
    return getattr(part.args[0], "id", "") == name and _takes_sparse(part.func)


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
