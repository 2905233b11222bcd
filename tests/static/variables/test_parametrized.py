"""Setting an attribute of a module that is parametrized, as Dynamo was seen to end the graph there."""

from programs import analysed, found

SOURCE = """import torch
from torch import nn
from torch.nn.utils import parametrize


class Positive(nn.Module):
    def forward(self, values):
        return values.exp()

    def right_inverse(self, values):
        return values.log()


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))
        self.other = nn.Parameter(torch.ones(4))
        parametrize.register_parametrization(self, "scale", Positive())


class Setting(Base):
    def forward(self, x):
        with torch.no_grad():
            self.scale = self.scale * 2
        return x * self.scale


class Copying(Base):
    def forward(self, x):
        with torch.no_grad():
            self.scale.copy_(self.scale * 2)
        return x * self.scale * self.other
"""


def test_it_ends_the_graph_but_for_what_is_done_in_place(tmp_path):
    assert found(analysed(tmp_path, {"program.py": SOURCE})) == [("BRK534", 25)]
