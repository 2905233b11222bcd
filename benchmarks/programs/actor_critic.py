"""A loop of reinforcement learning: the policy acts on one observation without gradients, and learns on batches of
them whose sizes vary.

Size 1 is a version of its own however it is marked.

cured: breaks 0, recompiles 1
"""

import sys

import torch
from torch import nn

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))

    def forward(self, observation):  # want: recompile grad_mode x1 also observation
        return self.body(observation)


policy = Policy()
act = torch.compile(policy, backend="eager", dynamic=True if CURED else None)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for length in (5, 7, 6):
    seen = []
    for _ in range(length):
        observation = torch.randn(1, 4)
        with torch.no_grad():
            torch.distributions.Categorical(logits=act(observation)).sample()
        seen.append(observation)
    loss = -act(torch.cat(seen)).log_softmax(-1)[:, 0].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
