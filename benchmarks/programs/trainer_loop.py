"""A trainer as libraries write it: a training step compiled as one function, with autocast for evaluation, a last
batch that is smaller, and metrics read in each step.

cured: breaks 0, recompiles 1
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CURED = "--cured" in sys.argv
torch.manual_seed(0)


class Trainer:
    def __init__(self, model, data, size):
        self.raw = model
        self.model = torch.compile(model, backend="eager")
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.loader = DataLoader(data, batch_size=size, drop_last=CURED)
        self.loss = nn.CrossEntropyLoss()

    def training_step(self, x, y):
        loss = self.loss(self.model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.raw.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            for x, _ in self.loader:
                self.model(x)
        self.model.train()

    def train(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.training_step(x, y)
            self.evaluate()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 3))

    def forward(self, x):  # want: recompile size x1 "dimension 0 of `x`"; recompile grad_mode x1
        return self.body(x)


data = TensorDataset(torch.randn(18, 6), torch.randint(0, 3, (18,)))
Trainer(Net(), data, 8).train(2)
