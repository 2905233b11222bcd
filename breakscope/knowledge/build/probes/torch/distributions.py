"""Distributions made outside and inside the region."""
# ruff: noqa

import torch
import torch.distributions

normal = torch.distributions.Normal(0.0, 1.0)
categorical = torch.distributions.Categorical(torch.ones(3))


def cases_distributions(x, t, v, sq):
    torch.distributions.Normal(t, 1.0)
    torch.distributions.Normal(x, 1.0)
    torch.distributions.Normal(0.0, 1.0)
    torch.distributions.Normal(x, 1.0, validate_args=False)
    torch.distributions.Normal(x, 1.0).rsample()
    torch.distributions.Normal(x, 1.0).sample()
    torch.distributions.Normal(x, 1.0).log_prob(x)
    torch.distributions.Normal(x, 1.0, validate_args=False).log_prob(x)
    torch.distributions.Normal(x, 1.0).entropy()
    torch.distributions.Categorical(logits=x)
    torch.distributions.Categorical(logits=x).sample()
    torch.distributions.Categorical(logits=x).log_prob(torch.zeros(4))
    torch.distributions.Categorical(probs=x)
    torch.distributions.Categorical(logits=x, validate_args=False)
    torch.distributions.Categorical(logits=x, validate_args=False).sample()
    torch.distributions.Categorical(logits=x, validate_args=False).entropy()
    torch.distributions.OneHotCategorical(logits=x)
    torch.distributions.Bernoulli(logits=x)
    torch.distributions.Bernoulli(logits=x).sample()
    torch.distributions.Bernoulli(logits=x, validate_args=False).sample()
    torch.distributions.Bernoulli(probs=x.clamp(0, 1))
    torch.distributions.Uniform(0.0, x)
    torch.distributions.Uniform(0.0, 1.0)
    torch.distributions.Beta(x, x)
    torch.distributions.Beta(x, x).rsample()
    torch.distributions.Gamma(x, x)
    torch.distributions.Gamma(x, x).rsample()
    torch.distributions.Dirichlet(x)
    torch.distributions.Dirichlet(x).rsample()
    torch.distributions.Exponential(x)
    torch.distributions.Laplace(x, 1.0)
    torch.distributions.LogNormal(x, 1.0)
    torch.distributions.Poisson(x)
    torch.distributions.Multinomial(2, logits=x)
    torch.distributions.MultivariateNormal(torch.zeros(3), torch.eye(3))
    torch.distributions.MultivariateNormal(torch.zeros(3), torch.eye(3)).rsample()
    torch.distributions.Independent(torch.distributions.Normal(x, 1.0), 1)
    torch.distributions.Independent(torch.distributions.Normal(x, 1.0), 1).log_prob(x)
    torch.distributions.RelaxedOneHotCategorical(1.0, logits=x)
    torch.distributions.RelaxedOneHotCategorical(t, logits=x).rsample()
    torch.distributions.Gumbel(x, 1.0).rsample()
    torch.distributions.VonMises(x, 1.0).sample()
    torch.distributions.StudentT(x).rsample()
    torch.distributions.HalfNormal(x).sample()
    torch.distributions.Geometric(x.clamp(0.1, 0.9)).sample()
    torch.distributions.LowRankMultivariateNormal(torch.zeros(3), sq, torch.ones(3)).rsample()
    torch.distributions.MixtureSameFamily(
        torch.distributions.Categorical(torch.ones(4)), torch.distributions.Normal(x[:, 0], 1.0)
    ).sample()
    torch.distributions.TransformedDistribution(
        torch.distributions.Normal(x, 1.0), [torch.distributions.SigmoidTransform()]
    ).rsample()
    torch.distributions.kl_divergence(
        torch.distributions.Normal(x, 1.0), torch.distributions.Normal(0.0, 1.0)
    )
    torch.distributions.kl_divergence(normal, normal)
    torch.distributions.kl.kl_divergence(normal, normal)
    normal.sample()
    normal.rsample((2,))
    normal.log_prob(x)
    normal.cdf(x)
    normal.entropy()
    normal.mean
    categorical.sample()
    categorical.probs
