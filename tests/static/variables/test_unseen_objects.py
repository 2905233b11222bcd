"""What a use shows of an object that nothing names. Each body breaks under Dynamo of torch 2.13.0 at its
last line, or does not break where no code is given."""

import pytest
from programs import analysed, found

# name: (lines of __init__, lines of forward, the code at the last of them)
CASES = {
    "a reduction without an argument is a tensor's": (
        "pass",
        "return data.x.new_zeros(int(data.batch.max()) + 1)",
        "BRK202",
    ),
    "of an item": ("pass", "return 1 if data['label'].sum() > 1 else 2", "BRK101"),
    "what only tensors have": ("pass", "return 1 if data.x.grad_fn is None else 2", "BRK615"),
    "with an argument it may be anything's": ("pass", "return 1 if data.max('a') > 1 else 2", ""),
    "the greatest item of a tensor has no dimension": (
        "pass",
        "lengths = data.x.argmax(-1)\nreturn torch.arange(max(lengths))",
        "BRK208",
    ),
    "a key that indexes a tensor": (
        "pass",
        "order = torch.relu(data.x)\nreturn sorted(range(len(order)), key=lambda i: order[i])",
        "BRK112",
    ),
    "a difference of slices is a tensor": (
        "pass",
        "return torch.repeat_interleave(data.weight, data.ptr[1:] - data.ptr[:-1])",
        "BRK307",
    ),
    "a sum of slices may be a list": (
        "pass",
        "return torch.repeat_interleave(data.weight, data.ptr[1:] + data.ptr[:-1])",
        "",
    ),
    "sizes that a tensor of what is not known holds": (
        "self.sizes = torch.tensor(names)",
        "return torch.zeros(2, *self.sizes, 3) + data",
        "BRK208",
    ),
    "numbers that were saved beside weights": (
        "self.turns = torch.load(names)['config']['turns']",
        "return [data.x * turn for turn in range(self.turns)]",
        "",
    ),
    "rows that configuration lists": (
        "self.rows = torch.tensor(names).long()",
        "return torch.relu(data.x)[self.rows]",
        "",
    ),
    "sizes that an argument holds": (
        "self.sizes = names",
        "return torch.zeros(2, *self.sizes, 3) + data",
        "",
    ),
    "the parameters of what is not known": (
        "pass",
        "for p in data.parameters():\n    p.requires_grad = False\nreturn data",
        "BRK605",
    ),
    "the parameters of what the constructor is given": (
        "self.net = names",
        "for p in self.net.parameters():\n    p.requires_grad = False\nreturn data",
        "BRK605",
    ),
    "the same with their names": (
        "self.net = names",
        "for _, p in self.net.named_parameters():\n    p.requires_grad = False\nreturn data",
        "BRK605",
    ),
    "what is only read of them": (
        "self.net = names",
        "x = data.x.to(next(self.net.parameters()).device)\n"
        "return x + sum(p.norm() for p in self.net.parameters() if p.requires_grad)",
        "",
    ),
    "a key that makes numbers of numbers": ("pass", "return sorted([1, 2], key=lambda i: -i)", ""),
    "an index in a list is a number": (
        "self.names = names",
        "at = torch.tensor([self.names.index(n) for n in ('a', 'b')])\nreturn torch.relu(data.x)[at[0]]",
        "BRK213",
    ),
    "a method that configuration names by default": (
        "self.act = act",
        "return getattr(self, self.act)(data.x)",
        "BRK201",
    ),
    "a grad mode that the constructor makes": (
        "self.mode = torch.no_grad() if names else torch.enable_grad()",
        "with self.mode: return data.x",
        "BRK508",
    ),
    "one that the region makes": (
        "self.mode = torch.no_grad",
        "mode = self.mode()\nwith mode: return data.x",
        "",
    ),
    "autocast may be made before": (
        "self.mode = torch.autocast('cpu')",
        "with self.mode: return data.x",
        "",
    ),
    "kept by the constructor": (
        "self.act = getattr(self, act)",
        "return self.act(data.x)",
        "BRK201",
    ),
}
PROGRAM = """\
import torch


class Model(torch.nn.Module):
    def __init__(self, names, act: str = "slow"):
        super().__init__()
        {made}

    def slow(self, x):
        return x.item()

    def forward(self, data):
        {body}
"""


@pytest.mark.parametrize("name", CASES)
def test_what_a_use_shows(name, tmp_path):
    made, body, code = CASES[name]
    source = PROGRAM.format(made=made, body=body.replace("\n", "\n        "))
    result = analysed(tmp_path, {"program.py": source})
    assert {code for code, _ in found(result)} == {code} - {""}


