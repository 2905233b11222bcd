"""The dimensions and dtypes that the analyzer expects of a library call are those that torch gives."""

import sys
import types
import unittest
from collections import defaultdict

import pytest
import torch
import torch.nn.functional as F

from breakscope import knowledge
from breakscope.knowledge.ndim import (
    DTYPE,
    NDIM,
    behind_layer,
    call_form,
    is_same_shape,
    joined_ndim,
    product_ndim,
)
from breakscope.rulekit.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
)

# torch's samples import it, and use it for nothing that runs here
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))
TABLES = knowledge.load("2.13.0")
SPACES = {
    "Tensor": torch.Tensor,
    "torch.nn.functional": F,
    "torch.fft": torch.fft,
    "torch": torch,
}
X = torch.rand(2, 4, 6, 6) * 0.5 + 0.25
IDS = torch.zeros(2, 4, 6, 6, dtype=torch.long)
ROWS = torch.tensor([0, 1])
CASES = {  # name -> (tensor, arguments behind it); the others take X alone
    **{f"dropout{n}d": (torch.rand(2, 3, *[4] * n), ()) for n in (1, 2, 3)},
    "type_as": (X, (IDS,)),
    "to": (X, (torch.float64,)),
    "masked_fill": (X, (X > 0.5, 0.0)),
    "masked_fill_": (X, (X > 0.5, 0.0)),
    "clamp": (X, (0.0,)),
    "clamp_": (X, (0.0,)),
    "clip": (X, (0.0,)),
    "flip": (X, ((0,),)),
    "roll": (X, (1,)),
    "transpose": (X, (0, 1)),
    "t": (X[0, 0], ()),
    "softmax": (X, (-1,)),
    "log_softmax": (X, (-1,)),
    "softmin": (X, (-1,)),
    "bitwise_not": (IDS, ()),
    **dict.fromkeys(
        ("eq", "ne", "lt", "le", "gt", "ge", "copy_", "add_", "sub_", "mul_", "div_", "pow_"),
        (X, (X,)),
    ),
    **dict.fromkeys(("cumsum", "cumprod", "logcumsumexp"), (X, (0,))),
    "fill_": (X, (0.0,)),
    "layer_norm": (X, ((6,),)),
    "rms_norm": (X, ((6,),)),
    "group_norm": (X, (2,)),
    "batch_norm": (X, (torch.zeros(4), torch.ones(4))),
    "erfinv": (X, ()),
    "threshold": (X, (0.0, 0.0)),
    **dict.fromkeys(("scatter", "scatter_", "scatter_add", "scatter_add_"), (X, (0, IDS, X))),
    **dict.fromkeys(("scatter_reduce", "scatter_reduce_"), (X, (0, IDS, X, "sum"))),
    **dict.fromkeys(("index_add", "index_add_", "index_copy", "index_copy_"), (X, (0, ROWS, X))),
    **dict.fromkeys(("index_fill", "index_fill_"), (X, (0, ROWS, 0.0))),
    **dict.fromkeys(("index_put", "index_put_"), (X, ((ROWS,), X))),
    "masked_scatter_": (X, (X > 2, X)),
    "requires_grad_": (X.clone(), ()),
    "gather": (X, (0, IDS)),
    "take_along_dim": (X, (IDS, 0)),
    "index_select": (X, (0, ROWS)),
    "narrow": (X, (0, 0, 1)),
    "permute": (X, (0, 1, 3, 2)),
    "linear": (X, (torch.ones(3, 6),)),
    "bilinear": (X, (X, torch.ones(3, 6, 6))),
    "pad": (X, ((1, 1),)),
    "multinomial": (X[0, 0], (1,)),
    "glu": (X, ()),
    **{f"conv{n}d": (torch.rand(2, 3, *[6] * n), (torch.ones(5, 3, *[2] * n),)) for n in (1, 2, 3)},
    **{
        f"conv_transpose{n}d": (torch.rand(2, 3, *[6] * n), (torch.ones(3, 5, *[2] * n),))
        for n in (1, 2, 3)
    },
    **{
        f"{kind}_pool{n}d": (torch.rand(2, 3, *[6] * n), (2,))
        for n in (1, 2, 3)
        for kind in ("avg", "max", "adaptive_avg", "adaptive_max")
    },
    "lp_pool1d": (X[0], (2, 2)),
    "lp_pool2d": (X, (2, 2)),
    "pixel_shuffle": (X, (2,)),
    "pixel_unshuffle": (X, (2,)),
    "interpolate": (X, (8,)),
    "upsample": (X, (8,)),
    "grid_sample": (X, (torch.rand(2, 5, 5, 2),)),
    "bernoulli": (X, ()),
    "bernoulli_": (X, ()),
    "unsqueeze": (X, (0,)),
    "unsqueeze_": (X.clone(), (0,)),
    "select": (X, (0, 1)),
    "one_hot": (IDS, (3,)),
    "embedding": (IDS, (torch.ones(3, 5),)),
    "diag_embed": (X, ()),
    "diagonal": (X, ()),
    "view": (X, (2, -1)),
    "reshape": (X, (2, -1)),
    "expand": (X, (3, 2, 4, 6, 6)),
    "repeat": (X, (1, 1, 1, 1, 2)),
    **{f"new_{name}": (X, (2, 3)) for name in ("zeros", "ones", "empty")},
    "new_full": (X, ((2, 3), 1.0)),
    "full_like": (X, (1.0,)),
    "logsumexp": (X, (0,)),
    "mm": (X[0, 0], (X[0, 0],)),
    "addmm": (X[0, 0], (X[0, 0], X[0, 0])),
    "bmm": (X[0], (X[0],)),
    "baddbmm": (X[0], (X[0], X[0])),
    "mv": (X[0, 0], (X[0, 0, 0],)),
    **dict.fromkeys(("dot", "vdot", "outer", "ger"), (X[0, 0, 0], (X[0, 0, 0],))),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), (IDS, (IDS,))),
    "lerp": (X, (X, 0.5)),
    "cross_entropy": (X[0, 0], (IDS[0, 0, 0],)),
    "nll_loss": (X[0, 0], (IDS[0, 0, 0],)),
    "multi_margin_loss": (X[0, 0], (IDS[0, 0, 0],)),
    "ctc_loss": (
        X[0],
        (torch.ones(6, 2, dtype=torch.long), torch.full((6,), 4), torch.full((6,), 2)),
    ),
    "gaussian_nll_loss": (X, (X, X)),
    "margin_ranking_loss": (X, (X, X)),
    "triplet_margin_loss": (X[0, 0], (X[0, 0], X[0, 0])),
    "cosine_embedding_loss": (X[0, 0], (X[0, 0], X[0, 0, 0])),
}
LAYERS = {  # name -> what it is made with
    **dict.fromkeys(
        """
        Dropout Dropout1d Dropout2d Dropout3d AlphaDropout ReLU ReLU6 LeakyReLU PReLU ELU CELU SELU GELU SiLU Mish
        Tanh Sigmoid LogSigmoid Hardswish Hardsigmoid Hardtanh Softplus Softsign Tanhshrink GLU
        """.split(),
        (),
    ),
    **dict.fromkeys([f"{kind}Norm{n}d" for kind in ("Batch", "Instance") for n in (1, 2, 3)], (4,)),
    **dict.fromkeys(
        [f"Conv{kind}{n}d" for kind in ("", "Transpose") for n in (1, 2, 3)], (4, 3, 2)
    ),
    **dict.fromkeys(
        [
            f"{kind}Pool{n}d"
            for kind in ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax")
            for n in (1, 2, 3)
        ],
        (2,),
    ),
    **dict.fromkeys(
        [f"{kind}Pad{n}d" for kind in ("Zero", "Reflection", "Replication") for n in (1, 2)], (1,)
    ),
    **dict.fromkeys(["ConstantPad1d", "ConstantPad2d"], (1, 0.0)),
    **dict.fromkeys(["Softmax", "LogSoftmax", "Softmin"], (-1,)),
    "Linear": (6, 3),
    "LayerNorm": (6,),
    "RMSNorm": (6,),
    "GroupNorm": (2, 4),
    "SyncBatchNorm": (4,),
    "Upsample": (None, 2),
    "PixelShuffle": (2,),
    "PixelUnshuffle": (2,),
    "Embedding": (3, 5),
    "TransformerEncoderLayer": (6, 2, 8),
    "TransformerDecoderLayer": (6, 2, 8),
}


