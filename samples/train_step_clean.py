"""train_step.py without graph breaks: only forward and loss are compiled, and numbers are read once, at the end.

Dynamo compiles the backward of `loss` with it; the optimizer's kernels are fused already.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, inputs: int = 20, hidden: int = 32, classes: int = 4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.LayerNorm(hidden))
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.body(x))


class Trainer:
    def __init__(self, model: nn.Module, max_norm: float = 1.0):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, total_iters=10)
        self.max_norm = max_norm
        self.average = None
        self.skipped = 0

    def loss(self, x, labels):
        """What is worth compiling: `trainer.loss = torch.compile(trainer.loss)`."""
        logits = self.model(x)
        accuracy = (logits.argmax(-1) == labels).float().mean()
        return F.cross_entropy(logits, labels, label_smoothing=0.1), accuracy

    def step(self, x, labels):
        loss, accuracy = self.loss(x, labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        value, norm, accuracy = torch.stack([loss.detach(), norm, accuracy]).tolist()
        if not math.isfinite(norm):
            self.skipped += 1
            return {"loss": float("nan"), "norm": norm}
        self.optimizer.step()
        self.schedule.step()
        self.average = value if self.average is None else 0.9 * self.average + 0.1 * value
        print(f"loss {value:.3f} (average {self.average:.3f}), accuracy {accuracy:.2f}")
        return {"loss": value, "norm": norm}


def make():
    torch.manual_seed(0)
    trainer = Trainer(Classifier())
    return trainer.loss, (torch.randn(16, 20), torch.randint(0, 4, (16,))), {}
