"""The code of a captured graph, as Dynamo prints it, as the names of its ops."""

from __future__ import annotations

import re
import sys

SIGNS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "@": "matmul",
    "**": "pow",
    "&": "and_",
    "|": "or_",
    "^": "xor",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
    "<<": "lshift",
    ">>": "rshift",
}
OP = re.compile(
    r"^[ \t]*\w+(?:: \"[^\"\n]*\")? = (?:(?P<call>[\w.]+)\(|[\w.]+ (?P<operator>[-+*/@%&|^<>=!]{1,3}) )",
    re.MULTILINE,
)


def op_names(code: str) -> tuple[str, ...]:
    """Names of the calls in a printed graph, in order: "linear", "add", "aten.sum.default"."""
    return tuple(
        sys.intern(_short(call) if call else SIGNS.get(operator, operator))
        for call, operator in OP.findall(code)
    )


def _short(call: str) -> str:
    return (
        call.removeprefix("torch.ops.")
        if call.startswith("torch.ops.")
        else call.rpartition(".")[2]
    )
