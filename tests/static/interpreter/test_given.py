"""A value that is what breaks only on one side of a branch: the finding states the branch's
condition, also where the use stands far behind it."""

import pytest
from programs import analysed, found

HEAD = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
LOCALS = {
    "an if": (
        "skip = False\nif self.training and self.rate > 0:\n    skip = torch.rand([]) < self.rate\nif not skip:\n    x = x * 2",
        "self.training and self.rate > 0",
    ),
    "a conditional expression": (
        "n = 4 if mask is None else mask.sum()\nif n > 2:\n    x = x + 1",
        "mask is not None",
    ),
    "arithmetic on it": (
        "n = 4 if mask is None else mask.sum()\nm = n * 2 + 1\nif m > 2:\n    x = x + 1",
        "mask is not None",
    ),
    "a generator": (
        "g = None\nif self.rate > 0:\n    g = self.made\nx = x + torch.rand(4, generator=g)",
        "self.rate > 0",
    ),
    "the operands in front": (
        "if self.training and self.rate > 0 and x.sum() > 0:\n    x = x + 1",
        "self.training and self.rate > 0",
    ),
    "an alternative": ("if self.training or x.sum() > 0:\n    x = x + 1", "not self.training"),
    "a switch as an argument": (
        "x = x + torch.zeros(4, requires_grad=self.training)",
        "self.training",
    ),
    "both of two": (
        "if self.rate > 1:\n    if self.training:\n        x = x * x.max().item()",
        "self.rate > 1 and self.training",
    ),
}
CONSTRUCTORS = {
    "a conditional expression": "self.scale = nn.Parameter(torch.ones(())) if learn else 1.0",
    "both sides": "if learn:\n    self.scale = nn.Parameter(torch.ones(()))\nelse:\n    self.scale = 1.0",
    "a variable of both sides": "made = 1.0\nif learn:\n    made = nn.Parameter(torch.ones(()))\nself.scale = made",
    "within another branch": "self.scale = 1.0\nif rate:\n    self.scale = 2.0\nif learn:\n    self.scale = nn.Parameter(torch.ones(()))",
    "one side": "self.scale = 1.0\nif learn:\n    self.scale = nn.Parameter(torch.ones(()))",
}


def conditions(folder, body: str, init: str = "self.rate = rate"):
    indented = "".join(f"        {line}\n" for line in body.split("\n"))
    made = "".join(f"        {line}\n" for line in init.split("\n"))
    source = (
        f"{HEAD}    def __init__(self, rate=0.1, learn=False):\n        super().__init__()\n"
        f"        self.made = torch.Generator()\n{made}"
        f"    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None):\n{indented}"
        "        return x\n"
    )
    return [f.condition for f in analysed(folder, {"program.py": source}).findings]


@pytest.mark.parametrize("name", LOCALS)
def test_a_finding_states_under_which_test_a_value_breaks(name, tmp_path):
    body, condition = LOCALS[name]
    assert conditions(tmp_path, body) == [condition]


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_an_attribute_of_one_side_of_a_constructor_s_branch(name, tmp_path):
    assert conditions(tmp_path, "if self.scale > 0:\n    x = x * 2", CONSTRUCTORS[name]) == [
        "learn"
    ]


CHAIN = """\
import torch


def first(n):
    return n[0].item()


def second(n):
    return n[1].item()


def third(n):
    return n[2].item()


class Net(torch.nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how
        if how == "a":
            self.read = first
        elif how == "b":
            self.read = second
        else:
            self.read = third

    def forward(self, x: torch.Tensor):
{body}
        return read(x)
"""
OF_CHAIN = [
    (5, "{0} == 'a'"),
    (9, "not ({0} == 'a') and {0} == 'b'"),
    (13, "not ({0} == 'a') and not ({0} == 'b')"),
]


@pytest.mark.parametrize(
    "body, test",
    [
        ("        read = self.read", "how"),
        (
            "        if self.how == 'a':\n            read = first\n"
            "        elif self.how == 'b':\n            read = second\n"
            "        else:\n            read = third",
            "self.how",
        ),
    ],
)
def test_each_value_of_a_chain_of_tests_has_its_own(body, test, tmp_path):
    result = analysed(tmp_path, {"program.py": CHAIN.replace("{body}", body)})
    found = [(f.line, f.condition.replace('"', "'")) for f in result.findings]
    assert found == [(line, condition.format(test)) for line, condition in OF_CHAIN]


