"""Two ranks of DistributedDataParallel: run with torchrun --nproc-per-node 2. The last batch is smaller on both.

cured: breaks 0, recompiles 0
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CURED = "--cured" in sys.argv
torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):  # want: recompile size x4 "dimension 0 of `x`"
        return self.fc(x).relu()


dist.init_process_group("gloo")
net = Net()
if CURED:  # before it is wrapped: nothing of DistributedDataParallel is traced
    net.compile(backend="eager", dynamic=True)
    model = DistributedDataParallel(net)
else:
    model = torch.compile(DistributedDataParallel(net), backend="eager")
for size in (4, 4, 3):
    model(torch.randn(size, 8)).sum().backward()  # want: break
dist.destroy_process_group()
