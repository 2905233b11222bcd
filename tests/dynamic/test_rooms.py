"""The rooms of the dynamic analyzer and of the report: who may import whom, and how large they are."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("breakscope.dynamic", "breakscope.report")
# each room may import those before it; what lies beside them belongs to all
ROOMS = ("trace", "capture", "child", "observations", "findings", "bench", "modes")
MOST_LINES, MOST_FILES = 400, 16


def modules():
    """The modules of both packages, by name."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package.replace(".", "/")).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def imported():
    """What each module imports, anywhere in its text."""
    known, found = modules(), {}
    for name, path in known.items():
        found[name] = names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{name} imports by a relative name"
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= (inner & known.keys()) or {node.module}
    return found


def room(name):
    """The room's number; -1 of what lies beside the rooms."""
    part = name.removeprefix("breakscope.dynamic.").partition(".")[0]
    return ROOMS.index(part) if part in ROOMS and name.startswith("breakscope.dynamic.") else -1


def test_rooms_import_downward_only():
    upward = [
        (name, other)
        for name, others in imported().items()
        for other in others
        if 0 <= room(name) < room(other)
    ]
    assert upward == []


def test_no_circle_among_modules():
    open_, done, circles = [], set(), []

    def visit(name):
        if name in open_:
            circles.append([*open_[open_.index(name) :], name])
        if name in open_ or name in done:
            return
        open_.append(name)
        for other in sorted(imported().get(name, ())):
            visit(other)
        open_.pop()
        done.add(name)

    for name in sorted(imported()):
        visit(name)
    assert circles == []


@pytest.mark.parametrize(
    ("package", "others"),
    [
        ("breakscope.dynamic", ("static", "workflows", "cli", "fixes")),
        ("breakscope.report", ("static", "dynamic", "rulekit", "knowledge", "workflows", "cli")),
    ],
)
def test_packages_import_downward_only(package, others):
    forbidden = tuple(f"breakscope.{other}" for other in others)
    assert [
        (name, other)
        for name, found in imported().items()
        if name.startswith(package)
        for other in found
        if other.startswith(forbidden)
    ] == []


def test_files_and_folders_are_small():
    paths = modules().values()
    long = {str(p): n for p in paths if (n := len(p.read_text().splitlines())) > MOST_LINES}
    folders = {path.parent for path in paths}
    full = {str(f): n for f in folders if (n := len(list(f.glob("*.py")))) > MOST_FILES}
    assert (long, full) == ({}, {})
