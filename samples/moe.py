"""A mixture of experts: a top-k router that sends each token to its experts, one expert after the other."""

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(torch.nn.functional.silu(self.up(x)))


class MoE(nn.Module):
    """Tokens above an expert's capacity are dropped, the lowest router weight first."""

    def __init__(self, width: int = 16, hidden: int = 32, experts: int = 4, top_k: int = 2, slack: float = 1.25):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(Expert(width, hidden) for _ in range(experts))
        self.top_k = top_k
        self.slack = slack
        self.register_buffer("load", torch.zeros(experts))

    def route(self, tokens):
        weights, chosen = self.router(tokens).softmax(-1).topk(self.top_k, dim=-1)
        return weights / weights.sum(-1, keepdim=True), chosen

    def balance_loss(self, chosen):
        counts = torch.bincount(chosen.flatten(), minlength=len(self.experts)).float()
        self.load.mul_(0.9).add_(0.1 * counts)
        share = counts / counts.sum()
        if share.max() > 0.9:
            share = share.clamp(max=0.9)
        return len(self.experts) * (share * share).sum()

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        weights, chosen = self.route(tokens)
        capacity = int(self.slack * self.top_k * tokens.shape[0] / len(self.experts))
        mixed = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == number)
            if token.numel() == 0:
                continue
            if token.numel() > capacity:
                best = weights[token, slot].topk(capacity).indices
                token, slot = token[best], slot[best]
            mixed.index_add_(0, token, expert(tokens[token]) * weights[token, slot, None])
        return mixed.reshape(x.shape), self.balance_loss(chosen)


def make():
    torch.manual_seed(0)
    return MoE(), (torch.randn(2, 12, 16),), {}
