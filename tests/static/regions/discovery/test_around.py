"""Functions of a library that drive a model, or read files, are no regions of their own."""

import pytest
from programs import analysed, found, seen

ALIGNED = """\
import torch
from pathlib import Path


def aligned(source: {source}, count: int, mask: {mask} = None):
    if mask.sum() > 0:
        source = source * mask
    return source
"""
INVERTED = """\
import torch


def inverted(x: torch.Tensor, rate: float = 0.1):
    weight = x.clone()
    optimizer = {made}
    loss = (weight * x).sum()
    if loss > 0:
        optimizer.step(weight)
    return weight.detach()


class Steps:
    def step(self, weight):
        return weight
"""
SHAVED = """\
import torch


class Score(torch.nn.Module):
    def forward(self, x, y, scale):
        {first}
        if scale * 2 == 2:
            return x - y
        return (x - y)[..., {bound}]
"""

REGISTERED = """\
import torch

KNOWN = set()
NAMED = {{}}


def register(module, kind):
    if not hasattr(module, kind):
        raise ValueError(kind)
    {kept}
"""
TRAINED = """\
import torch


def stepped(loss: torch.Tensor, scaler):
    if loss > 0:
        {backward}
    return loss.detach()
"""
STORED = """\
import torch


class Kept(torch.Tensor):
    def doubled(self):
        if self.sum() > 0:
            return self
        return self * 2
"""

LOOKED_INTO = """\
import torch


def explained(model, x: torch.Tensor):
    seen = []
    {puts_on}
    made = model(x)
    return made if made.sum() > 0 else seen[0]
"""

DRAWN = """\
import torch


def patches(x: torch.Tensor, seed: int):
    {drawn}
    if x.sum() > 0:
        return x
    return x * noise
"""
METHODS = """\
import torch
from scipy import ndimage
from torch.utils.data import TensorDataset


class Judge:
    def smooth(self, x):
        return ndimage.gaussian_filter(x.numpy(), 1)

    def score(self, x: torch.Tensor, y: torch.Tensor{more}){returned}:
        {first}
        return (x - y).mean().item()
"""


def of_library(tmp_path, source, names="*"):
    files = {"library/__init__.py": f"from .part import {names}\n", "library/part.py": source}
    return seen(analysed(tmp_path, files))


@pytest.mark.parametrize(
    ("source", "mask", "entered"),
    [
        ("str | Image", "str | Image | torch.Tensor", False),
        ("'Path | torch.Tensor'", "torch.Tensor", False),
        ("torch.Tensor", "str | torch.Tensor", True),
        ("str | Image", "torch.Tensor", True),
    ],
)
def test_what_takes_names_of_files_for_its_tensors(source, mask, entered, tmp_path):
    program = ALIGNED.format(source=source, mask=mask)
    assert of_library(tmp_path, program) == [("BRK101", 6)] * entered


@pytest.mark.parametrize(
    ("made", "entered"), [("torch.optim.SGD([weight], lr=rate)", False), ("Steps()", True)]
)
def test_what_makes_an_optimizer(made, entered, tmp_path):
    assert of_library(tmp_path, INVERTED.format(made=made)) == [("BRK101", 8)] * entered


@pytest.mark.parametrize(
    ("first", "bound", "lines"),
    [
        ("shave = scale", "shave:-shave", []),
        ("pass", "-scale:", []),
        ("pass", ": scale + 1", []),
        ("shave = scale.sum()", "shave:", [7, 9]),
        ("shave = 2", "shave:-shave", [7]),
    ],
)
def test_a_parameter_that_bounds_a_slice_by_another_name(first, bound, lines, tmp_path):
    source = SHAVED.format(first=first, bound=bound)
    assert [line for _, line in found(analysed(tmp_path, {"score.py": source}))] == lines


@pytest.mark.parametrize(
    ("returned", "name", "entered"),
    [
        ("dict[str, float]", "judged", False),
        ("Tuple[float, int]", "judged", False),
        ("'Dict[str, torch.Tensor]'", "judged", True),
        ("dict", "judged", True),
        ("torch.Tensor", "load_rows", False),
    ],
)
def test_what_hands_out_plain_values_or_reads_a_file(returned, name, entered, tmp_path):
    source = f"""\
        import torch
        from typing import Dict, Tuple


        def {name}(x: torch.Tensor) -> {returned}:
            return {{"largest": x.max().item()}}
        """
    assert of_library(tmp_path, source) == [("BRK201", 6)] * entered


@pytest.mark.parametrize(
    ("kept", "lines"),
    [
        ("KNOWN.add((module, kind))", []),
        ("NAMED[kind] = module", []),
        ("module.add_(module.sum().item())", [10]),
    ],
)
def test_what_registers_something(kept, lines, tmp_path):
    of_found = of_library(tmp_path, REGISTERED.format(kept=kept), "register")
    assert sorted({line for _, line in of_found}) == lines


