"""Notebooks: the program that their cells are, where its lines stand, and what a fix writes."""

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakscope.static.project.notebook import Notebook, masked_lines
from breakscope.static.project.source import SourceError


def notebook(*cells, indent=1, listed=True, ascii=False, **metadata):
    """A notebook as Jupyter writes it; a text is a code cell, a pair a cell of another type."""
    made = []
    for cell in cells:
        kind, text = ("code", cell) if isinstance(cell, str) else cell
        source = text.splitlines(keepends=True) if listed else text
        made.append({"cell_type": kind, "metadata": {}, "source": source})
        if kind == "code":
            made[-1] |= {"execution_count": 3, "outputs": [{"text": ["out\n"], "name": "stdout"}]}
    document = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(document, indent=indent, ensure_ascii=ascii) + "\n").encode()


MASKED = {
    "%matplotlib inline": "pass",
    "x = 1\n!ls -l": "x = 1\npass",
    "if x:\n    !ls\n    %cd ..": "if x:\n    pass\n    pass",
    "files = !ls": "files = get_ipython()",
    "a.b = %sql select 1": "a.b = get_ipython()",
    "torch.ones?": "pass",
    "?torch.ones": "pass",
    "!pip install \\\n  a \\\n  b\nx = 1": "pass\n\n\nx = 1",
    "%%bash\nls\necho": "\n\n",
    "%%time\nx = 1": "pass\nx = 1",
    "\n%%capture out\nx = 1": "\npass\nx = 1",
    "x = (1\n% 3)": None,
    "x = '''\n%no\n!no\n'''": None,
    "x = \"'''\"\n%yes": "x = \"'''\"\npass",
    "x = [\n1,  # ]\n]\n%yes": "x = [\n1,  # ]\n]\npass",
    "x = 1 + \\\n    2": None,
    "x = a != b": None,
    "f(a=b % 3)": None,
    "x = {'a': 1}  # see %magic": None,
}


@pytest.mark.parametrize("cell", MASKED)
def test_what_is_no_python_does_nothing(cell):
    shown = "".join(masked_lines(cell.splitlines(keepends=True)))
    assert shown == (cell if MASKED[cell] is None else MASKED[cell])
    ast.parse(shown)


def test_the_program_is_the_code_cells_in_order():
    data = notebook("a = 1\nb = 2", ("markdown", "# c"), "%%html\n<b>", "d = 4\n", "")
    found = Notebook.of(data)
    assert found.program == "a = 1\nb = 2\n\n\nd = 4\n"
    assert [(cell.number, cell.first) for cell in found.cells] == [(1, 1), (3, 3), (4, 5)]


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("listed", [True, False])
def test_a_place_in_the_file_is_exact(ascii, indent, listed):
    cell = 'x = "é😀\\n\\t"\nwanted = x\nlast'
    data = notebook("first", cell, indent=indent, listed=listed, ascii=ascii)
    found, lines = Notebook.of(data), data.decode().split("\n")
    for line, column, text in ((3, 1, "wanted"), (3, 10, "x"), (2, 12, '\\"'), (4, 1, "last")):
        row, start = found.place(line, column)
        assert lines[row - 1][start - 1 :].startswith(text)
    row, end = found.place(4, 5)
    assert lines[row - 1][end - 1] == '"'


@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("listed", [True, False])
def test_a_changed_cell_leaves_every_other_byte(ascii, indent, listed):
    make = {"indent": indent, "listed": listed, "ascii": ascii}
    old = notebook("a\nb", "é\nd\n%e", ("markdown", "f"), "g", **make)
    new = notebook("a\nb", "é\nx\ny\n%e", ("markdown", "f"), "g", **make)
    found = Notebook.of(old)
    assert found.with_cells({2: ["é\n", "x\n", "y\n", "%e\n"]}) == new.decode()
    assert found.with_cells({}) == old.decode()


TEXTS = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=20)


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=3), st.booleans(), st.booleans())
def test_every_cell_written_as_it_is_gives_the_file(texts, listed, ascii):
    data = notebook(*texts, listed=listed, ascii=ascii)
    found = Notebook.of(data)
    assert found.with_cells({}) == data.decode()
    again = Notebook.of(found.with_cells({c.number: list(c.lines) for c in found.cells}).encode())
    assert [cell.source for cell in again.cells] == [cell.source for cell in found.cells]
    assert [cell.source for cell in found.cells] == texts


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "line 1 is no JSON"),
        (b"[]", "no notebook with a list of cells"),
        (b'{"cells": 3}', "no notebook with a list of cells"),
        (b'{"worksheets": []}', "nbconvert"),
        (b"[" * 100_000, "no notebook"),
    ],
)
def test_what_is_no_notebook(data, said):
    with pytest.raises(SourceError, match=said):
        Notebook.of(data)


def test_another_language_is_not_read():
    assert Notebook.of(notebook("x <- 1", kernelspec={"language": "R"})).cells == ()


def test_odd_cells_are_left_out():
    cells = [{"cell_type": "code"}, {"cell_type": "code", "source": [1]}, 3, {"source": "x"}]
    data = json.dumps({"cells": cells}).encode()
    assert Notebook.of(data).program == ""
