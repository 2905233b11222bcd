"""Which guard explains that no version of a function served a call."""

from pathlib import Path

import pytest
from running import run_all

from breakscope.dynamic.findings.recompile_advice import (
    COUNTED,
    OF_INSTANCES,
    ONE,
    About,
    advice_on,
    fix,
)
from breakscope.dynamic.findings.wording import cause
from breakscope.dynamic.observations.facts import FrameCompile, RecompileSeen
from breakscope.dynamic.observations.guards.choice import why_none_served
from breakscope.dynamic.observations.guards.families import read_guard
from breakscope.dynamic.observations.guards.tree import ANY, read_version

TREE = (
    "\n\tTREE_GUARD_MANAGER:\n\t+- RootGuardManager\n"
    '\t| +- GLOBAL_STATE: ___check_global_state() against {{"grad_mode":{grad},"default_dtype":6}}\n'
    "\t| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU), torch.{dtype}, "
    "device=None, requires_grad={needs}, size=[{batch}, 8], stride=[8, 1])  # x * 2  # /p/a.py:3 in f\n"
    "\t| | +- EQUALS_MATCH: L['k'] == {k}  # x * k  # /p/a.py:3 in f\n"
    "\t| | +- EQUALS_MATCH: not L['self'].seen  # if self.seen:  # /p/a.py:4 in f\n"
)


def version(batch=4, needs=False, grad="true", dtype="float32", k=1):
    text = TREE.format(batch=batch, needs=needs, grad=grad, dtype=dtype, k=k)
    return read_version(text.encode())


def reason(number, text):
    return f"0/{number}: {text}"


SIZE = "tensor 'x' size mismatch at index 0. expected 4, actual 5"
NEEDS = "tensor 'x' requires_grad mismatch. expected requires_grad={}"


def test_facts():
    seen = version(batch="None", k=7).values
    assert seen["x", "size 0"] == ANY
    assert seen["x", "size 1"] == "8"
    assert seen["x", "requires_grad"] == "False"
    assert seen["k", "value"] == "7"
    assert seen["len(self.seen)", "value"] == "0"
    assert seen["GLOBAL_STATE", "grad_mode"] == "true"


def test_a_version_for_the_same_state_failed_for_the_reason_that_counts():
    """The newest version is for tensors that need gradients; the older one has this call's state."""
    versions = {"0/0": version(), "0/1": version(needs=True)}
    found = why_none_served(
        [reason(1, NEEDS.format(1)), reason(0, SIZE)], versions, version(batch="None")
    )
    assert SIZE in found.guard
    assert found.others == ()


def test_without_guard_trees_a_size_comes_before_a_state():
    found = why_none_served([reason(1, NEEDS.format(1)), reason(0, SIZE)], {}, None)
    assert SIZE in found.guard


def test_a_state_that_no_version_has_is_the_cause():
    found = why_none_served([reason(0, NEEDS.format(0))], {"0/0": version()}, version(needs=True))
    assert "requires_grad" in found.guard


def test_second_causes_are_named():
    found = why_none_served(
        [reason(0, "GLOBAL_STATE changed: grad_mode ")],
        {"0/0": version()},
        version(grad="false", dtype="float64", batch="None", k=1),
    )
    families = [read_guard(other).family for other in found.others]
    assert families == ["dtype", "size"]
    words = [cause([read_guard(other)]) for other in found.others]
    assert "the dtype of `x` was float32 and is float64 now" in words


def test_two_switches_in_one_reason_are_two_causes():
    found = why_none_served([reason(0, "GLOBAL_STATE changed: grad_mode default_dtype ")], {}, None)
    assert read_guard(found.guard).family == "grad_mode"
    assert [read_guard(other).family for other in found.others] == ["default_dtype"]


@pytest.mark.parametrize(
    ("batch", "fixed"), [("None", False), ("5", True)], ids=["dynamic", "needed as a number"]
)
def test_a_size_that_the_code_needs_is_compiled_in_again(batch, fixed):
    found = why_none_served([reason(0, SIZE)], {"0/0": version()}, version(batch=batch))
    assert found.fixed is fixed


def test_advice_follows_what_was_seen():
    size = [read_guard(SIZE)]
    assert "mark_dynamic(x, 0)" in fix(size)
    assert "mark_dynamic" not in fix(size, About(reachable=False))
    assert "mark_dynamic" not in fix(size, About(fixed=True))
    assert fix(size, About(switches=frozenset())).startswith("pad")  # dynamic=True is set
    assert fix([read_guard("tensor 'x' size mismatch at index 0. expected 4, actual 1")]) == ONE
    counter = [read_guard("self.steps == 3")]
    assert "allow_unspec_int_on_nn_module" in fix(counter)
    assert "allow_unspec" not in fix(
        counter, About(switches=frozenset(("allow_unspec_int_on_nn_module",)))
    )
    assert "0-d tensor" not in fix([read_guard("k == 3"), read_guard("k == 4")])
    assert "mark_dynamic" not in fix(
        size, About(alone=False)
    )  # one marked, the other compiles again
    assert fix([read_guard("2 <= x.size()[0]")]) == ONE
    assert fix([read_guard("self.steps == 0"), read_guard("self.steps == 1")]) == COUNTED
    assert "line 20" in fix([read_guard("___stack0 == 19")], About(resumed_at=20))


def test_a_number_of_each_instance(tmp_path: Path):
    file = tmp_path / "layers.py"
    file.write_text(
        "class Layer:\n    def __init__(self, index):\n        self.index = index\n\n"
        "    def forward(self, x):\n        return x * self.index\n"
    )
    frame = FrameCompile("0/1", "forward", str(file), 5)
    seen = RecompileSeen(frame, read_guard("self.index == 0"), None)
    assert advice_on([seen], frozenset()) == OF_INSTANCES
    file.write_text(file.read_text() + "\nlayer = Layer(1)\nlayer.index = 2\n")
    other = tmp_path / "changed.py"
    other.write_text(file.read_text())
    seen = RecompileSeen(
        FrameCompile("0/1", "forward", str(other), 5), read_guard("self.index == 0"), None
    )
    assert advice_on([seen], frozenset()) != OF_INSTANCES


def test_training_flag():
    guard = read_guard("___check_obj_id(self.training, 94), type=<class 'bool'>")
    assert cause([guard]) == "`self.training` changed: `train()` and `eval()` are two versions"


LAYERS = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.fc(x))


def drive(call, model):
    for batch in (4, 5, 6):
        x = call(torch.randn(batch, 8))
        call(x)


def make():
    return Layer()
"""


def test_layers_of_one_class_in_training(tmp_path: Path):
    """Compiled one by one, called with three batch sizes: the size, and once requires_grad."""
    pytest.importorskip("torch")
    file = tmp_path / "layers.py"
    file.write_text(LAYERS)
    ran = run_all({"make": {"file": str(file), "drive": "drive"}})["make"]
    found = {f.dynamo: (f.count, f.settled) for f in ran.findings}
    assert {family: count for family, (count, _) in found.items()} == {
        ("size",): 2,
        ("requires_grad",): 1,
    }
    assert found["size",][1] == "settled after call 4 of 6"
