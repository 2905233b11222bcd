"""breakscope diff, and budgets on the command line."""

import json

import pytest
from command import BREAKS, CLEAN, runner


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def saved(tmp_path, monkeypatch, run):
    """before.json, moved.json (lines above), more.json (another break), none.json."""
    monkeypatch.chdir(tmp_path)
    for name, source in (
        ("before", BREAKS),
        ("moved", "# one\n# two\n" + BREAKS),
        ("more", BREAKS.replace("return x", "print(int(x.max()))\n        return x")),
        ("none", CLEAN),
    ):
        (tmp_path / "model.py").write_text(source)
        run("check", "model.py", "-f", "json", "-o", f"{name}.json")
    return tmp_path


def test_moved_lines_are_nothing_new(saved, run):
    done = run("diff", "before.json", "moved.json")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "2 moved."
    assert "moved: model.py:8:12: BRK101" in done.out and "(was at line 6)" in done.out


def test_something_new_is_exit_code_1(saved, run):
    done = run("diff", "before.json", "more.json", "-f", "json")
    found = json.loads(done.out)
    assert done.code == 1
    assert {f["code"] for f in found["new"]} == {"BRK202", "BRK401"} and found["gone"] == []
    back = run("diff", "more.json", "before.json", "-f", "json")
    assert back.code == 0 and len(json.loads(back.out)["gone"]) == 2


def test_a_budget_decides(saved, run):
    assert run("diff", "before.json", "more.json", "--max-breaks", "9").code == 0
    done = run("diff", "more.json", "before.json", "--max-breaks", "1")
    assert done.code == 1 and "over budget: 2 breaks, 1 allowed\n" in done.out


def test_budgets_of_the_configuration(saved, run):
    (saved / "pyproject.toml").write_text("[tool.breakscope]\nmax-breaks = 2\nmin-coverage = 90\n")
    done = run("report", "before.json")
    assert done.code == 0 and "budget kept: 2 breaks, 2 allowed\n" in done.out
    assert "the budget min-coverage says nothing here: the report holds no run" in done.out
    assert run("report", "before.json", "--max-breaks", "1").code == 1
    assert run("report", "none.json").code == 0


def test_a_budget_that_was_asked_for_and_cannot_be_judged(saved, run):
    done = run("report", "before.json", "--min-coverage", "90")
    assert done.code == 2 and "--min-coverage: the report holds no run" in done.out


def test_markdown_goes_to_a_file(saved, run):
    done = run("diff", "before.json", "more.json", "-f", "markdown", "-o", "comment.md")
    assert (done.code, done.out) == (1, "")
    assert "| new | `model.py:8` |" in (saved / "comment.md").read_text()


def test_codes_that_are_ignored_are_not_compared(saved, run):
    assert run("diff", "before.json", "more.json", "--ignore", "BRK2,BRK4").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("before.json", "nothing.json"), "nothing.json"),
        (("before.json", "model.py"), "model.py is no report and no trace"),
        (("before.json", "broken.json"), "broken.json is no breakscope report"),
        (("before.json",), "Missing argument 'AFTER'"),
        (("before.json", "more.json", "--max-recompiles-after", "x"), "'x' is no step"),
        (("before.json", "more.json", "--min-coverage", "0.9"), "write 90 for a share"),
        (("before.json", "more.json", "--max-breaks", "-1"), "--max-breaks"),
    ],
)
def test_wrong_use_is_one_line(saved, run, arguments, words):
    (saved / "broken.json").write_text("{]")
    done = run("diff", *arguments)
    assert done.code == 2 and words in done.err and done.err.count("\n") == 1
