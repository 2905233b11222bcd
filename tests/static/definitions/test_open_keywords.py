"""Parameters that a call fills from `**settings` of which nothing is known: a default, or what the annotation
says."""

import pytest
from programs import analysed, found

SOURCE = """\
import torch


def repeat(value, count):
    if isinstance(value, torch.Tensor):
        return value.repeat(count)
    return value if isinstance(value, list) else [value] * count


class Layer(torch.nn.Module):
    def __init__(self, terms{annotation} = [4, 4]):
        super().__init__()
        self.terms = terms if isinstance(terms, list) else repeat(terms, 2)

    def forward(self, x: torch.Tensor):
        for _ in range(self.terms[0]):
            x = x + 1
        return x


class Net(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.layer = Layer(**settings)

    def forward(self, x: torch.Tensor):
        return self.layer(x)
"""


@pytest.mark.parametrize(
    ("annotation", "is_found"), [(": int | list[int]", False), (": torch.Tensor", True)]
)
def test_an_annotation_says_what_else_the_default_may_be(annotation, is_found, tmp_path):
    result = analysed(tmp_path, {"net.py": SOURCE.format(annotation=annotation)})
    assert found(result) == ([("BRK207", 16)] if is_found else [])


FLAGGED = """\
import torch


class Drawn(torch.nn.Module):
    def forward(self, x, keeps_state=False):
        if keeps_state:
            self.state = torch.get_rng_state()
        return x * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drawn = Drawn()

    def forward(self, x, **settings):
        return self.drawn(x, {given})
"""


@pytest.mark.parametrize(
    ("given", "is_found"), [("**settings", False), ("keeps_state=self.training", True)]
)
def test_a_flag_is_what_its_default_says(given, is_found, tmp_path):
    result = analysed(tmp_path, {"net.py": FLAGGED.format(given=given)})
    assert found(result) == ([("BRK409", 7)] if is_found else [])


MASKED = """\
import torch


class Attention(torch.nn.Module):
    def forward(self, x, mask: torch.Tensor | None = None, count{annotation} = None):
        if mask is not None:
            x = x * mask
        return x[:count] if count is not None else x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        settings = {{name: mask if name in self.masked else None for name in self.names}}
        return self.attention(x, **settings)
"""


@pytest.mark.parametrize(
    ("annotation", "is_found"), [(": int | None", False), (": torch.Tensor | None", True)]
)
def test_tensors_go_to_parameters_that_take_them(annotation, is_found, tmp_path):
    result = analysed(tmp_path, {"net.py": MASKED.format(annotation=annotation)})
    assert found(result) == ([("BRK206", 8)] if is_found else [])
