"""The names that the look at plain code trusts follow from the tables and the rules."""

import pytest

from breakscope.knowledge import shipped
from breakscope.knowledge_build import plain_names
from breakscope.plain import builtin_calls, expressions, library_calls, names
from breakscope.rulebook import load_rules
from breakscope.static import StaticOptions, analyze


def test_the_file_is_what_the_tables_and_the_rules_give():
    written = plain_names.FILE.read_text(encoding="utf-8")
    assert written == plain_names.text(), "run `python -m breakscope.knowledge_build.plain_names`"


def test_what_rules_speak_of_is_not_trusted():
    trusted = names.FREE | names.FIRST.keys() | names.PYTHON_RESULTS
    for name in ("Tensor.item", "Tensor.tolist", "Tensor.nonzero", "torch.unique", "Tensor.backward", "torch.bincount",
                 "torch.masked_select", "Tensor.numpy", "torch.where", "torch.equal", "Tensor.to_sparse"):
        assert name not in trusted
    assert names.LAYERS.isdisjoint({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.CTCLoss", "torch.nn.Module"})
    assert names.MADE.isdisjoint({"torch.nn.Linear", "torch.nn.Embedding"}) and names.MADE < names.LAYERS
    assert names.CONTEXTS.isdisjoint({"torch.device", "torch.cuda.stream", "torch.random.fork_rng"})


def test_a_tensor_may_stand_only_where_no_number_must():
    assert names.FIRST["Tensor.view"] == names.FIRST["torch.arange"] == 0
    assert names.FIRST["torch.nn.functional.dropout"] == names.FIRST["torch.topk"] == names.FIRST["torch.clamp"] == 1
    assert {"Tensor.softmax", "torch.cat", "torch.nn.functional.relu", "Tensor.masked_fill"} <= names.FREE
    assert names.TENSOR_KEYWORDS.isdisjoint({"min", "max", "p", "alpha", "scale", "size", "k", "value"})


FULL = """import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, n, config):
        super().__init__()
        self.n, self.config = n, config

    def forward(self, x, fill=None):
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf"), device=x.device)
        return x + mask, torch.full((self.n,), self.config.value), torch.full([2], 0), torch.full(x.shape, fill)
"""


@pytest.mark.parametrize("torch", shipped())
def test_a_function_that_was_measured_only_with_what_breaks_is_trusted_with_numbers(torch, tmp_path):
    assert names.FIRST["torch.full"] == 0
    path = tmp_path / "masked.py"
    path.write_text(FULL)
    assert not analyze([path], StaticOptions(torch=torch)).findings


def test_no_rule_asks_for_an_attribute_or_a_function_that_stands_in_the_code():
    handlers = [handler.settled() for rule in load_rules(()) for handler in rule.handlers]
    asked = {name for handler in handlers for name in handler.names}
    attributes = expressions.TENSOR_TENSORS | expressions.TENSOR_NUMBERS | {"shape"}
    calls_too = {"values", "indices"}  # the rules that ask for these are about sparse tensors
    assert asked.isdisjoint(f"Tensor.{name}" for name in attributes - calls_too)
    assert asked.isdisjoint(f"math.{name}" for name in library_calls.MATH) and asked.isdisjoint(library_calls.ANSWERS)
    builtins = {*builtin_calls.NUMBERS_OF, *builtin_calls.ORDERS, *builtin_calls.ASKS, "len", "range", "enumerate",
                "zip", "type", "map", "next", "iter", "dict", "getattr"}
    assert asked.isdisjoint(builtins - {"min", "max"})  # which compare what they are given: numbers
