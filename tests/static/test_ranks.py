"""The ranks that the analyzer expects are those that torch gives."""

import pytest
import torch
import torch.nn.functional as F

from breakscope.static.ranks import (
    BIGGER,
    LAYERS,
    LOSSES,
    POINTWISE,
    PRODUCTS,
    SAME_RANK,
    SAME_SHAPE,
    SCALAR_RESULTS,
    SIZED,
    product_rank,
    rank_behind_layer,
    rank_of_result,
)
from breakscope.values import Const, Dict, ExternalInstance, Py, Sequence, Tensor

X = torch.rand(2, 4, 6, 6) * 0.5 + 0.25
IDS = torch.zeros(2, 4, 6, 6, dtype=torch.long)
ROWS = torch.tensor([0, 1])
CASES = {  # name -> (tensor, arguments behind it); the others take X alone
    **{f"dropout{n}d": (torch.rand(2, 3, *[4] * n), ()) for n in (1, 2, 3)},
    "type_as": (X, (IDS,)), "to": (X, (torch.float64,)), "masked_fill": (X, (X > 0.5, 0.0)), "masked_fill_": (X, (X > 0.5, 0.0)),
    "clamp": (X, (0.0,)), "clamp_": (X, (0.0,)), "clip": (X, (0.0,)), "flip": (X, ((0,),)), "roll": (X, (1,)), "transpose": (X, (0, 1)),
    "t": (X[0, 0], ()), "softmax": (X, (-1,)), "log_softmax": (X, (-1,)), "softmin": (X, (-1,)), "bitwise_not": (IDS, ()),
    **{name: (X, (X,)) for name in ("eq", "ne", "lt", "le", "gt", "ge", "copy_", "add_", "sub_", "mul_", "div_", "pow_")},
    **{name: (X, (0,)) for name in ("cumsum", "cumprod", "logcumsumexp")}, "fill_": (X, (0.0,)),
    "layer_norm": (X, ((6,),)), "rms_norm": (X, ((6,),)), "group_norm": (X, (2,)), "batch_norm": (X, (torch.zeros(4), torch.ones(4))),
    "erfinv": (X, ()), "threshold": (X, (0.0, 0.0)), "polygamma": (X, ()),
    **{name: (X, (0, IDS, X)) for name in ("scatter", "scatter_", "scatter_add", "scatter_add_")},
    **{name: (X, (0, IDS, X, "sum")) for name in ("scatter_reduce", "scatter_reduce_")},
    **{name: (X, (0, ROWS, X)) for name in ("index_add", "index_add_", "index_copy", "index_copy_")},
    **{name: (X, (0, ROWS, 0.0)) for name in ("index_fill", "index_fill_")},
    **{name: (X, ((ROWS,), X)) for name in ("index_put", "index_put_")}, "masked_scatter_": (X, (X > 2, X)),
    "requires_grad_": (X.clone(), ()), "gather": (X, (0, IDS)), "take_along_dim": (X, (IDS, 0)), "index_select": (X, (0, ROWS)),
    "narrow": (X, (0, 0, 1)), "permute": (X, (0, 1, 3, 2)), "linear": (X, (torch.ones(3, 6),)),
    "bilinear": (X, (X, torch.ones(3, 6, 6))), "pad": (X, ((1, 1),)), "multinomial": (X[0, 0], (1,)), "glu": (X, ()),
    **{f"conv{n}d": (torch.rand(2, 3, *[6] * n), (torch.ones(5, 3, *[2] * n),)) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": (torch.rand(2, 3, *[6] * n), (torch.ones(3, 5, *[2] * n),)) for n in (1, 2, 3)},
    **{f"{kind}_pool{n}d": (torch.rand(2, 3, *[6] * n), (2,)) for n in (1, 2, 3)
       for kind in ("avg", "max", "adaptive_avg", "adaptive_max")},
    "lp_pool1d": (X[0], (2, 2)), "lp_pool2d": (X, (2, 2)), "pixel_shuffle": (X, (2,)), "pixel_unshuffle": (X, (2,)),
    "interpolate": (X, (8,)), "upsample": (X, (8,)), "grid_sample": (X, (torch.rand(2, 5, 5, 2),)),
    "bernoulli": (X, ()), "bernoulli_": (X, ()), "unsqueeze": (X, (0,)), "unsqueeze_": (X.clone(), (0,)), "select": (X, (0, 1)),
    "one_hot": (IDS, (3,)), "embedding": (IDS, (torch.ones(3, 5),)), "diag_embed": (X, ()), "diagonal": (X, ()),
    "view": (X, (2, -1)), "reshape": (X, (2, -1)), "expand": (X, (3, 2, 4, 6, 6)), "repeat": (X, (1, 1, 1, 1, 2)),
    **{f"new_{name}": (X, (2, 3)) for name in ("zeros", "ones", "empty")}, "new_full": (X, ((2, 3), 1.0)), "full_like": (X, (1.0,)), "logsumexp": (X, (0,)),
    "mm": (X[0, 0], (X[0, 0],)), "addmm": (X[0, 0], (X[0, 0], X[0, 0])), "bmm": (X[0], (X[0],)), "baddbmm": (X[0], (X[0], X[0])),
    "mv": (X[0, 0], (X[0, 0, 0],)), **{name: (X[0, 0, 0], (X[0, 0, 0],)) for name in ("dot", "vdot", "outer", "ger")},
    **{name: (IDS, (IDS,)) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")}, "lerp": (X, (X, 0.5)),
    "cross_entropy": (X[0, 0], (IDS[0, 0, 0],)), "nll_loss": (X[0, 0], (IDS[0, 0, 0],)), "multi_margin_loss": (X[0, 0], (IDS[0, 0, 0],)),
    "ctc_loss": (X[0], (torch.ones(6, 2, dtype=torch.long), torch.full((6,), 4), torch.full((6,), 2))),
    "gaussian_nll_loss": (X, (X, X)), "margin_ranking_loss": (X, (X, X)), "triplet_margin_loss": (X[0, 0], (X[0, 0], X[0, 0])),
    "cosine_embedding_loss": (X[0, 0], (X[0, 0], X[0, 0, 0])),
}
ALL = sorted({*SAME_SHAPE - {"cuda"}, *SAME_RANK, *POINTWISE, *SCALAR_RESULTS, *SIZED, *PRODUCTS, *BIGGER, *LOSSES})
LAYER_ARGUMENTS = {
    "Linear": (6, 3), "LayerNorm": (6,), "RMSNorm": (6,), "GroupNorm": (2, 4), "SyncBatchNorm": (4,), "Upsample": (None, 2),
    "PixelShuffle": (2,), "PixelUnshuffle": (2,), "Softmax": (-1,), "LogSoftmax": (-1,), "Softmin": (-1,), "Embedding": (3, 5),
    "TransformerEncoderLayer": (6, 2, 8), "TransformerDecoderLayer": (6, 2, 8), "ConstantPad1d": (1, 0.0), "ConstantPad2d": (1, 0.0),
}


def abstract(value):
    if isinstance(value, torch.Tensor):
        return Tensor("float", value.ndim)
    if isinstance(value, tuple):
        return Sequence("tuple", [abstract(part) for part in value])
    return Const(value) if isinstance(value, int | float | str) else Py("dtype")


def run(name: str, tensor: torch.Tensor, rest: tuple) -> torch.Tensor:
    for home in (F, torch.Tensor, torch.fft, torch):
        if hasattr(home, name):
            return getattr(home, name)(tensor.clone(), *rest)
    raise AssertionError(f"torch has no {name}")


@pytest.mark.parametrize("name", ALL)
def test_an_operation(name):
    default = (X, (X,)) if name in POINTWISE or name in LOSSES else (X, ())
    tensor, rest = CASES.get(name, default)
    expected = rank_of_result(name, Tensor("float", tensor.ndim), [abstract(value) for value in rest], {})
    assert expected == run(name, tensor, rest).ndim


@pytest.mark.parametrize("name", sorted(LAYERS - {"TransformerEncoder", "TransformerDecoder"}) + ["Embedding"])
def test_a_layer(name):
    dimensions = int(name[-2]) if name[-2:] in ("1d", "2d", "3d") else 2
    x = torch.rand(2, 4, *[6] * dimensions)
    by_name = {"Batch": (4,), "Insta": (4,), "ConvT": (4, 3, 2), "Conv": (4, 3, 2), "Max": (2,), "Avg": (2,), "Adapt": (2,),
               "Zero": (1,), "Refle": (1,), "Repli": (1,)}
    given = LAYER_ARGUMENTS.get(name) or next((a for start, a in by_name.items() if name.startswith(start)), ())
    layer = getattr(torch.nn, name)(*given)
    if name.startswith("Transformer"):
        x = x[0]
    if name == "Embedding":
        x = torch.zeros(2, 4, dtype=torch.long)
    made = layer(x, x) if name == "TransformerDecoderLayer" else layer.eval()(x)
    assert rank_behind_layer(ExternalInstance(f"torch.nn.{name}", (), ()), x.ndim) == made.ndim


@pytest.mark.parametrize("left, right", [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (1, 4), (4, 4), (2, 4)])
def test_a_matrix_product(left, right):
    made = torch.ones([3] * left) @ torch.ones([3] * right)
    assert product_rank(left, right) == made.ndim


@pytest.mark.parametrize("rest", [(), (1,), (2,), (0, 1), (1, -2), (-2,), (1, 2)])
def test_flatten(rest):
    assert rank_of_result("flatten", Tensor("float", 4), [Const(n) for n in rest], {}) == X.flatten(*rest).ndim


def test_what_is_not_known():
    unknown = Tensor("float")
    for name in ("relu", "squeeze", "matmul", "add", "view"):
        assert rank_of_result(name, unknown, [], {}) is None
    assert rank_of_result("add", Tensor("float", 1), [unknown], {}) is None
    assert rank_of_result("mse_loss", unknown, [unknown], {"reduction": Const("none")}) is None
    assert rank_of_result("dot", Tensor("float", 2, kind="numpy"), [Tensor("float", 2)], {}) is None
    assert rank_of_result("view", unknown, [], {"*": Dict({})}) is None