@pytest.mark.parametrize(
    "value, condition",
    [
        ("learn and rate > 1 and self.bias > 0", "learn and rate > 1"),
        ("learn or self.bias > 0", "not learn"),
    ],
)
def test_the_last_operand_is_the_value_where_configuration_decides_those_before(
    value, condition, tmp_path
):
    init = f"self.bias = nn.Parameter(torch.ones(()))\nself.is_wide = {value}"
    assert conditions(tmp_path, "if self.is_wide:\n    x = x * 2", init) == [condition]


def test_the_other_side_is_left_out_where_the_same_test_was_asked(tmp_path):
    init = (
        "self.learn = learn\nif learn:\n    self.scale = nn.Parameter(torch.ones(()))\nelse:\n"
        "    self.scale = 1.0"
    )
    body = "if not self.learn:\n    if self.scale > 0:\n        x = x * 2"
    assert conditions(tmp_path, body, init) == []


def test_what_only_a_check_of_its_type_shows_to_be_a_tensor(tmp_path):
    source = (
        "import torch\nfrom torch import nn\n\n\ndef number(v):\n"
        "    return v.item() if isinstance(v, torch.Tensor) else v\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x, scale):\n        return x * number(scale)\n"
    )
    found = analysed(tmp_path, {"program.py": source}).findings
    assert [(f.line, f.condition) for f in found] == [(6, "isinstance(v, torch.Tensor)")]


@pytest.mark.parametrize("add", ['self.add_module("layer", made)', "self.layer = made"])
def test_a_module_that_a_constructor_replaces_where_it_is_configured(add, tmp_path):
    init = f"made = nn.Linear(4, 4)\nif learn:\n    made = torch.jit.script(made)\n{add}"
    assert conditions(tmp_path, "x = self.layer(x)", init) == ["learn"]


def test_a_hook_that_a_constructor_registers_where_it_is_configured(tmp_path):
    source = (
        f"{HEAD}    def __init__(self, learn):\n        super().__init__()\n        if learn:\n"
        "            self.handle = self.register_forward_pre_hook(self.once)\n\n"
        "    def once(self, module, given):\n        self.handle.remove()\n\n"
        "    def forward(self, x):\n        return x * 2\n\n\n"
        "class Outer(nn.Module):\n    def __init__(self, learn):\n        super().__init__()\n"
        "        self.net = Net(learn)\n\n    def forward(self, x):\n        return self.net(x)\n"
    )
    found = analysed(tmp_path, {"program.py": source}).findings
    assert [(f.code, f.condition) for f in found] == [("BRK608", "learn")]


LAYERS = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, size: int, mode: str = "RNN"):
        super().__init__()
        kinds = {"RNN": nn.RNN, "LSTM": nn.LSTM}
        self.mode = mode
        if mode in ["RNN", "LSTM"]:
            self.layer = kinds[mode](size, size)
        else:
            self.layer = nn.Linear(size, size)

    def forward(self, x: torch.Tensor):
        if self.mode in ["RNN", "LSTM"]:
            return self.layer(x)[0]
        return self.layer(x)
"""


def test_one_of_several_that_a_branch_of_a_constructor_sets(tmp_path):
    assert found(analysed(tmp_path, {"layer.py": LAYERS})) == [("BRK503", 17)]


def test_an_attribute_in_other_letters_than_its_argument(tmp_path):
    source = LAYERS.replace("self.mode", "self.Mode")
    assert "self.Mode = mode" in source
    assert found(analysed(tmp_path, {"layer.py": source})) == [("BRK503", 17)]


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ("self.training and x.sum().item() > 1", "self.training"),
        ("not self.training or x.sum().item() > 1", "self.training"),
        ("x.sum().item() > 1 and self.training", ""),
    ],
)
def test_operand_behind_another(expression, condition, tmp_path):
    assert (
        conditions(tmp_path, f"chosen = {expression}\nx = x * 2 if chosen else x")[0] == condition
    )
