"""A denoising diffusion sampler (DDIM) with classifier-free guidance and dynamic thresholding."""

import math

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, channels: int = 3, width: int = 16, classes: int = 4):
        super().__init__()
        self.width = width
        self.label = nn.Embedding(classes + 1, width)  # the last one means "no label"
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.enter = nn.Conv2d(channels, width, 3, padding=1)
        self.middle = nn.Sequential(nn.GroupNorm(4, width), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1))
        self.leave = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x, t, label):
        frequencies = torch.exp(-math.log(10000) * torch.arange(self.width // 2, device=x.device) / (self.width // 2))
        angles = t[:, None] * frequencies
        condition = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1)) + self.label(label)
        hidden = self.enter(x) + condition[:, :, None, None]
        return self.leave(hidden + self.middle(hidden))


class Sampler:
    def __init__(self, model: Denoiser, train_steps: int = 1000, steps: int = 5, guidance=2.0, eta=0.5):
        self.model = model
        betas = torch.linspace(1e-4, 0.02, train_steps)
        self.kept = torch.cumprod(1 - betas, dim=0)  # share of the signal left at each time
        self.times = torch.linspace(train_steps - 1, 0, steps).long()
        self.guidance, self.eta = guidance, eta

    def predict(self, x, t, label):
        times = t.expand(x.shape[0]).float()
        none = torch.full_like(label, self.model.label.num_embeddings - 1)
        free, guided = self.model(x, times, none), self.model(x, times, label)
        return free + self.guidance * (guided - free)

    def threshold(self, image):
        """Rescale images whose extreme values leave [-1, 1]."""
        limit = torch.quantile(image.flatten(1).abs(), 0.99, dim=1)
        if (limit > 1).any():
            limit = limit.clamp(min=1)[:, None, None, None]
            image = image.clamp(-limit, limit) / limit
        return image

    @torch.no_grad()
    def sample(self, noise, label):
        x = noise
        for i, t in enumerate(self.times):
            kept = self.kept[t]
            kept_next = self.kept[self.times[i + 1]] if i + 1 < len(self.times) else torch.tensor(1.0)
            error = self.predict(x, t, label)
            image = self.threshold((x - (1 - kept).sqrt() * error) / kept.sqrt())
            sigma = self.eta * math.sqrt((1 - kept_next) / (1 - kept) * (1 - kept / kept_next))
            x = kept_next.sqrt() * image + (1 - kept_next - sigma**2).clamp(min=0).sqrt() * error
            if t > 0:
                x = x + sigma * torch.randn_like(x)
        return x


def make():
    torch.manual_seed(0)
    sampler = Sampler(Denoiser().eval())
    return sampler.sample, (torch.randn(2, 3, 8, 8), torch.tensor([0, 3])), {}
