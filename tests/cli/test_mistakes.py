"""Forty mistakes that people make, each answered by one clear line and exit code 2."""

import re

import pytest
from command import BREAKS, runner

FILES = {
    "model.py": BREAKS,
    "target.py": BREAKS + "\n\ndef make():\n    return Model(), (torch.ones(3),), {}\n",
    "broken.json": "{no json",
    "other.json": '{"a": 1}',
    "notes.txt": "a text\n",
    "empty/readme.txt": "",
    "wrong.toml": "[tool.breakscope]\nslect = ['BRK1']\n",
    "no.toml": "[tool.breakscope\n",
    "type.toml": "select = 'BRK1'\n",
    "codes.toml": "ignore = ['BRK999']\n",
    "rules.toml": "rules = ['our_rules']\n",
}
# what is typed, and what the line that answers it has to say
MISTAKES = [
    ("chek model.py", "there is no command 'chek'; did you mean check"),
    ("model.py", "did you mean `breakscope check model.py`?"),
    ("target.py::make", "did you mean `breakscope run target.py::make`?"),
    ("--statistics check model.py", "No such option '--statistics'"),
    ("check", "nothing to check; name files or folders"),
    ("check modle.py", "no such file or folder: modle.py; did you mean model.py?"),
    ("check model.py::Model", "write `model.py --entry model.py::Model`"),
    ("check empty", "no Python files in empty"),
    ("check --stats model.py", "--statistics"),
    ("check --fromat json model.py", "No such option '--fromat'; did you mean --format?"),
    ("check --sho model.py", "did you mean --show-files or --show-"),
    ("check --format jsn model.py", "there is no 'jsn'; did you mean json?"),
    ("check --format model.py", "there is no 'model.py'"),
    ("check --color yes model.py", "there is no 'yes'; there are auto, always, never"),
    ("check --select BRK1O1 model.py", "no rule has the code 'BRK1O1'; did you mean BRK101"),
    ("check --select E501 model.py", "no rule has the code 'E501'"),
    ("check --select branch-on-tensor model.py", "did you mean BRK101 (branch-on-tensor)"),
    ("check --ignore BRK999 model.py", "no rule has the code 'BRK999'"),
    ("check --jobs many model.py", "'many' is not a valid integer"),
    ("check --jobs 0 model.py", "0 is not in the range"),
    ("check --torch latest model.py", "--torch: "),
    ("check --python nowhere model.py", "--python: nowhere is no environment of Python"),
    ("check --entry model.py::Modle model.py", "was checked; did you mean Model?"),
    ("check --entry modle.py::Model model.py", "not among the checked files; did you mean model"),
    ("check --entry Model model.py", "write FILE::NAME, such as '*::Model'"),
    ("check --output missing/report.txt model.py", "cannot write missing/report.txt"),
    ("check --config nowhere.toml model.py", "--config: no such file or folder: nowhere.toml"),
    ("check --config wrong.toml model.py", "unknown key 'slect' in [tool.breakscope]; did you"),
    ("check --config no.toml model.py", "no.toml: not valid TOML"),
    ("check --config type.toml model.py", "select must be a list of strings"),
    ("check --config codes.toml model.py", "codes.toml: ignore: no rule has the code 'BRK999'"),
    ("check --config rules.toml model.py", "not run unless --allow-rules"),
    ("check --stdin-filename model.py model.py", "says nothing without the path -"),
    ("check - model.py", "standard input, -, is checked alone"),
    ("check --fix -", "standard input, -, cannot go with --fix"),
    ("check --watch --run target.py::make target.py", "--watch cannot go with --run"),
    ("check --unsafe-fixes model.py", "--unsafe-fixes says nothing without --fix or --diff"),
    ("check --write-baseline model.py", "write --write-baseline=FILE"),
    ("check --baseline nowhere.json model.py", "no such file or folder: nowhere.json"),
    ("check --baseline other.toml model.py", "the baseline: no such file"),
    ("check --baseline broken.json model.py", "broken.json is no baseline"),
    ("check --statistics --format json model.py", "--statistics is a table in the text format"),
    ("check --peel-rounds 3 model.py", "--peel-rounds says nothing without --peel"),
    ("fix modle.py", "did you mean model.py?"),
    ("fix --diff -", "no such file or folder: -"),
    ("run target.py", "'target.py' is no target; write FILE::NAME, such as model.py::make"),
    ("run traget.py::make", "no such file or folder: traget.py; did you mean target.py?"),
    ("run empty::make", "empty is a folder"),
    ("run target.py::make --explore", "--explore says nothing without --fake"),
    ("run target.py::make --memory lots", "'lots' is no size; write one such as 8G or 500M"),
    ("run target.py::make --timeout -1", "-1"),
    ("run target.py::make --min-coverage 120", "'120' is no percentage"),
    ("trace", "Missing argument '-- CMD...'"),
    ("trace --entry a.py::f -- python x.py", "--entry needs --compile"),
    ("report", "Missing argument 'PATH...'"),
    ("report nothing.json", "no such file or folder: nothing.json"),
    ("report broken.json", "broken.json is no breakscope report"),
    ("report other.json", "other.json is no breakscope report"),
    ("report notes.txt", "notes.txt is no report and no trace"),
    ("diff other.json", "Missing argument 'AFTER'"),
    ("rule BRK1O1", "no rule has the code or name 'BRK1O1'; did you mean BRK101"),
    ("rule brnch-on-tensor", "did you mean branch-on-tensor"),
    ("rule GB99", "no rule is about GB99; did you mean GB0099?"),
    ("rule GB9999", "no rule is about GB9999; BRK901"),
    ("trace --kep traces -- python x.py", "No such option '--kep'; did you mean --keep?"),
    ("bench target.py::make --modes fast", "no mode is called 'fast'"),
    ("cache clera", "clear"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text)
    return made


def test_there_are_forty():
    assert len({typed for typed, _ in MISTAKES}) == len(MISTAKES) >= 40


@pytest.mark.parametrize(("typed", "said"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_answered_in_one_line(typed, said, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    if typed.startswith(("run", "bench")):
        pytest.importorskip("torch")
    done = runner(capsys)(*typed.split())
    assert done.code == 2 and done.out == ""
    assert re.fullmatch(r"breakscope: error: .+\n", done.err) and said in done.err
    assert "Traceback" not in done.err and "internal error" not in done.err
