"""Causes and advice that fresh programs got wrong: each was applied as printed, and did not help."""

import dataclasses
from pathlib import Path

import pytest

from breakscope.dynamic.findings.matching import recompile_finding
from breakscope.dynamic.findings.recompile_advice import (
    FRACTION_KEPT,
    NEEDED,
    OF_INSTANCES,
    ONE_WAY,
    PASSED_BY_PACKAGE,
    SAME_KEYS,
    advice_on,
    another_module,
)
from breakscope.dynamic.findings.settling import settled
from breakscope.dynamic.findings.wording import cause
from breakscope.dynamic.observations.facts import FrameCompile, Observations, RecompileSeen
from breakscope.dynamic.observations.guards.families import read_guard
from breakscope.dynamic.observations.guards.passed import passed_name
from breakscope.dynamic.trace.frames import Frame

SIZE = "tensor '{}' size mismatch at index {}. expected 8, actual 5"
ENTRY = Frame("/v/site-packages/torch/_dynamo/eval_frame.py", 1166, "compile_wrapper")
PACKAGE = "class Net:\n    def forward(self, sample, *rest, **options):\n        return sample\n"
CALLER = "from torch import mse\ndef sample(image, t):\n    noise = {}\n"
OWN = "def boxes(b, cache, options):\n    return b\n"


def seen(frame, *texts):
    guards = []
    for text in texts:
        guard = read_guard(text)
        guards.append(dataclasses.replace(guard, name=passed_name(guard.name, frame)))
    return RecompileSeen(frame, guards[0], Frame(frame.path, frame.line, frame.function), others=tuple(guards[1:]))  # fmt: skip


def advice(frame, *texts, compiles=()):
    return advice_on([seen(frame, *texts)], frozenset(), compiles)


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(OWN)
    return FrameCompile("0/1", "boxes", str(file), 1)


@pytest.fixture
def packages(tmp_path):
    """A package's function, called at the third line of the user's program."""
    file = tmp_path / "lib" / "site-packages" / "models" / "net.py"
    file.parent.mkdir(parents=True)
    file.write_text(PACKAGE)
    user = tmp_path / "sample.py"
    user.write_text(CALLER.format("mse(net(image, t.item()))"))
    caller = Frame(str(user), 3, "sample")
    frame = Frame(str(file), 2, "forward")
    return FrameCompile("0/1", "forward", str(file), 2, stack=(caller, ENTRY, frame))


def test_what_is_marked_is_the_callers_variable(packages):
    assert "mark_dynamic(image, 2)`" in advice(packages, SIZE.format("sample", 2))
    by_position = advice(packages, SIZE.format("rest[0]", 1))
    assert "mark_dynamic(tensor, 1)` of argument 2" in by_position
    caller = Path(packages.stack[0].path)
    for number, line in enumerate(("net(mse(image))", "net(other(image))")):
        other = caller.with_name(f"{number}.py")
        other.write_text(CALLER.format(line))
        stack = (dataclasses.replace(packages.stack[0], path=str(other)), *packages.stack[1:])
        frame = dataclasses.replace(packages, stack=stack)
        assert "mark_dynamic(tensor, 2)` of `sample`" in advice(frame, SIZE.format("sample", 2))


def test_one_tensor_of_a_container_is_not_marked(own):
    """Another one of the same size makes the compile raise then."""
    assert "mark_dynamic(b, 0)" in advice(own, SIZE.format("b", 0))
    assert "mark_dynamic" not in advice(own, SIZE.format("cache[0][0]", 1))
    stride = "tensor 'cache' stride mismatch at index 0. expected 48, actual 16"
    assert "mark_dynamic" not in advice(own, SIZE.format("b", 0), stride)


