"""Which environment is the user's, and what that decides."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from breakscope import environment
from breakscope.environment import import_folders, python_version
from breakscope.errors import UserError
from breakscope.static import StaticOptions, analyze

VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONPATH")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A project as working directory, and breakscope in an environment of its own, without torch."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path / "project")
    tool(monkeypatch, made(tmp_path / "tool", "einops"))
    return tmp_path


def made(prefix: Path, *packages: str, version="3.12", shares="") -> Path:
    """An environment with empty packages."""
    folder = prefix / "lib" / f"python{version}" / "site-packages"
    for package in ("pip", *packages):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").touch()
        (folder / f"{package}-1.0.dist-info").mkdir()
    (prefix / "bin").mkdir()
    (prefix / "bin" / "python").symlink_to("/usr/bin/env")  # whoever runs it gets no Python
    lines = (
        f"home = {shares}/bin\ninclude-system-site-packages = true\nversion = {version}.1\n"
        if shares
        else "home = /usr/bin\n"
    )
    (prefix / "pyvenv.cfg").write_text(lines)
    return prefix


def with_torch(prefix: Path, version="2.11.0") -> Path:
    (folder,) = prefix.glob("lib/*/site-packages")
    (folder / "torch").mkdir()
    (folder / "torch" / "version.py").touch()
    (folder / f"torch-{version}.dist-info").mkdir()
    return prefix


def tool(monkeypatch, prefix: Path) -> None:
    """Have breakscope run in an environment."""
    path = list(map(str, prefix.glob("lib/*/site-packages")))
    monkeypatch.setattr(environment, "sys", SimpleNamespace(prefix=str(prefix), path=path))


def prefixes(folders) -> list[str]:
    return [Path(folder).parents[2].name for folder in folders]


def test_the_environment_of_a_hook_is_not_the_users(place, monkeypatch):
    assert import_folders() == ()
    monkeypatch.setenv("VIRTUAL_ENV", str(place / "tool"))  # as pre-commit does
    assert import_folders() == ()


def test_breakscope_beside_torch(place, monkeypatch):
    tool(monkeypatch, with_torch(made(place / "own")))
    assert prefixes(import_folders()) == ["own"]


def test_the_activated_one_comes_before_those_beside(place, monkeypatch):
    made(place / "project" / ".venv")
    assert prefixes(import_folders()) == [".venv"]
    tool(monkeypatch, with_torch(made(place / "own")))
    assert prefixes(import_folders()) == [".venv"]
    monkeypatch.setenv("CONDA_PREFIX", str(made(place / "conda")))
    assert prefixes(import_folders()) == ["conda"]
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "base")  # activated in every shell
    assert prefixes(import_folders()) == [".venv"]
    monkeypatch.setenv("VIRTUAL_ENV", str(made(place / "active")))
    assert prefixes(import_folders()) == ["active"]
    monkeypatch.setenv("VIRTUAL_ENV", str(place / "own"))
    assert prefixes(import_folders()) == ["own"]


def test_conda_base_is_the_last(place, monkeypatch):
    monkeypatch.setenv("CONDA_PREFIX", str(made(place / "conda")))
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "base")
    assert prefixes(import_folders()) == ["conda"]


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_beside_the_project(place, monkeypatch, name):
    made(place / "project" / name)
    monkeypatch.chdir(place / "project" / "src")
    assert prefixes(import_folders()) == [name]
    made(place / "above" / ".venv")
    (place / "above" / "project").mkdir()
    (place / "above" / "project" / ".git").mkdir()
    monkeypatch.chdir(place / "above" / "project")  # of another project
    assert import_folders() == ()


def test_a_folder_that_is_no_environment(place):
    (place / "project" / ".venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    assert import_folders() == ()


@pytest.mark.parametrize("name", ["env", "env/bin/python"])
def test_named(place, name):
    made(place / "env")
    assert prefixes(import_folders(str(place / name))) == ["env"]
    assert python_version(import_folders(str(place / name))) == (3, 12)


@pytest.mark.parametrize("name", ["absent", "project", "/usr/bin/env"])
def test_what_is_no_environment_is_refused(place, name):
    with pytest.raises(UserError, match=r"--python: .* is no environment of Python"):
        import_folders(name if name.startswith("/") else str(place / name))


def test_the_running_python_by_its_name():
    assert any(folder.endswith("site-packages") for folder in import_folders(sys.executable))


def test_packages_of_the_python_below(place):
    made(place / "base", "einops")
    made(place / "other", version="3.13")
    env = made(place / "env", shares=place / "base")
    assert prefixes(import_folders(str(env))) == ["env", "base"]


def test_packages_that_are_links_to_their_source(place):
    env = made(place / "env")
    (place / "source").mkdir()
    (folder,) = env.glob("lib/*/site-packages")
    (folder / "x.pth").write_text(f"# a\nimport os; os.mkdir('ran')\n{place}/source\nabsent\n")
    assert import_folders(str(env)) == (str(folder), str(place / "source"))
    assert not (place / "project" / "ran").exists()


def test_python_path(place, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(made(place / "env")))
    (place / "more").mkdir()
    monkeypatch.setenv("PYTHONPATH", f"{place}/more:absent:")
    assert import_folders()[0] == f"{place}/more"


PROGRAM = """\
import torch

@torch.compile
def f(x):
    try:
        import einops
    except ImportError:
        einops = None
    return x + 1
"""


def missing(place, **options) -> list[str]:
    file = place / "project" / "program.py"
    file.write_text(PROGRAM)
    found = analyze((str(file),), StaticOptions(torch="2.13", **options)).findings
    return [finding.message for finding in found if finding.code == "BRK538"]


def test_what_is_missing_is_missing_in_the_users_environment(place, monkeypatch):
    assert missing(place) == []  # no environment is known
    bare, full = made(place / "bare"), made(place / "full", "einops")
    (message,) = missing(place, environment=str(bare))
    assert "`einops` is not installed" in message
    assert missing(place, environment=str(bare), libraries=False) == [message]
    assert missing(place, environment=str(full)) == []
    monkeypatch.setenv("VIRTUAL_ENV", str(bare))
    assert missing(place) == [message]
    monkeypatch.setenv("VIRTUAL_ENV", str(full))
    assert missing(place) == []


@pytest.mark.parametrize(
    "entry",
    ["einops.py", "einops.cpython-312-x86_64-linux-gnu.so", "__editable___einops_1_0_finder.py"],
)
def test_other_ways_to_be_installed(place, entry):
    env = made(place / "env")
    (folder,) = env.glob("lib/*/site-packages")
    (folder / entry).touch()
    assert missing(place, environment=str(env)) == []


def test_what_lies_beside_is_not_missing(place):
    env = made(place / "env")
    (place / "project" / "einops").mkdir()
    assert missing(place, environment=str(env)) == []


def test_the_torch_of_the_environment_is_judged_by(place):
    file = place / "project" / "program.py"
    file.write_text(PROGRAM)
    env = with_torch(made(place / "env"), "2.9.1")
    assert analyze((str(file),), StaticOptions(environment=str(env))).torch == "2.9.1"
    newest = analyze((str(file),)).torch
    assert newest == analyze((str(file),), StaticOptions(environment=str(place / "tool"))).torch
