"""Targets of fake runs with several ranks."""

import torch
import torch.distributed as dist
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, x):
        x = self.down(self.up(x).relu())
        if x.sum() > 0:  # decided
            x = x + 1
        return x


def ddp():
    dist.init_process_group("gloo")
    return nn.parallel.DistributedDataParallel(Block()), (torch.randn(4, 16),), {}


def sharded():
    from torch.distributed.fsdp import fully_shard

    model = nn.Sequential(Block(), Block())
    for block in model:
        fully_shard(block)
    return fully_shard(model), (torch.randn(4, 16),), {}


def parallel():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    return parallelize_module(Block(), init_device_mesh("cpu", (8,)), plan), (torch.randn(4, 16),), {}


def of_one(x):
    if dist.get_rank() == 0:
        print("first of", dist.get_world_size())  # first
    if dist.get_rank() == dist.get_world_size() - 1:
        torch._dynamo.graph_break()  # last
    return x + 1


def by_rank():
    return of_one, (torch.ones(3),), {}
