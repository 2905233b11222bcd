"""A function body that was dropped comes back as it was, and nobody sees that it was away."""

import ast
import gc
import re
from pathlib import Path

import pytest
from programs import TORCH

from breakscope import limits
from breakscope.static import StaticOptions, analyze
from breakscope.static.findings.flow import flow_of
from breakscope.static.project import eviction as bodies
from breakscope.static.project import program
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.source import decode, split_lines

ROOT = Path(__file__).resolve().parents[3]
SHAPES = '''
import torch

@torch.no_grad()
def first(x, y=lambda z: z,
          *rest):
    @decorated
    def inner():
        return f"{x!r:>{y}} und Äpfel"
    """text that
is less indented than the code
  """
    return inner

class Model:
    if FLAG:
        def forward(self, x):  # of one kind
            # a comment first

            for i in x: self.step(i); self.count()
            é = x \\
                + 1
            return é
    else:
        def forward(self, x): return x

\tclass Inner: ...
'''.replace("\tclass", "    class")


def module_of(source):
    return ModuleInfo(
        "m.py", "m", "", False, source.encode(), ast.parse(source), lines=split_lines(source)
    )


def all_of(module):
    return ast.dump(module.tree, include_attributes=True)


def check(source):
    """The characters dropped."""
    module = module_of(source)
    before = all_of(module)
    size = bodies.drop_idle_bodies(module.tree, module.lines, 1)
    assert all_of(module) == before
    return size


def test_a_body_comes_back_with_the_same_positions():
    assert check(SHAPES) > 100


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_ends(ending):
    assert check(SHAPES.replace("\n", ending)) > 100


@pytest.mark.nightly
def test_our_own_files():
    files = [
        *ROOT.glob("breakscope/**/*.py"),
        *ROOT.glob("samples/*.py"),
        *ROOT.glob("tests/static/**/*.py"),
    ]
    assert sum(check(decode(path.read_bytes())) for path in files) > 500_000


def test_a_dropped_body_takes_the_place_of_the_plain_class_until_it_is_asked_for():
    module = module_of(SHAPES)
    bodies.drop_idle_bodies(module.tree, module.lines, 1)
    node = module.tree.body[1]
    assert (
        type(node) is bodies.FunctionDef
        and isinstance(node, ast.FunctionDef)
        and node.name == "first"
    )
    assert not hasattr(node, "nothing")
    assert isinstance(node.body[0], ast.FunctionDef)
    assert type(node) is ast.FunctionDef


def test_a_function_that_was_entered_lately_keeps_its_body():
    module = module_of(SHAPES)
    node = module.tree.body[1]
    node.entered = 7
    bodies.drop_idle_bodies(module.tree, module.lines, 7)
    assert type(node) is ast.FunctionDef
    bodies.drop_idle_bodies(module.tree, module.lines, 8)
    assert type(node) is bodies.FunctionDef


def test_findings_are_the_same_without_bodies(monkeypatch):
    """The samples, with everything dropped behind each file, and with nothing dropped."""
    found, dropped, drop = [], [], bodies.drop_idle_bodies
    for limit in (0, 10**9):
        monkeypatch.setattr(limits, "MOST_BYTES_WITH_BODIES", limit)
        monkeypatch.setattr(limits, "MOST_FILES_OF_USE", -1)
        monkeypatch.setattr(
            program, "drop_idle_bodies", lambda *a: dropped.append(drop(*a)) or dropped[-1]
        )
        result = analyze([str(ROOT / "samples")], StaticOptions(torch=TORCH))
        found.append((result.findings, result.gaps, result.errors))
        monkeypatch.undo()
    assert found[0] == found[1]
    assert max(dropped) > 500


def test_nothing_asks_whether_a_function_is_of_the_plain_class_itself():
    """One without its body is not: what asks so answers by what else is checked."""
    asks = re.compile(r"\bis (not )?ast\.FunctionDef\b")
    files = [p for p in (ROOT / "breakscope" / "static").rglob("*.py") if p.name != "eviction.py"]
    assert len(files) > 100
    assert [str(p) for p in files if asks.search(p.read_text(encoding="utf-8"))] == []


def test_what_was_parsed_is_let_go_without_the_collector(tmp_path, monkeypatch):
    """A check of many files runs without it, and modules hold each other in circles."""
    monkeypatch.setattr(limits, "MOST_PARSED_BYTES", 1)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text(
            "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.item()\n"
        )
    kept = []  # how many trees of these files there are behind each of them

    def count(done, _):
        objects = [o for o in gc.get_objects() if type(o) is ModuleInfo]
        kept.append(sum(o.path.startswith(str(tmp_path)) for o in objects))

    gc.disable()
    try:
        analyze([tmp_path], StaticOptions(torch=TORCH), progress=count)
    finally:
        gc.enable()
    assert len(kept) >= 3 and max(kept) == 1


def test_where_values_go_is_looked_for_again_in_a_body_that_came_back():
    module = module_of(SHAPES)
    node = module.tree.body[1]
    before = flow_of(node)
    assert flow_of(node) is before
    bodies.drop_idle_bodies(module.tree, module.lines, 1)
    assert id(node.body[0].body[0].value) in flow_of(node).parents
