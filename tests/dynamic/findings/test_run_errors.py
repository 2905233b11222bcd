"""How a run ended, from what the child noted."""

import pytest

from breakscope.dynamic.capture.child_process import Ended
from breakscope.dynamic.findings.run_errors import describe_errors
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reasons import read_reason, without_c_frames
from breakscope.dynamic.options import RunOptions

C_STACK = """Cannot call numel() on tensor with symbolic sizes/strides
Exception raised from throw_cannot_call_with_symbolic at /pytorch/c10/core/TensorImpl.cpp:289 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::__cxx11::basic_string<char>) + 0x9d (0x7f in libc10.so)
frame #1: at::native::quantile(at::Tensor const&, double) + 0x184 (0x7fab5034c7a4 in libtorch_cpu.so)
"""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (C_STACK, "Cannot call numel() on tensor with symbolic sizes/strides"),
        (
            f"got RuntimeError({C_STACK!r})\n  Hint: look",
            "got RuntimeError('Cannot call numel() on tensor with symbolic sizes/strides')\n  Hint: look",
        ),
        ("frame #0: of a video\nframe #1", "frame #0: of a video\nframe #1"),
    ],
)
def test_a_stack_of_c_is_left_out(text, left):
    assert without_c_frames(text) == left


def test_the_reason_of_a_break_is_told_without_them():
    text = (
        "Graph Break Reason: RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run: got RuntimeError("
        "'Cannot call numel()\\nException raised from throw at /a/b.cpp:2 (most recent call first):\\nframe #0: f() + 0x9d "
        "(0x7f in libc10.so)\\nframe #1: <unknown> + 0x2 (0x7f in libtorch.so)\\n')\n  Hint: Look again.\n"
    )
    reason = read_reason(text, {})
    assert (
        reason.explanation == "Dynamo failed to run: got RuntimeError('Cannot call numel()')"
        and reason.hints == ("Look again.",)
    )


def test_an_error_stands_at_the_line_that_dynamo_was_tracing(tmp_path):
    """No frame of Python's own stands for what Dynamo inlines."""
    model = tmp_path / "model.py"
    model.write_text(
        "def limit(x):\n    return x.quantile(0.9)\n\n\ndef step(x):\n    return limit(x)\n"
    )
    note = {
        "event": "error",
        "stage": "capture",
        "type": "torch._dynamo.exc.TorchRuntimeError",
        "frames": [[str(model), 6, "step", "return limit(x)"]],
        "message": f'it fails\n\nfrom user code:\n   File "{model}", line 2, in limit\n    return x.quantile(0.9)\n\nSet TORCHDYNAMO_VERBOSE=1',
    }
    places = Places(torch="/site-packages/torch", python=("/stdlib",), own="/nowhere")
    (error,) = describe_errors(
        tmp_path,
        RunOptions(file=str(model), name="step"),
        [note, {"event": "done"}],
        Ended(1, False, ""),
        places,
    )
    assert (
        error.line == 2
        and "line 6, in step" in error.detail
        and "line 2, in limit\n    return x.quantile(0.9)" in error.detail
    )
