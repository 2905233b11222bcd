"""The rules for sizes are compared with torch itself, for arguments of all kinds."""

import random

import pytest
import torch

from breakscope.rulekit.values import NONE, UNKNOWN, Const, Py, Sequence, Tensor
from breakscope.static.variables.tensors.size_rules import RULES, einsum_sizes, sizes_by_name

NAMES = sorted(RULES)
SHAPES = [
    (),
    (3,),
    (4,),
    (2, 3),
    (3, 4),
    (4, 4),
    (2, 3, 4),
    (2, 4, 3),
    (1, 4, 2, 2),
    (8, 1, 2),
    (40,),
]
PLAIN = [
    0,
    1,
    2,
    -1,
    -2,
    3,
    7,
    (0, 1),
    (1, 0),
    (2, -1),
    (2, 1, 3),
    (0, 2, 1),
    (-1, 3),
    (),
    "none",
    1.5,
]
WORDS = (
    "dim dims size n k bins other reduction diagonal start_dim keepdim indices n_fft center".split()
)


KNOWN = {  # calls that chance does not find: the tensor, and what it is given
    "addmm": [
        ((4,), [torch.ones(2, 3), torch.ones(3, 4)]),
        ((2, 4), [torch.ones(2, 3), torch.ones(3, 4)]),
    ],
    "addmv": [((2,), [torch.ones(2, 3), torch.ones(3)])],
    "baddbmm": [((2, 3, 5), [torch.ones(2, 3, 4), torch.ones(2, 4, 5)])],
    "bmm": [((2, 3, 4), [torch.ones(2, 4, 5)])],
    "index_select": [((4, 3), [0, torch.tensor([0, 2])]), ((4, 3), [-1, torch.tensor([1])])],
    "moveaxis": [((2, 3, 4), [0, -1]), ((2, 3, 4), [(0, 1), (2, 0)])],
    "narrow": [((4, 3), [1, 0, 2]), ((4, 3), [-2, 1, 3])],
    "nll_loss": [((4, 3), [torch.zeros(4, dtype=torch.long)])],
    "diff": [((3, 4), [1, 1, torch.ones(3, 2)]), ((4,), [2, -1, torch.ones(1), torch.ones(2)])],
    "searchsorted": [((3,), [torch.ones(2, 4)]), ((2, 3), [torch.ones(2, 5)])],
    "stft": [((1, 100), [20, 5]), ((100,), [16]), ((2, 64), [16, 8])],
    "unflatten": [((2, 6), [1, (2, 3)]), ((2, 6), [-1, (-1, 2)])],
    "unfold": [((2, 9), [1, 4, 2]), ((9,), [0, 3, 3])],
    "view_as_real": [((2, 3), [])],
}


def as_value(given):
    if isinstance(given, torch.Tensor):
        return Tensor(
            "int" if given.dtype == torch.long else "float", given.ndim, tuple(given.shape)
        )
    if isinstance(given, tuple):
        return Sequence("tuple", [*map(as_value, given)])
    return Const(given)


def functions(name):
    """torch's of that name, which are given the tensor first."""
    if name in ("unfold", "im2col"):
        return [torch.Tensor.unfold if name == "unfold" else torch.nn.functional.unfold]
    if hasattr(torch.nn.functional, name):
        homes = [torch.nn.functional]
    else:
        homes = [torch.Tensor, torch, torch.fft]
    return [getattr(home, name) for home in homes if hasattr(home, name)]


def drawn_argument(draw):
    kind = draw.random()
    if kind < 0.35:
        return torch.ones(draw.choice(SHAPES))
    if kind < 0.45:
        return torch.zeros(draw.choice([(2,), (3, 4), (2, 3)]), dtype=torch.long)
    return draw.choice(PLAIN)


def calls(name, count):
    for sizes, args in KNOWN.get(name, ()):
        first = torch.rand(sizes, dtype=torch.complex64 if name == "view_as_real" else None)
        yield first, args, {"return_complex": True} if name == "stft" else {}
    draw = random.Random(name)
    for _ in range(count):
        first = torch.rand(draw.choice(SHAPES))
        if name in ("embedding", "one_hot"):
            first = torch.zeros(draw.choice(SHAPES), dtype=torch.long)
        most = 1 if "loss" in name else 3  # more that losses take is deprecated
        args = [drawn_argument(draw) for _ in range(min(most, draw.choice((0, 1, 1, 2, 2, 3))))]
        words = draw.sample(WORDS, draw.choice((0, 0, 0, 1)))
        yield first, args, {word: drawn_argument(draw) for word in words}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_those_of_torch(name):
    agreed = 0
    for first, args, words in calls(name, 400):
        values = [as_value(value) for value in args]
        given = {word: as_value(value) for word, value in words.items()}
        sizes = sizes_by_name(name, as_value(first), values, given)
        for function in functions(name):
            try:
                made = function(first, *args, **words)
            except Exception:
                continue  # torch refuses it
            if isinstance(made, torch.Tensor) and sizes is not None:
                assert tuple(made.shape) == sizes, (first.shape, args, words)
                agreed += 1
    assert agreed


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_known_is_no_error(name):
    odd = [UNKNOWN, NONE, Const("a"), Const(10**30), Py("int"), Tensor(), Sequence("list", None)]
    for shape in (None, (), (None, 2), ("more than 2", 3)):
        for values in ([], odd[:1], odd[1:3], odd[3:5], odd[5:], [Sequence("tuple", odd)]):
            sizes_by_name(
                name, Tensor("float", None, shape), values, {"dim": values[0]} if values else {}
            )


def test_einsum():
    left, right = torch.ones(2, 3), torch.ones(3, 4)
    values = [Const("ij, jk -> ki"), as_value(left), as_value(right)]
    assert einsum_sizes(values) == tuple(torch.einsum("ij, jk -> ki", left, right).shape)
    assert einsum_sizes([Const("...i,ij->...j"), *values[1:]]) is None
    assert einsum_sizes([]) is None
