"""Arguments of torch's functions that must be Python numbers: a tensor in their place is read."""

import pytest
from programs import analysed, found

CALLS = {
    "torch.histc(x, 10, x.min(), x.max())": True,
    "torch.histc(x, bins=10, max=x.max())": True,
    "torch.nn.functional.softplus(x, beta=x.mean())": True,
    "torch.nn.functional.softplus(x, x.mean())": True,
    "torch.nan_to_num(x, nan=x.mean())": True,
    "x.nan_to_num(x.mean())": True,
    "x.new_full((2,), x.mean())": True,
    "torch.nn.functional.cross_entropy(x, x.argmax(1), label_smoothing=x.mean())": True,
    "torch.nn.functional.cross_entropy(x, x.argmax(1), x.mean(0))": False,
    "torch.nn.functional.gumbel_softmax(x, tau=x.mean())": False,
    "torch.nn.functional.softplus(x, self.count)": False,
    "torch.nn.functional.softplus(x, self.rate)": True,
    "torch.lerp(x, x, x.mean())": False,
    "x.masked_fill(x > 0, x.mean())": False,
}


@pytest.mark.parametrize(("call", "is_read"), CALLS.items())
def test_a_tensor_in_place_of_a_number(call, is_read, tmp_path):
    text = f"""\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.tensor(2))
        self.register_buffer("rate", torch.tensor(0.5))

    def forward(self, x: torch.Tensor):
        return {call}
"""
    assert found(analysed(tmp_path, {"net.py": text})) == ([("BRK209", 11)] if is_read else [])
