"""Runs on fake tensors: what they see, what they assume, and that they say so."""

from __future__ import annotations

import pytest
from running import TARGETS, break_lines, line_of, run_all

from breakscope.dynamic import FakeOptions
from breakscope.report.formats.of_runs.fake import fake_texts

torch = pytest.importorskip("torch")
FILE = "fakes.py"
PLAIN = (
    "sizes",
    "known",
    "waits",
    "without_kernel",
    "without_kernel_outside",
    "of_library",
    "address",
    "subclass",
    "large_subclass",
    "meta",
    "empty_weights",
    "larger_than_memory",
    "packs",
    "chooses",
    "on_cuda",
)
OTHERS = {
    "decides": {"fake": FakeOptions(explore=12)},
    "refuses": {"fake": FakeOptions(explore=12)},
    "not_exportable": {"fake": FakeOptions(export=True)},
    "unknown_output": {"fake": FakeOptions(export=True)},
    "exportable": {"fake": FakeOptions(export=True)},
    "device": {"device": "cuda"},
    "cuda": {"name": "on_cuda", "device": "cuda"},
    "varied": {"vary": True},
    "grouped": {"vary": True, "backward": False},
    "grouped_large": {"vary": True, "backward": False},
}


def line(text):
    return line_of(f"# {text}", FILE)


@pytest.fixture(scope="module")
def runs():
    wanted = {name: {} for name in PLAIN} | OTHERS
    usual = {"file": str(TARGETS / FILE), "fake": FakeOptions()}
    return run_all({name: {"name": name, **usual, **fields} for name, fields in wanted.items()})


def texts(result):
    return fake_texts(result.run.fake, result.run.status)


def of_code(result, code):
    return [finding for finding in result.findings if finding.code == code]


def test_a_model_larger_than_any_memory_runs_forward_and_backward(runs):
    result = runs["larger_than_memory"]
    assert (result.run.status, result.errors, result.findings) == ("ok", (), ())
    assert result.run.backward and result.run.fake.elements > 20e9
    assert texts(result)[0].startswith("a model of 20 billion numbers ran without memory")
    assert "cannot tell seconds, memory, outputs" in texts(result)[0]


@pytest.mark.nightly
def test_no_seconds_are_told(runs):
    for result in runs.values():
        assert result.run.compile_seconds == 0.0 and not result.run.restarts
        assert all(finding.cost is None for finding in result.findings)


def test_values_that_do_not_exist_are_stated_stand_ins(runs):
    result = runs["sizes"]
    assert result.run.status == "ok"
    assert {line("mask"), line("once"), line("places"), line("list")} <= set(break_lines(result))
    answers = {(a.line, a.what): a for a in result.run.fake.answers}
    assert answers[line("mask"), "size"].code == "x[x > number]"
    assert all(answers[line(at), "size"].assumed for at in ("mask", "once", "places"))
    assert answers[line("list"), "values"].assumed
    (text,) = [text for text in texts(result) if text.startswith("assumed: ")]
    assert f"`x[x > number]` ({result.findings[0].path}:{line('mask')}) of size " in text
    assert any("drawn at random" in text and "total.tolist()" in text for text in texts(result))


@pytest.mark.nightly
def test_what_follows_from_the_example_inputs_is_no_assumption(runs):
    result = runs["known"]
    assert break_lines(result) == [line("known"), line("known") + 1, line("known") + 2]
    assert not any(answer.assumed for answer in result.run.fake.answers)
    assert any("as the example inputs have it: `lengths.max() > 3`" in t for t in texts(result))


def test_a_loop_that_waits_for_another_answer_ends(runs):
    result = runs["waits"]
    assert (result.run.status, break_lines(result)) == ("ok", [line("loop")])
    (answer,) = result.run.fake.answers
    assert set(answer.answers) == {"True", "False"}


def test_explore_takes_the_other_side_and_names_the_answer(runs):
    result = runs["decides"]
    under = {f.line: [(u.line, u.answer) for u in f.under] for f in result.findings}
    assert under == {
        line("decided"): [],
        line("decided") + 2: [(line("decided"), "True")],
        line("below"): [(line("decided"), "False")],
    }
    assert [(run.breaks, run.problem) for run in result.run.fake.explored] == [(1, "")]


def test_an_answer_that_the_program_refuses_is_named(runs):
    result = runs["refuses"]
    assert (result.run.status, break_lines(result)) == ("ok", [line("asserted")])
    (refused,) = result.run.fake.explored
    assert refused.problem.startswith("AssertionError: the mean of torch.Size([2, 1024])")
    assert any("the program refuses `x.mean() > 0`" in t and "is False" in t for t in texts(result))


def test_an_op_without_a_fake_kernel_is_a_finding_with_advice(runs):
    outside = runs["without_kernel_outside"]
    (finding,) = of_code(outside, "BRK902")
    assert (finding.line, outside.run.status) == (line("outside"), "ok")
    assert "`fakes.doubled.default` has no fake kernel" in finding.message
    assert "register_fake" in finding.help
    raised = runs["without_kernel"]
    (finding,) = of_code(raised, "BRK904")
    assert (finding.line, raised.run.status) == (line("op"), "failed")
    assert '@torch.library.register_fake("fakes::doubled")' in finding.help
    broken = runs["of_library"]
    (finding,) = broken.findings
    assert (finding.line, finding.kind) == (line("of a library"), "break")
    assert finding.help.startswith("give `fakes_lib::running` a fake kernel with")


