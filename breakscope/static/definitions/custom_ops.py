"""Custom operators of the checked source, and the functions that say what comes out of them."""

from __future__ import annotations

import ast
import re

from breakscope.rulekit.walking import last_name, walk
from breakscope.static.project.modules import FunctionInfo

CUSTOM_OP = "torch.library.custom_op"
WITHOUT_FAKE = "custom operator without a fake implementation"
REGISTERS = ("register_fake", "impl_abstract")
META = re.compile(
    rb"""["']Meta["']"""
)  # the dispatch key under which one is registered by `Library.impl`


def has_fake(info: FunctionInfo, decorator: ast.Call) -> bool:
    """True where the file registers what comes out of an operator, `@twice.register_fake` or
    `@torch.library.register_fake("mylib::twice")`; of one that returns nothing torch knows it."""
    returns = info.node.returns
    if returns is None or ast.unparse(returns) == "None" or META.search(info.module.text):
        return True
    names = {info.node.name, *(getattr(part, "value", None) for part in decorator.args[:1])}
    for part in walk(info.module.tree):
        if isinstance(part, ast.Attribute) and part.attr in REGISTERS:
            if getattr(part.value, "id", "") == info.node.name:
                return True
        elif isinstance(part, ast.Call) and part.args and last_name(part.func) in REGISTERS:
            given = part.args[0]
            if getattr(given, "id", getattr(given, "value", None)) in names:
                return True
    return False
