"""Breaks that stand behind others: found by neutralising those in front of them, and nothing
invented on the way."""

from __future__ import annotations

import ast

import pytest
from msgspec import structs
from on_demand import OnDemand
from running import TARGETS

from breakscope.dynamic import RunOptions, RunResult, run_fully, source_text
from breakscope.dynamic.child.neutral.rewrite import rewrite
from breakscope.dynamic.child.neutral.sites import Site
from breakscope.dynamic.modes.peel import peel
from breakscope.dynamic.options import Neutralised
from breakscope.report.formats.of_runs.peeled import peeled_texts
from breakscope.report.model import Finding, Link, ReportError, Run
from breakscope.report.run_modes import Peeled

FILE = TARGETS / "hidden.py"
# label -> factory
RUNS = {"loop": "loop", "try": "attempts", "with": "nested", "plain": "plain", "clean": "clean"}


def lines_of(mark: str) -> list[int]:
    lines = FILE.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}")]


@pytest.fixture(scope="module")
def runs():
    pytest.importorskip("torch")

    def run(label):
        options = RunOptions(
            file=str(FILE),
            name=RUNS[label],
            device="cpu",
            vary=False,
            explain=False,
            timeout=120.0,
            peel=12,
        )
        return run_fully(options)

    return OnDemand(RUNS, run)


def breaks(result, hidden: bool) -> list[int]:
    return [f.line for f in result.findings if f.kind == "break" and bool(f.behind) == hidden]


@pytest.mark.parametrize(("label", "rounds"), [("loop", 4), ("try", 3), ("with", 3)])
def test_what_is_hidden_is_found(runs, label, rounds):
    result = runs[label]
    assert (result.errors, breaks(result, hidden=False)) == ((), lines_of(f"{label} 1"))
    deeper = sorted(line for depth in range(2, 6) for line in lines_of(f"{label} {depth}"))
    assert breaks(result, hidden=True) == deeper
    peeled = result.run.peeled
    assert (peeled.complete, peeled.hidden, peeled.rounds) == (True, len(deeper), rounds)
    assert (peeled.stubborn, peeled.differs, peeled.problem) == ((), "", "")


def test_a_hidden_break_names_what_hid_it_and_has_no_numbers(runs):
    (found,) = [f for f in runs["loop"].findings if f.line in lines_of("loop 3")]
    resumed, lost = lines_of("loop 2")  # Dynamo goes on behind the first of them
    assert [link.line for link in found.behind] == [*lines_of("loop 1"), lost]
    assert resumed < lost and (found.count, found.cost, found.evidence) == (0, None, "observed")


def test_nothing_hidden(runs):
    """One break that Dynamo resumes behind: one more run, and nothing new."""
    assert (breaks(runs["plain"], False), breaks(runs["plain"], True)) == (lines_of("plain 1"), [])
    assert runs["plain"].run.peeled == Peeled(rounds=1, complete=True, neutralised=1)


def test_no_break_no_round(runs):
    assert runs["clean"].run.peeled == Peeled(rounds=0, complete=True)


BASE = Finding(
    path="m.py",
    line=1,
    column=5,
    end_line=1,
    end_column=9,
    code="BRK901",
    rule="",
    kind="break",
    severity="error",
    confidence="certain",
    evidence="observed",
    function="f",
    message="",
    reason="Why",
    dynamo=("GB0007",),
    lost="loop",
    count=3,
)
RUN = Run(
    target="m.py::f",
    status="ok",
    device="cpu",
    backend="eager",
    torch_version="2.13.0",
    python_version="3.11",
)


def at(line: int, **facts) -> Finding:
    return structs.replace(BASE, line=line, end_line=line, **facts)


def reported(*ways: str) -> tuple[Neutralised, ...]:
    return tuple(Neutralised(number=number, way=way) for number, way in enumerate(ways))