@pytest.mark.parametrize("name", ["address", "large_subclass"])
def test_what_needs_memory_ends_the_run_and_is_never_called_clean(runs, name):
    result = runs[name]
    (finding,) = of_code(result, "BRK902")
    at = {"address": line_of("ctypes.string_at", FILE), "large_subclass": line("large")}
    assert finding.line == at[name] and "needs real tensors" in finding.message
    assert result.errors and result.run.status in ("failed", "not-run")
    assert "was run until it failed" in texts(result)[0]


@pytest.mark.nightly
def test_a_small_subclass_runs(runs):
    assert (runs["subclass"].run.status, runs["subclass"].findings) == ("ok", ())


@pytest.mark.nightly
def test_what_fails_in_eager_only_is_no_failure_of_the_run(runs):
    """Real tensors need not fail there, and Dynamo does not go there."""
    result = runs["chooses"]
    assert (result.run.status, result.errors) == ("ok", ())
    assert any(
        "on fake tensors it fails without torch.compile: data_ptr()" in n for n in result.run.notes
    )


@pytest.mark.nightly
def test_what_only_a_fake_kernel_refuses_is_computed_where_it_is_small(runs):
    """And what is large is still called with other sizes under Dynamo."""
    for name, notes in (("grouped", 0), ("grouped_large", 1)):
        result = runs[name]
        assert (result.run.status, break_lines(result)) == ("ok", [line("grouped")])
        assert len(result.run.graphs) == 2  # as with real tensors: of one size, and of any
        if torch.__version__ >= "2.9":  # without the op's kernel it fails with real tensors too
            assert len(result.run.notes) == notes


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["meta", "empty_weights"])
def test_parameters_on_the_meta_device_get_a_place(runs, name):
    result = runs[name]
    assert (result.run.status, result.errors) == ("ok", ())
    assert result.run.backward and result.run.fake.elements == 1024 * 1024 + 1024
    if name == "meta":
        assert result.run.notes == ("tensors on the meta device are taken to be on cpu",)
        assert break_lines(result) == []
    else:
        assert break_lines(result) == [line("decided"), line("decided") + 2]


@pytest.mark.nightly
def test_packed_sequences_run(runs):
    result = runs["packs"]
    assert (result.run.status, result.errors, result.run.backward) == ("ok", (), True)
    assert break_lines(result) == [line("packed"), line("recurrent")]
    assert not any(answer.assumed for answer in result.run.fake.answers)


@pytest.mark.nightly
def test_cuda_tensors_where_there_is_no_cuda(runs):
    result = runs["device"]
    assert (result.run.status, break_lines(result)) == ("ok", [line("on a GPU")])
    assert runs["cuda"].run.status == "ok" and runs["cuda"].findings == ()
    if not torch.cuda.is_available():
        assert "on an assumed NVIDIA H100" in texts(result)[0]
    if torch.version.cuda is None:
        assert not result.run.backward
        (left_out,) = result.run.fake.left_out
        assert "is built without CUDA, so the backward pass on fake CUDA tensors was" in left_out
        assert runs["on_cuda"].run.status == "not-run"
        assert runs["on_cuda"].run.fake.left_out == (
            "the program asks for CUDA: `--device cuda` lets it have fake CUDA tensors",
        )


def test_what_export_refuses_is_joined_with_the_breaks(runs):
    result = runs["not_exportable"]
    assert result.run.fake.export == "refused"
    told = {f.line: f.export for f in result.findings if f.kind == "break"}
    assert set(told) == {line("both"), line("number")}
    assert all("it depends on values" in text for text in told.values())
    assert of_code(result, "BRK903") == []


@pytest.mark.nightly
def test_what_export_alone_refuses_is_a_finding_of_its_own(runs):
    result = runs["unknown_output"]
    (finding,) = result.findings
    assert (finding.code, finding.line) == ("BRK903", line_of("def unknown_output", FILE))
    assert "not a known type" in finding.message and "register_dataclass" in finding.help
    assert (runs["exportable"].findings, runs["exportable"].run.fake.export) == ((), "taken")
    assert "torch.export takes the target" in texts(runs["exportable"])


@pytest.mark.nightly
def test_recompiles_by_attribute_are_told(runs):
    (finding,) = [f for f in runs["varied"].findings if f.kind == "recompile"]
    assert (finding.code, finding.line) == ("BRK701", line("counts"))


@pytest.mark.nightly
def test_a_transformers_config_at_full_size():
    pytest.importorskip("transformers")
    fields = {"file": str(TARGETS / "transformer_models.py"), "fake": FakeOptions()}
    result = run_all({"llama_full": fields})["llama_full"]
    assert (result.run.status, result.errors, break_lines(result)) == ("ok", (), [])
    assert result.run.backward and result.run.fake.elements > 1.8e9
