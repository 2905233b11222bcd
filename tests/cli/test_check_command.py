"""breakscope check: options, output, exit codes, and the short way for clean files."""

import json
import os
import subprocess
import sys

import pytest
from command import BREAKS, CLEAN, runner
from import_path import PYTHONPATH

from breakscope.report import formats
from breakscope.report.model import from_json


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my models").mkdir()
    (tmp_path / "my models" / "breaks.py").write_text(BREAKS)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


def codes(done):
    return [(f["path"], f["line"], f["code"]) for f in json.loads(done.out)["findings"]]


BRANCH = ("my models/breaks.py", 6, "BRK101")
SCALAR = ("my models/breaks.py", 8, "BRK201")


def test_the_short_and_the_long_way_say_the_same(folder, run):
    short = run("check", "my models/breaks.py")
    long = run("check", "--format", "text", "my models/breaks.py")
    assert short == long
    assert short.code == 1 and short.err == ""
    assert short.out.startswith("my models/breaks.py:6:12: BRK101 ")
    assert [line for line in short.out.splitlines() if line.startswith("my models/")].__len__() == 2


def test_clean_files_are_answered_in_a_line_and_with_few_imports(folder):
    code = (
        "import sys; from breakscope.__main__ import main; code = main(['check', 'clean.py', 'clean.py'])\n"
        "print(code, [m for m in ('torch', 'libcst', 'click', 'rich', 'tomllib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
    )
    assert (done.stdout, done.stderr) == ("no breaks in 1 region of 1 file.\n0 []\n", "")


def test_torch_is_never_imported(folder):
    code = (
        "import sys; from breakscope.__main__ import main\n"
        "main(['check', '--format', 'json', '.']); sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
    )
    assert done.returncode == 0, done.stderr


def test_json_is_all_there_is_on_stdout(folder, run):
    done = run("check", ".", "--format", "json")
    report = from_json(done.out.encode())
    assert done.err == "" and done.code == 1
    assert codes(done) == [BRANCH, SCALAR]
    assert report.files == 2 and report.regions == 2


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--select", "BRK1"], [BRANCH]),
        (["--select", "BRK2,BRK101"], [BRANCH, SCALAR]),
        (["--ignore", "BRK101"], [SCALAR]),
        (["--select", "BRK1", "--extend-select", "BRK2"], [BRANCH, SCALAR]),
        (["--ignore", "BRK1, BRK2"], []),
    ],
)
def test_codes(folder, run, options, left):
    done = run("check", ".", "--format", "json", *options)
    assert codes(done) == left
    assert json.loads(done.out)["hidden"] == 2 - len(left)
    assert done.code == (1 if left else 0)


@pytest.mark.parametrize("name", formats.names())
def test_every_format(folder, run, name):
    done = run("check", ".", "--format", name)
    assert done.code == 1 and "BRK101" in done.out and done.err == ""


def test_output_file(folder, run):
    done = run("check", ".", "--format", "sarif", "--output", "report.sarif")
    assert done.out == "" and done.code == 1
    sarif = json.loads((folder / "report.sarif").read_text(encoding="utf-8"))
    rule = sarif["runs"][0]["tool"]["driver"]["rules"][0]
    assert rule["id"] == "BRK101" and rule["help"]["markdown"]


def test_output_file_that_cannot_be_written(folder, run):
    done = run("check", ".", "--output", "absent/report.txt")
    assert (
        done.code == 2
        and done.err
        == "breakscope: error: cannot write absent/report.txt: No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("environment", "options", "colored"),
    [
        ({}, [], False),  # not a terminal
        ({}, ["--color", "always"], True),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
        ({"NO_COLOR": "1"}, [], False),
    ],
)
def test_colour(folder, run, monkeypatch, environment, options, colored):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run("check", ".", *options).out) is colored


def test_configuration_and_command_line(folder, run):
    (folder / "pyproject.toml").write_text(
        '[tool.breakscope]\nselect = ["BRK1"]\nformat = "concise"\n'
    )
    assert [line.split()[2] for line in run("check", ".").out.splitlines()] == ["BRK101"]
    assert [line.split()[2] for line in run("check", ".", "--select", "BRK2").out.splitlines()] == [
        "BRK201"
    ]
    (folder / "pyproject.toml").write_text(
        '[tool.breakscope.per-file-ignores]\n"my models/*" = ["BRK1", "BRK2"]\n'
    )
    assert run("check", ".").code == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('select = ["BRK999"]', "pyproject.toml: select: no rule has the code 'BRK999'"),
        (
            'per-file-ignores = { "a/*" = ["E501"] }',
            "pyproject.toml: per-file-ignores 'a/*': no rule has the code 'E501'",
        ),
        ('format = "poem"', "no output format 'poem'"),
    ],
)
def test_wrong_configuration_is_one_line(folder, run, settings, said):
    (folder / "pyproject.toml").write_text(f"[tool.breakscope]\n{settings}\n")
    done = run("check", ".")
    assert done.code == 2 and done.out == ""
    assert done.err.count("\n") == 1 and said in done.err


ODD_NAMES = {
    b"caf\xe9.py": ("caf\\xe9.py", "caf%E9.py"),
    b"e:1.py": ("e:1.py", "e%3A1.py"),
    b"a\n::error::b.py": ("a\\n::error::b.py", "a%0A%3A%3Aerror%3A%3Ab.py"),
    b"::notice::c.py": ("\\x3a:notice::c.py", "%3A%3Anotice%3A%3Ac.py"),
    b"\x1b[31m.py": ("\\x1b[31m.py", "%1B%5B31m.py"),
    "\u202ed.py".encode(): ("\\u202ed.py", "%E2%80%AEd.py"),
}


