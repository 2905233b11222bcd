"""A project's own function around torch's `is_compiling()`: what it keeps from Dynamo is no break."""

import pytest
from programs import analysed, found

FLAGS = """\
import torch

COMPILE_AWARE = True
try:
    from torch.compiler import is_compiling as _is_compiling
except ImportError:
    _is_compiling = None


def guarded():
    if not COMPILE_AWARE:
        return False
    if _is_compiling is not None:
        return _is_compiling()
    return False


def one_of():
    return any([torch.jit.is_tracing(), guarded()])


class Backend:
    @staticmethod
    def compiling():
        return torch.compiler.is_compiling() if hasattr(torch, "compiler") else False
"""
MODEL = """\
import torch
from flags import Backend, guarded, one_of


class Model(torch.nn.Module):
    def forward(self, x):
        if {test}:
            return x
        return x * x.sum().item()
"""


@pytest.mark.parametrize("test", ["guarded()", "one_of()", "Backend.compiling()"])
def test_what_runs_only_in_eager_mode_is_no_break(tmp_path, test):
    files = {"flags.py": FLAGS, "model.py": MODEL.format(test=test)}
    assert found(analysed(tmp_path, files)) == []
    files = {"flags.py": FLAGS, "model.py": MODEL.format(test=f"not {test}")}
    assert found(analysed(tmp_path, files)) == [("BRK201", 9)]


RESET = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.outputs = []

    def reset(self):
        {reset}

    def forward(self, x):
        self.reset()
        self.outputs.append(x)
        return self.outputs[-1]
"""


@pytest.mark.parametrize(
    ("reset", "expected"),
    [("self.outputs = []", []), ("del self.outputs[:]", []), ("pass", [("BRK703", 14)])],
)
def test_a_list_that_a_method_makes_anew_does_not_grow(tmp_path, reset, expected):
    assert found(analysed(tmp_path, {"model.py": RESET.format(reset=reset)})) == expected


WITH_DEFINITIONS = """\
import torch

FORCED = False


def is_forced() -> bool:
    global FORCED
    return FORCED


try:
    if torch.jit.is_scripting():
        raise Exception()
    from torch.compiler import is_compiling, is_dynamo_compiling as _is_compiling

    def guarded() -> bool:
        return is_forced() or _is_compiling()

except Exception:

    def guarded() -> bool:
        return False
"""


def test_a_function_that_is_defined_behind_the_import(tmp_path):
    files = {"flags.py": WITH_DEFINITIONS, "model.py": MODEL.format(test="guarded()")}
    files["model.py"] = files["model.py"].replace("Backend, guarded, one_of", "guarded")
    assert found(analysed(tmp_path, files)) == []
    files["model.py"] = files["model.py"].replace("if guarded()", "if not guarded()")
    assert found(analysed(tmp_path, files)) == [("BRK201", 9)]
    files["flags.py"] = WITH_DEFINITIONS.replace("torch.compiler", "elsewhere.compiler")
    assert found(analysed(tmp_path, files)) == [("BRK201", 9)]
