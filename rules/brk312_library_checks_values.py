"""A library function that checks its arguments' values reads tensors, and the graph ends.

Some functions look at the data before they work: `F.gaussian_nll_loss` that the variance is not
negative, `torch.cov` that weights are positive, `clip_grad_norm_(..., error_if_nonfinite=True)`
that the norm is finite, `np.pad` how much to pad, distributions under `validate_args=True` that their parameters are valid,
`torch.testing.assert_close` by profession; `nn.init.trunc_normal_` (of torch 2.13) draws until
all numbers lie inside of its bounds. Each check is a data-dependent branch, in torch's code
but at your line (GB0033, GB0170; GB0007 for a distribution's constraints). Without
`validate_args=True` Dynamo switches a distribution's own checks off. `kl_divergence` looks its
formula up by the two types, in Python that Dynamo does not trace (GB0059), the first time in a
process that the pair is met. The entropy of a binomial or multinomial distribution goes over its support,
whose size it reads; a Wishart distribution compares its degrees of freedom.

Switch the check off where there is a switch, write the formula yourself where there is none, and
check outside the compiled code, once. The results are the same for valid arguments; invalid ones
give NaN where an error stood.
"""

import numpy as np
import torch

from breakscope.knowledge import load
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK312",
    "library-checks-values",
    shares=("GB0033", "GB0124", "GB0170", "GB0007", "GB0059", "GB0092"),
)

ALWAYS = frozenset(
    """
    torch.cov torch.corrcoef numpy.cov numpy.corrcoef torch.testing.assert_close
    torch.nn.GaussianNLLLoss.forward torch.distributions.kl_divergence
    torch.distributions.kl.kl_divergence numpy.pad numpy.linalg.eig numpy.linalg.eigvals
    """.split()
)
INSTEAD = {
    "numpy.pad": "pad with `torch.nn.functional.pad`",
    "numpy.linalg.eig": "use `torch.linalg.eig`",
    "numpy.linalg.eigvals": "use `torch.linalg.eigvals`",
}
NAMES = """Normal Categorical Bernoulli Beta Gamma Dirichlet Uniform Exponential Laplace LogNormal MultivariateNormal
OneHotCategorical Poisson Independent Cauchy StudentT Multinomial""".split()
DISTRIBUTIONS = {f"torch.distributions.{name}" for name in NAMES}


@rule.on(
    Call,
    ALWAYS,
    "torch.nn.functional.gaussian_nll_loss",
    "torch.nn.utils.clip_grad_norm_",
    DISTRIBUTIONS,
)
def check(event):
    name = event.name.rpartition(".")[2]
    switch = {"gaussian_nll_loss": "", "clip_grad_norm_": "error_if_nonfinite"}.get(
        name, "validate_args"
    )
    if name == "gaussian_nll_loss":
        variance = event.argument(2, "var")
        reads = variance is not None and variance.is_tensor
    else:
        given = event.kwargs.get(switch)
        reads = event.name in ALWAYS or (
            given is not None and given.is_const and given.value is True
        )
    if reads:
        off = (
            f"leave `{switch}` off"
            if event.name not in ALWAYS and switch
            else INSTEAD.get(event.name, "write out its formula")
        )
        yield event.graph_break(
            f"`{name}` checks the values of its arguments and reads them",
            help=f"{off}, or call it outside the compiled code",
        )


@rule.on(Call, "torch.nn.init.trunc_normal_")
def check_draws(event):
    fact = load().call(event.name)
    if fact is not None and fact.always:
        yield event.graph_break(
            f"`{event.shown}` draws until all numbers lie inside of its bounds, which reads them",
            help="call it outside the compiled code",
        )


READ = {
    "torch.distributions.Binomial.entropy",
    "torch.distributions.Multinomial.entropy",
    "torch.distributions.Binomial.enumerate_support",
    "torch.distributions.Wishart",
}


@rule.on(Call, READ)
def check_support(event):
    yield event.graph_break(
        f"`{event.shown}` reads its parameters' values",
        help="write out the formula with a size that Python knows, or call it outside the compiled code",
    )


@rule.example(lambda: (torch.arange(3.0), torch.ones(3)), dynamo=("GB0033",))
def bad(mean, variance):
    return torch.nn.functional.gaussian_nll_loss(mean, mean * 2, variance)  # BRK312


@rule.becomes
def good(mean, variance):
    return (
        0.5
        * (
            variance.clamp(min=1e-6).log() + (mean - mean * 2) ** 2 / variance.clamp(min=1e-6)
        ).mean()
    )


@rule.example(lambda: (torch.arange(3.0),), dynamo=("GB0007",))
def bad_distribution(x):
    noise = torch.distributions.Normal(x, x + 1, validate_args=True)  # BRK312
    return noise.mean * 2


@rule.becomes
def good_distribution(x):
    noise = torch.distributions.Normal(x, x + 1)
    return noise.mean * 2


@rule.example(lambda: (torch.ones(2, 2), torch.ones(2, 2)), dynamo=("GB0170",))
def bad_compare(a, b):
    y = a @ b
    torch.testing.assert_close(y, y.clone())  # BRK312
    return y.relu()


@rule.becomes
def good_compare(a, b):
    y = a @ b
    return y.relu()


@rule.example(lambda: (torch.ones(2, 3),), dynamo=("GB0124",), equal=False)
def bad_draw(x):
    noise = torch.empty(2, 3)
    torch.nn.init.trunc_normal_(noise)  # BRK312
    return x + noise


@rule.becomes
def good_draw(x):
    noise = torch.empty(2, 3)
    torch.nn.init.normal_(noise)
    return x + noise


@rule.example(lambda: (torch.ones(2, 2),), dynamo=("GB0033",))
def bad_pad(x):
    rows = np.pad(x.numpy(), 1)  # BRK312
    return torch.from_numpy(rows)


@rule.becomes
def good_pad(x):
    return torch.nn.functional.pad(x, (1, 1, 1, 1))


@rule.example(lambda: (torch.ones(2, 2),), dynamo=("GB0033",))
def bad_eigenvalues(x):
    values = np.linalg.eigvals(x.numpy())  # BRK312
    return x + torch.from_numpy(values).real.sum()


@rule.becomes
def good_eigenvalues(x):
    values = torch.linalg.eigvals(x)
    return x + values.real.sum()


@rule.example(lambda: (torch.full((3,), 0.5),), dynamo=("GB0124", "GB0092"), equal=False)
def bad_entropy(p):
    return torch.distributions.Binomial(4, p).entropy() * 2  # BRK312


@rule.becomes
def good_entropy(p):
    k = torch.arange(5.0).reshape(-1, 1)
    logs = torch.distributions.Binomial(4, p).log_prob(k)
    return -(logs.exp() * logs).sum(0) * 2
