"""Lists and dicts that an open test fills: how long they are is not known behind it."""

import pytest
from programs import analysed, seen

MODEL = """\
    import torch

    def note(names, problems):
        if not all(isinstance(name, str) for name in names):
            problems.append("names")

    class Model(torch.nn.Module):
        def forward(self, x, names):
            problems = {made}
            {filled}
            if {test}:
                raise ValueError(problems)
            return x * x.sum().item()
"""
FILLED = "if not all(isinstance(name, str) for name in names):\n                "


@pytest.mark.parametrize(
    ("made", "filled", "test"),
    (
        ("[]", FILLED + "problems.append(1)", "problems"),
        ("[]", FILLED + "problems.append(1)", "len(problems) > 0"),
        ("[]", "note(names, problems)", "len(problems) > 0"),
        ("set()", FILLED + "problems.add(1)", "problems"),
        ("{}", FILLED + "problems['names'] = 1", "problems"),
        ("{}", FILLED + "problems['names'] = 1", "'names' in problems"),
        ("{}", FILLED + "problems['names'] = 1", "len(problems) == 1"),
    ),
)
def test_what_a_test_filled_may_be_empty(made, filled, test, tmp_path):
    source = MODEL.format(made=made, filled=filled, test=test)
    assert {code for code, _ in seen(analysed(tmp_path, {"model.py": source}))} == {"BRK201"}


@pytest.mark.parametrize(
    "filled",
    (
        "problems.append(1)",
        FILLED + "problems.append(1)\n            problems.clear(); problems.append(2)",
    ),
)
def test_what_was_surely_filled_is_not_empty(filled, tmp_path):
    source = MODEL.format(made="[]", filled=filled, test="problems")
    assert seen(analysed(tmp_path, {"model.py": source})) == []
