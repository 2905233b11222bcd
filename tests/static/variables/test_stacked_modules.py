"""What `torch.func.stack_module_state` gives are leaves. Dynamo of torch 2.13.0 ends the graph where something
computed from them leaves it (GB8985), and not where they are stacked before."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from torch import nn
from torch.func import functional_call, stack_module_state


class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.members = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        self.state = stack_module_state(self.members)

    def call(self, params, buffers, x):
        return functional_call(self.members[0], (params, buffers), (x,))

    def forward(self, x: torch.Tensor):
        params, buffers = {state}
        return torch.vmap(self.call, (0, 0, None))(params, buffers, x)
"""


@pytest.mark.parametrize(
    "state, breaks", [("stack_module_state(self.members)", True), ("self.state", False)]
)
def test_stacked_in_the_region(state, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(state=state)})
    assert found(result) == ([("BRK605", 16)] if breaks else [])
