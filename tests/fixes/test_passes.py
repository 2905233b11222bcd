"""Files with all their fixes: several passes, which files may be fixed, and what is said of the rest."""

import os
from pathlib import Path

import pytest

from breakscope import limits
from breakscope.fixes import FixOptions, fixed_sources, passes
from breakscope.static import StaticOptions

MODEL = """\
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        print("norm", y.norm())  # kept
        if x.sum() > 0:
            y = y * 2
        return y
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path / "model.py"


def fixed(*paths, **options):
    return fixed_sources(list(map(str, paths)), StaticOptions(), FixOptions(**options))


def codes(done):
    return sorted(applied.finding.code for applied in done.applied)


def reasons(done):
    return [declined.reason for declined in done.declined]


def test_safe_fixes_alone_and_all(model):
    done = fixed(model, unsafe=True)
    text = done.new[str(model)].decode()
    assert "import torch\nfrom torch import nn\n" in text and "# kept" in text
    assert "torch.where(x.sum() > 0, y * 2, y)" in text
    assert not done.after.findings and done.complete
    assert model.read_text() == MODEL  # nothing is written
    safe = fixed(model)
    assert set(codes(safe)) < set(codes(done))
    assert "its fix may change what the program does (--unsafe-fixes)" in reasons(safe)


def test_fixed_files_are_fixed_no_more(model):
    model.write_bytes(fixed(model, unsafe=True).new[str(model)])
    assert not fixed(model, unsafe=True).new


def test_several_fixes_in_one_statement_are_made_in_passes(model):
    model.write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x, y):\n"
        "        z = x.sum().item() * 2 + y.sum().item() * 3\n        return x * z\n"
    )
    done = fixed(model, unsafe=True)
    assert codes(done) == ["BRK201", "BRK201"]
    assert ".item()" not in done.new[str(model)].decode()
    assert [applied.line for applied in done.applied] == [6, 6]


def test_a_fix_that_always_makes_room_for_itself_comes_to_an_end(model, monkeypatch):
    monkeypatch.setattr(limits, "MOST_FIX_PASSES", 1)
    model.write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x, y):\n"
        "        z = x.sum().item() * 2 + y.sum().item() * 3\n        return x * z\n"
    )
    assert not fixed(model, unsafe=True).complete


def test_only_what_is_wanted_is_fixed(model):
    done = fixed(model, unsafe=True, wanted=lambda finding: finding.code == "BRK101")
    assert codes(done) == ["BRK101"]


def test_files_that_were_not_asked_for_stay(model):
    (model.parent / "helper.py").write_text("def show(x):\n    print(x)\n    return x\n")
    model.write_text(
        "import torch\nfrom helper import show\n\n\nclass Model(torch.nn.Module):\n"
        "    def forward(self, x):\n        return show(x)\n"
    )
    done = fixed(model, unsafe=True)
    assert not done.new and reasons(done) == ["the file is none of the files that were asked for"]
    both = fixed(model, model.parent / "helper.py", unsafe=True)
    assert list(both.new) == [str(model.parent / "helper.py")]
    assert not both.after.findings


def test_installed_packages_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "lib" / "site-packages" / "mine" / "model.py"
    file.parent.mkdir(parents=True)
    file.write_text(MODEL)
    done = fixed(file, unsafe=True)
    assert not done.new
    assert set(reasons(done)) == {"the file is an installed package's, not the project's"}


def test_read_only_files_stay(model):
    model.chmod(0o444)
    assert set(reasons(fixed(model, unsafe=True))) == {"the file is read-only"}


def test_a_link_out_of_the_project_is_left(tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    (tmp_path / "elsewhere.py").write_text(MODEL)
    (project / "model.py").symlink_to(tmp_path / "elsewhere.py")
    (project / "inside.py").write_text(MODEL)
    (project / "link.py").symlink_to("inside.py")
    monkeypatch.chdir(project)
    done = fixed(project / "model.py", unsafe=True)
    assert not done.new and "is a link that leads out of the project" in reasons(done)[0]
    assert list(fixed(project / "link.py", unsafe=True).new) == [str(project / "link.py")]


def test_a_line_is_followed_back_to_the_file_on_disk():
    old, new = b"a\nb\nc\nd\n", b"x\na\nB1\nB2\nc\nd\n"
    assert [passes.line_before(old, new, line) for line in range(1, 7)] == [1, 1, 2, 2, 3, 4]


def test_hostile_sources_raise_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "fifo.py")
    (tmp_path / "bad.py").write_text("class M(:\n")
    (tmp_path / "nul.py").write_bytes(b"x = 1\0")
    (tmp_path / "latin.py").write_bytes(b"x = '\xff'\n")
    deep = (
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return "
        + "(" * 90
        + "x"
        + ")" * 90
    )
    (tmp_path / "deep.py").write_text(deep)
    done = fixed(
        *(tmp_path / name for name in ("fifo.py", "bad.py", "nul.py", "latin.py", "deep.py"))
    )
    assert {Path(error.path).name for error in done.before.errors} == {
        "fifo.py",
        "bad.py",
        "nul.py",
        "latin.py",
    }


def test_a_safe_fix_beside_an_except_is_an_unsafe_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "import torch\n\n\n@torch.compile\ndef region(x):\n    torch._dynamo.graph_break()\n    return x\n"
    caught = "\n\ndef caught(x):\n    try:\n        return region(x)\n    except RuntimeError:\n        return x\n"
    (tmp_path / "plain.py").write_text(text)
    (tmp_path / "caught.py").write_text(text + caught)
    assert codes(fixed(tmp_path / "plain.py")) == ["BRK502"]
    assert codes(fixed(tmp_path / "caught.py")) == []
    assert codes(fixed(tmp_path / "caught.py", unsafe=True)) == ["BRK502"]
