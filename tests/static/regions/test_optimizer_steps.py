"""The learning rate of an optimizer whose step is compiled. Each program was measured under torch 2.13."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from torch import nn

weight = nn.Parameter(torch.ones(2))
opt = torch.optim.Adam([weight], lr={rate})
schedule = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)


@torch.compile
def update():
    opt.step()


for _ in range(3):
    weight.sum().backward()
    update()
    {between}
"""


@pytest.mark.parametrize(
    ("rate", "between", "codes"),
    [
        ("0.1", "schedule.step()", ["BRK603", "BRK702"]),
        ("0.1", "opt.param_groups[0]['lr'] *= 0.9", ["BRK603", "BRK702"]),
        ("torch.tensor(0.1)", "schedule.step()", ["BRK603"]),
        ("0.1", "opt.zero_grad()", ["BRK603"]),
    ],
)
def test_a_rate_that_changes_compiles_the_step_again(rate, between, codes, tmp_path):
    program = PROGRAM.format(rate=rate, between=between)
    assert [code for code, _ in found(analysed(tmp_path, {"run.py": program}))] == codes
