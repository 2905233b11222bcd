"""A variational autoencoder that warms up its KL term and logs what it learns."""

import logging

import torch
from torch import nn
from torch.nn import functional as F

logger = logging.getLogger(__name__)


class VAE(nn.Module):
    def __init__(self, inputs: int = 32, hidden: int = 24, latent: int = 4, warm_up: int = 100):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, inputs))
        self.warm_up = warm_up
        self.step = 0
        self.history = []

    def reparameterize(self, mean, log_variance):
        if not self.training:
            return mean
        return mean + torch.randn_like(mean) * (0.5 * log_variance).exp()

    def losses(self, x, rebuilt, mean, log_variance):
        rebuild = F.mse_loss(rebuilt, x, reduction="none").sum(-1).mean()
        kl = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(-1).mean()
        return rebuild, kl

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        rebuilt = self.decoder(self.reparameterize(mean, log_variance))
        rebuild, kl = self.losses(x, rebuilt, mean, log_variance)
        if self.training:
            self.step += 1
        beta = min(1.0, self.step / self.warm_up)
        loss = rebuild + beta * kl
        if torch.isnan(loss):
            raise ValueError(f"the loss is not a number at step {self.step}")
        logger.info("step %d: rebuild %s, kl %s", self.step, rebuild, kl)
        self.history.append(kl.item())
        return loss, rebuilt


def make():
    torch.manual_seed(0)
    return VAE(), (torch.rand(8, 32),), {}