def test_a_loader_in_a_region(tmp_path):
    source = """\
import torch
from multiprocessing import Pool
from torch.utils.data import DataLoader


class Fit(torch.nn.Module):
    def __init__(self, data):
        super().__init__()
        self.loader = DataLoader(data, batch_size=2)

    def forward(self, x, how):
        x = x + len(self.loader)
        rows = iter(self.loader)
        return x + next(rows)


class Loop(Fit):
    def forward(self, x):
        for i, rows in enumerate(self.loader):
            x = x + rows
        return x


class Many(Fit):
    def forward(self, x):
        with Pool(2) as pool:
            return x + sum(pool.map(abs, range(3)))
"""
    breaks = [("BRK599", line) for line in (12, 13, 19, 26)]
    assert found(analysed(tmp_path, {"program.py": source})) == breaks


@pytest.mark.parametrize(
    ("name", "breaks"), [("dataloader", True), ("train_data_loader", True), ("batches", False)]
)
def test_a_parameter_that_is_called_a_loader(name, breaks, tmp_path):
    source = f"""\
import torch


class Loss(torch.nn.Module):
    def __init__(self, {name}):
        super().__init__()
        self.rows = {name}

    def forward(self, x: torch.Tensor):
        for row in self.rows:
            x = x + row
        return x
"""
    result = analysed(tmp_path, {"program.py": source})
    assert [(f.code, f.line, f.confidence) for f in result.findings] == (
        [("BRK599", 10, "likely")] if breaks else []
    )


@pytest.mark.parametrize(
    ("use", "breaks"),
    [
        ("x + TensorDataset(x * 2).tensors[0]", True),
        ("x + rows[0][0]", True),
        ("x + len(rows)", True),
        ("x + len(Subset(rows, [0]))", True),
        ("x + sum(row[0] for row in rows)", True),
        ("x + len(order)", True),
        ("x + rows.tensors[0]", False),
    ],
)
def test_what_is_skipped_of_torch_s_data_sets(use, breaks, tmp_path):
    source = f"""\
import torch
from torch.utils.data import SequentialSampler, Subset, TensorDataset

rows = TensorDataset(torch.ones(4, 2))
order = SequentialSampler(rows)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return {use}
"""
    expected = {("BRK599", 10)} if breaks else set()
    assert set(found(analysed(tmp_path, {"program.py": source}))) == expected


@pytest.mark.parametrize("kind", ["Sampler | None", "Optional[Sampler]"])
def test_a_module_that_a_constructor_may_be_given(kind, tmp_path):
    source = f"""\
        from copy import deepcopy
        from typing import Optional
        from torch import nn

        class Sampler(nn.Module):
            def forward(self, x):
                return x

        class Net(nn.Module):
            def __init__(self, sampler: {kind} = None):
                super().__init__()
                self.sampler = sampler

            def forward(self, x):
                return deepcopy(self.sampler)(x)
        """
    assert found(analysed(tmp_path, {"model.py": source})) == [("BRK506", 15)]


RECURRENT = """\
import torch


class Own(torch.nn.Module):
    def forward(self, x):
        return x, None


class Net(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        if kind == "own":
            self.layer = Own()
        else:
            self.layer = torch.nn.LSTM(4, 4)

    def forward(self, x: torch.Tensor):
        return self.layer(x)[0]
"""


def test_a_layer_of_torch_beside_one_of_the_source_by_configuration(tmp_path):
    result = analysed(tmp_path, {"program.py": RECURRENT})
    assert found(result) == [("BRK503", 18)]


LOGS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, {parameter}):
        super().__init__()
        self._logger = {name}

    def forward(self, x: torch.Tensor):
        self._logger.{call}
        return x + 1
"""


@pytest.mark.parametrize(
    ("parameter", "call", "breaks"),
    [
        ("logger", "debug('seen')", True),
        ("my_logger", "info('size %s', x.shape)", True),
        ("logger", "log_metrics({'a': 1})", False),
        ("writer", "info('seen')", False),
        ("logger=None", "info('seen')", False),
    ],
)
def test_a_parameter_that_is_called_a_logger(parameter, call, breaks, tmp_path):
    source = LOGS.format(parameter=parameter, name=parameter.partition("=")[0], call=call)
    result = analysed(tmp_path, {"program.py": source})
    assert [(f.code, f.line, f.confidence) for f in result.findings] == (
        [("BRK402", 10, "likely")] if breaks else []
    )
