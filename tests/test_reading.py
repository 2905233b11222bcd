"""Only regular files of a sensible size are read, in whatever role they are named."""

import ast
import os
import socket
from pathlib import Path

import pytest

from breakscope import reading
from breakscope.config import load_config
from breakscope.errors import UserError
from breakscope.reading import NotThere, Unreadable, read_file
from breakscope.report.combining.statements import Statements
from breakscope.static import StaticOptions, analyze

MODEL = """\
import torch
from helper import read

class Model(torch.nn.Module):
    def forward(self, x):
        print(x)
        return read(x)
"""
PRINTED = ["BRK401"]


def fifo(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(5_000_000_000)


def socket_file(path):
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket is limited to some 100 bytes
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(path.name)
    os.chdir(here)


KINDS = [fifo, device, sparse, socket_file]
MESSAGES = {sparse: "is larger than 20 MB"}


@pytest.fixture(params=KINDS, ids=[kind.__name__ for kind in KINDS])
def special(request):
    def make(path):
        request.param(path)
        return MESSAGES.get(request.param, "is no regular file")

    return make


def codes(*paths):
    result = analyze(paths, StaticOptions(torch="2.13.0"))
    assert result.errors == () and result.notes == ()
    return [finding.code for finding in result.findings]


def test_it_is_refused_unread(special, tmp_path):
    message = special(tmp_path / "file")
    with pytest.raises(Unreadable, match=message):
        read_file(tmp_path / "file")


def test_as_the_checked_file(special, tmp_path):
    message = special(tmp_path / "model.py")
    result = analyze([tmp_path / "model.py"], StaticOptions(torch="2.13.0"))
    assert [error.message for error in result.errors] == [message]


def test_as_an_import(special, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    special(tmp_path / "helper.py")
    assert codes(tmp_path / "model.py") == PRINTED


def test_as_a_neighbour(special, tmp_path):
    """Files beside a checked one are searched for subclasses of its classes."""
    (tmp_path / "model.py").write_text(MODEL.replace("from helper import read", "read = abs"))
    special(tmp_path / "beside.py")
    assert codes(tmp_path / "model.py") == PRINTED


def test_as_the_front_of_a_package(special, tmp_path):
    special(tmp_path / "__init__.py")
    (tmp_path / "model.py").write_text(MODEL)
    assert codes(tmp_path / "model.py") == PRINTED


def test_as_the_configuration(special, tmp_path):
    message = special(tmp_path / "pyproject.toml")
    with pytest.raises(UserError, match=rf"pyproject\.toml: {message}$"):
        load_config(tmp_path)


def test_as_gitignore(special, tmp_path):
    """It ignores nothing: that can add findings, and never hides one."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "model.py").write_text(MODEL)
    special(tmp_path / ".gitignore")
    special(tmp_path / "inner" / ".gitignore")
    assert codes(tmp_path) == codes(tmp_path / "inner") == PRINTED


def test_as_source_that_a_trace_names(special, tmp_path):
    source_text = pytest.importorskip("breakscope.dynamic.source_text")
    special(tmp_path / "model.py")
    assert source_text.SourceFile.read(str(tmp_path / "model.py")).lines == ()
    assert Statements.of_file(str(tmp_path / "model.py")).spans == []


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(Unreadable, match="is no regular file"):
        read_file(tmp_path)


@pytest.mark.parametrize("name", ["absent", "a\0b", "x" * 5000])
def test_what_is_not_there(name, tmp_path):
    with pytest.raises(NotThere, match="cannot be read: "):
        read_file(f"{tmp_path}/{name}")


def test_links_to_files_are_followed(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_file(tmp_path / "link") == b"text"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
def test_files_that_tell_no_size(tmp_path):
    assert b"Name:" in read_file("/proc/self/status")


ALONE = [
    "config.py",
    "environment.py",
    "static",
    "report/combining/statements.py",
    "dynamic/source_text.py",
]


@pytest.mark.parametrize("part", ALONE)
def test_nothing_else_opens_files(part):
    """Neither source analysis nor what it is configured by, nor what shows source lines."""
    top = Path(reading.__file__).parent / part
    for path in [top] if top.is_file() else top.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                assert name not in ("open", "read_bytes", "read_text"), f"{path}:{node.lineno}"