def peeled(monkeypatch, rounds: int, *later: RunResult) -> tuple[RunResult, list[RunOptions]]:
    """What `peel` makes of a first run with a break in line 1 and these later ones, and what it
    given for."""
    given, results = [], list(later)
    monkeypatch.setattr(
        "breakscope.dynamic.modes.peel.run_target",
        lambda options: given.append(options) or results.pop(0),
    )
    return peel(
        RunOptions(file="m.py", name="f"), RunResult(findings=(at(1),), run=RUN), rounds
    ), given


def test_rounds_are_limited(monkeypatch):
    result, _ = peeled(
        monkeypatch, 1, RunResult(findings=(at(2),), run=RUN, neutralised=reported("value"))
    )
    assert result.run.peeled == Peeled(rounds=1, complete=False, hidden=1, neutralised=1)
    assert [(f.line, f.count, [link.line for link in f.behind]) for f in result.findings] == [
        (1, 3, []),
        (2, 0, [1]),
    ]
    assert any("--peel-rounds allows more" in text for text in peeled_texts(result.run.peeled))


def test_a_way_that_does_not_work_is_followed_by_the_next_until_there_is_none(monkeypatch):
    own = at(1, reason="assume_constant_result argument conversion failed: ...")
    result, given = peeled(
        monkeypatch,
        9,
        RunResult(findings=(own,), run=RUN, neutralised=reported("value")),
        RunResult(findings=(own,), run=RUN, neutralised=reported("whole")),
        RunResult(findings=(at(1),), run=RUN, neutralised=reported("")),
    )
    assert [options.neutralise[0].attempt for options in given] == [0, 1, 2]
    assert [f.line for f in result.findings] == [1]
    assert (
        result.run.peeled.stubborn == (Link(path="m.py", line=1, function="f"),)
        and not result.run.peeled.complete
    )


def test_an_exception_for_want_of_a_value_is_no_break(monkeypatch):
    missed = at(2, reason="Observed exception: ...")
    result, given = peeled(
        monkeypatch,
        9,
        RunResult(findings=(missed,), run=RUN, neutralised=reported("not stored")),
        RunResult(findings=(at(1),), run=RUN, neutralised=reported("")),
    )
    assert ([f.line for f in result.findings], len(given)) == ([1], 2)


