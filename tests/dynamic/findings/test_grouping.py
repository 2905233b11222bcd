"""One finding for one cause, and breaks inside packages at the user's line."""

import msgspec

from breakscope.dynamic.findings.grouping import one_for_each_cause
from breakscope.dynamic.findings.users_line import at_users_lines
from breakscope.report.model import Cost, Finding, Link

FOUND = Finding(
    path="a.py",
    line=3,
    column=1,
    end_line=3,
    end_column=9,
    code="BRK701",
    rule="counter-attribute",
    kind="recompile",
    severity="warning",
    confidence="certain",
    evidence="observed",
    function="Layer.forward",
    message="`forward` was compiled again because `self.steps` is not 0 any more",
    guard="self.steps == 0",
    dynamo=("attribute",),
    count=2,
    cost=Cost(compile_seconds=1.0),
)


def changed(**fields):
    return msgspec.structs.replace(FOUND, **fields)


def test_one_cause_in_many_functions():
    others = [changed(path=f"b{n}.py", guard=f"self.steps == {n}") for n in range(4)]
    (found,) = one_for_each_cause([FOUND, *others])
    assert found.count == 10
    assert found.cost.compile_seconds == 5.0
    assert len(found.places) == 4
    assert "4 more functions" in found.message


def test_other_causes_stay_apart():
    other = changed(line=9, guard="self.epoch == 0")
    predicted = changed(line=12, evidence="predicted")
    assert len(one_for_each_cause([FOUND, other, predicted])) == 3


def test_breaks_in_a_package_stand_at_the_users_line(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("def step(model, x):\n    return model(x)\n")
    site = "/env/lib/python3.11/site-packages/torch/nn/parallel/distributed.py"
    inside = changed(
        path=site,
        line=1757,
        kind="break",
        guard="",
        library="torch",
        message="the graph ends at `self.logger.log()`",
        help="Avoid calling it",
        chain=(
            Link(path=str(file), line=2, function="step"),
            Link(path=site, line=1757, function="forward"),
        ),
    )
    also = msgspec.structs.replace(
        inside, line=1800, chain=(inside.chain[0], Link(site, 1800, "f"))
    )
    (found,) = at_users_lines([inside, also])
    assert (found.path, found.line) == (str(file), 2)
    assert found.message.startswith("in torch, the graph ends")
    assert found.inside.chain[-1].line == 1757
    assert found.count == 4
    assert found.places[-1].line == 1800
    assert "wrapped" in found.help


def test_without_a_line_of_the_users_it_stays(tmp_path):
    site = "/env/lib/python3.11/site-packages/torch/nn/parallel/distributed.py"
    inside = changed(path=site, library="torch", chain=(Link(site, 3, "a"), Link(site, 4, "b")))
    assert at_users_lines([inside]) == (inside,)


def test_a_wrapper_and_what_it_calls_are_one_cause():
    """DistributedDataParallel is compiled again for the size that its module is compiled again for."""
    size = "size mismatch at index 0. expected 4, actual 3"
    inner = changed(line=23, guard=f"tensor 'x' {size}")
    outer = changed(line=35, guard=f"tensor 'args[0]' {size}", help="y", cost=Cost(compile_seconds=9.0))  # fmt: skip
    (one,) = one_for_each_cause([outer, inner])
    assert (one.line, one.count) == (23, inner.count + outer.count)
    assert [place.line for place in one.places] == [35]
    other = changed(line=35, guard=outer.guard.replace("index 0", "index 1"))
    assert len(one_for_each_cause([other, inner])) == 2
