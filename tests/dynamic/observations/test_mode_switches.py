"""Recompiles because a caller switched gradients, autocast or a default: they stand where it does
that."""

from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.observations.guards.mode_switches import switch
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.trace.frames import Frame
from breakscope.report.combining.join import join_findings
from breakscope.report.model import Finding, Link

PLACES = Places(torch="/site-packages/torch", python=("/stdlib",), own="/nowhere")
PROGRAM = """
import torch

def train(net, x):
    net(x)                                            # plain
    with torch.autocast("cpu"), torch.no_grad():      # with
        net(x)                                        # inside
        with open("log") as file:
            net(x)                                    # nested

@torch.inference_mode()                               # decorator
def evaluate(net, x):
    return net(x)                                     # decorated

def once(net, x):
    torch.set_default_dtype(torch.float64)            # default
    net(x)                                            # behind
    def inner():
        torch.set_grad_enabled(False)

torch.set_grad_enabled(False)                         # module
evaluate(None, 1)
train(None, 2)                                        # outer
"""
NET = Frame("/project/net.py", 3, "forward")


def line_of(mark):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith(f"# {mark}"))


def found(tmp_path, family, *callers, inside=()):
    (tmp_path / "program.py").write_text(PROGRAM)
    frames = [
        Frame(str(tmp_path / "program.py"), line_of(mark), function) for mark, function in callers
    ]
    stack = (
        *frames,
        Frame("/site-packages/torch/_dynamo/eval_frame.py", 5, "compile_wrapper"),
        *inside,
        Frame("/site-packages/torch/nn/modules/module.py", 9, "_call_impl"),
        NET,
    )
    seen = switch(
        FrameCompile("0/1", NET.function, NET.path, NET.line, stack=stack), family, PLACES
    )
    return (seen.line, seen.function) if seen else None


def test_the_with_around_the_call(tmp_path):
    assert found(tmp_path, "grad_mode", ("inside", "train")) == (line_of("with"), "train")
    assert found(tmp_path, "autocast", ("nested", "train")) == (line_of("with"), "train")


def test_the_decorator_of_the_caller(tmp_path):
    assert found(tmp_path, "grad_mode", ("decorated", "evaluate")) == (
        line_of("decorator"),
        "evaluate",
    )


def test_the_call_before_it_in_the_same_function(tmp_path):
    assert found(tmp_path, "default_dtype", ("behind", "once")) == (line_of("default"), "once")


def test_a_caller_further_out(tmp_path):
    assert found(tmp_path, "grad_mode", ("outer", "<module>"), ("plain", "train")) == (
        line_of("module"),
        "<module>",
    )


def test_else_the_call_in_another_state(tmp_path):
    assert found(tmp_path, "grad_mode", ("plain", "train")) == (line_of("plain"), "train")
    # what `inner` switches, it does not
    assert found(tmp_path, "grad_mode", ("behind", "once")) == (line_of("behind"), "once")


def test_a_caller_inside_the_region_is_not_who_switched(tmp_path):
    between = (Frame("/project/net.py", 30, "outer"),)
    assert found(tmp_path, "grad_mode", ("plain", "train"), inside=between) == (
        line_of("plain"),
        "train",
    )
    assert found(tmp_path, "grad_mode", inside=between) is None


def test_nothing_without_a_caller_or_for_another_family(tmp_path):
    assert found(tmp_path, "grad_mode") is None
    assert found(tmp_path, "size", ("inside", "train")) is None


def test_the_prediction_at_the_compiled_function_is_confirmed():
    predicted = Finding(
        path="net.py",
        line=3,
        column=5,
        end_line=3,
        end_column=9,
        code="BRK719",
        rule="global-state-varies",
        kind="recompile",
        severity="warning",
        confidence="likely",
        evidence="predicted",
        function="Net.forward",
        dynamo=("autocast", "default_dtype"),
        message="autocast is on in some calls only, so each case is compiled by itself",
    )
    seen = Finding(
        path="train.py",
        line=6,
        column=5,
        end_line=6,
        end_column=9,
        code="BRK719",
        rule="global-state-varies",
        kind="recompile",
        severity="warning",
        confidence="certain",
        evidence="observed",
        function="train",
        dynamo=("autocast",),
        count=2,
        message="`forward` was compiled again because autocast is on in some calls and off in others, or for another dtype",
        chain=(
            Link(path="train.py", line=6, function="train"),
            Link(path="net.py", line=3, function="Net.forward"),
        ),
    )
    (joined,) = join_findings([predicted], [seen], {}).findings
    assert (joined.evidence, joined.count, joined.code) == ("confirmed", 2, "BRK719")
    assert (joined.path, joined.line, joined.function) == ("train.py", 6, "train")
