"""A compile that raises is an error, no break: where, why, and what makes it go."""

import pytest
from running import TARGETS, line_of, run_all

from breakscope.dynamic.findings.raised import wording_of
from breakscope.dynamic.observations.facts import Break
from breakscope.dynamic.observations.reasons import Reason
from breakscope.dynamic.trace.frames import Frame

FILE = "raising.py"
RUNS = {
    "make_scaled": {},
    "make_falls_back": {},
    "make_plain": {"backend": "failing"},
}


@pytest.fixture(scope="module")
def runs():
    pytest.importorskip("torch")
    return run_all({name: {"file": str(TARGETS / FILE)} | more for name, more in RUNS.items()})


@pytest.mark.parametrize(
    "name, line, message, help_words",
    [
        (
            "make_scaled",
            "return scale(x, 3)",
            "the custom op `breakscope_tests::scale` has no fake implementation",
            '@torch.library.register_fake("breakscope_tests::scale")',
        ),
        (
            "make_falls_back",
            "return x @",
            "`x @ torch.ones(5, 5)` fails on fake tensors",
            "the `try`",
        ),
        (
            "make_plain",
            "def plain",
            "the backend `failing` fails on a graph of `plain`",
            "aot_eager",
        ),
    ],
)
def test_what_raises_is_an_error(runs, name, line, message, help_words):
    result = runs[name]
    (error,) = (f for f in result.findings if f.kind == "error")
    assert (error.code, error.line, error.lost) == ("BRK904", line_of(line, FILE), "")
    assert message in error.message and error.message.count("raises") == 1
    assert help_words in error.help
    assert error.reason, "what Dynamo raised is kept"
    assert not any(frame.why == "skipped" for frame in result.run.lost_frames)
    assert result.run.status == "failed"
    (raised,) = result.errors
    assert "TORCHDYNAMO_VERBOSE" not in raised.message + raised.detail


def test_a_break_of_the_same_frame_stays_a_break(runs):
    breaks = [f.line for f in runs["make_scaled"].findings if f.kind == "break"]
    assert breaks == [line_of('print("before")', FILE)]


@pytest.mark.parametrize(
    "raised, message, help_words",
    [
        (
            "ConstraintViolationError: Constraints violated (L['x'].size()[1])! For more information\n"
            "  - You marked L['x'].size()[1] as dynamic but your code specialized it to be a constant (4).",
            "dimension 1 of `x` is marked dynamic, and the code needs it to be 4",
            "maybe_mark_dynamic(x, 1)",
        ),
        (
            "ConstraintViolationError: Constraints violated (L['cache'][0][0].size()[1])! For more\n"
            "  - You marked L['cache'][0][0].size()[1] as dynamic but your code specialized it to be a constant (3).",
            "dimension 1 of `cache[0][0]` is marked dynamic, and the code needs it to be 3",
            "maybe_mark_dynamic(cache[0][0], 1)",
        ),
        ("OverflowError: len", "Dynamo itself fails at `f`", "torch.compiler.disable"),
        (
            "TorchRuntimeError: Dynamo failed to run FX node with fake tensors: call_function "
            "lib.bad.default(*(FakeTensor(..., size=(3, 4)),), **{}): got RuntimeError('no value')",
            "the fake implementation of the custom op `lib::bad` fails, so the compiled call raises: "
            "RuntimeError: no value",
            "never from values",
        ),
    ],
)
def test_wording(raised, message, help_words):
    site = Frame("", 1, "f")
    words = wording_of(Break(site, Reason(""), (site,), ("0/0",), raised=raised), "")
    assert message in words.message
    assert help_words in words.help