def test_another_line_of_the_same_condition_is_no_other_break(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("if (a and\n        b):\n    pass\n")
    source_text._read.cache_clear()  # other tests name a file m.py that is not there
    result, _ = peeled(
        monkeypatch, 1, RunResult(findings=(at(2),), run=RUN, neutralised=reported("truth"))
    )
    source_text._read.cache_clear()
    assert ([f.line for f in result.findings], result.run.peeled.hidden) == ([1], 0)


def test_a_later_run_that_fails_is_reported(monkeypatch):
    failed = structs.replace(RUN, status="failed")
    result, _ = peeled(
        monkeypatch,
        9,
        RunResult(
            findings=(),
            run=failed,
            errors=(ReportError(message="it raised"),),
            neutralised=reported("value"),
        ),
    )
    assert (result.run.peeled.problem, result.run.status, result.errors) == ("it raised", "ok", ())


def test_what_could_not_be_neutralised_is_reported():
    peeled = Peeled(
        rounds=2,
        complete=False,
        stubborn=(Link(path="m.py", line=7, function="f"),),
        differs="in shape or dtype",
    )
    reported = " ".join(peeled_texts(peeled))
    assert "not neutralised: m.py:7; what these hide is not known" in reported
    assert "the first output differs from eager's in shape or dtype" in reported


REAL = "__breakscope_real__"


@pytest.mark.parametrize(
    ("line", "marked", "branch", "attempt", "changed", "computed"),
    [
        (
            "if x.sum() > 0: pass",
            "x.sum() > 0",
            True,
            0,
            f"if {REAL}(0, x.sum()):\n    pass",
            "lambda _0: bool(_0 > 0)",
        ),
        (
            "if not x.any(): pass",
            "x.any()",
            True,
            0,
            f"if not {REAL}(0, x.any()):\n    pass",
            "lambda _0: bool(_0)",
        ),
        (
            "y = x[:n.item()]",
            ":n.item()",
            False,
            0,
            f"y = {REAL}(0, x)",
            "lambda _0: _0[:n.item()]",
        ),
        (
            "y = x.a().item()",
            "x.a().item()",
            False,
            0,
            f"y = {REAL}(0, x.a())",
            "lambda _0: _0.item()",
        ),
        (
            "y = torch.where(x > n.k)",
            "torch.where(x > n.k)",
            False,
            0,
            f"y = {REAL}(0, x > n.k)",
            "lambda _0: torch.where(_0)",
        ),
        (
            "y = self.__f(x, *x, k=x[1])",
            "self.__f(x, *x, k=x[1])",
            False,
            0,
            f"y = {REAL}(0, self, x, x, x[1])",
            "lambda _0, _1, _2, _3: _0._C__f(_1, *_2, k=_3)",
        ),
        (
            "y = self.lstm(x)",
            "self.lstm",
            False,
            0,
            f"y = {REAL}(0, self, x)",
            "lambda _0, _1: _0.lstm(_1)",
        ),
        (
            "y = x[x > 0, 1:n]",
            "x[x > 0, 1:n]",
            False,
            0,
            f"y = {REAL}(0, x, x > 0)",
            "lambda _0, _1: _0[_1, 1:n]",
        ),
        (
            "for v in x.f(): pass",
            "x.f()",
            False,
            0,
            f"for v in {REAL}(0, x):\n    pass",
            "lambda _0: __breakscope_list__(_0.f())",
        ),
        (
            "y = [v.f(x) for v in x]",
            "v.f(x)",
            False,
            1,
            f"y = {REAL}(0, x)",
            "lambda _0: [v.f(_0) for v in _0]",
        ),
        (
            "y = int(x) if x else n",
            "int(x) if x else n",
            False,
            0,
            f"y = {REAL}(0, x)",
            "lambda _0: int(_0) if _0 else n",
        ),
        (
            "print(x)",
            "print(x)",
            False,
            0,
            "if not __breakscope_compiling__():\n    print(x)",
            None,
        ),
        (
            "x.k[0] += 1",
            "x.k[0] += 1",
            False,
            0,
            "if not __breakscope_compiling__():\n    x.k[0] += 1",
            None,
        ),
        (
            "with x.lock: pass",
            "x.lock",
            False,
            0,
            "with __breakscope_null__() if __breakscope_compiling__() else x.lock:\n    pass",
            None,
        ),
        ("y = 1", "y", False, 0, "y = 1", None),
        # torch up to 2.11 marks the whole statement
        (
            "return x * x.a().item()",
            "return x * x.a().item()",
            False,
            0,
            f"return {REAL}(0, x, x.a())",
            "lambda _0, _1: _0 * _1.item()",
        ),
        (
            "y = x.a().item()",
            "y = x.a().item()",
            False,
            0,
            f"y = {REAL}(0, x.a())",
            "lambda _0: _0.item()",
        ),
        (
            "if x.a().item(): pass",
            "if x.a().item():",
            False,
            0,
            f"if {REAL}(0, x.a()):\n    pass",
            "lambda _0: _0.item()",
        ),
        (
            "for v in x.f(): pass",
            "for v in x.f():",
            False,
            0,
            f"for v in {REAL}(0, x):\n    pass",
            "lambda _0: __breakscope_list__(_0.f())",
        ),
        ("y, z = x.f()", "y, z = x.f()", False, 0, "y, z = x.f()", None),
    ],
)
def test_rewriting(line, marked, branch, attempt, changed, computed):
    text = f"class C:\n    def f(self, x):\n        {line}\n"
    column = 9 + line.index(marked)
    done = rewrite(text, [Site(0, 3, column, column + len(marked), branch, attempt)])
    (statement,) = done.tree.body[0].body[0].body
    assert ast.unparse(statement) == changed
    assert (ast.unparse(done.templates[0]) if computed else done.templates) == (computed or {})
    assert bool(done.ways[0]) == (changed != line)
    assert ast.unparse(ast.parse(text)) != ast.unparse(done.tree) or changed == line
