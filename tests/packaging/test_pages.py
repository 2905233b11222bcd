"""Every page: its commands exist, its outputs are what the commands print, its links lead
somewhere."""

import re
import shutil
import subprocess
import sys
from importlib import import_module

import click
import pages
import pytest
from import_path import PYTHONPATH
from pages import PAGES, ROOT, blocks, commands

from breakscope.__main__ import main
from breakscope.cli.app import Commands
from breakscope.cli.commands import __name__ as FOLDER
from breakscope.cli.session import FAILED
from breakscope.config import KEYS, load_config

MOST_LINES = 250
NAMES = Commands().list_commands(None)
SHOWN, TYPED = blocks("console"), blocks("console", "sh")
COMMANDS = {" ".join(c): c for block in TYPED for c in commands(block)}
OPTION = re.compile(r"`(--[\w-]+)")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)")
READABLE = re.compile(r"`((?:samples|rules|tests|benchmarks|breakscope|docs)/[\w./-]*)`")
# options of any command that need no word on a page
KNOWN = {"--help", "--version"}


def each(values, name):
    return pytest.mark.parametrize("value", values, ids=map(name, values))


def command_of(name):
    return import_module(f"{FOLDER}.{name}").command


def page_ids(page):
    return page.name


@each(PAGES, page_ids)
def test_a_page_can_be_read_at_one_sitting(value):
    assert len(value.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@each(list(COMMANDS), str)
def test_a_command_is_one_that_the_command_line_takes(value):
    name, *arguments = COMMANDS[value]
    command = command_of(name)
    while isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.get_command(None, name)
    command.make_context(name, arguments)


@each([block for block in SHOWN if not pages.is_run(block)], lambda block: block.name)
def test_an_output_is_what_the_command_prints(value, tmp_path):
    printed, shown = pages.printed(value, tmp_path), value.output
    if pages.LEFT_OUT not in shown.splitlines():
        assert printed == shown, "run `python tests/packaging/pages.py`"
    else:
        assert set(pages.shown_paragraphs(shown)) <= set(pages.paragraphs(printed))


@each([block for block in SHOWN if pages.is_run(block)], lambda block: block.name)
def test_a_run_prints_what_is_shown_but_for_its_times(value, tmp_path):
    pytest.importorskip("torch")
    printed = pages.paragraphs(pages.printed(value, tmp_path), measured=False)
    shown = pages.shown_paragraphs(value.output, measured=False)
    if pages.LEFT_OUT not in value.output.splitlines():
        assert sorted(printed) == sorted(shown), "run `python tests/packaging/pages.py`"
    else:
        assert set(shown) <= set(printed)


@each([c for c in COMMANDS if c.startswith(("check samples", "rule"))], str)
def test_a_command_on_the_samples_works(value, capsys, monkeypatch):
    if "--run" in value or "-o" in value:
        pytest.skip("runs or writes something")
    monkeypatch.chdir(ROOT)
    assert main(COMMANDS[value]) != FAILED, capsys.readouterr().err


def options_of(command):
    return {name for p in command.params for name in p.opts if name.startswith("--")}


@each(NAMES, str)
def test_every_option_is_described(value):
    command = command_of(value)
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert options_of(command) - KNOWN <= set(OPTION.findall(text))


def test_every_option_on_the_page_exists():
    known = {name for each in NAMES for name in options_of(command_of(each))}
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert set(OPTION.findall(text)) <= known | KNOWN


def test_every_key_is_described():
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert set(KEYS) == set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))


@each(
    [block for block in blocks("toml") if "[tool.breakscope]" in block.text], lambda b: b.page.name
)
def test_a_configuration_is_accepted(value, tmp_path):
    (tmp_path / "pyproject.toml").write_text(value.text, encoding="utf-8")
    assert load_config(tmp_path).path


@each([b for b in blocks("python") if "# prints:" in b.text], lambda block: block.page.name)
def test_a_program_prints_what_it_says(value, tmp_path):
    if "import torch" in value.text:
        pytest.importorskip("torch")
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    (tmp_path / "program.py").write_text(value.text, encoding="utf-8")
    environment = {"PYTHONPATH": PYTHONPATH, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"# prints: (.+)", value.text)
    assert set(promised) <= set(done.stdout.splitlines())


def headings(page):
    """What a link to a part of a page may say."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@each((*PAGES, *(ROOT / "benchmarks").rglob("*.md")), page_ids)
def test_links_and_files_lead_somewhere(value):
    text = value.read_text(encoding="utf-8")
    for target, part in LINK.findall(text):
        page = (value.parent / target).resolve() if target else value
        assert page.exists(), target
        assert not part or part in headings(page), f"{target}#{part}"
    for name in READABLE.findall(text):
        assert (ROOT / name).exists(), name


TASK_FILE = re.compile(r"`((?:static|dynamic|report|rulekit)/[\w/]+\.py)`")


@pytest.mark.skipif(
    not (ROOT / "breakscope" / "static" / "variables").is_dir(), reason="names this folder"
)
def test_the_files_of_the_tasks_exist():
    for name in TASK_FILE.findall((ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")):
        assert any((ROOT / folder / name).exists() for folder in ("breakscope", "tests")), name
