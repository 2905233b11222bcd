"""Objects of a class that the source derives from torch.Tensor."""

import pytest
from programs import analysed, found

SOURCE = """\
import torch
from torch import Tensor


class Points(Tensor):
    def plain(self):
        return self.as_subclass(Tensor)

    def double(self):
        return self * 2


def region(x: Points):
    {body}


def make():
    return region, (UNKNOWN,), {{}}
"""


def breaks(folder, body: str) -> list[tuple[str, int]]:
    source = SOURCE.format(body=body)
    return found(analysed(folder, {"program.py": source}, "program.py::region"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x.double() + 1", []),
        ("return x.plain()", [("BRK562", 7), ("BRK558", 14)]),
        ("return Tensor.as_subclass(x, Tensor)", [("BRK562", 14)]),
        ("return x.as_subclass(Points).double()", []),
        ("return (x if isinstance(x, Tensor) else x.nothing()).sum()", []),
        ("return x * 2 if x.sum() > 3 else x", [("BRK101", 14)]),
        ("return x[x > 0] + x[0].double()", [("BRK302", 14)]),
        ("print('x'); return x.plain()", [("BRK562", 7), ("BRK401", 14), ("BRK558", 14)]),
    ],
)
def test_it_has_what_a_tensor_has_and_its_own_methods(tmp_path, body, expected):
    assert sorted(breaks(tmp_path, body), key=lambda place: place[1]) == expected
