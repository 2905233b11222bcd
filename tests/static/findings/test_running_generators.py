"""A break in a generator's function while something goes over it: Dynamo skips the function that does, and resumes what
calls that. Each was run under torch 2.13: what is marked breaks, and nothing else but the loop in the generator, which
Dynamo reports once more where a sum or a comprehension goes over it (GB8335)."""

import pytest
from programs import analysed, found

HEAD = """\
import torch


def parts(x):
    for row in x.split(1):
        if row.sum() > 0:  # BRK101
            row = row * 2
        yield row


"""
OVER = {
    "a loop": "y = 0\n    for row in parts(x):\n        y = y + row",
    "a list": "y = torch.stack(list(parts(x)))",
    "a sum": "y = sum(parts(x))",
    "a star": "y = torch.stack([*parts(x)])",
    "several names": "a, b = parts(x)\n    y = a + b",
    "a comprehension": "y = torch.stack([row + 1 for row in parts(x)])",
    "one of its items": "y = next(parts(x))",
}


def lines(source: str, mark: str) -> list[int]:
    return [n for n, line in enumerate(source.splitlines(), 1) if mark in line]


@pytest.mark.parametrize("what", OVER)
def test_what_goes_over_it_is_skipped(what, tmp_path):
    source = (
        f"{HEAD}@torch.compile\ndef run(x):\n    x = x + 1\n    {OVER[what]}\n    print(y)\n"
        "    return y\n\n\nrun(torch.ones(2, 3))\n"
    )
    result = analysed(tmp_path, {"run.py": source})
    assert [line for _, line in found(result)] == lines(source, "# BRK101")


@pytest.mark.parametrize("what", OVER)
def test_who_calls_that_is_resumed(what, tmp_path):
    source = (
        f"{HEAD}def inner(x):\n    {OVER[what]}\n    return y\n\n\n"
        "@torch.compile\ndef run(x):\n    y = inner(x + 1)\n    print(y)\n    return y\n\n\nrun(torch.ones(2, 3))\n"
    )
    result = analysed(tmp_path, {"run.py": source})
    assert [line for _, line in found(result)] == [
        *lines(source, "# BRK101"),
        *lines(source, "print"),
    ]


def test_a_generator_without_a_break_costs_nothing(tmp_path):
    source = HEAD.replace("        if row.sum() > 0:  # BRK101\n            row = row * 2\n", "")
    source += "@torch.compile\ndef run(x):\n    y = sum(parts(x))\n    print(y)\n    return y\n"
    assert [line for _, line in found(analysed(tmp_path, {"run.py": source}))] == lines(
        source, "print"
    )
