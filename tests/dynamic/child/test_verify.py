"""What is recorded of a target's calls, and how two recordings are compared."""

import logging
import sys
import warnings

import pytest
import torch

from breakscope.dynamic.child.calls import Plan
from breakscope.dynamic.child.load import TargetError
from breakscope.dynamic.child.verify import guess
from breakscope.dynamic.child.verify.agree import (
    compiled_agreements,
    eager_agreements,
    unsteady_state,
)
from breakscope.dynamic.child.verify.heard import listening
from breakscope.dynamic.child.verify.record import Recorder, lines_run

HEAD = "import logging, random, sys, warnings\nimport torch\nfrom torch import nn\n\n"
BODY = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.seen = 0

    def forward(self, x):
        y = self.layer(x)
        {line}
        return y


def make():
    return M(), (torch.randn(2, 4),), {{}}
"""


@pytest.fixture
def module(tmp_path):
    """A function that makes a module of a forward with one more line."""
    count = 0

    def make(line="pass", source=None):
        nonlocal count
        count += 1
        import importlib.util

        file = tmp_path / f"target_{count}.py"
        file.write_text(source or HEAD + BODY.format(line=line))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        made = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = made
        spec.loader.exec_module(made)
        return made

    return make


def recorded(module, given=None, values=5.0):
    plan = Plan("make", "", "", 1, True, torch.device("cpu"))
    return Recorder(module, plan, given).recorded(lambda f: f, lambda what: None, values)


def compared(module, ours, theirs):
    one = recorded(module(ours))
    two = recorded(module(theirs), one["initial"])
    return {a.what: (a.status, a.detail) for a in eager_agreements(one, two)}


def test_what_changes_by_itself_is_not_held_against_a_fix_and_all_else_is(module):
    line = "import time; self.when = time.perf_counter_ns(); self.seen += 1"
    one, again = recorded(module(line)), recorded(module(line))
    unsteady = unsteady_state(one["state"], again["state"])
    assert unsteady == {"when"}
    found = {a.what: a for a in eager_agreements(one, again, unsteady)}
    assert found["module state"].status == "equal"
    assert found["what changes by itself"].detail == "`when`"
    louder = recorded(module(line.replace("+= 1", "+= 2")), one["initial"])
    found = {a.what: a.status for a in eager_agreements(one, louder, unsteady)}
    assert found["module state"] == "different"


def test_the_same_program_is_equal_in_all(module):
    found = compared(module, "print(1)", "print(1)")
    assert {status for status, _ in found.values()} == {"equal", "not compared"}
    assert found["printed"][0] == "equal" and found["gradients"][0] == "equal"


@pytest.mark.parametrize(
    ("ours", "theirs", "what", "status"),
    [
        ("y = y * 2", "y = y * 3", "outputs", "different"),
        ("y = y * 0.1 * 3", "y = y * 0.3", "outputs", "within tolerance"),
        ("y = y * 2", "y = (y * 2).detach()", "outputs", "different"),
        (
            "y = y.abs()",
            "y = y.clone(); y = y.abs() + 0 * (y - y.detach()).log()",
            "gradients",
            "different",
        ),
        ("pass", "torch.rand(1)", "random stream", "different"),
        ("pass", "random.random()", "random stream", "different"),
        ("pass", "x.data.add_(1)", "arguments", "different"),
        ("self.seen += 1", "self.seen += 2", "module state", "different"),
        (
            "self.seen += 1",
            "self.seen = torch.tensor(self.seen + 1)",
            "module state",
            "within tolerance",
        ),
        ("self.layer.bias.data.add_(1)", "pass", "module state", "different"),
        ("print('a')", "print('a'); print('a')", "printed", "different"),
        ("print('a')", "pass", "printed", "different"),
        ("logging.getLogger('x').warning('a')", "pass", "logged", "different"),
        ("warnings.warn('a')", "pass", "warned", "different"),
        ("warnings.warn('a')", "warnings.warn('b')", "warned", "different"),
        ("pass", "raise ValueError('a')", "exceptions", "different"),
        ("raise ValueError('a')", "raise ValueError('b')", "exceptions", "within tolerance"),
        ("raise ValueError('a')", "raise TypeError('a')", "exceptions", "different"),
        ("y = torch.where(y == y, y, y)", "y = y", "outputs", "equal"),
    ],
)
def test_each_difference_is_seen(module, ours, theirs, what, status):
    found = compared(module, ours, theirs)
    assert found[what][0] == status, found


def test_the_other_side_of_a_branch_is_tried(module):
    """The target's own arguments take one side only."""
    ours = "y = y.abs() if x.abs().sum() < 1e3 else y"
    found = compared(module, ours, "y = y.abs()")
    assert found["outputs"][0] == "different" and "large" in found["outputs"][1]


