"""A numpy function that Dynamo cannot turn into torch ends the graph.

Dynamo traces numpy by running it on `torch._numpy`, which knows most of the array functions (`np.mean`, `np.clip`,
`np.linalg.norm`), and not all: `np.random.beta`, `np.random.permutation`, `np.interp`, `np.digitize`, `np.isin`,
`np.polyfit`, `np.nanmean`, `np.vectorize` and file functions end the graph, and a `numpy.random.Generator` ends it at
every draw.

Write it with torch: `torch.distributions.Beta(a, b).sample()`, `torch.randperm`, `torch.bucketize`, `torch.isin`,
`torch.nanmean`. Random draws then come from torch's generator, with other numbers for the same seed. Draws that belong
to the data (mixup coefficients) are better made where the batch is made, and passed in.
"""

import numpy as np
import torch

from breakscope.events import Call
from breakscope.rule import Rule

rule = Rule("BRK510", "numpy-function", dynamo=("GB0294", "GB0156: of class `(Generator|RandomState)`"))

RANDOM = {f"numpy.random.{name}" for name in (
    "beta", "binomial", "chisquare", "default_rng", "dirichlet", "exponential", "gamma", "geometric", "get_state",
    "gumbel", "laplace", "logistic", "lognormal", "multinomial", "multivariate_normal", "pareto", "permutation",
    "poisson", "rayleigh", "set_state", "standard_normal", "triangular", "vonmises", "weibull", "RandomState")}
ARRAYS = {f"numpy.{name}" for name in (
    "apply_along_axis", "array2string", "digitize", "frombuffer", "fromiter", "fromstring", "interp", "intersect1d",
    "isin", "lexsort", "nanmean", "nansum", "nanmax", "nanmin", "nanstd", "nanmedian", "ndenumerate", "ndindex",
    "polyfit", "polyval", "seterr", "set_printoptions", "setdiff1d", "trapezoid", "union1d", "unravel_index",
    "vectorize")}
HELP = {
    "beta": "draw with `torch.distributions.Beta(a, b).sample()`, or pass the draw in as an argument",
    "permutation": "draw with `torch.randperm(n)`",
    "isin": "write `torch.isin`",
    "nanmean": "write `torch.nanmean`",
    "digitize": "write `torch.bucketize`",
    "standard_normal": "write `torch.randn`",
}


@rule.on(Call, RANDOM, ARRAYS)
def check(event):
    name = event.name.rpartition(".")[2]
    yield event.problem(
        f"Dynamo cannot turn `{event.name}` into torch, so the graph ends at `{event.shown}`",
        help=HELP.get(name, "write it with torch, or compute it outside the compiled region"),
    )


@rule.on(Call, {f"numpy.random.{owner}.{name}" for owner in ("Generator", "RandomState", "default_rng")
                for name in (
    "random", "integers", "normal", "uniform", "choice", "permutation", "shuffle", "beta", "rand", "randn", "randint",
    "standard_normal", "binomial", "poisson", "exponential", "gamma", "random_sample", "permuted", "seed")})
def check_generator(event):
    yield event.problem(f"Dynamo does not trace a numpy generator, so the graph ends at `{event.shown}`",
                        help="draw with torch, or pass the draw in as an argument")


@rule.example(lambda: (torch.ones(4, 3),), equal=False, dynamo=("GB0294",))
def bad(x):
    order = np.random.permutation(4)  # BRK510
    return x[torch.from_numpy(order)]


@rule.becomes
def good(x):
    order = torch.randperm(4)
    return x[order]
