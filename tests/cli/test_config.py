"""[tool.breakscope] in pyproject.toml."""

import re
from pathlib import Path

import pytest

from breakscope.config import Config, load_config
from breakscope.errors import UserError


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Writes the section, moves to a folder below it, and reads it from there."""
    below = tmp_path / "src"
    below.mkdir()
    monkeypatch.chdir(below)

    def read(text: str) -> Config:
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        return load_config()

    return read


def test_every_key(settings, tmp_path):
    config = settings("""
        [tool.breakscope]
        select = ["BRK1"]
        extend-select = ["BRK203"]
        ignore = ["BRK101"]
        exclude = ["third_party/"]
        entry = ["train.py::make", "*::build"]
        rules = ["our_rules"]
        torch = "2.9"
        format = "concise"
        [tool.breakscope.per-file-ignores]
        "tests/*" = ["BRK4", "BRK5"]
    """)
    assert config == Config(
        path=str(tmp_path / "pyproject.toml"),
        root=str(tmp_path),
        select=("BRK1",),
        extend_select=("BRK203",),
        ignore=("BRK101",),
        exclude=("third_party/",),
        entry=(f"{tmp_path}/train.py::make", "*::build"),
        rules=(str(tmp_path / "our_rules"),),
        torch="2.9",
        format="concise",
        per_file_ignores=(("tests/*", ("BRK4", "BRK5")),),
    )


def test_paths_are_shown_from_here(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = settings('[tool.breakscope]\nentry = ["src/train.py::make"]')
    assert (config.path, config.entry) == ("pyproject.toml", ("src/train.py::make",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project]\nname = 'x'",
        "[tool.ruff]\nline-length = 100",
        "[tool]\nother = 1",
        "# breakscope",
    ],
)
def test_a_project_that_says_nothing_of_us(settings, text):
    assert settings(text) == Config()


def test_the_nearest_section_counts(settings, tmp_path):
    (tmp_path / "src" / "pyproject.toml").write_text("[project]\nname = 'inner'")
    assert settings("[tool.breakscope]\nselect = ['BRK1']").select == ("BRK1",)
    (tmp_path / "src" / "pyproject.toml").write_text("[tool.breakscope]\nselect = ['BRK2']")
    assert load_config().select == ("BRK2",)


def test_libraries_are_followed_unless_switched_off(settings):
    assert settings("[tool.breakscope]\nselect = []").libraries is True
    assert settings("[tool.breakscope]\nlibraries = false").libraries is False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[tool.breakscope]\nselct = []",
            "unknown key 'selct' in [tool.breakscope]; did you mean 'select'?",
        ),
        ("[tool.breakscope]\nper_file_ignores = {}", "did you mean 'per-file-ignores'?"),
        ("[tool.breakscope]\nxyzzy = 1", "the keys are select"),
        ("[tool.breakscope]\nselect = 'BRK1'", "select must be a list of strings, not 'BRK1'"),
        ("[tool.breakscope]\nignore = [1]", "ignore must be a list of strings, not [1]"),
        ("[tool.breakscope]\ntorch = 2.9", "torch must be a string, not 2.9"),
        ("[tool.breakscope]\nper-file-ignores = ['a']", "per-file-ignores must be a table"),
        (
            "[tool.breakscope]\nper-file-ignores = {'a' = 'BRK1'}",
            "per-file-ignores.'a' must be a list of strings",
        ),
        ("[tool.breakscope]\nlibraries = 'no'", "libraries must be true or false, not 'no'"),
        ("[tool]\nbreakscope = 3", "[tool.breakscope] must be a table"),
        ("[tool.breakscope\n", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(settings, text, said):
    with pytest.raises(UserError) as problem:
        settings(text)
    message = str(problem.value)
    assert said in message and "pyproject.toml: " in message and "\n" not in message


def test_a_pyproject_that_is_not_utf8(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_bytes(b"# breakscope \xff")
    with pytest.raises(UserError, match="not valid TOML"):
        load_config()


def test_budgets(settings):
    allowed = settings(
        '[tool.breakscope]\nmax-breaks = 0\nmax-recompiles-after = "3:1"\nmin-coverage = 95.5'
    ).allowed
    assert (allowed.breaks, str(allowed.recompiles), allowed.coverage) == (0, "call 3", 95.5)
    assert allowed.recompiles.most == 1 and not allowed.required
    assert settings("[tool.breakscope]\nmax-recompiles-after = 2").allowed.recompiles.step == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("max-breaks = -1", "max-breaks must be a whole number from 0 on, not -1"),
        ("max-breaks = true", "not True"),
        ('max-breaks = "1"', "not '1'"),
        ("max-recompiles-after = [1]", "max-recompiles-after must be a number or a string"),
        ('max-recompiles-after = "soon"', "max-recompiles-after: 'soon' is no step"),
        ("min-coverage = 200", "min-coverage: '200' is no percentage"),
        ("min-coverage = false", "min-coverage must be a number or a string, not False"),
    ],
)
def test_budgets_that_are_wrong(settings, line, words):
    with pytest.raises(UserError, match=re.escape(words)):
        settings(f"[tool.breakscope]\n{line}")
