"""breakscope.watch in IPython and notebooks: cells have no file, their source stands in linecache."""

import linecache

import pytest

torch = pytest.importorskip("torch")

from breakscope import reading
from breakscope.report.model import Report
from breakscope.workflows.notebook import ShownReport
from breakscope.workflows.watch import as_text

NET = """\
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x
"""
WATCHED = """\
import breakscope, torch
net = torch.compile(Net(), backend="eager")
with breakscope.watch() as report:
    net(torch.ones(3))
"""
# as a terminal's IPython and a notebook's kernel name them
NAMES = ("<ipython-input-{}-0a1b2c3d>", "/tmp/ipykernel_77/{}12345.py")


@pytest.fixture
def run_cells():
    """Runs texts as cells of one session; the names that these have."""
    names: list[str] = []

    def run(style: str, *texts: str) -> dict:
        torch._dynamo.reset()
        space: dict = {}
        for number, text in enumerate(texts, 1):
            name = style.format(number)
            names.append(name)
            # IPython's compilerop.CachingCompiler.cache writes such entries
            lines = [f"{line}\n" for line in text.splitlines()]
            linecache.cache[name] = (len(text), None, lines, name)
            exec(compile(text, name, "exec"), space)
        return space

    yield run
    for name in names:
        linecache.cache.pop(name, None)


@pytest.mark.parametrize("style", NAMES)
def test_the_source_of_a_cell_is_read(run_cells, style):
    report = run_cells(style, NET, WATCHED)["report"]
    (found,) = report.breaks
    assert (found.path, found.line, found.function) == (style.format(1), 4, "Net.forward")
    assert found.source == ("    def forward(self, x):", "        if x.sum() > 0:")
    # and analysed: the cause is in our words, and has a fix
    assert (found.code, found.evidence) == ("BRK101", "confirmed") and found.fix is not None
    assert found.message.startswith("`if x.sum() > 0` reads a tensor's value")
    assert report.missed == 0


def test_a_function_that_another_cell_compiles(run_cells):
    """Its own cell does not show that it is compiled: the run does."""
    gate = "def gate(x):\n    if x.sum() > 0:\n        x = x * 2\n    return x\n"
    watched = WATCHED.replace("Net()", "gate")
    report = run_cells("<ipython-input-{}-4e5f6a7b>", gate, watched)["report"]
    (found,) = report.breaks
    assert (found.line, found.code, found.evidence) == (2, "BRK101", "confirmed")
    assert report.missed == 0


def test_a_name_that_is_not_held_is_not_read():
    with pytest.raises(reading.NotThere):
        reading.read_file("<ipython-input-9-x>")
    with reading.holding({"<ipython-input-9-x>": b"1"}):
        assert reading.read_file("<ipython-input-9-x>") == b"1"
        assert reading.is_file("<ipython-input-9-x>")
    assert not reading.is_file("<ipython-input-9-x>")


def test_what_linecache_holds_of_files_is_left_to_the_files(tmp_path, run_cells):
    file = tmp_path / "on_disk.py"
    file.write_text("x = 1\n")
    linecache.cache[str(file)] = (1, None, ["x = 2\n"], str(file))
    linecache.cache["lazy"] = (lambda: "x",)
    try:
        space = run_cells(NAMES[0], NET, WATCHED)
        assert reading.read_file(file) == b"x = 1\n" and space["report"].breaks
    finally:
        del linecache.cache[str(file)], linecache.cache["lazy"]


def test_the_repr_is_one_line(run_cells):
    report = run_cells(NAMES[0], NET, WATCHED)["report"]
    assert repr(report).startswith("<breakscope report: 2 graphs, ")
    assert repr(report).endswith("1 break (1 event).>") and "\n" not in repr(report)
    assert repr(ShownReport(version="1", torch="")).startswith("<breakscope report: no breaks in")


def test_a_notebook_shows_what_it_comes_to_first(run_cells):
    report = run_cells(NAMES[1], NET, WATCHED)["report"]
    html = report._repr_html_()
    assert html.startswith("<div><b>breakscope</b><div>2 graphs, ")
    assert "<summary>1 finding</summary><pre" in html and html.endswith("</pre></details></div>")
    assert "BRK101" in html and "x.sum() &gt; 0" in html and "\x1b" not in html
    assert as_text(report).splitlines()[1].strip() in html  # the source frame, its spaces kept


def test_nothing_of_a_report_is_markup_in_a_notebook():
    hostile = "<script>alert(1)</script> & `x` \x1b[31m\u202e [bold]b[/]"
    values = {
        name: getattr(Report(version="1", torch=""), name) for name in Report.__struct_fields__
    }
    html = ShownReport(**{**values, "notes": (hostile,)})._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html
    assert "\x1b" not in html and "\u202e" not in html and "[bold]b[/]" in html
