"""Numbers and texts that a region only gives back: Dynamo 2.13 has no guard on them."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from typing import NamedTuple


class Part(NamedTuple):
    x: torch.Tensor
    n: str


def f(x, {name}):
    {body}


def make():
    return f, (torch.ones(3), {first}), {{}}


def calls():
    return [(torch.ones(3), value) for value in ({first}, {second})]
"""
ITEM = {"name": "d", "first": '{"n": "a"}', "second": '{"n": "b"}'}
WHOLE = {"name": "n", "first": "1.5", "second": "2.5"}
PART = {"name": "p", "first": 'Part(torch.ones(3), "a")', "second": 'Part(torch.ones(3), "b")'}
UNTOUCHED = [
    ("return x + 1, n", WHOLE),
    ('return {"l": x + 1, "n": n}', WHOLE),
    ("y = n\n    return x + 1, y", WHOLE),
    ('return {"l": x + 1, "n": d["n"]}', ITEM),
    ('return x + 1, d.get("n"), len(d)', ITEM),
    ('out = {"l": x + 1}\n    out["n"] = d["n"]\n    return out', ITEM),
    ("return x + 1, d", ITEM),
    ("y = torch.relu(p.x)\n    return y, p.n", PART),
]
TOUCHED = [
    ("return n, x + 1", WHOLE),  # a container that begins with constants may be one
    ("return x + 1, [n]", WHOLE),
    ("return x + 1, n * 2", WHOLE),
    ("return {1: x, n: x + 1}", WHOLE),
    ("y = n\n    return x + y, y", WHOLE),
    ('out = {}\n    out["n"] = d["n"]\n    out["l"] = x + 1\n    return out', ITEM),
    ('return x + 1, d["n"] or "none"', ITEM),
    ('return x + 1, d["n"], d["n"].upper()', ITEM),
    ("return x + 1, dict(d)", ITEM),
    (
        'return x * d["m"]["n"]',
        {"name": "d", "first": '{"m": {"n": 1}}', "second": '{"m": {"n": 2}}'},
    ),
]


@pytest.mark.parametrize(("body", "given"), UNTOUCHED)
def test_no_guard_is_on_what_is_only_given_back(body, given, tmp_path):
    source = PROGRAM.format(body=body, **given)
    assert found(analysed(tmp_path, {"program.py": source}, "program.py::make")) == []


@pytest.mark.parametrize(("body", "given"), TOUCHED)
def test_a_guard_is_on_what_is_looked_at(body, given, tmp_path):
    source = PROGRAM.format(body=body, **given)
    result = found(analysed(tmp_path, {"program.py": source}, "program.py::make"))
    codes = {"1.5": "BRK709", '{"m": {"n": 1}}': "BRK708"}
    assert [code for code, _ in result] == [codes.get(given["first"], "BRK710")]


def test_before_it_was_so(tmp_path):
    from breakscope.static import StaticOptions, analyze

    (tmp_path / "program.py").write_text(PROGRAM.format(body="return x + 1, n", **WHOLE))
    options = StaticOptions(torch="2.8.0", entries=(f"{tmp_path}/program.py::make",))
    assert [f.code for f in analyze([str(tmp_path)], options).findings] == ["BRK709"]
