"""Modules whose own `__call__` is given files or pictures: their `forward` is the region."""

import pytest
from programs import analysed, seen

PROGRAM = """\
import pathlib
from typing import List, Union

import PIL.Image
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x * x.max().item()


class Cutter(Net):
    def __call__(self, images: {annotation}):
        batch = torch.stack([self.read(image) for image in images])
        print(batch.shape)
        return super().__call__(batch)

    def read(self, image):
        return torch.ones(3)


class Reader(torch.nn.Module):
    def __call__(self, image: {annotation}):
        print(image)
        return torch.ones(3)
"""


@pytest.mark.parametrize(
    ("annotation", "is_driver"),
    [
        ("PIL.Image.Image", True),
        ("List[Union[str, pathlib.Path, PIL.Image.Image]]", True),
        ("torch.Tensor", False),
        ("Union[torch.Tensor, PIL.Image.Image]", False),
        ("str", False),
    ],
)
def test_a_call_that_is_given_pictures(annotation, is_driver, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(annotation=annotation)})
    printed = {line for code, line in seen(result) if code == "BRK401"}
    assert ("BRK201", 10) in seen(result)
    assert (16 not in printed) == is_driver
