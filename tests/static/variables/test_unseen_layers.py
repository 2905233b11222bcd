"""Layers of which nothing is known: a value that a constructor keeps and `forward` calls with a tensor."""

import pytest
from programs import analysed, found

SOURCE = """import torch
from elsewhere import Block
from torch import nn


class Net(nn.Module):
    def __init__(self, backbone, kind):
        super().__init__()
        self.backbone = backbone
        self.stack = nn.Sequential(backbone, kind(3))
        self.choose = kind

    def forward(self, x: torch.Tensor):
        y = {call}
        if float(y) > 0:
            x = x + 1
        return x
"""


@pytest.mark.parametrize(
    "call",
    ["self.backbone(x)", "self.stack(x)", "self.backbone(x, 1).mean()", "self.backbone(x).relu()"],
)
def test_what_it_makes_of_a_tensor_is_a_tensor(call, tmp_path):
    result = analysed(tmp_path, {"program.py": SOURCE.format(call=call)})
    assert found(result) == [("BRK202", 15)]
    assert [finding.confidence for finding in result.findings] == ["likely"]


@pytest.mark.parametrize("call", ["self.choose('names')", "self.choose()", "Block(3)(x)"])
def test_anything_else_is_unknown(call, tmp_path):
    assert found(analysed(tmp_path, {"program.py": SOURCE.format(call=call)})) == []


SIZES = """import torch


@torch.compile
def f(x: torch.Tensor, rows):
    size = torch.Size([rows, int(3), x.shape[0]])
    if size[0] > 2 and len(size) == 3:
        x = x + 1
    if len(size) == 2:
        print("never")
    return x.new_zeros(size)
"""


def test_a_size_has_what_it_is_made_of(tmp_path):
    assert found(analysed(tmp_path, {"program.py": SIZES})) == []


LAZY = """import torch
from torch.distributions.utils import lazy_property


class Holder:
    def __init__(self, x):
        self.x = x

    @lazy_property
    def twice(self):
        return self.x * 2


@torch.compile
def f(x: torch.Tensor):
    if Holder(x).twice.sum() > 0:
        return x + 1
    return x
"""


def test_a_lazy_property_is_read_as_one(tmp_path):
    assert found(analysed(tmp_path, {"program.py": LAZY})) == [("BRK101", 16)]


@pytest.mark.parametrize(
    ("layer", "asked"),
    [
        ("self.core", "nn.LSTM"),
        ("self.layers[0]", "(nn.GRU, nn.LSTM)"),
        ("next(iter(self.layers))", "nn.RNNBase"),
    ],
)
def test_a_layer_that_is_asked_whether_it_is_recurrent(layer, asked, tmp_path):
    """Where it is, Dynamo skips the function at the question already."""
    source = f"""\
        from torch import nn

        class Tagger(nn.Module):
            def __init__(self, core, layers):
                super().__init__()
                self.core = core
                self.layers = nn.ModuleList(layers)

            def forward(self, x):
                layer = {layer}
                if isinstance(layer, {asked}):
                    return layer(x)[0]
                return layer(x)
        """
    (finding,) = analysed(tmp_path, {"model.py": source}).findings
    assert (finding.code, finding.line) == ("BRK503", 11)
    assert finding.condition == f"isinstance(layer, {asked})"


SCRIPTED = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, {parameter}):
        super().__init__()
        self.model = {value}

    def forward(self, x: torch.Tensor):
        y = x + 1
        return self.model(y)
"""


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("model: torch.jit.ScriptModule", "model"),
        ("model: torch.jit.RecursiveScriptModule | None = None", "model"),
        ("path", "torch.jit.load(path)"),
    ],
)
def test_a_module_of_torchscript_that_is_handed_over_or_loaded(parameter, value, tmp_path):
    source = SCRIPTED.format(parameter=parameter, value=value)
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK519", 12)]


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        ("torch.jit.script(nn.Sequential(*layers))", ""),
        ("torch.jit.script(nn.Sequential(*layers) if layers else nn.Identity())", ""),
        ("nn.Sequential(*layers)\n        if script:\n            self.model = torch.jit.script(self.model)", "script"),
    ],
)  # fmt: skip
def test_modules_that_are_scripted(value, condition, tmp_path):
    source = SCRIPTED.format(parameter="layers: list, script: bool = False", value=value)
    (finding,) = analysed(tmp_path, {"program.py": source}).findings
    assert (finding.code, finding.condition) == ("BRK519", condition)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("self.backbone.parts.norm(x)", None),
        ("[self.backbone.parts][0].norm(x)", None),
        ("self.backbone.parts.softmax(x).mean()", None),
        ("x.norm(x.mean())", "BRK209"),
        ("self.backbone.parts.norm(dim=1).norm(x.mean())", "BRK209"),
    ],
)
def test_a_method_that_takes_no_tensor_is_none_of_a_tensor_where_it_is_given_one(
    call, code, tmp_path
):
    source = SOURCE.format(call=call).replace("float(y) > 0", "x.ndim")
    assert found(analysed(tmp_path, {"program.py": source})) == ([(code, 14)] if code else [])


ANOTHER_S = """\
import {package} as other
import torch


class Layer(other.Module):
    def forward(self, x):
        if x.sum() > 0:
            return torch.exp(x)
        return x
"""


@pytest.mark.parametrize(("package", "lines"), [("tensorflow", []), ("elsewhere.nn", [7])])
def test_a_module_of_another_framework_is_none(package, lines, tmp_path):
    result = analysed(tmp_path, {"layers.py": ANOTHER_S.format(package=package)})
    assert [line for _, line in found(result)] == lines


HELPED = """\
import torch
import torch.nn.functional as F


class Attention(torch.nn.Module):
    def forward(self, query, key, value):
        is_batched = F.{helper}(query, key, value, None, None, 2)
        if is_batched:
            query = query.unsqueeze(1)
        return query * 2
"""


@pytest.mark.parametrize(("helper", "lines"), [("_mha_shape_check", []), ("bilinear", [8])])
def test_a_private_function_of_torchs_layers_may_give_a_flag(helper, lines, tmp_path):
    result = analysed(tmp_path, {"attention.py": HELPED.format(helper=helper)})
    assert [line for _, line in found(result)] == lines
