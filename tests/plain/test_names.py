"""The names that the look at plain code trusts follow from the tables and the rules."""

from breakscope.knowledge_build import plain_names
from breakscope.plain import builtin_calls, expressions, library_calls, names
from breakscope.rulebook import load_rules


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