def test_where_nan_stands_counts(module):
    found = compared(module, "y = torch.nan_to_num(y)", "y = y")
    assert found["outputs"][0] == "different" and "NaN" in found["outputs"][1]


def test_weights_and_inputs_are_taken_over(module):
    """The rewritten code draws more when it is built."""
    more = HEAD + BODY.format(line="pass").replace(
        "        self.seen = 0\n", "        self.seen = 0\n        torch.rand(3)\n"
    )
    more = more.replace("super().__init__()\n", "super().__init__()\n        torch.rand(7)\n")
    one = recorded(module())
    two = recorded(module(source=more), one["initial"])
    assert {a.status for a in eager_agreements(one, two)} <= {"equal", "not compared"}


def recording(**call):
    empty = {"raised": None, "outputs": [], "gradients": {}, "arguments": [], "random": {}}
    texts = {"printed": [], "logged": [], "warned": []}
    made = {"label": "call 1", **empty, **texts, **call}
    return {"calls": [made], "values": [], "state": {}}


@pytest.mark.parametrize(
    ("was", "now", "status"),
    [
        (["a"], ["a"], "equal"),
        (["a"], [], "fewer"),
        (["a"], ["a", "a", "a"], "different"),
        ([], ["a"], "different"),
        (["a"], ["b"], "different"),
    ],
)
def test_compiled_code_may_be_silent_and_not_louder(was, now, status):
    eager, before, after = recording(warned=was), recording(warned=was), recording(warned=now)
    found = {a.what: a.status for a in compiled_agreements(eager, before, after)}
    assert found["warned when compiled"] == status


def test_what_is_wrong_when_compiled_already_is_not_held_against_a_fix():
    leaf = lambda value: [{"type": "int", "text": str(value)}]  # noqa: E731
    eager, before = recording(outputs=leaf(1)), recording(outputs=leaf(2))
    for now, status in ((1, False), (2, False), (3, True)):
        after = recording(outputs=leaf(now))
        found = {a.what: a.status for a in compiled_agreements(eager, before, after)}
        assert (found["outputs when compiled"] == "different") == status


def test_an_exception_when_compiled_alone_is_seen():
    after = recording(raised=["Unsupported", "no"])
    found = {a.what: a.status for a in compiled_agreements(recording(), recording(), after)}
    assert found["exceptions when compiled"] == "different"


def test_listening_leaves_everything_as_it_was(capsys):
    out, handle, show = sys.stdout, logging.Logger.handle, warnings.showwarning
    with pytest.raises(KeyError), listening() as heard:
        print("a")
        logging.getLogger("mine").error("b %s", 1)
        logging.getLogger("mine").debug("below its level")
        raise KeyError
    assert (sys.stdout, logging.Logger.handle, warnings.showwarning) == (out, handle, show)
    assert (heard.printed, heard.logged) == (["a"], ["mine ERROR b 1"])
    assert capsys.readouterr().out == ""


def test_the_lines_that_run_are_known(module):
    made = module("y = y if len(x) else x")
    with lines_run([made.__file__]) as lines:
        made.make()[0](torch.ones(2, 4))
    found = lines[made.__file__]
    text = open(made.__file__).read().splitlines()
    assert {text[line - 1].strip() for line in found} >= {"self.seen = 0", "return y"}
    assert sys.gettrace() is None or sys.gettrace().__name__ != "of_call"


def test_arguments_are_guessed_where_they_can_be(module):
    source = HEAD + (
        "def f(x, factor: float, *, mode='a'):\n    assert x.dim() == 3\n    return x * factor\n\n"
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = nn.Linear(16, 2)\n    def forward(self, x):\n        return self.layer(x)\n\n"
        "class N(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
        "    def forward(self, x):\n        return x\n\n"
        "def never(x):\n    raise ValueError('no')\n\n"
        "def indices(i):\n    return torch.arange(9)[i]\n"
    )
    made = module(source=source)
    assert guess.SHAPES[guess.plant(made, "f", None)[0]] == (2, 3, 4)
    assert guess.SHAPES[guess.plant(made, "M.forward", None)[0]] == (2, 16)
    assert guess.plant(made, "indices", None)[1]
    for function, reason in (("N.forward", "needs arguments"), ("never", "cannot be guessed")):
        with pytest.raises(TargetError, match=reason):
            guess.plant(made, function, None)
