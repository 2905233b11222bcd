"""A numpy function that Dynamo cannot turn into torch ends the graph.

Dynamo traces numpy by running it on `torch._numpy`, which knows most of the array functions
(`np.mean`, `np.clip`, `np.linalg.norm`), and not all: `np.random.beta`, `np.random.permutation`,
`np.interp`, `np.digitize`, `np.isin`, `np.polyfit`, `np.nanmean`, `np.vectorize`, methods of
operations (`np.add.at`, `np.logical_or.reduce`) and file functions end the graph; so do `np.ogrid[...]`, `np.mgrid`, `np.r_`, `np.c_` and `np.s_`, an array of
`dtype=object`, of texts or dicts, a `numpy.random.Generator` at every draw, and the checks of `numpy.testing`.

Write it with torch: `torch.distributions.Beta(a, b).sample()`, `torch.randperm`, `torch.bucketize`,
`torch.isin`, `torch.nanmean`. Random draws then come from torch's generator, with other numbers for
the same seed. Draws that belong to the data (mixup coefficients) are better made where the batch is
made, and passed in.

An array of texts or objects is no tensor either: the graph ends where the region makes one, and a function that reads
one from an attribute is skipped. A list of arrays makes an array; arrays, and numbers that numpy computed, in a list
of lists or beside Python's numbers do not: `np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])`.
"""

import math

import numpy as np
import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import NUMPY_NUMBERS, Const, Dict, External, Py, Sequence, Tensor

rule = Rule(
    "BRK510",
    "numpy-function",
    shares=("GB0033", "GB0055", "GB0185", "GB0087", "GB0112"),
    dynamo=(
        "GB0290",
        "GB0294",
        "GB0156: of class `(Generator|RandomState)`",
        "GB0007: numpy/(polynomial|testing)",
        "GB0008: (nd_grid|AxisConcatenator|IndexExpression).__getitem__",
    ),
)

RANDOM = {
    f"numpy.random.{name}"
    for name in """
    RandomState beta binomial bytes chisquare default_rng dirichlet exponential f gamma geometric get_state gumbel
    hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial
    noncentral_chisquare noncentral_f pareto permutation poisson power random_integers ranf rayleigh set_state
    standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular vonmises wald weibull zipf
""".split()
}
OF_GENERATORS = set(
    "choice integers normal permuted rand randint randn random random_sample seed shuffle spawn uniform".split()
)
ARRAYS = {
    f"numpy.{name}"
    for name in """
    apply_along_axis apply_over_axes argpartition array2string array_repr array_str asanyarray
    asarray_chkfinite asfortranarray asmatrix astype base_repr binary_repr bitwise_count block bmat broadcast
    compress cumulative_prod cumulative_sum datetime64 delete digitize ediff1d einsum_path extract
    format_float_positional format_float_scientific frexp frombuffer fromfile fromfunction fromiter frompyfunc
    fromstring genfromtxt histogram_bin_edges insert interp intersect1d isdtype isfortran isin isnat iterable
    ix_ lexsort loadtxt mask_indices matrix matrix_transpose matvec may_share_memory nanargmax nanargmin
    nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
    nanvar ndenumerate ndindex nditer packbits partition piecewise place poly poly1d polyadd polyder polydiv
    polyfit polyint polymul polysub polyval printoptions promote_types putmask ravel_multi_index require roots
    select set_printoptions setdiff1d seterr setxor1d shares_memory sort_complex spacing timedelta64 trapezoid
    trim_zeros union1d unique_all unique_counts unique_inverse unique_values unpackbits unravel_index unstack
    unwrap vecdot vecmat vectorize linalg.cross linalg.diagonal linalg.matmul linalg.matrix_norm
    linalg.matrix_transpose linalg.outer linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot
    linalg.vector_norm
""".split()
}
OF_OPERATIONS = {
    f"numpy.{name}.{method}"
    for name in """
    add bitwise_and bitwise_or bitwise_xor divide equal floor_divide fmax fmin gcd greater greater_equal hypot lcm less
    less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply not_equal power remainder subtract
    true_divide
""".split()
    for method in ("accumulate", "at", "outer", "reduce", "reduceat")
}
QUADRATURE = {
    f"numpy.polynomial.{name}"
    for name in (
        "chebyshev.chebgauss",
        "hermite.hermgauss",
        "hermite_e.hermegauss",
        "laguerre.laggauss",
        "legendre.leggauss",
    )
}
CHECKS = {
    f"numpy.testing.assert_{name}"
    for name in """
    allclose almost_equal approx_equal array_almost_equal array_almost_equal_nulp array_equal array_max_ulp equal
""".split()
}
HELP = {
    "beta": "draw with `torch.distributions.Beta(a, b).sample()`, or pass the draw in as an argument",
    "permutation": "draw with `torch.randperm(n)`",
    "isin": "write `torch.isin`",
    "nanmean": "write `torch.nanmean`",
    "at": "write `index_add_` or `scatter_reduce_` of a tensor",
    "digitize": "write `torch.bucketize`",
    "standard_normal": "write `torch.randn`",
    "ogrid": "write `torch.arange`, and `[:, None]` for the rows",
    "mgrid": "write `torch.meshgrid`",
    "r_": "write `torch.cat` or `torch.arange`",
    "c_": "write `torch.stack(..., 1)`",
    "s_": "write `slice(...)`",
    "index_exp": "write `slice(...)`",
}
# numbers that numpy has computed in the region, and one that was made before it
MADE_BEFORE = Py("numpy scalar")
INDEXED = {f"numpy.{name}.__getitem__" for name in "ogrid mgrid r_ c_ s_ index_exp".split()}


