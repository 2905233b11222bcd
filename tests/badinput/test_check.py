"""`breakscope check` and input that nobody wishes for: one clear line, or an error entry and the
rest intact."""

import os
import socket

import pytest
from commandline import assert_refused, breakscope

MODEL = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = -x
        return x
"""
BREAK = 6  # the line of its graph break
CHAIN = (
    "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x{}\n"
)

BROKEN = {
    "a syntax error": b"import torch\ndef forward(self, x:\n    return x\n",
    "wrong indentation": b"import torch\nif True:\n\tx = 1\n        y = 2\n",
    "not UTF-8": "import torch  # caf\xe9\n".encode("latin-1"),
    "UTF-16": MODEL.encode("utf-16"),
    "an unknown encoding": b"# coding: klingon\nimport torch\n",
    "null bytes": b"import torch\nx = 1\0\n",
    "bytes of a picture": bytes(range(256)) * 8 + b"torch",
    "Python 2": b"import torch\nprint 'loss', 1\n",
    "500 open brackets": b"import torch\nx = " + b"(" * 500 + b"1" + b")" * 500 + b"\n",
}
LONG = {
    "3,000 calls in a chain": CHAIN.format(".relu()" * 3000),
    "900 calls in a chain": CHAIN.format(".relu()" * 900),
    "3,000 sums": CHAIN.format(" + x" * 3000),
    "3,000 subscripts": CHAIN.format("[0]" * 3000),
    "5,000 times not": "import torch\ny = " + "not " * 5000 + "torch\n",
    "90 nested lists": CHAIN.format("[" * 90 + "0" + "]" * 90),
    "2,000 elifs": CHAIN.format("").replace("return x", "if x is None:\n            pass\n")
    + "".join(f"        elif x is {n}:\n            pass\n" for n in range(2000)),
    "a line of a million characters": "import torch\nx = [" + "1, " * 333_333 + "]\n",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def check(*arguments, folder):
    return breakscope("check", *arguments, "--format", "json", folder=folder)


def assert_rest_intact(done, errors=0):
    """The model's break is found; `errors` files have an error entry, and the exit code is 2 when
    there are any."""
    assert done.stderr == ""
    assert done.lines_found("model.py") == [BREAK]
    assert len(done.report["errors"]) == errors
    assert done.exit_code == (2 if errors else 1)


@pytest.mark.parametrize("bad", BROKEN)
def test_a_broken_file_gets_one_error_entry(folder, bad):
    (folder / "broken.py").write_bytes(BROKEN[bad])
    done = check(".", folder=folder)
    assert_rest_intact(done, errors=1)
    (message,) = done.errors_in("broken.py")
    assert message
    assert "\n" not in message


@pytest.mark.parametrize("long", LONG)
def test_long_and_deep_code_ends(folder, long):
    """It is analysed or gets one error entry; either way the other file is."""
    (folder / "long.py").write_text(LONG[long])
    done = check(".", folder=folder)
    assert_rest_intact(done, errors=len(done.errors_in("long.py")))
    assert len(done.errors_in("long.py")) <= 1


def test_a_broken_file_in_text_form(folder):
    (folder / "broken.py").write_bytes(BROKEN["a syntax error"])
    done = breakscope("check", ".", folder=folder)
    assert done.exit_code == 2
    assert "Traceback" not in done.stdout + done.stderr
    assert "broken.py:2" in done.stdout + done.stderr
    assert "model.py:6" in done.stdout


@pytest.mark.parametrize(
    "form",
    {
        "a byte order mark": b"\xef\xbb\xbf" + MODEL.encode(),
        "CRLF": MODEL.replace("\n", "\r\n").encode(),
        "form feeds": MODEL.replace("\n\n\n", "\n\f\n\n").encode(),
        "a declared encoding": b"# coding: latin-1\n"
        + MODEL.replace("\n\n\n", "\n# caf\xe9\n").encode("latin-1"),
        "no newline at the end": MODEL.rstrip("\n").encode(),
    }.items(),
    ids=lambda form: form[0],
)
def test_unusual_but_right(tmp_path, form):
    (tmp_path / "model.py").write_bytes(form[1])
    done = check("model.py", folder=tmp_path)
    assert done.exit_code == 1
    assert done.report["errors"] == []
    (finding,) = done.report["findings"]
    assert (finding["line"], finding["column"]) == (BREAK, 12)
    shown = finding["source"][finding["line"] - finding["first_source_line"]]
    assert shown == "        if x.sum() > 0:"


def test_columns_count_characters(tmp_path):
    branch = "y = '\u00e9\u4e2d\U0001f525', x if x.sum() > 0 else -x"
    text = MODEL.replace("if x.sum() > 0:", branch).replace("    x = -x", "pass")
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    (finding,) = check("model.py", folder=tmp_path).report["findings"]
    assert (finding["line"], finding["column"]) == (
        BREAK,
        text.splitlines()[BREAK - 1].index("x.sum()") + 1,
    )


def test_an_empty_file(tmp_path):
    (tmp_path / "empty.py").write_bytes(b"")
    done = check("empty.py", folder=tmp_path)
    assert done.exit_code == 0
    assert done.report["findings"] == done.report["errors"] == []


@pytest.mark.nightly
def test_50_000_lines(tmp_path):
    """The model stands at the end of a file of 50,000 lines, half of them other regions."""
    layer = "class Layer{n}(torch.nn.Module):\n    def forward(self, x):\n        y = x * {n}\n        return y\n\n\n"
    text = "import torch\n" + "".join(layer.format(n=n) for n in range(8332)) + MODEL
    assert text.count("\n") > 50_000 - 10
    (tmp_path / "long.py").write_text(text)
    done = check("long.py", folder=tmp_path)
    assert done.exit_code == 1
    assert done.lines_found("long.py") == [1 + 6 * 8332 + BREAK]


def test_symlink_loops(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "self.py").symlink_to(folder / "self.py")
    (folder / "nowhere.py").symlink_to(folder / "missing.py")
    done = check(".", folder=folder)
    assert_rest_intact(done)
    assert sum(f["line"] == BREAK for f in done.report["findings"]) == 1


@pytest.mark.parametrize("name", ["self.py", "nowhere.py"])
def test_a_link_to_nothing_named_directly(folder, name):
    (folder / name).symlink_to(folder / {"self.py": "self.py", "nowhere.py": "missing.py"}[name])
    assert_refused(check(name, folder=folder), name)


def test_things_named_like_python_files(folder):
    """A directory, a FIFO and a socket: passed over, and above all not waited for."""
    (folder / "directory.py").mkdir()
    (folder / "directory.py" / "model2.py").write_text(MODEL)
    os.mkfifo(folder / "fifo.py")
    with socket.socket(socket.AF_UNIX) as end:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket is limited to some 100 bytes
        end.bind("socket.py")
        os.chdir(here)
        done = check(".", folder=folder)
    assert_rest_intact(done)
    assert done.lines_found("model2.py") == [BREAK]


def test_a_fifo_named_directly(folder):
    os.mkfifo(folder / "fifo.py")
    assert_refused(check("fifo.py", folder=folder), "fifo.py")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(folder):
    (folder / "secret.py").write_text(MODEL)
    (folder / "secret.py").chmod(0)
    done = check(".", folder=folder)
    assert_rest_intact(done, errors=1)
    assert len(done.errors_in("secret.py")) == 1


def test_missing_path(folder):
    assert_refused(check("absent/model.py", folder=folder), "absent/model.py")


def test_one_missing_path_among_others(folder):
    assert_refused(check("model.py", "absent.py", folder=folder), "absent.py")


def test_directory_without_python(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "notes.txt").write_text("no code\n")
    assert_refused(check("data", folder=tmp_path), "data", "Python")


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_unknown_code(folder, option):
    assert_refused(check("model.py", option, "BRK999", folder=folder), "BRK999")


def test_unknown_format(folder):
    assert_refused(breakscope("check", "model.py", "--format", "poem", folder=folder), "poem")


def test_unknown_key_in_the_configuration(folder):
    (folder / "pyproject.toml").write_text("[tool.breakscope]\nselct = ['BRK1']\n")
    assert_refused(check("model.py", folder=folder), "selct", "pyproject.toml")


def test_broken_configuration(folder):
    (folder / "pyproject.toml").write_text("[tool.breakscope\n")
    assert_refused(check("model.py", folder=folder), "pyproject.toml")


def test_an_entry_that_names_nothing(folder):
    assert_refused(check("model.py", "--entry", "model.py::absent", folder=folder), "absent")


def test_names_with_spaces_and_letters_of_the_world(tmp_path):
    inner = tmp_path / "my models" / "модель"
    inner.mkdir(parents=True)
    (inner / "größe 1.py").write_text(MODEL)
    done = check(".", folder=tmp_path)
    assert done.exit_code == 1
    assert done.report["findings"][0]["path"] == "my models/модель/größe 1.py"


def test_what_is_no_torch_version_is_refused(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    assert_refused(
        breakscope("check", "model.py", "--torch", "newest", folder=tmp_path),
        "'newest' is no torch version",
    )
