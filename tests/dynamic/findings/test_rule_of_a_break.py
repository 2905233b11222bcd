"""Which rule a break is of that only a run saw, and in which words it is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from breakscope.dynamic.findings.matching import make_findings
from breakscope.dynamic.observations.facts import Break, Observations
from breakscope.dynamic.observations.reasons import Reason
from breakscope.dynamic.trace.frames import Frame
from breakscope.rulekit.loader import load_rules

SKIPPED = "Dynamo developers have intentionally marked that the function `{}` should not be traced."
OPTIM = "torch/optim/optimizer.py"


def reason(gb_id, explanation):
    return Reason("a type", explanation, gb_id=gb_id)


def findings(tmp_path, *breaks, entered=False):
    program = tmp_path / "train.py"
    program.write_text("def step(opt):\n    opt.step()\n")
    site = Frame(str(program), 2, "step")
    placed = [
        Break(site, what, (site,), ("0/0",), inside_torch=inside, entered=entered)
        for what, inside in breaks
    ]
    return make_findings(Observations(breaks=tuple(placed)), load_rules(), Path.cwd())


CASES = {
    "a method that Dynamo skips": (reason("GB0008", SKIPPED.format("Optimizer.zero_grad")), "", "BRK603"),
    "the scaler": (reason("GB0008", SKIPPED.format("GradScaler.update")), "", "BRK601"),
    "an index": (
        reason("GB0033", "Operator `aten._local_scalar_dense.default` has a non-Tensor output"), "", "BRK209",
    ),
    "some other skipped function": (reason("GB0008", SKIPPED.format("Thread.start")), "", "BRK599"),
    "the optimizer's own break": (reason("GB0025", "User-inserted graph break."), OPTIM, "BRK603"),
    "the user's own break": (reason("GB0025", "User-inserted graph break."), "", "BRK502"),
    "another of torch's": (
        reason("GB0025", "User-inserted graph break."), "torch/distributed/x.py", "BRK901",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_rule_that_names_most_of_the_reason_takes_the_break(name, tmp_path):
    what, inside, code = CASES[name]
    (finding,) = findings(tmp_path, (what, inside))
    assert finding.code == code
    assert (
        "Remove the" not in finding.help and "User-inserted" not in finding.message
    ) or not inside


def test_what_torch_ends_below_a_call_that_breaks_is_the_same_finding(tmp_path):
    step = reason("GB0007", "marked that the function `SGD.step` in file `/x/torch/optim/sgd.py`")
    own = reason("GB0025", "User-inserted graph break.")
    (finding,) = findings(tmp_path, (own, OPTIM), (step, ""))
    assert (finding.code, finding.count, finding.dynamo) == ("BRK603", 2, ("GB0007", "GB0025"))
    assert finding.message == "Dynamo does not trace `opt.step()`, so the graph ends here"
    other = replace(own, gb_id="GB0124")
    assert len(findings(tmp_path, (other, OPTIM), (step, ""))) == 2


def test_a_step_that_eager_code_calls_is_compiled_by_itself(tmp_path):
    own = reason("GB0025", "User-inserted graph break.")
    (inside,) = findings(tmp_path, (own, OPTIM))
    (outside,) = findings(tmp_path, (own, OPTIM), entered=True)
    assert inside.help.startswith("call it outside")
    assert outside.help.startswith("leave it")


def test_an_index_is_known_by_the_code_that_dynamo_marks(tmp_path):
    program = tmp_path / "nms.py"
    program.write_text("def nms(boxes, best):\n    return boxes[best][None]\n")
    site = Frame(str(program), 2, "nms")
    site = replace(site, column=8, end_column=24)
    what = reason("GB0033", "Operator `aten._local_scalar_dense.default` has a non-Tensor output")
    seen = Observations(breaks=(Break(site, what, (site,), ("0/0",)),))
    (finding,) = make_findings(seen, load_rules(), Path.cwd())
    assert finding.code == "BRK213" and "index_select" in finding.help


def test_a_break_below_the_users_line_has_advice_and_no_path_of_this_machine(tmp_path):
    what = reason(
        "GB0007",
        "Dynamo developers have intentionally marked that the function `disable` in file "
        "`/x/site-packages/torch/_dynamo/decorators.py` should not be traced.",
    )
    (below,) = findings(tmp_path, (what, "torch/distributed/fsdp/common.py"))
    assert "torch/distributed/fsdp/common.py" in below.message and "/x/" not in below.message
    assert "compile the modules inside it before they are wrapped" in below.help
