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


UPDATES = """\
import copy
import torch
from torch import nn


@torch.compile
def blend(mine, its):
    return mine.mul_(0.9).add_(its)


model = {model}
shadow = copy.deepcopy(model)
with torch.no_grad():
    for mine, its in zip(shadow.{parameters}(), model.{parameters}()):
        {names}blend(mine, its)
"""


@pytest.mark.parametrize(
    ("model", "codes"),
    [
        ("nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))", ["BRK712"] * 2),
        ("nn.Sequential(nn.Conv2d(4, 4, 3, bias=False), nn.Conv2d(4, 4, (3, 3), bias=False))", []),
        ("nn.Sequential(nn.Linear(4, 4, bias=False), nn.Bilinear(2, 2, 2))", []),  # is not known
    ],
)
def test_parameters_have_their_own_sizes(model, codes, tmp_path):
    program = UPDATES.format(model=model, parameters="parameters", names="")
    assert [code for code, _ in found(analysed(tmp_path, {"run.py": program}))] == codes


def test_named_parameters_have_them_too(tmp_path):
    names = "mine, its = mine[1], its[1]\n        "
    program = UPDATES.format(
        model="nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))",
        parameters="named_parameters",
        names=names,
    )
    assert [code for code, _ in found(analysed(tmp_path, {"run.py": program}))] == ["BRK712"] * 2


UPDATE_OF_DICT = """\
import torch
from torch import nn


@torch.compile
def step(params, x):
    return {name: p - 0.1 * p * x for name, p in params.items()}


model = nn.Linear(4, 4)
params = {name: p.detach() for name, p in model.named_parameters()}
for _ in range(3):
    params = step(params, torch.ones(4))
"""


def test_a_copy_of_a_parameter_lies_in_memory_as_it(tmp_path):
    assert found(analysed(tmp_path, {"run.py": UPDATE_OF_DICT})) == []


def test_momentum_is_made_in_the_first_step(tmp_path):
    program = PROGRAM.replace("Adam([weight], lr={rate})", "SGD([weight], lr=0.1, momentum=0.9)")
    program = program.format(between="opt.zero_grad()")
    assert [code for code, _ in found(analysed(tmp_path, {"run.py": program}))] == [
        "BRK603",
        "BRK721",
    ]


def test_momentum_is_made_beside_a_rate_that_changes(tmp_path):
    program = PROGRAM.replace("Adam([weight], lr={rate})", "SGD([weight], lr=0.1, momentum=0.9)")
    program = program.format(between='opt.param_groups[0]["lr"] *= 0.5')
    codes = [code for code, _ in found(analysed(tmp_path, {"run.py": program}))]
    assert codes == ["BRK603", "BRK702", "BRK721"]
