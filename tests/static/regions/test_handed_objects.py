"""Objects that a program hands to what it compiles, or that this has by name: what the region changes on them the next
call finds, if it is given the same one (each measured under torch 2.13)."""

import textwrap

import pytest
from programs import analysed, found

PROGRAM = """\
import torch

class State:
    def __init__(self):
        {start}

@torch.compile
def step(x, state):
{body}

{calls}
"""
SAME = "state = State()\nfor _ in range(4):\n    step(torch.ones(1, 3), state)"
ANEW = "for _ in range(4):\n    step(torch.ones(1, 3), State())"
ANEW_FOR_SOME = "for _ in range(2):\n    state = State()\n    for _ in range(3):\n        step(torch.ones(1, 3), state)"
CHANGES = {
    "None, then a tensor": (
        "self.seen = None",
        "state.seen = x if state.seen is None else torch.cat([state.seen, x])\nreturn state.seen.sum()",
        "BRK707",
    ),
    "a counter": ("self.seen = 0", "state.seen += 1\nreturn x * state.seen", "BRK701"),
    "a flag": (
        "self.seen = False",
        "if not state.seen:\n    state.seen = True\n    return x * 2\nreturn x",
        "BRK706",
    ),
    "a list": ("self.seen = []", "state.seen.append(x)\nreturn torch.stack(state.seen)", "BRK703"),
    "a dict": (
        "self.seen = {}",
        "state.seen[len(state.seen)] = x\nreturn sum(state.seen.values())",
        "BRK704",
    ),
    "a tensor that grows": (
        "self.seen = torch.zeros(1, 3)",
        "state.seen = torch.cat([state.seen, x])\nreturn state.seen.sum()",
        "BRK712",
    ),
    "a tensor that does not": (
        "self.seen = torch.zeros(1, 3)",
        "state.seen = state.seen + x\nreturn state.seen.sum()",
        "",
    ),
}


def codes(tmp_path, start, body, calls):
    body = textwrap.indent(body, "    ")
    source = PROGRAM.format(start=start, body=body, calls=calls)
    return {code for code, _ in found(analysed(tmp_path, {"program.py": source}))}


@pytest.mark.parametrize(("start", "body", "code"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("calls", [SAME, ANEW_FOR_SOME], ids=["one object", "one for some calls"])
def test_the_next_call_finds_it(start, body, code, calls, tmp_path):
    assert codes(tmp_path, start, body, calls) == ({code} if code else set())


@pytest.mark.parametrize(("start", "body"), [v[:2] for v in CHANGES.values()], ids=CHANGES)
def test_each_call_is_given_another_object(start, body, tmp_path):
    assert codes(tmp_path, start, body, ANEW) == set()


@pytest.mark.parametrize(("start", "body", "code"), CHANGES.values(), ids=CHANGES)
def test_an_object_by_name(start, body, code, tmp_path):
    calls = "state = State()\n\n@torch.compile\ndef named(x):\n{}\n\nfor _ in range(4):\n    named(torch.ones(1, 3))"
    calls = calls.format(textwrap.indent(body, "    "))
    assert codes(tmp_path, start, "return x", calls) == ({code} if code else set())
