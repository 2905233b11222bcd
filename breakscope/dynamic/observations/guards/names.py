"""Guarded names as the user writes them."""

from __future__ import annotations

import re

SUBMODULE = re.compile(r"\.(?:__dict__\[')?_(?:modules|parameters|buffers)(?:'\])?\['([^']+)'\]")
STACK = re.compile(r"___stack\d+")  # what a resume function takes from the stack


def readable(name: str) -> str:
    """A guarded name as the user writes it: `self.fc.bias` for
    `self._modules['fc']._parameters['bias']`."""
    name = SUBMODULE.sub(lambda part: f"[{part[1]}]" if part[1].isdigit() else f".{part[1]}", name)
    name = re.sub(r"G\['(\w+)'\]", r"\1", name)
    name = re.sub(r"^__import_(\w+)", lambda module: module[1].replace("_dot_", "."), name)
    name = re.sub(r"___from_numpy\(([^()]*)\)", r"\1", name)
    return re.sub(
        r"\.(?:_modules|__dict__|__code__|size|stride|storage_offset)(?:\(\))?(?:\[\d+\])?$",
        "",
        name,
    )
