"""A break in a callee that loses its caller's frame: the finding names the caller."""

from pathlib import Path

import pytest

from breakscope.dynamic.findings import make_findings
from breakscope.dynamic.observations import Break, Observations
from breakscope.dynamic.places import Frame
from breakscope.dynamic.reasons import Reason
from breakscope.report.model import LostFrame


@pytest.mark.parametrize(("lost", "named"), [(["step"], "step"), (["step", "forward"], ""), (["other"], "")])
def test_whose_frame_was_lost(lost, named):
    chain = (Frame("train.py", 9, "step"), Frame("model.py", 4, "forward"))
    seen = Break(chain[-1], Reason("Data-dependent branching", gb_id="GB0170"), chain, ("0/0",), lost="loop")
    paths = {"forward": "model.py"}
    frames = tuple(LostFrame(function=name, path=paths.get(name, "train.py"), line=1, why="loop") for name in lost)
    (finding,) = make_findings(Observations(breaks=(seen,), lost_frames=frames), (), Path.cwd())
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
def test_functions_of_one_name_are_told_apart(tmp_path, line, named):
    path = str(tmp_path / "model.py")
    (tmp_path / "model.py").write_text(NAMESAKES)
    chain = (Frame(path, 9, "forward"), Frame(path, 3, "forward"))
    seen = Break(chain[-1], Reason("Unsupported Tensor.item() call", gb_id="GB0124"), chain, ("0/0",), lost="loop")
    frames = (LostFrame(function="forward", path=path, line=line, why="loop"),)
    (finding,) = make_findings(Observations(breaks=(seen,), lost_frames=frames), (), Path.cwd())
    assert (finding.function, finding.lost_function) == ("Block.forward", named)