def abstract(value):
    if isinstance(value, torch.Tensor):
        return Tensor("float" if value.is_floating_point() else "int", value.ndim)
    if isinstance(value, tuple):
        return Sequence("tuple", [abstract(part) for part in value])
    return Const(value) if isinstance(value, int | float | str) else Py("dtype")


def expected(name: str, owner: Tensor, rest=(), **kwargs) -> int | None:
    """The dimensions of the first result, by the table."""
    rest = list(rest)
    known = TABLES.shape(name, call_form(rest, kwargs))
    return None if known is None else NDIM[known.results[0].ndim](owner, rest, kwargs)


@pytest.mark.parametrize("name", sorted(CASES))
def test_an_operation(name):
    tensor, rest = CASES[name]
    spaces = ["torch.nn.functional"] if hasattr(F, name) else ["torch", "Tensor", "torch.fft"]
    spaces = [space for space in spaces if hasattr(SPACES[space], name)]
    assert spaces
    if name.endswith("_") or name in ("reshape", "permute"):  # torch has others, or none
        spaces = ["Tensor"]
    for space in spaces:
        made = getattr(SPACES[space], name)(tensor.clone(), *rest)
        found = expected(f"{space}.{name}", abstract(tensor), map(abstract, rest))
        assert found == made.ndim, (space, found)


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_a_layer(name):
    dimensions = int(name[-2]) if name[-2:] in ("1d", "2d", "3d") else 2
    x = torch.rand(2, 4, *[6] * dimensions)
    layer = getattr(torch.nn, name)(*LAYERS[name])
    if name.startswith("Transformer"):
        x = x[0]
    if name == "Embedding":
        x = torch.zeros(2, 4, dtype=torch.long)
    made = layer(x, x) if name == "TransformerDecoderLayer" else layer.eval()(x)
    value = ExternalInstance(f"torch.nn.{name}", tuple(map(abstract, LAYERS[name])), ())
    found = behind_layer(TABLES.shape, value, abstract(x))
    assert (found.ndim, found.dtype) == (made.ndim, "float")


