"""A training step that is compiled as one function: what its parameters are."""

import pytest
from programs import analysed, found

HEAD = "import torch\nfrom torch import nn\n"
BODY = """\
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    return loss
"""
WHOLE = [("BRK603", "opt.zero_grad()"), ("BRK601", "loss.backward()"), ("BRK603", "opt.step()")]
MAIN = """\
def main():
    model = nn.Linear(8, 4)
    opt = torch.optim.AdamW(model.parameters())
    step = torch.compile(train_step)
    for x, y in load():
        step(model, opt, x, y)
"""
STEPS = {
    "by its caller, under a decorator": "@torch.compile\ndef train_step(model, opt, x, y):\n"
    + BODY
    + MAIN.replace("torch.compile(train_step)", "train_step"),
    "by its caller, wrapped": "def train_step(model, opt, x, y):\n" + BODY + MAIN,
    "by annotations": "from torch.optim.optimizer import Optimizer\n@torch.compile\n"
    "def train_step(model: nn.Module, opt: Optimizer, x: torch.Tensor, y: torch.Tensor):\n" + BODY,
    "by use": "@torch.compile\ndef train_step(model, opt, x, y):\n" + BODY,
    "of a closure": "def main(loader):\n    model = nn.Linear(8, 4)\n"
    "    opt = torch.optim.SGD(model.parameters(), lr=0.1)\n    def train_step(x, y):\n"
    + BODY.replace("    ", "        ")
    + "    step = torch.compile(train_step)\n    for x, y in loader:\n        step(x, y)\n",
}


def lines_of(folder, source):
    lines = (HEAD + source).splitlines()
    result = analysed(folder, {"train.py": HEAD + source})
    each = dict.fromkeys(found(result))  # a report has one for a line
    return [(code, lines[line - 1].strip()) for code, line in each]


@pytest.mark.parametrize("how", STEPS)
def test_the_optimizer_of_a_step_is_known(how, tmp_path):
    assert lines_of(tmp_path, STEPS[how]) == WHOLE


@pytest.mark.parametrize(
    "compiled",
    ["    @torch.compile\n", "        self.step = torch.compile(self.step)\n"],
    ids=["under a decorator", "in the constructor"],
)
@pytest.mark.parametrize("is_left", [True, False], ids=["loss is left", "no tensor is left"])
def test_a_method_of_a_class_that_is_no_module_is_a_region(compiled, is_left, tmp_path):
    inside = compiled.startswith("        ")
    trainer = (
        "class Trainer:\n    def __init__(self, model):\n        self.model = model\n"
        "        self.opt = torch.optim.Adam(model.parameters())\n"
        + (compiled if inside else "")
        + "        self.scaler = torch.amp.GradScaler()\n"
        + ("" if inside else compiled)
        + "    def step(self, x, y):\n        loss = (self.model(x) - y).square().mean()\n"
        "        self.scaler.scale(loss).backward()\n        self.scaler.step(self.opt)\n"
        "        self.scaler.update()\n" + ("        return loss.detach()\n" if is_left else "")
    )
    every = [
        ("BRK601", "self.scaler.scale(loss).backward()"),
        ("BRK601", "self.scaler.step(self.opt)"),
        ("BRK601", "self.scaler.update()"),
    ]
    # Dynamo compiles nothing behind the first, where the function has no tensor any more
    assert lines_of(tmp_path, trainer) == (every if is_left else every[:1])


def test_what_only_looks_like_a_scheduler_is_none(tmp_path):
    """An environment's step has no backward pass beside it."""
    play = "@torch.compile\ndef play(env, x):\n    env.step()\n    return x + 1\n"
    assert lines_of(tmp_path, play) == []


def test_a_step_that_only_computes_the_loss_has_no_finding(tmp_path):
    clean = (
        "@torch.compile\ndef loss_of(model, x, y):\n"
        "    return nn.functional.cross_entropy(model(x), y)\n"
        "def main(loader):\n    model = nn.Linear(8, 4)\n    opt = torch.optim.SGD(model.parameters())\n"
        "    for x, y in loader:\n        opt.zero_grad()\n        loss_of(model, x, y).backward()\n        opt.step()\n"
    )
    assert lines_of(tmp_path, clean) == []


def test_a_training_step_that_nothing_compiles_is_no_region(tmp_path):
    trainer = (
        "class Trainer:\n    def __init__(self, model):\n        self.model = model\n"
        "        self.opt = torch.optim.Adam(model.parameters())\n"
        "    def step(self, x: torch.Tensor, y: torch.Tensor):\n"
        "        loss = (self.model(x) - y).square().mean()\n        loss.backward()\n"
        "        self.opt.step()\n"
    )
    assert lines_of(tmp_path, trainer) == []


def test_a_step_that_python_calls_is_compiled_by_itself_and_breaks(tmp_path):
    loop = "    for _ in range(3):\n" + "".join(f"    {line}\n" for line in BODY.splitlines()[:-1])
    source = "@torch.compile\ndef train_step(model, opt, x, y):\n" + loop + "    return loss\n"
    assert lines_of(tmp_path, source) == [WHOLE[0], WHOLE[2]]