@pytest.mark.parametrize(
    ("backward", "entered"),
    [("scaler.scale(loss).backward()", False), ("loss = scaler(loss)", True)],
)
def test_what_runs_a_backward_pass(backward, entered, tmp_path):
    program = TRAINED.format(backward=backward)
    assert of_library(tmp_path, program) == [("BRK101", 5)] * entered


@pytest.mark.parametrize(
    ("name", "entered"), [("serializers.py", False), ("reports.py", False), ("values.py", True)]
)
def test_classes_of_a_file_that_stands_around_models(name, entered, tmp_path):
    assert seen(analysed(tmp_path, {name: STORED})) == [("BRK101", 6)] * entered


@pytest.mark.parametrize(
    ("puts_on", "entered"),
    [
        ("handle = model.register_forward_hook(lambda _, __, made: seen.append(made))", False),
        ("seen.append(model(x + 1))", True),
    ],
)
def test_what_puts_hooks_on_a_model(puts_on, entered, tmp_path):
    result = of_library(tmp_path, LOOKED_INTO.format(puts_on=puts_on), "explained")
    assert (("BRK101", 8) in result) is entered


@pytest.mark.parametrize(
    ("drawn", "entered"),
    [
        ("noise = torch.rand(3, generator=torch.Generator().manual_seed(seed))", False),
        ("torch.manual_seed(seed)\n    noise = torch.rand(3)", False),
        ("noise = torch.rand(3)\n", True),
    ],
)
def test_what_seeds_random_numbers(drawn, entered, tmp_path):
    result = of_library(tmp_path, DRAWN.format(drawn=drawn), "patches")
    assert ("BRK101" in [code for code, _ in result]) is entered


@pytest.mark.parametrize(
    ("more", "returned", "first"),
    [
        ("", "", "pass"),
        ("", " -> float", "pass"),
        ("", "", "data = TensorDataset(x, y)"),
        ("", "", "data = torch.utils.data.DataLoader([x, y])"),
        ("", "", "y = torch.as_tensor(self.smooth(y))"),
        (", model: torch.nn.Module", "", "pass"),
        (", model: object", "", "pass"),
    ],
)
def test_methods_that_judge_or_prepare_data_are_possible(more, returned, first, tmp_path):
    program = METHODS.format(returned=returned, first=first, more=more)
    files = {"library/__init__.py": "from .part import Judge\n", "library/part.py": program}
    result = analysed(tmp_path, files)
    assert found(result) == []
    assert ("BRK201", 12) in seen(result)


COMPILED = """\
import torch

CACHE = {{}}


def doubled(x):
    return x * 2


def cached(function):
    if function not in CACHE:
        CACHE[function] = {wrapped}
    return CACHE[function]


def solved(x: torch.Tensor):
    y = cached(doubled)(x)
    if y.sum() > 0:
        return y
    return x
"""


@pytest.mark.parametrize(
    ("wrapped", "entered"), [("torch.compile(function)", False), ("function", True)]
)
def test_what_compiles_its_own_parts(wrapped, entered, tmp_path):
    result = of_library(tmp_path, COMPILED.format(wrapped=wrapped), "solved")
    assert (("BRK101", 18) in result) is entered


SOLVERS = """\
import torch
from scipy.integrate import solve_ivp


class ByScipy:
    def integrate(self, y):
        return torch.as_tensor(solve_ivp(None, (0, 1), y.numpy()).y)


class Own:
    def integrate(self, y):
        if y.max() > 1:
            return y / 2
        return y


KINDS = {"scipy": ByScipy, "own": Own}


def solve(y: torch.Tensor, method):
    return KINDS[method]().integrate(y)
"""


def test_one_of_several_ways_goes_through_scipy(tmp_path):
    assert ("BRK101", 12) in of_library(tmp_path, SOLVERS, "solve")


MEASURED = """\
def errors(made, wanted):
    return (made - wanted)[wanted > 0].abs().mean()
"""
MEASURING = """\
import torch

from {file} import errors


class {name}(torch.nn.Module):
    def forward(self, x, wanted):
        return errors(x * 2, wanted)
"""


@pytest.mark.parametrize(
    ("file", "name", "is_shown"),
    [("metrics", "Net", False), ("layers", "Net", True), ("metrics", "PixelLoss", True)],
)
def test_what_a_model_is_judged_by(file, name, is_shown, tmp_path):
    files = {f"{file}.py": MEASURED, "net.py": MEASURING.format(file=file, name=name)}
    result = analysed(tmp_path, files)
    assert ("BRK302", 2) in seen(result)
    assert (("BRK302", 2) in found(result)) is is_shown