@rule.on(Call, RANDOM, ARRAYS, OF_OPERATIONS, QUADRATURE, CHECKS, INDEXED)
def check(event):
    function = event.name.removesuffix(".__getitem__")
    name = function.rpartition(".")[2]
    yield event.problem(
        f"Dynamo cannot turn `{function}` into torch, so the graph ends at `{event.shown}`",
        help=HELP.get(name, "write it with torch, or compute it outside the compiled region"),
    )


@rule.on(
    Call,
    {
        f"numpy.random.{owner}.{name}"
        for owner in ("Generator", "RandomState", "default_rng")
        for name in {name.rpartition(".")[2] for name in RANDOM} | OF_GENERATORS
    },
)
def check_generator(event):
    yield event.problem(
        f"Dynamo does not trace a numpy generator, so the graph ends at `{event.shown}`",
        help="draw with torch, or pass the draw in as an argument",
    )


@rule.on(Call, {f"numpy.{name}" for name in ("array", "asarray", "empty", "full", "zeros", "ones")})
def check_objects(event):
    given = (event.kwargs.get("dtype"), *event.args[1:])
    filled = event.args[:1] if event.name in ("numpy.array", "numpy.asarray") else ()
    of_objects = any(type_ in given for type_ in (External("object"), External("str")))
    if of_objects or any(map(_holds_objects, filled)):
        yield event.graph_break(
            f"`{event.shown}` is an array of Python objects or texts, which is no tensor",
            help="use a list, or stack the tensors with `torch.stack`",
        )


@rule.on(Call, ("numpy.array", "numpy.asarray"))
def check_nested(event):
    if event.args and _nests_arrays(event.args[0]):
        yield event.graph_break(
            f"Dynamo makes no array of the arrays inside of lists in `{event.shown}`",
            help="put lists of arrays together with `np.stack`, or compute the numbers with `math`",
        )


@rule.on(Call, "numpy.broadcast_to")
def check_broadcast(event):
    """torch's own takes a tuple alone, as the shape is in most calls."""
    if len(event.args) > 1 and event.args[1].is_number:
        yield event.graph_break(
            f"Dynamo makes no shape of the number in `{event.shown}`",
            help="give a tuple, `(n,)`, or compute it outside the compiled region",
        )


@rule.on(Call, "array of texts made before the region")
def check_texts(event):
    yield event.graph_break(
        f"`{event.shown}` is an array of texts, of which Dynamo cannot make a tensor",
        help="keep a list or a tuple of them",
        skips="call",
        dynamo=("GB0185",),
        fixable=False,
    )


def _items(values):
    """What a list or tuple holds; nothing for another value."""
    if not isinstance(values, Sequence) or values.type not in ("list", "tuple"):
        return []
    return [values.element] if values.items is None else values.items


def _is_array(value):
    """True for an array, and for a number of numpy's."""
    if isinstance(value, Tensor):
        return value.kind == "numpy"
    return value == MADE_BEFORE or (isinstance(value, Py) and value.type in NUMPY_NUMBERS)


