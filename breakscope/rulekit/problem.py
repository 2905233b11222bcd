"""What a rule says of an event."""

from __future__ import annotations

import ast

from msgspec import Struct

from breakscope.rulekit.plain_values import Value


class Problem(Struct, frozen=True):
    """A rule's verdict on one event. `brief` is the message in fewer words, or ""."""

    message: str
    help: str
    certainty: str
    node: ast.AST
    fixable: bool = True
    skips: str = ""
    dynamo: tuple[str, ...] = ()
    once: object = None
    brief: str = ""
    condition: str = ""
    setting: str = ""
    dtype: str = ""
    guarded: bool = False
    reads: Value | None = None
    late: bool = False
    apart: bool = False
    of_input: Value | None = None
    whole: bool = False
