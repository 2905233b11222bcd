"""Targets of fake runs. What `Wide` gives is too large to compute, so it has no values of its own."""

import ctypes

import torch
from torch import nn

WIDTH = 1024


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(WIDTH, WIDTH)


class Decides(Wide):
    def forward(self, x):
        x = self.wide(x)
        if x.mean() > 0:  # decided
            x = x.cos()
            print("above")
        else:
            x = x.sin()
            torch._dynamo.graph_break()  # below
        return x


def decides():
    return Decides(), (torch.randn(2, WIDTH),), {}


class Refuses(Wide):
    def forward(self, x):
        x = self.wide(x)
        assert x.mean() > 0, f"the mean of {x.shape} is not above 0"  # asserted
        return x


def refuses():
    return Refuses(), (torch.randn(2, WIDTH),), {}


def sizes_of(x, number):
    positive = x[x > number]  # mask
    once = torch.unique(x.detach().round())  # once
    places = x.nonzero()  # places
    total = positive.sum() + once.sum() + places.sum()
    if total.tolist() > 3:  # list
        total = total + 1
    array = x.detach().numpy()  # array
    return total + float(array.mean())


class Sizes(Wide):
    def forward(self, x):
        return sizes_of(self.wide(x), 0.0)


def sizes():
    return Sizes(), (torch.randn(2, WIDTH),), {}


def small(x, lengths):
    if lengths.max() > 3:  # known
        print("long")
    return x[:, : int(lengths.min())] * 2


def known():
    """What follows from the example inputs is no assumption."""
    return small, (torch.ones(2, 4), torch.tensor([2, 4])), {}


class Waits(Wide):
    def forward(self, x):
        while (x := self.wide(x)).mean() > -9:  # loop
            x = x + 1
        return x


def waits():
    return Waits(), (torch.randn(2, WIDTH),), {}


@torch.library.custom_op("fakes::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def no_kernel(x):
    return doubled(x) + 1  # op


def without_kernel():
    return no_kernel, (torch.randn(4),), {}


def copied(tensor):
    """As C code takes a tensor: by its address."""
    return ctypes.string_at(tensor.data_ptr(), 8)


def no_kernel_outside(x):
    torch._dynamo.graph_break()
    return doubled_outside(x)


@torch.compiler.disable
def doubled_outside(x):
    return doubled(x) + 1  # outside


def without_kernel_outside():
    return no_kernel_outside, (torch.randn(4),), {}


def takes_address(x):
    return x + len(copied(torch.ones(3000, 3000)))  # address


def address():
    return takes_address, (torch.randn(4),), {}


class Labelled(torch.Tensor):
    pass


def subclass():
    return torch.sin, (torch.randn(3).as_subclass(Labelled),), {}


def large_subclass():
    return torch.sin, (torch.randn(3000, 3000).as_subclass(Labelled),), {}  # large


def exported(x, scale):
    if x.sum() > 0:  # both
        x = x * 2
    n = int(scale.max())  # number
    torch._check(n > 0)
    return x * n


def not_exportable():
    return exported, (torch.ones(4), torch.tensor([2, 3])), {}


class Result:
    def __init__(self, value):
        self.value = value


def result_of(x):
    return Result(x * 2)


def unknown_output():
    return result_of, (torch.ones(4),), {}


def exportable():
    return nn.Linear(4, 4), (torch.ones(2, 4),), {}


def meta():
    with torch.device("meta"):
        return nn.Linear(WIDTH, WIDTH), (torch.empty(2, WIDTH),), {}


class Device(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast(x.device.type, torch.bfloat16):
            x = self.linear(x)
        if x.is_cuda and torch.cuda.get_device_capability(x.device) >= (9, 0):
            print(x.dtype)  # on a GPU
        else:
            torch._dynamo.graph_break()  # on a CPU
        return x


def device():
    return Device(), (torch.randn(2, 8),), {}


class Varied(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.calls = nn.Linear(8, 8), 0

    def forward(self, x):
        self.calls += 1  # counts
        return self.linear(x) * self.calls


def varied():
    return Varied(), (torch.randn(4, 8),), {}


class Hides(nn.Module):
    def forward(self, x):
        for row in x:
            if row.sum() > 0:  # first break
                x = x + 1
        return torch.tensor(x.sum().item()) + x  # behind it


def hides():
    return Hides(), (torch.randn(2, 3),), {}


def empty_weights():
    """As libraries build a model without memory: each parameter anew, from its type and its attributes."""
    original = nn.Module.register_parameter

    def register(module, name, parameter):
        original(module, name, parameter)
        kept = {**vars(parameter), "requires_grad": parameter.requires_grad}
        module._parameters[name] = type(parameter)(parameter.to("meta"), **kept)

    nn.Module.register_parameter = register
    try:
        return Decides(), (torch.randn(2, WIDTH),), {}
    finally:
        nn.Module.register_parameter = original


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(50_000, 50_000) for _ in range(8))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def larger_than_memory():
    return Large(), (torch.randn(2, 50_000),), {}


class Packs(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(8, 8, batch_first=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)  # packed
        x, _ = self.layer(packed)  # recurrent
        return nn.utils.rnn.pad_packed_sequence(x, batch_first=True)[0].sum()


def packs():
    """torch's own C++ takes the sizes of packed sequences by address."""
    return Packs(), (torch.randn(2, 5, 8), torch.tensor([5, 3])), {}


library = torch.library.Library("fakes_lib", "DEF")
library.define("running(Tensor x) -> Tensor")
library.impl("running", lambda x: x.cumsum(-1), "CPU")


def registered(x):
    return torch.ops.fakes_lib.running(x * 2)  # of a library


def of_library():
    return registered, (torch.randn(4),), {}


class Chooses(nn.Module):
    """Its eager way takes what its compiled way does not."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3000, 3000)

    def forward(self, x):
        x = self.linear(x)
        if not torch.compiler.is_compiling():
            return x + len(copied(self.linear.weight))
        return x


def chooses():
    return Chooses(), (torch.randn(2, 3000),), {}


def on_cuda():
    model = nn.Linear(8, 8).to("cuda")
    return model, (torch.randn(2, 8).pin_memory().cuda(),), {}


class Grouped(nn.Module):
    """On a CPU torch multiplies groups of float32, and its fake kernel refuses them."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, width, width))

    def forward(self, x):
        print(x.shape)  # grouped
        ends = torch.arange(1, 3, dtype=torch.int32) * (x.shape[0] // 2)
        if torch.compiler.is_compiling():
            return torch.bmm(x.view(2, -1, x.shape[1]), self.weight).view_as(x)
        return torch._grouped_mm(x, self.weight, offs=ends)


def grouped():
    return Grouped(64), (torch.randn(16, 64),), {}


def grouped_large():
    return Grouped(4096), (torch.randn(2048, 4096),), {}