def test_a_layer_that_adds_a_result():
    pooled = ExternalInstance("torch.nn.MaxPool2d", (Const(2),), (("return_indices", TRUE),))
    found = behind_layer(TABLES.shape, pooled, Tensor("float", 4))
    assert [(part.ndim, part.dtype) for part in found.items] == [(4, "float"), (4, "int")]
    unknown = ExternalInstance("torch.nn.MaxPool2d", (Const(2),), (("return_indices", UNKNOWN),))
    assert len(behind_layer(TABLES.shape, unknown, Tensor("float", 4)).items) == 2


def test_an_unknown_layer():
    found = behind_layer(TABLES.shape, ExternalInstance("torchvision.ops.Squeeze"), None)
    assert (found.ndim, found.dtype) == (None, "float")


@pytest.mark.parametrize(
    "left, right", [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (1, 4), (4, 4), (2, 4)]
)
def test_a_matrix_product(left, right):
    made = torch.ones([3] * left) @ torch.ones([3] * right)
    assert product_ndim(left, right) == made.ndim
    assert expected("torch.matmul", Tensor("float", left), [Tensor("float", right)]) == made.ndim


@pytest.mark.parametrize("rest", [(), (1,), (2,), (0, 1), (1, -2), (-2,), (1, 2)])
def test_flatten(rest):
    found = expected("Tensor.flatten", Tensor("float", 4), map(Const, rest))
    assert found == X.flatten(*rest).ndim


@pytest.mark.parametrize(
    "name, rest, kwargs",
    [
        ("sum", (), {}),
        ("sum", (1,), {}),
        ("sum", ((0, 1),), {}),
        ("sum", (1, True), {}),
        ("sum", (), {"dim": -1, "keepdim": True}),
        ("mean", (), {"dim": (0, 1)}),
        ("std", (1,), {}),
        ("std", (1, False), {}),
        ("std", (1, False, True), {}),
        ("norm", (), {}),
        ("norm", (2, 1), {}),
        ("norm", (2,), {"dim": 1}),
        ("argmax", (1,), {}),
        ("count_nonzero", (1,), {}),
        ("max", (), {}),
        ("logsumexp", (0,), {}),
    ],
)
def test_a_reduction(name, rest, kwargs):
    named = {key: abstract(value) for key, value in kwargs.items()}
    found = expected(f"Tensor.{name}", Tensor("float", 4), map(abstract, rest), **named)
    assert found == getattr(X, name)(*rest, **kwargs).ndim


