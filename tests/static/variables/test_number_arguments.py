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
    "torch.normal(x.mean(), 1.0, (3,))": True,
    "torch.normal(0.0, std=x.std(), size=(3,))": True,
    "torch.normal(x.mean(), x.std())": False,
    "torch.normal(0.0, x.std())": False,
    "torch.fake_quantize_per_tensor_affine(x, 0.1, 0, x.argmax(), 127)": True,
    "torch.fake_quantize_per_tensor_affine(x, x.max(), x.argmax().int(), -128, 127)": False,
    "torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, self.count)": False,
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


OF_A_NUMBER = {
    "torch.zeros(n)": None,
    "torch.arange(n * 2 + 1)": None,
    "x.view(torch.as_tensor(2), -1)": None,
    "x.topk(n.to(x.device)).values": None,
    "x[-n.long()]": None,
    "x.cumsum(n)": None,
    "x.sum(n)": None,
    "torch.zeros(n + x.argmax())": "BRK208",
    "torch.zeros(torch.tensor(x.shape[0]))": "BRK208",
    "torch.zeros(torch.tensor([1, 2]).max())": "BRK208",
    "x * n.item()": "BRK201",
}


@pytest.mark.parametrize(("call", "code"), OF_A_NUMBER.items())
def test_torch_knows_what_a_tensor_is_made_of(call, code, tmp_path):
    text = f"""\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        n = torch.tensor(1)
        return {call}
"""
    assert found(analysed(tmp_path, {"net.py": text})) == ([(code, 7)] if code else [])


COUNTED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, rows):
        counts = x.sum(1).int()
        for i in {over}:
            _, places = torch.topk(x[i], k={count})
        return places
"""


@pytest.mark.parametrize("over", ["range(3)", "range(len(rows))", "range(x.shape[0])"])
@pytest.mark.parametrize(
    ("count", "breaks"), [("counts[i]", True), ("counts[i].item()", False), ("i + 1", False)]
)
def test_a_count_out_of_a_row_by_its_place_in_a_loop(over, count, breaks, tmp_path):
    source = COUNTED.format(over=over, count=count)
    result = analysed(tmp_path, {"net.py": source})
    assert [line for code, line in found(result) if code == "BRK208"] == ([8] if breaks else [])


OF_AN_ARGUMENT = {
    "posinf=torch.as_tensor(self.most)": False,
    "posinf=torch.as_tensor(limit)": False,
    "posinf=torch.as_tensor(limit) * 2": False,
    "posinf=torch.as_tensor(x.max())": True,
    "posinf=torch.tensor(limit)": True,  # a number that varies becomes one of the graph
}


@pytest.mark.parametrize(("given", "is_read"), OF_AN_ARGUMENT.items())
def test_as_tensor_of_a_number_has_a_known_value(given, is_read, tmp_path):
    text = f"""\
import torch


class Net(torch.nn.Module):
    def __init__(self, most: float = 10.0):
        super().__init__()
        self.most = most

    def forward(self, x: torch.Tensor, limit: float):
        return torch.nan_to_num(x, {given})
"""
    assert found(analysed(tmp_path, {"net.py": text})) == ([("BRK209", 10)] if is_read else [])


SIZED = (
    "torch.fft.rfft2(x, s=(n, n))",
    "torch.fft.irfftn(x, (n, n))",
    "torch.nn.functional.affine_grid(x, (2, 1, n, n))",
    "torch.nn.functional.fold(x, (n, n), 2)",
    "torch.nn.functional.unfold(x, kernel_size=(n, 1))",
    "torch.nn.functional.avg_pool2d(x, n)",
    "torch.nn.functional.max_pool2d(x, kernel_size=2, padding=(n, n))",
    "torch.nn.functional.conv2d(x, x, stride=(n, n))",
    "torch.nn.functional.pad(x, pad=(0, n))",
    "torch.broadcast_to(x, (n, 2))",
    "x.broadcast_to(n, 2)",
    "x.unflatten(0, (n, 1))",
    "x.unfold(0, n, 1)",
    "x.as_strided((n, 1), (1, 1))",
    "torch.empty_strided((n, 1), (1, 1))",
    "torch.normal(0.0, 1.0, (n, 1))",
)


@pytest.mark.parametrize("call", SIZED)
def test_sizes_kernels_and_strides_are_numbers(call, tmp_path):
    text = f"""\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        n = {{}}
        return {call}
"""
    for number, expected in (("(x > 0).sum()", [("BRK208", 7)]), ("x.shape[0]", [])):
        result = analysed(tmp_path, {"net.py": text.format(number)})
        assert found(result) == expected