def test_nothing_is_marked_in_a_function_that_is_meant_to_be_traced(own):
    """`boxes` is compiled by itself because what the user compiled is skipped."""
    start = Frame(own.path, 9, "<module>")
    outer = FrameCompile("0/0", "forward", own.path, 5, stack=(start, ENTRY, Frame(own.path, 5, "forward")))  # fmt: skip
    inner = dataclasses.replace(own, stack=(start, ENTRY, Frame(own.path, 1, "boxes")))
    size = SIZE.format("b", 0)
    assert "mark_dynamic" not in advice(inner, size, compiles=(outer, inner))
    assert "mark_dynamic" in advice(inner, size, compiles=(inner, outer))
    torchs = dataclasses.replace(outer, path="/v/site-packages/torch/_dynamo/external_utils.py")
    assert "mark_dynamic" in advice(inner, size, compiles=(torchs, inner))


def test_numbers_that_are_no_modules_own(own):
    assert advice(own, "options.scale == 1.0") == FRACTION_KEPT
    assert advice(own, "self.temperature == 1.0") == FRACTION_KEPT
    twice = [seen(own, f"options.layers == {n}") for n in (2, 3)]
    assert advice_on(twice, frozenset()) == NEEDED
    once = [seen(own, f"options.layers == {n}") for n in (1, 3)]
    assert advice_on(once, frozenset()) != NEEDED
    assert advice(own, "KeyError on options['ids']") == SAME_KEYS


def test_an_attribute_of_an_argument_is_no_instances_own(tmp_path):
    file = tmp_path / "net.py"
    file.write_text(
        "class Net:\n    def __init__(self):\n        self.layers = []\n\n"
        "    def forward(self, x, options):\n        return x * options.layers\n"
    )
    frame = FrameCompile("0/1", "forward", str(file), 5)
    assert advice(frame, "options.layers == 2") != OF_INSTANCES
    assert advice(frame, "self.layers == 2") == OF_INSTANCES


def test_what_a_package_passes_in_other_calls(packages):
    inside = Frame("/v/site-packages/models/generate.py", 4, "generate")
    frame = dataclasses.replace(packages, stack=(packages.stack[0], inside, *packages.stack[1:]))
    assert advice(frame, "len(options) == 6") == PASSED_BY_PACKAGE
    assert advice(packages, "len(options) == 6") != PASSED_BY_PACKAGE


INFERENCE = (
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, BackendSelect, ADInplaceOrView), "
    "actual DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU)"
)


def test_inference_mode_beside_no_grad(own):
    guard = read_guard(INFERENCE)
    assert guard.family == "grad_mode"
    assert "inference_mode" in cause([guard])
    assert advice(own, INFERENCE) == ONE_WAY


def test_a_step_of_something_else_is_no_optimizers_state():
    name = "self._trainer.optim_progress.optimizer.step.total.completed"
    assert read_guard(f"{name} == 3").family == "attribute"
    assert read_guard("G['optimizer'].state['step'] == 3").family == "optimizer_state"


WEIGHT = "tensor '{}._modules['fc']._parameters['weight']' size mismatch at index 1. expected 4, actual 8"


def test_another_module_that_runs_the_same_code(own):
    why, _ = another_module([seen(own, SIZE.format("x", 1), WEIGHT.format("self"))])
    assert "another instance" in why and "`self.fc.weight`" in why
    assert another_module([seen(own, SIZE.format("x", 1))]) is None
    assert another_module([seen(own, WEIGHT.format("self")), seen(own, SIZE.format("x", 1))]) is None  # fmt: skip
    wrapper = dataclasses.replace(
        own, function="inner", path="/v/site-packages/torch/_dynamo/external_utils.py"
    )
    recompile = seen(wrapper, SIZE.format("args[0]", 1), WEIGHT.format("fn"))
    assert recompile.others[0].name.startswith("module.")
    finding = recompile_finding([recompile], (), Path(own.path).parent)
    assert "another module than before" in finding.message
    assert "dynamic=True" not in finding.help and finding.other_causes == ()


def test_what_the_line_before_a_break_gave_has_no_name(own):
    resumed = dataclasses.replace(own, resumed_at=2)
    recompile = seen(resumed, SIZE.format("b", 0), SIZE.format("___stack1", 0))
    (also,) = recompile_finding([recompile], (), Path(own.path).parent).other_causes
    assert also == "dimension 0 of the value that line 2 gave was 8 and is 5 now"


