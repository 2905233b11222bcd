"""Which names of a file are compiled, and which of its functions call them."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from breakscope.static.machine.compiled_names import compiled_names


def names(source: str):
    return compiled_names(SimpleNamespace(tree=ast.parse(source)))


@pytest.mark.parametrize(
    "line",
    ["import re as _re", "import regex.regex", "import lark as _re"],
)
def test_the_compile_of_a_module_is_not_torch_s(line):
    owner = line.split()[-1].partition(".")[0]
    found = names(
        f"WORD = {owner}.compile('a')\ndef first(x):\n    return {owner}.search(x)\n{line}\n"
    )
    assert not found.called
    assert not found.callers


def test_what_is_compiled_in_place_is_called_by_its_name():
    found = names(
        "import re\nfrom models import net\nnet.compile()\ndef step(x):\n    return net(x)\n"
    )
    assert found.called == {"net"}
    assert len(found.callers) == 1
