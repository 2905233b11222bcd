"""Which expressions may be one side of `torch.cond`: those that read, and change nothing.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst

from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Place

# modules that keep no state from one call to the next, and draw no random numbers
STATELESS = frozenset(
    """
    Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LayerNorm GroupNorm
    RMSNorm Embedding ReLU ReLU6 LeakyReLU GELU SiLU Mish ELU SELU CELU Tanh Sigmoid Softplus Softsign Hardtanh
    Hardswish Hardsigmoid LogSigmoid Softmax LogSoftmax Identity Flatten Unflatten AvgPool1d AvgPool2d AvgPool3d
    MaxPool1d MaxPool2d MaxPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
    AdaptiveMaxPool2d AdaptiveMaxPool3d Upsample PixelShuffle PixelUnshuffle ZeroPad2d GLU PReLU
    """.split()
)


def may_run_alone(node: cst.BaseExpression, place: Place) -> bool:
    """True when an expression only computes: it calls operations of torch and tensor methods that
    draw no random numbers and change nothing, and modules of the class that keep no state."""
    for part in rw.walk(node):
        if isinstance(part, cst.Call):
            name, root = rw.called(part), rw.dotted(part.func).partition(".")[0]
            if root == "self":
                if not is_stateless_module(part.func, place):
                    return False
            elif not name or isinstance(part.func, cst.Name) or rw.is_effect(name):
                return False
        if isinstance(part, cst.Yield | cst.Await | cst.NamedExpr | cst.Lambda):
            return False
    return True


def is_stateless_module(func: cst.BaseExpression, place: Place) -> bool:
    """True for `self.name` that `__init__` sets once, to a module of torch without state."""
    if not isinstance(func, cst.Attribute) or rw.dotted(func.value) != "self":
        return False
    made = place.made_in_init(func.attr.value)
    return made is not None and is_stateless_value(made)


def is_stateless_value(made: ast.expr) -> bool:
    """True for an expression that makes a module of torch without state."""
    if not isinstance(made, ast.Call):
        return False
    owner, _, name = ast.unparse(made.func).rpartition(".")
    if owner not in ("nn", "torch.nn", ""):
        return False
    if name == "Sequential":
        return bool(made.args) and all(is_stateless_value(layer) for layer in made.args)
    return name in STATELESS