@pytest.fixture
def odd_names(folder):
    for name in ODD_NAMES:
        file = os.path.join(os.fsencode(folder), b"my models", name)
        try:
            with open(file, "w") as stream:
                stream.write(BREAKS)
        except OSError:  # macOS takes names in UTF-8 only
            pytest.skip("the file system has no such names")
    return folder


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_no_name_of_a_file_costs_the_report(odd_names, run, jobs):
    os.chdir("my models")
    concise = run("check", ".", "--format", "concise", "--jobs", jobs)
    assert concise.code == 1
    places = {line.rpartition(".py:")[0] + ".py" for line in concise.out.splitlines()}
    assert places == {shown for shown, _ in ODD_NAMES.values()} | {"breaks.py"}
    text = run("check", ".")
    assert all(f"{shown}:6:12: BRK101" in text.out for shown, _ in ODD_NAMES.values())
    assert "\x1b" not in text.out and "\u202e" not in text.out
    results = json.loads(run("check", ".", "-f", "sarif").out)["runs"][0]["results"]
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results
    }
    assert uris == {uri for _, uri in ODD_NAMES.values()} | {"breaks.py"}
    assert len(json.loads(run("check", ".", "-f", "json").out)["findings"]) == 2 * 7


@pytest.fixture
def project_rules(folder):
    """Rules of the project, which leave a mark when they are run."""
    (folder / "own").mkdir()
    (folder / "own" / "mark.py").write_text("open('ran', 'w').close()\n")
    (folder / "pyproject.toml").write_text('[tool.breakscope]\nrules = ["own"]\n')
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "."),
        ("check", ".", "--format", "sarif"),
        ("check", ".", "--select", "BRK1"),
        ("run", "clean.py::Model"),
        ("trace", "--", "true"),
        ("report", "saved.json"),
        ("rule",),
    ],
)
def test_the_rules_of_a_project_are_not_run(project_rules, run, arguments):
    done = run(*arguments)
    assert done.code == 2 and done.out == "" and done.err.count("\n") == 1
    assert "pyproject.toml: `rules` names Python files of the project" in done.err
    assert "--allow-rules" in done.err and not (project_rules / "ran").exists()


def test_the_rules_of_a_project_are_run_where_the_user_says_so(project_rules, run, monkeypatch):
    run("check", ".", "--allow-rules")
    assert (project_rules / "ran").exists()
    (project_rules / "ran").unlink()
    monkeypatch.setenv("BREAKSCOPE_ALLOW_RULES", "0")
    assert run("check", ".").code == 2 and not (project_rules / "ran").exists()
    monkeypatch.setenv("BREAKSCOPE_ALLOW_RULES", "1")
    run("check", ".")
    assert (project_rules / "ran").exists()


def test_rules_that_are_not_there(folder, run):
    (folder / "pyproject.toml").write_text('[tool.breakscope]\nrules = ["absent"]\n')
    done = run("check", ".", "--allow-rules")
    assert done.code == 2 and done.err.count("\n") == 1 and "absent does not exist" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check"], "nothing to check; name files or folders"),
        (["check", "absent.py"], "no such file or folder: absent.py"),
        (
            ["check", "--select", "BRK1O1", "."],
            "--select: no rule has the code 'BRK1O1'; did you mean BRK101",
        ),
        (["check", "--frobnicate", "."], "No such option '--frobnicate'"),
        (
            ["check", "--format", "poem", "."],
            "there is no 'poem'; there are concise, github",
        ),
        (["check", "--run", "model.py", "."], "'model.py' is no target; write FILE::NAME"),
        (["chekc", "."], "there is no command 'chekc'; did you mean check"),
    ],
)
def test_wrong_use_is_one_line(folder, run, arguments, said):
    done = run(*arguments)
    assert done.code == 2 and done.out == ""
    assert (
        done.err.startswith("breakscope: error: ")
        and done.err.count("\n") == 1
        and said in done.err
    )


def test_a_broken_file_does_not_hide_the_others(folder, run):
    (folder / "broken.py").write_text("import torch\ndef f(:\n")
    done = run("check", ".")
    assert (
        done.code == 2
        and "broken.py:2: error:" in done.out
        and "breaks.py:6:12: BRK101" in done.out
    )


def test_a_failure_of_ours_is_one_line(folder, run, monkeypatch):
    import breakscope.workflows.check as workflow

    def fail(*_):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr(workflow, "analyze", fail)
    monkeypatch.delenv("BREAKSCOPE_DEBUG", raising=False)
    done = run("check", ".")
    assert (
        done.code == 2
        and done.err
        == "breakscope: error: internal error: ZeroDivisionError: oh no; BREAKSCOPE_DEBUG=1 shows where\n"
    )
    monkeypatch.setenv("BREAKSCOPE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("check", ".")


def test_a_reader_that_leaves_early(folder, run):
    report = json.loads(run("check", ".", "--format", "json").out)
    report["findings"] *= 5000
    (folder / "many.json").write_text(json.dumps(report))
    command = f'"{sys.executable}" -m breakscope report many.json --format concise | head -1'
    done = subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
    )
    assert done.stdout.startswith("my models/breaks.py:6:12: BRK101") and done.stderr == ""


def test_an_encoding_that_knows_little(folder):
    (folder / "names.py").write_text(
        BREAKS.replace("x.sum() > 0", "x.sum() > 0 and '名'"), encoding="utf-8"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": PYTHONPATH,
        "PYTHONIOENCODING": "ascii",
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        [sys.executable, "-m", "breakscope", "check", "names.py"],
        capture_output=True,
        env=environment,
    )
    assert done.returncode == 1 and "'名'" in done.stdout.decode("utf-8") and done.stderr == b""
