"""The sizes behind layers are compared with torch itself."""

import ast

import pytest
import torch
from torch import nn

from breakscope.rulekit.values import Const, ExternalInstance, Sequence, Tensor
from breakscope.static.variables.tensors.layer_sizes import behind_layer

LAYERS = [
    ("nn.Linear(6, 3)", (4, 6)),
    ("nn.Linear(in_features=6, out_features=3)", (2, 4, 6)),
    ("nn.LSTM(6, 7, batch_first=True)", (2, 5, 6)),
    ("nn.LSTM(6, 7, 2, bidirectional=True)", (2, 5, 6)),
    ("nn.GRU(input_size=6, hidden_size=7)", (5, 6)),
    ("nn.RNN(6, 7, 3)", (2, 5, 6)),
    ("nn.GRUCell(6, 7)", (4, 6)),
    ("nn.LSTMCell(6, hidden_size=7)", (4, 6)),
    ("nn.Flatten()", (2, 3, 4)),
    ("nn.Flatten(0)", (2, 3, 4)),
    ("nn.Flatten(1, 2)", (2, 3, 4, 5)),
    ("nn.Unflatten(1, (2, 3))", (4, 6)),
    ("nn.PixelShuffle(2)", (1, 8, 3, 3)),
    ("nn.Upsample(scale_factor=2)", (1, 2, 4, 5)),
    ("nn.Upsample((7, 8))", (1, 2, 4, 5)),
    ("nn.ZeroPad2d(1)", (1, 2, 4, 5)),
    ("nn.ReflectionPad1d((1, 2))", (2, 4, 5)),
    ("nn.ConstantPad2d((1, 2, 3, 4), 0.0)", (1, 2, 4, 5)),
    ("nn.Conv2d(2, 3, 3, stride=2)", (1, 2, 9, 8)),
    ("nn.ConvTranspose2d(2, 3, 2, stride=2)", (1, 2, 4, 5)),
    ("nn.ConvTranspose1d(2, 3, 5, 2, 1, 1)", (2, 7)),
    ("nn.MaxPool2d(2)", (1, 2, 9, 8)),
    ("nn.Softplus()", (2, 3)),
    ("nn.TransformerEncoderLayer(6, 2)", (2, 3, 6)),
]


def as_layer(text):
    call = ast.parse(text, mode="eval").body
    given = {word.arg: _value(ast.literal_eval(word.value)) for word in call.keywords}
    args = tuple(_value(ast.literal_eval(arg)) for arg in call.args)
    return ExternalInstance(f"torch.nn.{call.func.attr}", args, tuple(given.items()))


def _value(given):
    return Sequence("tuple", [*map(Const, given)]) if isinstance(given, tuple) else Const(given)


def shapes(made):
    if isinstance(made, torch.Tensor):
        return tuple(made.shape)
    return [shapes(part) for part in made]


@pytest.mark.parametrize(("text", "given"), LAYERS)
def test_sizes_are_those_of_torch(text, given):
    made = eval(text)(torch.ones(given))
    assert behind_layer(as_layer(text), Tensor("float", len(given), given)) == shapes(made)


@pytest.mark.parametrize("name", sorted({text.partition("(")[0][3:] for text, _ in LAYERS}))
def test_what_is_not_known_is_no_error(name):
    odd = [Const("a"), Const(None), Const(10**30), Tensor(), Sequence("list", None)]
    assert hasattr(nn, name)
    for shape in ((3,), (None, 2), (1, 2, 3, 4)):
        for args in ((), odd[:1], odd[1:3], odd[3:], odd[2:3] * 4):
            layer = ExternalInstance(f"torch.nn.{name}", tuple(args), (("bias", odd[0]),))
            behind_layer(layer, Tensor("float", None, shape))
