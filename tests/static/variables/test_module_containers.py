"""Where a constructor may put a module, and how a forward gets at it: a recurrent one is found, as
Dynamo was seen to break on each (torch 2.13.0), and a linear one in its place is not."""

import pytest
from programs import analysed, found

HEAD = "import collections, copy, functools, itertools\nimport torch\nfrom torch import nn\n\n\n"
CASES = {  # what constructs it (L is the module), what runs, what stands before the class
    "inserted": ("self.s = nn.Sequential(nn.ReLU())\nself.s.insert(1, L)", "return self.s(x)"),
    "inserted in front": (
        "self.s = nn.ModuleList([nn.ReLU()])\nself.s.insert(0, L)",
        "return self.s[0](x)",
    ),
    "under a counted name": (
        "for i in range(2):\n    setattr(self, f'l{i}', L)",
        "for i in range(2):\n    x = getattr(self, f'l{i}')(x)\nreturn x",
    ),
    "added under a counted name": (
        "for i in range(2):\n    self.add_module('l%d' % i, L)",
        "return self.l1(x)",
    ),
    "added by keywords": ("self.add_module(name='l', module=L)", "return self.l(x)"),
    "of several that a name may mean": (
        "self.conv1, self.conv2 = nn.ReLU(), L",
        "return getattr(self, f'conv{len(x)}')(x)",
    ),
    "among the modules": ("self._modules['s'] = L", "return self._modules['s'](x)"),
    "one of them by its name": ("self._modules['s'] = L", "return self.s(x)"),
    "a submodule": ("self.s = nn.Sequential(nn.ReLU(), L)", "return self.get_submodule('s.1')(x)"),
    "a child of a Sequential by name": (
        "self.s = nn.Sequential(collections.OrderedDict([('a', L)]))",
        "return self.s.a(x)",
    ),
    "one added there by name": (
        "self.s = nn.Sequential()\nself.s.add_module('a', L)",
        "return self.s.a(x)",
    ),
    "children of another": (
        "s = nn.Sequential(nn.ReLU(), L, nn.ReLU())\nself.s = nn.Sequential(*list(s.children())[:-1])",
        "return self.s(x)",
    ),
    "chained": ("self.s = nn.Sequential(*itertools.chain([nn.ReLU()], [L]))", "return self.s(x)"),
    "reduced": (
        "self.b = nn.ModuleList([L])",
        "return functools.reduce(lambda h, b: b(h), self.b, x)",
    ),
    "in a class of Sequential": (
        "self.s = S()",
        "return self.s(x)",
        "class S(nn.Sequential):\n    def __init__(self):\n        super().__init__(nn.ReLU(), L)\n\n\n",
    ),
    "handed to a class of Sequential": (
        "self.s = S(nn.ReLU(), L)",
        "return self.s(x)",
        "class S(nn.Sequential):\n    pass\n\n\n",
    ),
    "in a class of Sequential with a forward": (
        "self.s = S()",
        "return self.s(x)",
        "class S(nn.Sequential):\n    def __init__(self):\n        super().__init__()\n        self.add_module('a', L)\n\n"
        "    def forward(self, x):\n        return super().forward(x)\n\n\n",
    ),
    "in a class of ModuleList": (
        "self.s = S()",
        "return self.s[0](x)",
        "class S(nn.ModuleList):\n    def __init__(self):\n        super().__init__([L])\n\n\n",
    ),
    "in one that goes over itself": (
        "self.s = S()",
        "return self.s(x)",
        "class S(nn.ModuleList):\n    def __init__(self):\n        super().__init__()\n        self.append(L)\n\n"
        "    def forward(self, x):\n        for i, m in enumerate(self):\n            x = m(x)\n        return x if len(self) else None\n\n\n",
    ),
    "in a class of ModuleDict": (
        "self.s = S()",
        "return self.s(x)",
        "class S(nn.ModuleDict):\n    def __init__(self):\n        super().__init__()\n        self['a'] = L\n\n"
        "    def forward(self, x):\n        for k, m in self.items():\n            x = m(x)\n        return x\n\n\n",
    ),
}
SUBCLASS = "class S(nn.GRU):\n    pass\n\n\n"


def program(made: str, run: str, before: str, layer: str) -> str:
    lines = [f"        {line}" for line in made.split("\n")]
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "\n".join(lines)
    )
    text += (
        "\n\n    def forward(self, x):\n"
        + "\n".join(f"        {line}" for line in run.split("\n"))
        + "\n"
    )
    for place in ("L)", "L]", " L\n", "L,"):
        before, text = (part.replace(place, place.replace("L", layer)) for part in (before, text))
    return HEAD + before + text


@pytest.mark.parametrize("name", CASES)
def test_a_module_is_found_wherever_it_was_put(name, tmp_path):
    made, run, before = (*CASES[name], "")[:3]
    assert {
        code
        for code, _ in found(
            analysed(tmp_path, {"program.py": program(made, run, before, "nn.LSTM(4, 4)")})
        )
    } == {"BRK503"}
    assert not found(
        analysed(tmp_path, {"program.py": program(made, run, before, "nn.Linear(4, 4)")})
    )


def test_a_class_of_a_recurrent_module(tmp_path):
    source = program("self.s = S(4, 4)", "return self.s(x)", SUBCLASS, "")
    assert [code for code, _ in found(analysed(tmp_path, {"program.py": source}))] == ["BRK503"]


def test_what_nothing_was_seen_to_fill_may_be_full(tmp_path):
    body = "for name in OPS:\n    x = x * x.sum().item()\nfor k, f in OPS.items():\n    x = x + x.max().item()\nreturn x.min().item() if len(OPS) else x"
    source = program(
        "pass", body, "class Registry(dict):\n    pass\n\n\nOPS = Registry()\n\n\n", ""
    )
    result = analysed(tmp_path, {"program.py": source})
    assert [code for code, _ in found(result, ("certain", "likely", "possible"))] == ["BRK201"] * 3


def test_a_list_that_loses_its_last_only_perhaps(tmp_path):
    source = program(
        "self.n = 1",
        "rows = [1, x.sum()]\nif x.shape[0] > 1:\n    rows.pop()\nif rows[-1] > 0:\n    x = -x\nreturn x",
        "",
        "",
    )
    assert [code for code, _ in found(analysed(tmp_path, {"program.py": source}))] == ["BRK101"]


LAYERS = """\
import torch


class Layer(torch.nn.Module):
    def forward(self, x):
        print("layer")
        return x + 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])
        self.plain = [Layer(), Layer()]

    def forward(self, x):
        y = {body}
        return y
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[layer(x) for layer in self.layers]", True),
        ("[layer(x) for layer in self.layers[:1]]", True),
        ("[layer(x) for i, layer in enumerate(self.layers)]", False),
        ("[layer(x) for layer in self.plain]", False),
        ("[self.layers[i](x) for i in range(2)]", False),
        ("[self.layers[0](x) for _ in {'a': x}]", True),
        ("sum(layer(x) for layer in self.layers)", True),
        ("any(layer(x) is None for layer in self.plain)", True),
        ("tuple(layer(x) for layer in self.layers)", False),
    ],
)
def test_a_break_in_a_layer_costs_the_comprehension_over_the_layers(tmp_path, body, expected):
    result = analysed(tmp_path, {"model.py": LAYERS.format(body=body)}, python=(3, 11))
    assert found(result) == [("BRK401", 6), *([("BRK113", 17)] if expected else [])]
    newer = analysed(tmp_path, {"model.py": LAYERS.format(body=body)}, python=(3, 12))
    assert found(newer) == [("BRK401", 6)]