def test_what_a_list_of_tensors_becomes():
    for name, ndim in (("cat", 2), ("concat", 2), ("stack", 3)):
        assert joined_ndim(TABLES.shape(f"torch.{name}"), Tensor("float", 2)) == ndim
        assert joined_ndim(TABLES.shape(f"torch.{name}"), Tensor("float")) is None
        assert joined_ndim(TABLES.shape(f"torch.{name}"), UNKNOWN) is None
    assert joined_ndim(None, Tensor("float", 2)) is None


def test_what_is_not_known():
    unknown = Tensor("float")
    for name in ("relu", "squeeze", "matmul", "add", "view", "sum"):
        assert expected(f"Tensor.{name}", unknown, [UNKNOWN]) is None
    assert expected("Tensor.add", Tensor("float", 1), [unknown]) is None
    loss = "torch.nn.functional.mse_loss"
    assert expected(loss, unknown, [unknown], reduction=Const("none")) is None
    assert expected(loss, unknown, [unknown], reduction=Py("str")) is None
    assert expected("numpy.dot", Tensor("float", 2, kind="numpy"), [Tensor("float", 2)]) is None
    assert expected("Tensor.view", unknown, **{"*": Dict({})}) is None
    assert expected("Tensor.sum", Tensor("float", 2), **{"*": Dict({})}) is None
    assert expected("Tensor.permute", unknown, [Const(0), Const(1)]) == 2
    assert expected("Tensor.gather", Tensor("float", 3), [Const(0), unknown]) == 3
    assert expected("Tensor.gather", Tensor("float", 1), [Const(0), unknown]) is None


def test_the_same_sizes():
    assert is_same_shape("shape", [], {})
    assert is_same_shape("broadcast", [Const(2), ShapeInt()], {"alpha": Const(1)})
    assert not is_same_shape("broadcast", [Tensor("float", 0)], {})
    assert not is_same_shape("same", [], {})


def test_the_form_of_a_call():
    assert call_form([], {}) == call_form([], {"dim": Const(None)}) == ""
    assert call_form([Tensor()], {}) == call_form([], {"other": Tensor()}) == "tensor"
    assert call_form([Tensor(), Const(0)], {}) == call_form([], {"dim": Const(0)}) == "arguments"
    assert call_form([Const(0), TRUE], {}) == "flag"
    assert call_form([TRUE], {"return_indices": TRUE}) == "return_indices"
    assert call_form([], {"return_counts": FALSE}) == ""


@pytest.mark.parametrize(
    "word, owner, rest, dtype",
    [
        ("same", "bool", [], "bool"),
        ("summed", "bool", [], "int"),
        ("summed", "float", [], "float"),
        ("promoted", "int", [Const(2)], "int"),
        ("promoted", "int", [Const(2.5)], "float"),
        ("promoted", "bool", [Tensor("int", 0)], "int"),
        ("promoted", "int", [Tensor()], None),
        ("promoted", "float", [UNKNOWN], "float"),
        ("quotient", "int", [Const(2)], "float"),
        ("second", "int", [Tensor("float")], "float"),
        ("?", "int", [], None),
    ],
)
def test_a_dtype(word, owner, rest, dtype):
    assert DTYPE[word](Tensor(owner), rest, {}) == dtype


def test_every_word_of_the_table_is_known():
    for name, entry in TABLES.shapes.items():
        for form in entry if type(entry) is dict else ("",):
            known = TABLES.shape(name, form)
            assert known is None or all(
                result.ndim in NDIM and result.dtype in DTYPE for result in known.results
            ), name


SAMPLED = [name for name in TABLES.shapes if not name.startswith("torch.torch.")][::50]


@pytest.fixture(scope="module")
def samples():
    from breakscope.knowledge.build import operators

    found = defaultdict(list)
    for operator in operators.programs():
        found[operator.name].append(operator)
    return found


@pytest.mark.parametrize("name", SAMPLED)
def test_a_row_of_the_table_holds(name, samples):
    """A sample; `benchmarks/shapes.py` tries them all."""
    from breakscope.knowledge.build import shapes

    found = shapes.isolated_tries(name, samples[name])
    assert found and not shapes.wrong(TABLES.shapes[name], found)
