"""Two ranks of fully_shard (FSDP2): run with torchrun --nproc-per-node 2. Each layer is compiled before it is
sharded; an int that counts steps is on the model.

cured: breaks 0, recompiles 0
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

CURED = "--cured" in sys.argv
torch.manual_seed(0)
torch.set_num_threads(1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.steps = torch.zeros(()) if CURED else 0

    def forward(self, x):
        return self.fc(x) * (self.steps + 1)  # want: recompile attribute x2 "self.steps"


dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
model = nn.Sequential(Layer(), Layer())
for layer in model:
    layer.compile(backend="eager")
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
for step in range(3):
    for layer in model:
        layer.steps = torch.tensor(float(step)) if CURED else step
    with torch.no_grad():
        model(torch.randn(4, 8))
dist.destroy_process_group()
