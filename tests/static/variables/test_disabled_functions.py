"""Functions that torch.compiler.disable was called with: their calls end the graph, those of the same
function by its own name do not."""

import pytest
from programs import analysed, found

HEAD = """\
import torch
def helper(x):
    return x.sum().item() + x
"""


@pytest.mark.parametrize("name", ["torch.compiler.disable", "torch._dynamo.disable"])
@pytest.mark.parametrize(
    ("made", "call"),
    [
        ("quiet = {}(helper)", "quiet(x)"),
        ("quiet = {}(helper, recursive=False)", "quiet(x)"),
        ("quiet = {}(fn=helper)", "quiet(x)"),
        ("quiet = {}(lambda x: x.sum().item())", "quiet(x)"),
        ("quiet = {}(recursive=True)(helper)", "quiet(x)"),
        ("class quiet:\n    run = staticmethod({}(helper))", "quiet.run(x)"),
    ],
)
def test_a_call_of_it_ends_the_graph(made, call, name, tmp_path):
    source = HEAD + made.format(name) + f"\n@torch.compile\ndef step(x):\n    return {call}\n"
    assert found(analysed(tmp_path, {"run.py": source})) == [("BRK501", source.count("\n"))]


def test_the_function_itself_is_traced(tmp_path):
    source = (
        HEAD
        + "quiet = torch.compiler.disable(helper)\n@torch.compile\ndef step(x):\n    return helper(x)\n"
    )
    assert found(analysed(tmp_path, {"run.py": source})) == [("BRK201", 3)]


@pytest.mark.parametrize(
    "given", ["1", "None", "*[]", "**{}", "", "helper, 1, 2", "fn=None", "'a'", "[helper]", "fn=helper, fun=1"]
)  # fmt: skip
def test_odd_arguments_are_no_error_of_ours(given, tmp_path):
    source = (
        HEAD
        + f"quiet = torch.compiler.disable({given})\n@torch.compile\ndef step(x):\n    return quiet(x)\n"
    )
    result = analysed(tmp_path, {"run.py": source})
    assert not result.errors and not any("internal error" in str(gap) for gap in result.gaps)
