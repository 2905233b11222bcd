"""The action and the examples of CI: the action's own script is run on a repository of its own, and
so are the commands of the GitLab example."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest
import yaml
from import_path import PYTHONPATH
from pages import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
EXAMPLES = [
    yaml.safe_load(block.text) for block in pages.blocks("yaml") if block.page.name == "ci.md"
]
WORKFLOW = next(each for each in EXAMPLES if "jobs" in each)
GITLAB = next(each for each in EXAMPLES if "breakscope" in each)
FILE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        {line}
        return x
"""
BREAKS, CLEAN = "x = x * x.sum().item()", "x = x + 1"


def git(folder, *arguments):
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *names, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def runner(tmp_path):
    """Where a job runs: a folder with the installed program, and a repository with two commits."""
    program = tmp_path / "temporary" / "breakscope-env" / "bin" / "breakscope"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m breakscope "$@"\n')
    program.chmod(0o755)
    folder = tmp_path / "the repository"
    (folder / "my models").mkdir(parents=True)
    git(folder, "init", "-q")
    for name, line in (("old", BREAKS), ("clean", CLEAN)):
        (folder / "my models" / f"{name}.py").write_text(FILE.format(line=line))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    (folder / "my models" / "clean.py").write_text("# moved\n" + FILE.format(line=CLEAN))
    (folder / "my models" / "old.py").write_text("# moved\n" + FILE.format(line=BREAKS))
    return tmp_path


def environment(tmp_path):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB")}
    temporary = tmp_path / "temporary"
    path = f"{temporary / 'breakscope-env' / 'bin'}{os.pathsep}{kept['PATH']}"
    return kept | {"PYTHONPATH": PYTHONPATH, "RUNNER_TEMP": str(temporary), "PATH": path}


def act(tmp_path, **inputs):
    """Run the step that checks, as GitHub does; exit code, printed text, outputs and summary."""
    given = {name: str(value["default"]) for name, value in ACTION["inputs"].items()}
    given |= {"base": ""} | {name.replace("_", "-"): value for name, value in inputs.items()}
    named = {
        name: given[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1]]
        for name, value in CHECK["env"].items()
    }
    files = {name: tmp_path / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in files.values():
        path.write_text("")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", CHECK["run"]],
        cwd=tmp_path / "the repository",
        env=environment(tmp_path) | named | {name: str(path) for name, path in files.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = files["GITHUB_OUTPUT"].read_text().splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    return done.returncode, done.stdout + done.stderr, outputs, files["GITHUB_STEP_SUMMARY"]


def test_the_action_annotates_and_writes_its_files(runner):
    code, text, outputs, summary = act(runner, paths="my models\n")
    assert code == 1 and "::error file=my models/old.py,line=7" in text
    assert outputs.keys() == {"json", "sarif"}
    run = json.loads(Path(outputs["sarif"]).read_text())["runs"][0]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "my%20models/old.py" and len(run["results"]) == 1
    assert len(json.loads(Path(outputs["json"]).read_text())["findings"]) == 1
    assert "my models/old.py:7" in summary.read_text()


def test_the_action_compares_with_the_base(runner):
    folder = runner / "the repository"
    base = git(folder, "rev-parse", "HEAD")
    code, _, outputs, _ = act(runner, base=base, fail_on="new")
    comment = Path(outputs["comment"]).read_text()
    assert code == 0 and comment.startswith("<!-- breakscope diff -->") and "1 moved" in comment
    (folder / "my models" / "clean.py").write_text(FILE.format(line=BREAKS))
    code, _, outputs, _ = act(runner, base=base, fail_on="new")
    assert code == 1 and "1 new" in Path(outputs["comment"]).read_text()
    assert git(folder, "worktree", "list").count("\n") == 0


@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        ({"fail_on": "nothing"}, 0, "::error file=my models/old.py"),
        ({"options": "--select=BRK1\n--torch=2.13", "paths": "my models"}, 0, ""),
        ({"fail_on": "never"}, 2, "::error::fail-on is never; write findings, new or nothing"),
        ({"fail_on": "new"}, 2, "needs a base to compare with"),
        ({"base": "0" * 40}, 2, "give actions/checkout fetch-depth: 0"),
        ({"paths": "no such folder"}, 2, "no such file or folder: no such folder"),
        ({"paths": "$(touch hacked)\n"}, 2, "no such file or folder: $(touch hacked)"),
    ],
)
def test_inputs_of_the_action(runner, inputs, code, said):
    found, text, _, _ = act(runner, **inputs)
    assert found == code and said in text
    assert not (runner / "the repository" / "hacked").exists()


def test_no_step_mixes_inputs_into_its_script():
    assert not any("${{" in step["run"] for step in (INSTALL, CHECK))
    assert ACTION["runs"]["using"] == "composite" and INSTALL["shell"] == CHECK["shell"] == "bash"
    named = {value["value"] for value in ACTION["outputs"].values()}
    assert named == {f"${{{{ steps.check.outputs.{name} }}}}" for name in ACTION["outputs"]}


def test_the_workflow_uses_what_the_action_has():
    steps = WORKFLOW["jobs"]["breakscope"]["steps"]
    own = next(step for step in steps if step.get("id") == "breakscope")
    assert own["with"].keys() <= ACTION["inputs"].keys()
    used = set(re.findall(r"steps\.breakscope\.outputs\.(\w+)", json.dumps(steps)))
    assert used == {"sarif", "comment"} <= ACTION["outputs"].keys()
    table = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == set(ACTION["inputs"])


def test_the_revisions_that_are_shown_exist_and_have_what_they_are_shown_for():
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    text += (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"(?:rev: |<this repository>@)([^\s\"]+)", text))
    assert shown and all(re.fullmatch("[0-9a-f]{40}", revision) for revision in shown)
    if not (ROOT / ".git").exists() or git(ROOT, "rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("a checkout without its history")
    for revision in shown:
        git(ROOT, "merge-base", "--is-ancestor", revision, "HEAD")
        hooks = yaml.safe_load(git(ROOT, "show", f"{revision}:.pre-commit-hooks.yaml"))
        assert {hook["id"] for hook in hooks} == {"breakscope", "breakscope-fix"}
        assert git(ROOT, "show", f"{revision}:action.yml")


def test_the_gitlab_example_writes_both_reports(runner):
    folder = runner / "the repository"
    commands = [line for line in GITLAB["breakscope"]["script"] if "pip install" not in line]
    done = subprocess.run(
        ["sh", "-ec", "\n".join(commands)],
        cwd=folder,
        env=environment(runner),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    reports = GITLAB["breakscope"]["artifacts"]["reports"]
    issues = json.loads((folder / reports["codequality"]).read_text())
    assert [issue["location"]["path"] for issue in issues] == ["my models/old.py"]
    assert 'failures="1"' in (folder / reports["junit"]).read_text()
