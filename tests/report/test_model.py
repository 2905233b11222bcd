"""The JSON form: what is written is read back, and the published schema is the model's."""

import json

import pytest
from facts import FULL, report
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from breakscope.report import schema
from breakscope.report.model import (
    Cost,
    CudaGraph,
    Finding,
    Fix,
    Graph,
    Inside,
    Interval,
    Link,
    Recompile,
    Report,
    ReportError,
    Run,
    SkippedFrame,
    from_json,
    to_json,
)

text = st.text(st.characters(codec="utf-8"), max_size=12)
number = st.integers(0, 10**6)
seconds = st.floats(0, 1e6)
LEAVES = {str: text, int: number, float: seconds}


def facts(cls, /, **fields):
    return st.builds(
        cls, **{name: LEAVES.get(strategy, strategy) for name, strategy in fields.items()}
    )


def some(strategy):
    return st.lists(strategy, max_size=2).map(tuple)


LINKS = facts(Link, path=str, line=int, function=str)
FIXES = facts(
    Fix,
    safety=st.sampled_from(["safe", "unsafe"]),
    description=str,
    line=int,
    end_line=int,
    replacement=str,
)
COSTS = facts(
    Cost,
    compile_seconds=st.none() | seconds,
    step_seconds=st.none() | seconds,
    step_interval=st.none() | facts(Interval, low=float, high=float),
)
FINDINGS = facts(
    Finding,
    path=str,
    line=int,
    column=int,
    end_line=int,
    end_column=int,
    code=str,
    rule=str,
    kind=st.sampled_from(["break", "recompile", "usage", "performance", "error"]),
    severity=st.sampled_from(["error", "warning", "info"]),
    confidence=st.sampled_from(["certain", "likely", "possible"]),
    evidence=st.sampled_from(["predicted", "confirmed", "observed", "refuted"]),
    function=str,
    message=str,
    brief=str,
    names=some(text),
    backward=st.booleans(),
    inside=st.none() | facts(Inside, message=str, brief=str, chain=some(LINKS)),
    help=str,
    reason=str,
    dynamo=some(text),
    guard=str,
    chain=some(LINKS),
    condition=str,
    lost=str,
    fix=st.none() | FIXES,
    cost=st.none() | COSTS,
    count=int,
    first_source_line=int,
    source=some(text),
)
RUNS = facts(
    Run,
    target=str,
    status=st.sampled_from(["ok", "failed", "timeout", "killed", "no-capture", "not-run"]),
    device=str,
    backend=str,
    torch_version=str,
    python_version=str,
    calls=int,
    backward=st.booleans(),
    graphs=some(
        facts(Graph, compile_id=str, function=str, path=str, line=int, ops=int, op_names=some(text))
    ),
    recompiles=some(
        facts(
            Recompile,
            compile_id=str,
            function=str,
            path=str,
            line=int,
            family=str,
            guard=str,
            count=int,
        )
    ),
    lost_frames=some(facts(SkippedFrame, function=str, path=str, line=int, why=str, reason=str)),
    compile_seconds=float,
    share_compiled=st.none() | st.floats(0, 1),
    breaks_cost=st.none() | COSTS,
    cuda_graphs=some(
        facts(
            CudaGraph,
            kind=st.sampled_from(["skipped", "recorded again"]),
            reason=str,
            path=str,
            line=int,
            function=str,
        )
    ),
    capture_checked=st.booleans(),
    notes=some(text),
)
REPORTS = facts(
    Report,
    version=str,
    torch=str,
    findings=some(FINDINGS),
    errors=some(facts(ReportError, message=str, path=str, line=int, detail=str)),
    files=int,
    regions=int,
    run=st.none() | RUNS,
    missed=int,
    refuted=int,
    hidden=int,
)


@settings(max_examples=60, deadline=None)
@given(REPORTS)
def test_what_is_written_is_read_back(written):
    data = to_json(written)
    assert from_json(data) == written
    Draft202012Validator(json.loads(schema.text())).validate(json.loads(data))


def test_the_published_schema_is_current():
    assert schema.FILE.read_text(encoding="utf-8") == schema.text(), (
        "run: python -m breakscope.report.schema"
    )
    Draft202012Validator.check_schema(json.loads(schema.text()))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d["findings"][0].update(line="41"), "findings[0].line"),
        (lambda d: d["findings"][0].update(kind="fault"), "findings[0].kind"),
        (lambda d: d.pop("version"), "version"),
    ],
)
def test_reading_names_the_wrong_field(change, named):
    document = json.loads(to_json(FULL))
    change(document)
    with pytest.raises(ValueError) as problem:
        from_json(json.dumps(document).encode())
    assert named in str(problem.value)


def test_json_ends_with_a_newline_and_holds_no_nulls_for_the_empty():
    data = json.loads(to_json(report()))
    assert to_json(report()).endswith(b"}\n")
    assert data["findings"] == [] and data["errors"] == [] and data["schema"] == "3"


def test_a_report_of_schema_1_is_read_as_one_of_today():
    document = json.loads(to_json(FULL))
    document["schema"] = "1"
    for found in document["findings"]:
        for name in ("brief", "names", "backward", "inside"):
            del found[name]
    document["findings"][0]["condition"] = "only in the backward pass"
    first, *others = from_json(json.dumps(document).encode()).findings
    assert (first.condition, first.backward, first.names) == ("", True, ("int(counts.max())",))
    assert not any(found.backward for found in others)
    assert from_json(json.dumps(document).encode()).schema == "3"


def test_a_report_of_a_later_schema_is_refused_in_one_line():
    document = json.loads(to_json(FULL)) | {"schema": "4"}
    with pytest.raises(ValueError, match="its schema is '4', and this breakscope reads 1 to 3"):
        from_json(json.dumps(document).encode())