def _nests_arrays(values):
    """True for a list of lists with an array in it, and for one of arrays and of Python's numbers."""
    items = _items(values)
    inside = [part for item in items for part in _items(item)]
    while inside:
        if any(map(_is_array, inside)):
            return True
        inside = [part for item in inside for part in _items(item)]
    numbers = [item for item in items if item.is_number and not _is_array(item)]
    return bool(numbers) and any(map(_is_array, items))


def _holds_objects(values):
    """True for a list of texts, dicts or None, of which numpy makes no numbers."""
    return any(
        isinstance(item, Dict)
        or item.is_none
        or (isinstance(item, Const) and isinstance(item.value, str))
        or (isinstance(item, Py) and item.type == "str")
        or _holds_objects(item)
        for item in _items(values)
    )


@rule.example(lambda: (torch.ones(4, 3),), equal=False, dynamo=("GB0294",))
def bad(x):
    order = np.random.permutation(4)  # BRK510
    return x[torch.from_numpy(order)]


@rule.becomes
def good(x):
    order = torch.randperm(4)
    return x[order]


@rule.example(lambda: (torch.ones(3),), dynamo=("GB0112",))
def bad(x):
    return x * torch.from_numpy(np.broadcast_to(np.ones(1), 3))  # BRK510


@rule.becomes
def good(x):
    return x * torch.from_numpy(np.broadcast_to(np.ones(1), (3,)))


@rule.example(lambda: (torch.ones(3),), dynamo=("GB0055", "GB0185"))
def bad(x):
    return x * len(np.empty(3, dtype=object))  # BRK510


@rule.becomes
def good(x):
    return x * len([None] * 3)


@rule.example(lambda: (torch.ones(3),), dynamo=("GB0290",))
def bad_method(x):
    counts = np.zeros(3)
    np.add.at(counts, [0, 0, 2], 1)  # BRK510
    return x * torch.from_numpy(counts).float()


@rule.becomes
def good_method(x):
    counts = torch.zeros(3).index_add(0, torch.tensor([0, 0, 2]), torch.ones(3))
    return x * counts


@rule.example(lambda: (torch.ones(3),), dynamo=("GB0087", "GB0185"))
def bad_texts(x):
    return x * len(np.array(["low", "high"]))  # BRK510


@rule.becomes
def good_texts(x):
    return x * len(["low", "high"])


@rule.example(lambda: (torch.ones(3, 2),), dynamo=("GB0087",))
def bad_nested(x):
    turn = np.array([[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]])  # BRK510
    return x.double() @ torch.from_numpy(turn)


@rule.becomes
def good_nested(x):
    turn = np.array([[math.cos(0.1), -math.sin(0.1)], [math.sin(0.1), math.cos(0.1)]])
    return x.double() @ torch.from_numpy(turn)


@rule.example(lambda: (torch.ones(3),), dynamo=("GB0007",))
def bad(x):
    nodes, _ = np.polynomial.legendre.leggauss(3)  # BRK510
    return x * torch.from_numpy(nodes).to(x.dtype)


@rule.becomes
def good(x):
    nodes = torch.tensor([-0.7745966692414834, 0.0, 0.7745966692414834])
    return x * nodes.to(x.dtype)


@rule.example(lambda: (torch.ones(4, 4),), dynamo=("GB0008",))
def bad_grid(x):
    rows, columns = np.ogrid[0:4, 0:4]  # BRK510
    return x * torch.from_numpy(rows + columns)


@rule.becomes
def good_grid(x):
    rows, columns = torch.arange(4)[:, None], torch.arange(4)
    return x * (rows + columns)


@rule.example(lambda: (torch.ones(3),), dynamo=("GB0185",), module=True, fixed=False)
def bad_texts():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.names = np.array(["a", "b"])

        def forward(self, x):
            return x * len(self.names)  # BRK510

    return Net()


@rule.becomes
def good_texts():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.names = ["a", "b"]

        def forward(self, x):
            return x * len(self.names)

    return Net()


@rule.example(lambda: (torch.ones(4), torch.ones(4)), dynamo=("GB0007",))
def bad_check(x, y):
    np.testing.assert_array_equal(x.shape, y.shape, err_msg="of other sizes")  # BRK510
    return x + y


@rule.becomes
def good_check(x, y):
    if x.shape != y.shape:
        raise ValueError("of other sizes")
    return x + y
