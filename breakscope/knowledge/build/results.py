"""The words of the table `returns`.

"tensor" ("bool tensor", "int tensor", "float tensor" when its dtype is certain), "(tensor, int
tensor)" for a tuple of known length, "[tensor]" for a list or tuple of any length, "int", "bool",
"float", "number", "str", "none", "shape", "dtype", "device", "list", "dict", "module", "ndarray",
"python" for any other object. Alternatives that depend on the arguments are joined by " | ".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

PLAIN = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    type(None): "none",
    torch.Size: "shape",
    torch.dtype: "dtype",
    torch.device: "device",
    complex: "number",
    list: "list",
    dict: "dict",
    tuple: "tuple",
    set: "set",
    bytes: "bytes",
}
SCHEMA = {
    "Tensor": "tensor",
    "List[Tensor]": "[tensor]",
    "int": "int",
    "bool": "bool",
    "float": "float",
    "number": "number",
    "str": "str",
    "SymInt": "int",
    "List[int]": "shape",
    "Scalar": "number",
}
DTYPE = re.compile(r"(bool|int|float|complex) tensor")


def describe(value: Any) -> str:
    """The word for one result."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return "bool tensor"
        return (
            "complex tensor"
            if value.is_complex()
            else "float tensor"
            if value.is_floating_point()
            else "int tensor"
        )
    if isinstance(value, (np.ndarray, np.generic)):
        return "ndarray"
    if isinstance(value, torch.nn.Module):
        return "module"
    if isinstance(value, torch.Size):
        return "shape"
    if (
        isinstance(value, (tuple, list))
        and value
        and all(isinstance(v, (torch.Tensor, tuple)) for v in value)
    ):
        inside = [describe(v) for v in value]
        if isinstance(value, tuple):
            return f"({', '.join(inside)})"
        return f"[{inside[0]}]" if len(set(inside)) == 1 else "[tensor]"
    return PLAIN.get(type(value), "python")


def unite(words: Iterable[str], sure_of_dtype: bool = True) -> str:
    """One word for several results; a dtype stays only where all agree and one measurement can
    prove it."""
    by_shape: dict[str, set[str]] = {}
    for word in words:
        by_shape.setdefault(DTYPE.sub("tensor", word), set()).add(word)
    tuples = [shape for shape in by_shape if shape.startswith(("(", "["))]
    if len(tuples) > 1:  # as many results as the arguments ask for
        for shape in tuples:
            del by_shape[shape]
        by_shape["[tensor]"] = {"[tensor]"}
    united = [_merge(shape, found) if sure_of_dtype else shape for shape, found in by_shape.items()]
    return " | ".join(sorted(united))


def _merge(shape: str, words: set[str]) -> str:
    if len(words) == 1:
        return next(iter(words))
    if shape.count("(") != 1 or not shape.startswith("("):
        return shape
    columns = zip(*(w.strip("()").split(", ") for w in words), strict=True)
    return f"({', '.join(c[0] if len(set(c)) == 1 else 'tensor' for c in columns)})"


def from_schemas(packet: Any) -> str:
    """What the overloads of an operator say that they return, "" when they say nothing that a table
    can hold."""
    found = [
        getattr(packet, overload)._schema
        for overload in packet.overloads()
        if not overload.endswith("out")
    ]
    found = [schema for schema in found if not any(a.is_out for a in schema.arguments)]
    about_tensors = [
        schema for schema in found if any(str(a.type) == "Tensor" for a in schema.arguments)
    ]
    about_lists = [
        schema for schema in found if any("Tensor" in str(a.type) for a in schema.arguments)
    ]
    words = set()
    # the others are TorchScript's arithmetic of numbers and lists
    for schema in about_tensors or about_lists or found:
        parts = [SCHEMA.get(str(r.type), "python") for r in schema.returns]
        words.add("none" if not parts else parts[0] if len(parts) == 1 else f"({', '.join(parts)})")
    return "" if "python" in words or not words else " | ".join(sorted(words))
