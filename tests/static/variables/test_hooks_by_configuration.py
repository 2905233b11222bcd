"""What configuration decides of a hook, be it of the call that puts it on."""

import pytest
from programs import analysed

PROGRAM = """\
import torch


def leaf(module, given, made):
    made.requires_grad_(True)


class Base(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = torch.nn.Embedding(10, 3)
        {call}

    def put_on(self, hook):
        {put}


class Net(Base):
    def forward(self, x):
        return self.embed(x) * 2
"""
PUT = "self.embed.register_forward_hook(hook)"
CALL = "self.put_on(leaf)"
OPEN = 'getattr(self.config, "trained", False)'


@pytest.mark.parametrize(
    ("call", "put", "condition"),
    [
        (CALL, PUT, ""),
        (f"if {OPEN}: {CALL}", PUT, OPEN),
        (f"if not self.config.frozen: {CALL}", PUT, "not self.config.frozen"),
        (CALL, f"if self.config.trained: {PUT}", "self.config.trained"),
        (f"if {OPEN}: {CALL}", f"if self.config.deep: {PUT}", f"{OPEN} and self.config.deep"),
    ],
)
def test_the_condition_of_a_hook(call, put, condition, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(call=call, put=put)})
    (leaf,) = result.findings
    assert (leaf.code, leaf.line, leaf.condition) == ("BRK605", 5, condition)
