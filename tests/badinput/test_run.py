"""`breakscope run` and targets that misbehave: what was captured before is kept, and the user reads
one clear message.
"""

import sys
from pathlib import Path

import pytest
from commandline import assert_refused, breakscope
from on_demand import OnDemand

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and limits of POSIX")

TARGETS = Path(__file__).parent / "targets.py"
BREAK = 1 + TARGETS.read_text().splitlines().index('            print("compiled")  # breaks')
MISBEHAVE = ("hangs", "raises", "exits", "exits_hard", "segfaults", "prints", "forks", "interrupts")
NO_TARGET = ("absent", "NOT_CALLABLE", "raise_in_factory", "give_arguments_bare")
NO_MODULE = {
    "absent_module": "import torch\nimport a_module_that_is_absent\n",
    "syntax_error": "import torch\ndef make(:\n",
    "raises": "import torch\nraise RuntimeError('at import')\n",
    "exits": "import sys\nsys.exit('needs a GPU')\n",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What each command did, by name."""
    folder = tmp_path_factory.mktemp("runs")
    for name, source in NO_MODULE.items():
        (folder / f"{name}.py").write_text(source)
    as_json = ("--no-vary", "--format", "json")
    commands = {name: (f"{TARGETS}::{name}", *as_json) for name in MISBEHAVE}
    commands["hangs"] += ("--timeout", "25")
    commands |= {name: (f"{TARGETS}::{name}",) for name in NO_TARGET}
    commands |= {f"{name}.py": (f"{name}.py::make",) for name in NO_MODULE}
    commands["--calls"] = (f"{TARGETS}::prints", "--calls", "absent_function", *as_json)
    commands["--backend"] = (f"{TARGETS}::prints", "--backend", "absent_backend", *as_json)

    others = {
        "check --run": ("check", TARGETS, "--run", f"{TARGETS}::absent"),
        "bench": ("bench", f"{TARGETS}::absent"),
    }
    commands = {name: ("run", *arguments) for name, arguments in commands.items()} | others

    def run(name):
        return breakscope(*commands[name], folder=folder, cpu_seconds=120)

    return OnDemand(commands, run)


def errors(done):
    return " ".join(f"{e['message']} {e['detail']}" for e in done.report["errors"])


def assert_kept(done, status):
    """The run failed, says so in one line, and keeps the break that came before."""
    assert done.exit_code == 2, done
    assert done.report["run"]["status"] == status
    assert BREAK in done.lines_found("targets.py")
    assert all("\n" not in error["message"] for error in done.report["errors"])
    assert "breakscope/" not in done.stderr, "a traceback of ours"


def test_raises(runs):
    assert_kept(runs["raises"], "failed")
    assert "ValueError: the target's own error" in errors(runs["raises"])
    assert "raise_error" in errors(runs["raises"]), "the user's own traceback names the function"


def test_exits(runs):
    assert_kept(runs["exits"], "failed")
    assert "3" in errors(runs["exits"])


@pytest.mark.nightly
def test_exits_without_a_word(runs):
    assert runs["exits_hard"].exit_code == 2
    assert runs["exits_hard"].report["run"]["status"] in ("failed", "killed")
    assert BREAK in runs["exits_hard"].lines_found("targets.py")


def test_hangs(runs):
    assert_kept(runs["hangs"], "timeout")
    assert "25" in errors(runs["hangs"])


def test_segfaults(runs):
    assert_kept(runs["segfaults"], "killed")
    assert "SIGSEGV" in errors(runs["segfaults"])


def test_interrupts(runs):
    assert runs["interrupts"].exit_code == 2
    assert BREAK in runs["interrupts"].lines_found("targets.py")


@pytest.mark.nightly
def test_takes_too_much_memory():
    """With a limit of 4 GB; the command line's own limit is what the machine has free."""
    from breakscope.dynamic import RunOptions, run_target

    result = run_target(RunOptions(file=str(TARGETS), name="greedy", vary=False, memory=4 * 10**9))
    assert result.run.status in ("failed", "killed")
    assert any("memory" in error.message + error.detail.lower() for error in result.errors)
    assert BREAK in {finding.line for finding in result.findings}


@pytest.mark.nightly
def test_prints_megabytes(runs):
    done = runs["prints"]
    assert done.exit_code == 1
    assert done.report["run"]["status"] == "ok"
    assert BREAK in done.lines_found("targets.py")
    assert len(done.stdout) < 10**6
    assert len(done.stderr) < 10**6


@pytest.mark.nightly
def test_forks(runs):
    done = runs["forks"]
    assert done.exit_code == 1
    assert done.report["run"]["status"] == "ok"
    assert BREAK in done.lines_found("targets.py")


# What cannot be run at all: one message that says why, with the user's own traceback where there is
# one.


@pytest.mark.parametrize(
    "command, words",
    [
        ("raise_in_factory", "KeyError: 'no such checkpoint'"),
        ("absent_module.py", "ModuleNotFoundError: No module named 'a_module_that_is_absent'"),
        ("syntax_error.py", "SyntaxError"),
        ("raises.py", "RuntimeError: at import"),
        ("exits.py", "needs a GPU"),
    ],
)
def test_cannot_be_run(runs, command, words):
    done = runs[command]
    assert done.exit_code == 2, done
    assert done.stderr == ""
    assert words in done.stdout
    assert "breakscope/" not in done.stdout, "a traceback of ours"
    assert "0 graphs" not in done.stdout, "there was no run"


@pytest.mark.parametrize(
    "command, words",
    [
        ("absent", "targets.py defines no absent"),
        ("NOT_CALLABLE", "NOT_CALLABLE"),
        ("give_arguments_bare", "(callable, args, kwargs)"),
        ("--calls", "absent_function"),
        ("--backend", "absent_backend"),
        ("check --run", "targets.py defines no absent"),
        ("bench", "targets.py defines no absent"),
    ],
)
def test_is_no_target(runs, command, words):
    assert_refused(runs[command], words)


# Wrong use, reported before anything runs.


@pytest.mark.parametrize(
    "target, word",
    [
        ("absent.py::make", "absent.py"),
        ("model.py", "::"),
        ("model.py::", "::"),
        ("::make", "::"),
        ("folder::make", "folder"),
    ],
)
def test_no_target(tmp_path, target, word):
    (tmp_path / "model.py").write_text("import torch\n")
    (tmp_path / "folder").mkdir()
    assert_refused(breakscope("run", target, folder=tmp_path), word)


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0", "soon"])
def test_timeout_that_is_no_time(tmp_path, seconds):
    assert_refused(
        breakscope("run", f"{TARGETS}::prints", "--timeout", seconds, folder=tmp_path), "timeout"
    )
