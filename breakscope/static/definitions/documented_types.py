"""Types of parameters that a docstring gives: `x (torch.Tensor)`, `x : Tensor`, `:type x: Tensor`,
`:param Tensor x:`. A tensor's may say the dtype too: `mask (BoolTensor)`, `mask (Tensor, bool)`."""

from __future__ import annotations

import ast
import re

from msgspec.structs import replace

from breakscope.rulekit.values import Tensor, Value
from breakscope.static.project.modules import FunctionInfo

TYPED = re.compile(
    r"(?m)^[ \t]*(?::type (?P<of_type>\w+):[ \t]*(?P<type>[^\n]+)"
    r"|:param[ \t]+(?P<before>[\w.~]+)[ \t]+(?P<of_param>\w+):"
    r"|(?P<google>\w+)[ \t]?\((?P<in_brackets>[^)\n]+)\)[ \t]*:"
    r"|(?P<numpy>\w+)[ \t]?:[ \t]*(?P<behind>[^\n]+))"
)
IS_TENSOR = re.compile(r"(?i)\W*(?:an? )?(?:torch\.)?(?P<kind>[a-z]*)tensor\b(?P<rest>.*)")
ALTERNATIVES = re.compile(
    r"(?i)[|/]|\b(?:or|list|tuple|dict|sequence|callable|str|nested|sparse|none)\b"
)
KINDS = {"bool": "bool", "long": "int", "int": "int", "float": "float", "double": "float"}
OF_BOOLS = re.compile(r"(?i)\bbool(?:ean)?s?\b")


def documented_tensors(info: FunctionInfo) -> dict[str, Tensor]:
    """The parameters that the function's docstring says are tensors, and nothing else."""
    if info.documented is None:
        node = info.node
        has_text = not isinstance(node, ast.Lambda) and b"ensor" in info.module.text
        text = (ast.get_docstring(node, clean=False) or "") if has_text else ""
        info.documented = _tensors(text) if "ensor" in text else {}
    return info.documented


def with_documented_dtype(value: Value, info: FunctionInfo, name: str) -> Value:
    """A tensor of which the dtype is not known, with what the docstring says of it."""
    if type(value) is not Tensor or value.dtype is not None:
        return value
    documented = documented_tensors(info).get(name)
    return value if documented is None else replace(value, dtype=documented.dtype)


def _tensors(text: str) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for match in TYPED.finditer(text):
        name = match["of_type"] or match["of_param"] or match["google"] or match["numpy"]
        said = match["type"] or match["before"] or match["in_brackets"] or match["behind"]
        tensor = IS_TENSOR.match(said)
        kind = tensor["kind"].lower() if tensor else ""
        if tensor and (not kind or kind in KINDS) and not ALTERNATIVES.search(tensor["rest"]):
            dtype = KINDS.get(kind) or ("bool" if OF_BOOLS.search(tensor["rest"]) else None)
            found[name] = Tensor(dtype, sure=False, origin="argument")
    return found
