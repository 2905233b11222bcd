"""What `**kwargs` of a region holds that hands them on to its methods and parts."""

from programs import analysed, found

MODES = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, mode, **kwargs):
        if mode == "encode":
            return self.encode(**kwargs)
        return self.predict(mode, **kwargs)

    def encode(self, x, lengths, causal, source=None):
        assert lengths.max().item() <= 5
        if causal:
            x = x * 2
        if source is not None:
            x = x + torch.arange(source.max())
        return x

    def predict(self, how, scores, targets):
        assert (targets == 0).sum().item() == 0
        if how:
            return scores[targets > 0]
        return scores
"""


def test_keywords_are_what_the_methods_take(tmp_path):
    result = analysed(tmp_path, {"net.py": MODES})
    assert found(result) == [("BRK201", 12), ("BRK208", 16), ("BRK201", 20), ("BRK302", 22)]


PARTS = """\
from torch import nn


class Part(nn.Module):
    def forward(self, x, lengths):
        return x[: lengths.max().item()]


class Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, **kwargs):
        return self.part(**kwargs)
"""


def test_keywords_of_a_part(tmp_path):
    result = analysed(tmp_path, {"net.py": PARTS})
    assert found(result) == [("BRK201", 6)]


TURNS = """\
from torch import nn


class Net(nn.Module):
    def forward(self, **kwargs):
        return self.run(**kwargs)

    def run(self, x, **kwargs):
        if x.dim() > 5:
            return x
        return self.run(x * 2, **kwargs)
"""


def test_a_method_that_hands_them_to_itself_ends(tmp_path):
    assert found(analysed(tmp_path, {"net.py": TURNS})) == []
