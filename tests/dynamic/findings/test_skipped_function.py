"""A break in a callee for which its caller's frame is skipped: the finding names the caller."""

from pathlib import Path

import pytest

from breakscope.dynamic import RunOptions, run_target
from breakscope.dynamic.findings.matching import make_findings
from breakscope.dynamic.observations.facts import Break, Observations
from breakscope.dynamic.observations.reasons import Reason
from breakscope.dynamic.trace.frames import Frame
from breakscope.report.model import SkippedFrame


@pytest.mark.parametrize(
    ("lost", "named"), [(["step"], "step"), (["step", "forward"], ""), (["other"], "")]
)
def test_whose_frame_is_skipped(lost, named):
    chain = (Frame("train.py", 9, "step"), Frame("model.py", 4, "forward"))
    seen = Break(
        chain[-1],
        Reason("Data-dependent branching", gb_id="GB0170"),
        chain,
        ("0/0",),
        skipped="loop",
    )
    paths = {"forward": "model.py"}
    frames = tuple(
        SkippedFrame(function=name, path=paths.get(name, "train.py"), line=1, why="loop")
        for name in lost
    )
    (finding,) = make_findings(Observations(breaks=(seen,), skipped_frames=frames), (), Path.cwd())
    assert (finding.function, finding.lost, finding.lost_function) == ("forward", "loop", named)


NAMESAKES = """class Block:
    def forward(self, x):
        return x * x.sum().item()


class Model:
    def forward(self, x):
        for block in self.blocks:
            x = block.forward(x)
        return x
"""


@pytest.mark.parametrize(("line", "named"), [(7, "Model.forward"), (2, "")])
def test_functions_of_one_name_are_distinguished(tmp_path, line, named):
    path = str(tmp_path / "model.py")
    (tmp_path / "model.py").write_text(NAMESAKES)
    chain = (Frame(path, 9, "forward"), Frame(path, 3, "forward"))
    seen = Break(
        chain[-1],
        Reason("Unsupported Tensor.item() call", gb_id="GB0124"),
        chain,
        ("0/0",),
        skipped="loop",
    )
    frames = (SkippedFrame(function="forward", path=path, line=line, why="loop"),)
    (finding,) = make_findings(Observations(breaks=(seen,), skipped_frames=frames), (), Path.cwd())
    assert (finding.function, finding.lost_function) == ("Block.forward", named)


TRIED = """import torch


def inner(x):
    y = x.relu() + 1
    try:
        y = y * y.sum().item()
    finally:
        pass
    return y.sin()


def outer(x):
    return inner(x * 2) + 1


def loop(x):
    for _ in range(2):
        x = outer(x)
    return x
"""


@pytest.mark.parametrize(("name", "lost"), [("inner", ("rest", "")), ("outer", ("rest", ""))])
def test_a_break_that_is_not_resumed_behind_skips_the_rest(tmp_path, name, lost):
    """Dynamo keeps the ops in front of the `try`, and leaves all behind them to Python, without a
    failed compile."""
    file = tmp_path / "model.py"
    file.write_text(f"{TRIED}\n\ndef make():\n    return {name}, (torch.ones(3),)\n")
    result = run_target(
        RunOptions(file=str(file), name="make", vary=False, device="cpu", timeout=120.0)
    )
    (found,) = [f for f in result.findings if f.kind == "break"]
    assert (found.line, found.lost, found.lost_function, found.dynamo) == (7, *lost, ("GB0124",))
    assert [(f.function, f.why) for f in result.run.lost_frames] == [("inner", "rest")]
    assert not found.reason.startswith("Encountered") and not [
        n for n in result.run.notes if "explain" in n
    ]