def recompiles(own, *compile_ids, began=1.0):
    return [
        seen(dataclasses.replace(own, compile_id=name, began=began), "n == 3")
        for name in compile_ids
    ]


def test_a_short_program_is_not_called_settled(own):
    """It may have spent the rest of its time on its end."""
    first = dataclasses.replace(own, compile_id="0/0", began=1000.0)
    group = recompiles(own, "0/1", "0/2", "0/3", began=1001.0)
    assert settled(group, Observations(compiles=(first,), ended=1003.0)) == "still growing"
    assert settled(group, Observations(compiles=(first,), ended=1030.0)) == "settled after 1 s of 30 s"  # fmt: skip
    several = recompiles(own, "0/1", "1/1", "2/1", began=1001.0)
    assert settled(several, Observations(compiles=(first,), ended=1003.0)) == ""


def test_second_causes_of_another_kind_come_first(own):
    """Sizes change together, and would fill the few that are shown."""
    sizes = [SIZE.format(name, 0) for name in ("b", "cache", "options", "mask", "labels")]
    recompile = seen(own, *sizes, "self.config.problem_type is None")
    found = recompile_finding([recompile], (), Path(own.path).parent).other_causes
    assert found[0] == "`self.config.problem_type` was None and is not any more"
    assert len(found) > 1 and "dimension 0" in found[1]


def test_what_a_line_gave_and_is_gone_is_the_breaks(own):
    resumed = dataclasses.replace(own, function="torch_dynamo_resume_in_boxes_at_2")
    frame = dataclasses.replace(resumed, resumed_at=2)
    gone = "Cache line invalidated because {} got deallocated"
    assert advice(frame, gone.format("___stack0")).startswith("the graph ends at line 2")
    assert advice(own, gone.format("L['cache']")).startswith("create the object once")


def test_a_float_that_is_compiled_in_again_is_needed(own):
    """`F.dropout(x, p)`: each value is a version, and a tensor there ends the graph."""
    first, second = (seen(own, f"rate == {value}") for value in (0.1, 0.2))
    assert "0-d tensor" in advice_on([first], frozenset())
    assert advice_on([first, second], frozenset()) == NEEDED


LAYERS = """\
class Net:
    def pick(self, x, n):
        return self.layers[n](x)

    def several(self, x, n):
        for layer in self.layers[:n]:
            x = layer(x)
        return x

    def row(self, x, n):
        return x[n] + self.table[n]

    def count(self, x):
        self.steps += 1
        x = x * self.steps
        if self.steps > 30:
            x = x + 1
        return x

    def count_on(self, x):
        self.steps += 1
        return x * self.steps
"""


@pytest.mark.parametrize(
    ("line", "guard", "word"),
    [
        (3, "n == 2", "each value is a version"),
        (6, "n == 2", "each value is a version"),
        (11, "n == 2", "dynamic=True"),
        (14, "self.steps == 2", "a test decides by this value"),
        (22, "self.steps == 2", "keep the number in a buffer"),
    ],
)
def test_a_number_that_picks_layers_and_a_counter_that_is_tested(tmp_path, line, guard, word):
    file = tmp_path / "net.py"
    file.write_text(LAYERS)
    frame = FrameCompile("0/1", "forward", str(file), 1)
    told = dataclasses.replace(read_guard(guard), path=str(file), line=line)
    assert word in advice_on([RecompileSeen(frame, told, Frame(str(file), line, "f"))], frozenset())


def test_a_number_by_which_torch_takes_a_part_of_a_list_of_modules(tmp_path):
    frame = FrameCompile("0/1", "forward", str(tmp_path / "net.py"), 1)
    path = "/v/site-packages/torch/nn/modules/container.py"
    told = dataclasses.replace(read_guard("n == 2"), path=path, line=384)
    assert "each value is a version" in advice_on(
        [RecompileSeen(frame, told, Frame(path, 384, "f"))], frozenset()
    )
