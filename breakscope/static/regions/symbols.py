"""Sizes that Dynamo has a symbol for, since the program's calls bring tensors of several sizes."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.size_reads import SizeRead
from breakscope.static.machine.frames import Activation


def note_varying(
    activation: Activation, varies: bool, depth: int = limits.DEEPEST_SIZE_READ
) -> None:
    """Note of what needs the number that a size is, here and in what is called, whether the sizes vary."""
    for step in activation.steps:
        if type(step.event) is SizeRead and not step.event.varies:
            step.event = replace(step.event, varies=varies)
        if step.child is not None and depth:
            note_varying(step.child, varies, depth - 1)
