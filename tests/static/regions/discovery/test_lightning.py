"""Lightning's trainer compiles the steps of a module that was handed to `torch.compile`. What is marked breaks under
torch 2.13 and Lightning 2.6, whose `log` was put under `torch.compiler.disable` as later versions have it."""

from pathlib import Path

import pytest
from programs import analysed, found

MODULE = """\
{imported}
import torch
import torch.nn.functional as F
from torch import nn


class Model({base}):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 3)

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        {logged}
        if batch_idx % 10 == 0:
            loss = loss * 2
        return loss

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        x, y = batch
        if dataloader_idx == 1:
            x = x * 2
        print("validation", F.cross_entropy(self(x), y))  # compiled

    def configure_optimizers(self):
        print(self.net)
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    {made}
    L.Trainer().fit(model)
"""
COMPILED = "model = torch.compile(Model())"
NAMES = [("import lightning as L", "L.LightningModule")]
NAMES += [("import pytorch_lightning as L", "L.LightningModule")]
NAMES += [
    ("import lightning.pytorch as L\nfrom lightning.pytorch import LightningModule as Base", "Base")
]


def lines(program: str, *of: str) -> list[int]:
    return [n for n, line in enumerate(program.splitlines(), 1) if any(part in line for part in of)]


def shown(folder: Path, program: str) -> list[tuple[str, int]]:
    return found(analysed(folder, {"program.py": program}))


def program_of(imported: str, base: str, logged: str = "pass", made: str = COMPILED) -> str:
    return MODULE.format(imported=imported, base=base, logged=logged, made=made)


@pytest.mark.parametrize(("imported", "base"), NAMES)
@pytest.mark.parametrize("logged", ['self.log("loss", loss)', 'self.log_dict({"loss": loss})'])
def test_steps_of_a_compiled_module_are_compiled(
    tmp_path: Path, imported: str, base: str, logged: str
) -> None:
    program = program_of(imported, base, logged)
    places = shown(tmp_path, program)
    assert [line for _, line in places] == lines(program, "self.log", "# compiled")
    assert places[0][0] == "BRK501"


def test_module_that_is_compiled_by_its_name(tmp_path: Path) -> None:
    made = "model = Model()\n    model = torch.compile(model, mode='max-autotune')"
    program = program_of(*NAMES[0], made=made)
    assert [line for _, line in shown(tmp_path, program)] == lines(program, "# compiled")


@pytest.mark.parametrize(
    "made", ["model = Model()", "model = Model()\n    model.net = torch.compile(model.net)"]
)
def test_steps_of_others_are_not(tmp_path: Path, made: str) -> None:
    program = program_of(*NAMES[0], logged='self.log("loss", loss.item())', made=made)
    assert not shown(tmp_path, program)


def test_a_log_of_its_own_is_followed(tmp_path: Path) -> None:
    own = "    def log(self, name, value):\n        assert name\n\n    def configure"
    program = program_of(*NAMES[0], logged='self.log("loss", loss)')
    program = program.replace("    def configure", own)
    assert [line for _, line in shown(tmp_path, program)] == lines(program, "# compiled")


def test_a_class_that_is_only_called_alike(tmp_path: Path) -> None:
    own = "import lightning as L\n\nclass LightningModule:\n    pass\n"
    program = program_of(own, "LightningModule, torch.nn.Module", logged='self.log("loss", 1)')
    assert not shown(tmp_path, program)
