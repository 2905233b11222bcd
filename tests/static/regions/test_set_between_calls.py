"""What a program sets on what it compiles between the calls, or gives it each time. Each was measured under
torch 2.13: where a code is expected it is compiled again, and where none is, it is not."""

import pytest
from programs import analysed, found

HEAD = """\
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    scale: float
    name: str = ""


"""
SET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None

    def forward(self, x):
        kept = self.kept
        return {use}


net = Net()
run = torch.compile(net)
for value in [{values}]:
    net.kept = value
    run(torch.ones(4, 4))
"""
GIVEN = """\
@torch.compile
def step(x, kept):
    return {use}


VALUES = [{values}]
for i in range(len(VALUES)):
    step(torch.ones(4, 4), VALUES[i])
"""
ONES = "torch.ones(4, 4)"


@pytest.mark.parametrize(
    ("values", "use", "expected"),
    [
        (f"{ONES}, {ONES}.double()", "x + kept", ["BRK702"]),
        (f"{ONES}, {ONES}.t()", "x + kept", ["BRK702"]),
        (f"{ONES}, torch.ones(4, 4, requires_grad=True)", "x + kept", ["BRK702"]),
        (f"{ONES}, torch.zeros(4, 4)", "x + kept", []),
        ("Config(1.0), Config(2.0)", "x * kept.scale", ["BRK702"]),
        ("Config(1.0, 'a'), Config(1.0, 'b')", "x * kept.scale", []),
        ("torch.Size([4, 4]), torch.Size([2, 8])", "x.view(kept)", ["BRK702"]),
        ("lambda t: t + 1, lambda t: t * 2", "kept(x)", ["BRK702"]),
    ],
)
def test_an_attribute_that_is_set(values, use, expected, tmp_path):
    source = HEAD + SET.format(values=values, use=use)
    assert [code for code, _ in found(analysed(tmp_path, {"run.py": source}))] == expected


@pytest.mark.parametrize(
    ("values", "use", "expected"),
    [
        ("lambda t: t + 1, lambda t: t * 2", "kept(x)", ["BRK720"]),
        ("torch.relu, torch.relu", "kept(x)", []),
        ("torch.device('cpu'), torch.device('meta')", "x.sum() + x.to(kept).numel()", ["BRK720"]),
        ("torch.device('cpu'), torch.device('cpu')", "x.sum() + x.to(kept).numel()", []),
        ("{'at': slice(0, 1)}, {'at': slice(0, 2)}", "x[kept['at']]", ["BRK708"]),
        ("{'at': slice(0, 1)}, {'at': slice(0, 1)}", "x[kept['at']]", []),
    ],
)
def test_an_argument_that_differs(values, use, expected, tmp_path):
    source = HEAD + GIVEN.format(values=values, use=use)
    assert [code for code, _ in found(analysed(tmp_path, {"run.py": source}))] == expected


CLOSED_OVER = """\
def made(kept):
    @torch.compile
    def step(x):
        return {use}

    return step


for value in [{values}]:
    made(value)(torch.ones(4, 4))
"""


@pytest.mark.parametrize(
    ("values", "use", "expected"),
    [
        (f"{ONES}, {ONES}.double()", "x + kept", 1),
        (f"{ONES}, torch.zeros(4, 4)", "x + kept", 0),
        ("lambda t: t + 1, lambda t: t * 2", "kept(x)", 1),
        ("slice(0, 1), slice(0, 2)", "x[kept]", 1),
    ],
)
def test_what_closures_of_one_function_have(values, use, expected, tmp_path):
    source = HEAD + CLOSED_OVER.format(values=values, use=use)
    assert len(found(analysed(tmp_path, {"run.py": source}))) == expected


def test_a_dict_that_is_filled_by_keys_of_tensors_gets_longer(tmp_path):
    source = """\
import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = {}

    def forward(self, x):
        for kept in self.bank.values():  # BANK
            x = x + kept
        return x * 2

    def update(self, labels):
        for label in labels.unique().tolist():
            self.bank[label] = torch.ones(2)


memory = Memory()
fast = torch.compile(memory)
for labels in ((0, 1), (1, 2)):
    fast(torch.ones(2))
    memory.update(torch.tensor(labels))
"""
    assert found(analysed(tmp_path, {"run.py": source})) == [("BRK702", 11)]


PREPARED = """\
class Server:
    def __init__(self, off):
        self.kept, self.off = None, off
        self.run = torch.compile(self.run)

    @torch.compiler.disable
    def prepare(self, x):
        {first}
        self.kept = x.clone()

    def run(self, x):
        self.prepare(x)  # BRK501
        y = x * 2
        return y if self.kept is None else y + self.kept  # KEPT


server = Server(off=True)
for number in range(3):
    server.run(torch.ones(3))
    server.kept = torch.ones(3) * number
"""


@pytest.mark.parametrize(
    ("first", "compiles_again"), [("x = x * 2", False), ("if self.off: return", True)]
)
def test_what_a_disabled_method_sets_first_is_not_what_the_program_set(
    first, compiles_again, tmp_path
):
    source = HEAD + PREPARED.format(first=first)
    lines = source.splitlines()
    places = [
        (code, lines[line - 1]) for code, line in found(analysed(tmp_path, {"run.py": source}))
    ]
    again = [line for code, line in places if code == "BRK702"]
    assert bool(again) is compiles_again and all("# KEPT" in line for line in again)
    assert [code for code, line in places if code != "BRK702"] == ["BRK501"]
