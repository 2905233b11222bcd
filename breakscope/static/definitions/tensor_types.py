"""Types of jaxtyping, `Float[Tensor, "batch length 3"]`: they say the dtype and the dimensions."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.rulekit.values import External, Instance, Tensor, Value

JAXTYPING = "jaxtyping."
KINDS = {"float": "float", "int": "int", "uint": "int", "bool": "bool"}  # by how a name begins


def tensor_type(named: Value) -> str:
    """The type of jaxtyping that something in an annotation is, or keeps for its own `[...]`; ""
    when it is none."""
    if type(named) is Instance:
        named = next((v for v in named.attributes.values() if _is_of_jaxtyping(v)), named)
    return named.name.removeprefix(JAXTYPING) if _is_of_jaxtyping(named) else ""


def typed_tensor(name: str, plain: Value, axes: ast.expr) -> Value:
    """`plain` is what stands before the axes: a tensor or an array, else a tensor is meant."""
    kind = plain.kind if type(plain) is Tensor else ""
    tensor = Tensor(sure=False, kind=kind, origin="argument")
    dtype = next((d for word, d in KINDS.items() if name.lower().startswith(word)), None)
    return replace(tensor, dtype=dtype, ndim=_count(axes))


def _is_of_jaxtyping(value: Value) -> bool:
    return type(value) is External and value.name.startswith(JAXTYPING)


def _count(axes: ast.expr) -> int | None:
    """The number of axes in a text; `...` and `*name` stand for any number."""
    if not isinstance(axes, ast.Constant) or type(axes.value) is not str:
        return None
    words = axes.value.split()
    is_open = any([word == "..." or "*" in word.partition("=")[0] for word in words])
    return None if is_open else len(words)
