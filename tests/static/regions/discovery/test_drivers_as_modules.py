"""Modules whose own `__call__` is given files, pictures or tables, or gives such: their `forward` is the region."""

import pytest
from programs import analysed, found, seen

PROGRAM = """\
import pathlib
from typing import List, Union

import pandas as pd
import PIL.Image
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x * x.max().item()


class Cutter(Net):
    def __call__(self, images{annotation}:
        batch = torch.stack([self.read(image) for image in images])
        print(batch.shape)
        return super().__call__(batch)

    def read(self, image):
        return torch.ones(3)


class Reader(torch.nn.Module):
    def __call__(self, image{annotation}:
        print(image)
        return torch.ones(3)
"""


@pytest.mark.parametrize(
    ("annotation", "is_driver"),
    [
        (": PIL.Image.Image)", True),
        (": List[Union[str, pathlib.Path, PIL.Image.Image]])", True),
        (": pd.DataFrame | None = None)", True),
        (") -> pd.DataFrame", True),
        (": torch.Tensor) -> pd.DataFrame", True),
        (": torch.Tensor)", False),
        (": Union[torch.Tensor, PIL.Image.Image])", False),
        (": str)", False),
        (") -> tuple[torch.Tensor, pd.DataFrame]", False),
    ],
)
def test_a_call_that_is_given_pictures(annotation, is_driver, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(annotation=annotation)})
    printed = {line for code, line in seen(result) if code == "BRK401"}
    assert ("BRK201", 11) in seen(result)
    assert (17 not in printed) == is_driver


AVERAGE = """\
import torch


class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("turns", torch.tensor(0))

    def forward(self, {given}):
        if self.turns >= 0:
            self.turns += 1
        {end}
"""


READ = "for p in {}.parameters(): p.mul_(2)"


@pytest.mark.parametrize(
    ("name", "given", "end", "is_shown"),
    [
        ("Average", "model", READ.format("model"), False),
        ("Average", "x, model", READ.format("model"), True),
        ("Average", "model", READ.format("self"), True),
        ("Average", "model", "return [p * 2 for p in model.parameters()]", True),
        ("ModelLoss", "model", READ.format("model"), True),
        ("WeightDecay", "model", READ.format("model"), True),
    ],
)
def test_a_forward_that_follows_a_model(name, given, end, is_shown, tmp_path):
    source = AVERAGE.format(name=name, given=given, end=end)
    result = analysed(tmp_path, {"ema.py": source})
    assert ("BRK101", 10) in seen(result)
    assert (("BRK101", 10) in found(result)) == is_shown


WRAPPER = """\
import torch


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)


class Wrapper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def __call__(self, x):
        print(x)
        return {made}(x)
"""


@pytest.mark.parametrize(("made", "is_region"), [("Part()", False), ("self.part", True)])
def test_a_call_that_makes_a_model(made, is_region, tmp_path):
    result = analysed(tmp_path, {"net.py": WRAPPER.format(made=made)})
    assert (("BRK401", 19) in seen(result)) == is_region


COMPILES_PARTS = """\
import torch


class Tracker(torch.nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def prepare(self):
        {compiled}

    def step(self, x):
        return self.encoder(x)

    def forward(self, x):
        x = self.step(x)
        if x.sum() > 0:
            print(x.shape)
        return x


class Other(Tracker):
    pass
"""


@pytest.mark.parametrize(
    ("compiled", "is_shown"),
    [
        ("self.encoder.forward = torch.compile(self.encoder.forward)", False),
        ("self.encoder = torch.compile(self.encoder, fullgraph=True)", False),
        ("self.step = torch.compile(self.step)", True),
        ("self.forward = torch.compile(self.forward)", True),
        ("self.encoder.eval()", True),
    ],
)
def test_a_module_that_compiles_its_parts_is_left_to_python(compiled, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": COMPILES_PARTS.format(compiled=compiled)})
    assert ("BRK101", 17) in seen(result)
    assert (("BRK101", 17) in found(result)) == is_shown


def test_one_that_is_compiled_itself_is_shown(tmp_path):
    source = COMPILES_PARTS.format(compiled="self.encoder = torch.compile(self.encoder)")
    made = "\n\nmodel = torch.compile(Tracker(torch.nn.Linear(3, 3)))\n"
    assert ("BRK101", 17) in found(analysed(tmp_path, {"net.py": source + made}))


TRAINER = """\
import torch
from torch.utils.data import DataLoader


class Trainer(torch.nn.Module):
    def __init__(self, net, trains):
        super().__init__()
        self.net, self.trains = net, trains
        self.optimizer = torch.optim.SGD(net.parameters())

    def improve(self, data):
        {work}

    def forward(self, data):
        {guard}self.improve(data)
        made = self.net(data)
        return made[made > 0]
"""


@pytest.mark.parametrize(
    ("work", "guard", "is_shown"),
    [
        ("self.net(data).sum().backward()", "", False),
        ("self.optimizer.step()", "", False),
        ("return DataLoader(data)", "", False),
        ("torch.optim.Adam(self.net.parameters())", "", False),
        ("return data * 2", "", True),
        ("self.optimizer.step()", "if self.trains: ", True),
    ],
)
def test_a_forward_that_trains(work, guard, is_shown, tmp_path):
    source = TRAINER.format(work=work, guard=guard)
    result = analysed(tmp_path, {"trainer.py": source})
    assert ("BRK302", 17) in seen(result)
    assert (("BRK302", 17) in found(result)) is is_shown
    compiles = source + "\n\ndoubled = torch.compile(lambda x: x * 2)\n"
    assert ("BRK302", 17) in found(analysed(tmp_path, {"trainer.py": compiles}))


SIMULATION = """\
import hashlib
import json
import time
from pathlib import Path

import torch


class Simulation(torch.nn.Module):
    def __init__(self, journal=None):
        super().__init__()
        self.journal = journal

    def forward(self, x):
        if not bool(torch.isfinite(x).all()):
            raise ValueError("x must be finite")
        return self.run(x)

    def run(self, x):
        {begin}
        y = x * 2
        if self.journal is not None:
            {write}
        return y
"""


@pytest.mark.parametrize(
    ("begin", "write", "is_left"),
    [
        (
            "begun = time.perf_counter()",
            "Path(self.journal).write_text(json.dumps(time.perf_counter() - begun))",
            True,
        ),
        ("begun = 0", "Path(self.journal).write_text(json.dumps(begun))", False),
    ],
)
def test_a_forward_that_records_its_own_run(begin, write, is_left, tmp_path):
    result = analysed(tmp_path, {"net.py": SIMULATION.format(begin=begin, write=write)})
    assert ("BRK202", 15) in seen(result)
    assert (("BRK202", 15) not in found(result)) == is_left
