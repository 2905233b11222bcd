"""Modules of torch.nn and of the checked source: parameters, buffers, layers, containers. The
branch breaks under Dynamo of torch 2.13.0 where it reads a tensor."""

import pytest
from programs import analysed, found

# name: (lines of __init__, the test in forward, whether it reads a tensor)
CASES = {
    "a parameter": ("self.w = nn.Parameter(torch.ones(2))", "self.w.sum() > 0", True),
    "a buffer": ("self.register_buffer('b', torch.ones(2))", "self.b.sum() > 0", True),
    "a buffer that is None": ("self.register_buffer('b', None)", "self.b is None", False),
    "a registered parameter": (
        "self.register_parameter('w', nn.Parameter(torch.ones(2)))",
        "self.w.sum() > 0",
        True,
    ),
    "a number": ("self.n = 2", "self.n > 1", False),
    "training": ("pass", "self.training", False),
    "a layer's result": ("self.l = nn.Linear(4, 4)", "self.l(x).sum() > 0", True),
    "a layer's weight": ("self.l = nn.Linear(4, 4)", "self.l.weight.sum() > 0", True),
    "a layer without a bias": (
        "self.l = nn.Linear(4, 4, bias=False)",
        "self.l.bias is None",
        False,
    ),
    "a layer's size": ("self.l = nn.Linear(4, 4)", "self.l.in_features > 2", False),
    "a Sequential": (
        "self.s = nn.Sequential(nn.Linear(4, 4), nn.ReLU())",
        "self.s(x).sum() > 0",
        True,
    ),
    "a module of a list": (
        "self.l = nn.ModuleList([nn.Linear(4, 4)])",
        "self.l[0](x).sum() > 0 and len(self.l) == 1",
        True,
    ),
    "its named children": (
        "self.l = nn.Linear(4, 4)",
        "[m(x).sum() for n, m in self.named_children()][0] > 0",
        True,
    ),
    "their names": (
        "self.l = nn.Linear(4, 4)",
        "[n for n, m in self.named_children()][0] > ''",
        False,
    ),
    "a module of a dict": (
        "self.d = nn.ModuleDict({'a': nn.Linear(4, 4)})",
        "self.d['a'](x).sum() > 0",
        True,
    ),
    "a name in a dict of modules": (
        "self.d = nn.ModuleDict({'a': nn.Linear(4, 4)})",
        "'a' in self.d",
        False,
    ),
    "its parameters": ("self.l = nn.Linear(4, 4)", "next(self.parameters()).sum() > 0", True),
    "its own class": ("pass", "isinstance(self, nn.Module)", False),
    "a layer's class": ("self.l = nn.Linear(4, 4)", "isinstance(self.l, nn.Linear)", False),
    "an embedding by index": (
        "self.e = nn.Embedding(4, 2)",
        "self.e(torch.tensor([0])).sum() > 0",
        True,
    ),
    "two results of attention": (
        "self.a = nn.MultiheadAttention(4, 1)",
        "self.a(x, x, x)[0].sum() > 0",
        True,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_module(name, tmp_path):
    before, test, is_tensor = CASES[name]
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n        {before}\n\n    def forward(self, x: torch.Tensor):\n"
        f"        if {test}:\n            x = x + 1\n        return x\n"
    )
    assert found(analysed(tmp_path, {"program.py": source})) == (
        [("BRK101", 11)] if is_tensor else []
    )


def test_behind_eval_a_module_does_not_train(tmp_path):
    source = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        {before}
        if self.training and x.mean() > 1:
            return x + 1
        return x
"""
    codes = {
        before: [
            code
            for code, _ in found(analysed(tmp_path, {"program.py": source.format(before=before)}))
        ]
        for before in ("self.eval()", "self.train()", "pass")
    }
    assert codes == {"self.eval()": [], "self.train()": ["BRK101"], "pass": ["BRK101"]}


def test_a_parent_is_asked_for_what_it_has(tmp_path):
    source = """\
import torch


class Base(torch.nn.Module):
    def prepare(self, x):
        return x * x.mean().item()


class Model(Base):
    def forward(self, x):
        if hasattr(super(), "prepare"):
            return super().prepare(x)
        return x.tolist()
"""
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK201", 6), ("BRK559", 11)]


HOOKED = """\
import torch
from torch import nn


class Outer(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        {register}

    def read(self, module, given, made=None):
        return given[0] * given[0].mean().item()

    def forward(self, x):
        return self.body(x)


def make():
    body = nn.Sequential(nn.Sequential(nn.Linear(3, 3)), nn.ReLU())
    return Outer(body), (torch.randn(2, 3),), {{}}
"""
PUT = "m.register_forward_pre_hook(self.read)"


@pytest.mark.parametrize(
    ("register", "is_read"),
    [
        (f"[{PUT} for m in self.modules()]", True),
        (f"[{PUT} for m in body.modules() if isinstance(m, nn.Linear)]", True),
        (f"[{PUT} for n, m in body.named_modules() if n == '0.0']", True),
        (f"[{PUT} for m in body.children()]", True),
        (f"[{PUT} for n, m in self.named_children() if n == 'body']", True),
        ("self.body.register_forward_hook(self.read)", True),
        (f"[{PUT} for m in body.modules() if isinstance(m, nn.Conv2d)]", False),
        (f"[{PUT} for m in body.children() if isinstance(m, nn.Linear)]", False),
        (f"[{PUT} for n, m in body.named_children() if n == '0.0']", False),
        (f"[{PUT} for m in nn.Linear(2, 2).modules()]", False),
    ],
)
def test_hooks_on_the_modules_inside(register, is_read, tmp_path):
    """As Dynamo of torch 2.13.0 breaks in the hook, or never enters it."""
    source = HOOKED.format(register=register)
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert found(result) == [("BRK201", 12)] * is_read


OWN_GETTER = """\
import torch
from torch import nn

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(2, 2)
        self.number = 2

    def __getattr__(self, name):
        {}
        return super().__getattr__(name)

    def forward(self, x):
        return {}
"""
GETTERS = {
    "prints": ("print(name)", "self.part(x)", [11]),
    "is not run for what is no part": ("print(name)", "x * self.number", []),
    "reads in C": ("object.__getattribute__(self, '__dict__')", "self.part(x)", [11]),
    "breaks nothing": ("assert name", "self.part(x)", []),
}


@pytest.mark.parametrize(("line", "value", "lines"), GETTERS.values(), ids=GETTERS)
def test_a_getattr_of_its_own_runs_for_each_part(line, value, lines, tmp_path):
    result = analysed(tmp_path, {"m.py": OWN_GETTER.format(line, value)})
    assert [line for _, line in found(result)] == lines


CHANGES = {
    "a layer frozen": ("self.l = nn.Linear(4, 4)", "self.l.requires_grad_(False)", True),
    "a container frozen": (
        "self.l = nn.ModuleDict({'a': nn.Linear(4, 4)})",
        "self.l.requires_grad_(False)",
        True,
    ),
    "a layer that may be frozen": (
        "self.l = nn.Linear(4, 4).requires_grad_(False)",
        "self.l.requires_grad_(False)",
        False,
    ),
    "a layer without parameters": ("self.l = nn.ReLU()", "self.l.requires_grad_(False)", False),
    "a layer as it is": ("self.l = nn.Linear(4, 4)", "self.l.requires_grad_()", False),
    "a layer in another precision": ("self.l = nn.Linear(4, 4)", "self.l.half()", True),
    "no parameters in another precision": (
        "self.l = nn.BatchNorm1d(4, affine=False)",
        "self.l.half()",
        False,
    ),
    "a dtype that it has": ("self.l = nn.Linear(4, 4)", "self.l.to(torch.float32)", False),
    "another dtype": ("self.l = nn.Linear(4, 4)", "self.l.to(dtype=torch.float64)", True),
    "a device": ("self.l = nn.Linear(4, 4)", "self.l.to('cpu')", False),
    "another type": ("self.l = nn.ModuleList([nn.Linear(4, 4)])", "self.l.type(torch.half)", True),
    "parameters without values": (
        "self.l = nn.Sequential(nn.Linear(4, 4))",
        "self.l.to_empty(device='cpu')",
        True,
    ),
    "a container loaded": (
        "self.l = nn.Sequential(nn.Linear(4, 4))",
        "self.l.load_state_dict(self.l.state_dict())",
        True,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_parameters(name, tmp_path):
    before, change, breaks = CHANGES[name]
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n        {before}\n\n    def forward(self, x: torch.Tensor):\n"
        f"        y = x * 2\n        {change}\n        return y + 1\n"
    )
    result = analysed(tmp_path, {"model.py": source})
    assert found(result) == ([("BRK607", 12)] if breaks else [])


@pytest.mark.parametrize(
    ("mark", "breaks"),
    [
        ("x.requires_grad_(False)", False),  # it needs none already
        ("x.requires_grad_()", True),
        ("self.b.requires_grad_(requires_grad=False)", False),
        ("self.b.requires_grad_(True)", True),
        ("self.w.requires_grad_(False)", True),
        ("self.w.requires_grad_()", False),
        ("x.requires_grad = False", True),
    ],
)
def test_a_mark_for_gradients_breaks_where_it_changes_something(mark, breaks, tmp_path):
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.w = nn.Parameter(torch.ones(4))\n"
        "        self.register_buffer('b', torch.ones(4))\n\n    def forward(self, x: torch.Tensor):\n"
        f"        y = x * 2\n        {mark}\n        return y + 1\n"
    )
    result = analysed(tmp_path, {"model.py": source})
    assert found(result) == ([("BRK605", 13)] if breaks else [])


def test_a_transformer_without_a_mask_reads_none(tmp_path):
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.t = nn.Transformer(8, 2, 1, 1, 16)\n\n"
        "    def forward(self, x: torch.Tensor):\n        return self.t(x, x)\n"
    )
    assert found(analysed(tmp_path, {"model.py": source})) == []


@pytest.mark.parametrize(
    ("layer", "test", "breaks"),
    [
        ("Embedding(4, 3)", "self.layer.padding_idx is None", True),
        ("Embedding(4, 3, padding_idx=0)", "self.layer.padding_idx is None", True),
        ("Embedding(4, 3, padding_idx=0)", "self.layer.padding_idx is not None", False),
        ("CrossEntropyLoss()", "self.layer.weight is not None", True),
        ("Linear(3, 3)", "self.layer.weight is not None", False),
    ],
)
def test_what_a_layer_may_lack_decides_nothing(layer, test, breaks, tmp_path):
    source = (
        "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.layer = torch.nn.{layer}\n    def forward(self, x):\n        if {test}:\n"
        "            return x\n        return x * x.sum().item()\n"
    )
    assert bool(found(analysed(tmp_path, {"model.py": source}))) is breaks


@pytest.mark.parametrize(
    ("made", "codes"),
    [
        ("LayerNorm(3)", ["BRK517"]),
        ("LayerNorm(3, elementwise_affine=False)", []),
        ("InstanceNorm1d(3)", []),
        ("InstanceNorm1d(3, affine=True)", ["BRK517"]),
        ("LazyLinear(3)", ["BRK517"]),
    ],
)
def test_a_layer_that_is_made_in_a_region_breaks_for_its_parameters(made, codes, tmp_path):
    source = f"import torch\n@torch.compile\ndef step(x):\n    return torch.nn.{made}(x)\n"
    assert [code for code, _ in found(analysed(tmp_path, {"run.py": source}))] == codes


def test_what_a_distribution_has_is_a_tensor(tmp_path):
    source = (
        "import torch\n@torch.compile\ndef step(x):\n    held = torch.distributions.Normal(x, 1.0)\n"
        "    return x if held.mean > 0 else -x\n"
    )
    assert found(analysed(tmp_path, {"run.py": source})) == [("BRK101", 5)]


@pytest.mark.parametrize(
    ("base", "test", "lines"),
    [
        ("Linear", "self.weight.sum() > self.bias.sum()", [10]),
        ("Linear", "self.bias is None or self.bias.abs() > 1", [10]),
        ("Conv2d", "self.weight is None", []),
        ("LayerNorm", "self.weight is not None and self.weight.abs() > 1", [10]),
        ("ReLU", "self.weight", []),
    ],
)
def test_parameters_of_the_layer_that_a_class_derives_from(base, test, lines, tmp_path):
    source = f"""import torch
from torch import nn


class Layer(nn.{base}):
    def __init__(self, n: int, bias: bool = True):
        super().__init__(n, n, bias=bias)

    def forward(self, x: torch.Tensor):
        if {test}:
            x = x + 1
        return x
"""
    result = analysed(tmp_path, {"layer.py": source})
    assert found(result) == [("BRK101", line) for line in lines]


def test_a_parameter_of_a_class_of_its_own_is_asked_for(tmp_path):
    source = """import torch
from torch import nn


class Packed(nn.Parameter):
    pass


class Layer(nn.Linear):
    def forward(self, x: torch.Tensor):
        if isinstance(self.weight, Packed):
            x = x * x.sum().item()
        return x
"""
    assert found(analysed(tmp_path, {"layer.py": source})) == [("BRK201", 12)]


@pytest.mark.parametrize(
    ("stored", "test", "lines"),
    (
        ("self.scale = nn.Parameter(torch.ones(4))", "self.scale is None", [12]),
        ("self.scale = nn.Linear(4, 4)", "self.scale is None", [12]),
        ("self._scale = nn.Parameter(torch.ones(4))", "self.scale is None", []),
        ("self.scale = 4", "self.scale is None", []),
        ("self.scale = nn.Parameter(torch.ones(4))", "hasattr(self, 'scale')", []),
    ),
)
def test_a_property_that_a_parameter_of_its_name_hides(stored, test, lines, tmp_path):
    source = f"""import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {stored}

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        self._scale = value

    def forward(self, x: torch.Tensor):
        return x if {test} else x + 1
"""
    result = analysed(tmp_path, {"net.py": source})
    assert found(result) == [("BRK549", line) for line in lines]


def test_a_class_that_derives_from_a_transformer_has_its_encoder(tmp_path):
    source = """\
        import torch
        from torch import nn


        class Language(nn.Transformer):
            def __init__(self):
                super().__init__(d_model=8, nhead=2)
                self.decoder = nn.Linear(8, 5)

            def forward(self, x):
                mask = torch.zeros(len(x), len(x))
                return self.decoder(self.encoder(x, mask=mask))
        """
    assert found(analysed(tmp_path, {"language.py": source})) == [("BRK573", 12)]
