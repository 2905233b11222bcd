"""Notebooks in every command and format that takes them."""

import json

import pytest
from command import runner

CELLS = (
    ("markdown", "# A model\n"),
    ("code", "%matplotlib inline\nimport torch"),
    (
        "code",
        "!pip install x\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        '        print("é", x)\n        return helper(x)',
    ),
    ("code", "def helper(x):\n    return x.item()\n%timeit Net()(torch.ones(1))"),
)


def written(cells=CELLS):
    made = [
        {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for kind, text in cells
    ]
    document = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.ipynb").write_text(written(), encoding="utf-8")
    return runner(capsys)


def test_people_read_cells_and_lines(run):
    done = run("check", ".", "-f", "concise")
    assert [line.partition(" `")[0] for line in done.out.splitlines()] == [
        "model.ipynb:cell 3:4:9: BRK401",
        "model.ipynb:cell 4:2:12: BRK201",
    ]
    text = run("check", "model.ipynb", "--show-fixes").out
    assert '    4 |         print("é", x)\n      |         ^^^^^^^^^^^^^' in text
    assert (
        "    1 | def helper(x):\n    2 |     return x.item()\n      |            ^^^^^^^^" in text
    )
    assert "Net.forward (model.ipynb:cell 3:5)" in text
    assert "    + if not torch.compiler.is_compiling():" in text.replace("+         ", "+ ")


def test_formats_name_the_lines_of_the_file(run, tmp_path):
    lines = (tmp_path / "model.ipynb").read_text(encoding="utf-8").splitlines()
    row = next(i for i, line in enumerate(lines, 1) if "print(" in line)
    column = lines[row - 1].index("print(") + 1
    end = lines[row - 1].index('\\n"') + 1
    github = run("check", ".", "-f", "github").out
    assert f"file=model.ipynb,line={row},endLine={row},col={column},endColumn={end}," in github
    sarif = json.loads(run("check", ".", "-f", "sarif").out)
    result = sarif["runs"][0]["results"][0]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {
        "startLine": row,
        "startColumn": column,
        "endLine": row,
        "endColumn": end,
        "snippet": {"text": 'print("é", x)'},
    }
    finding = json.loads(run("check", ".", "-f", "json").out)["findings"][0]
    assert (
        finding["line"] == row and finding["cell"]["number"] == 3 and finding["cell"]["line"] == 4
    )


def test_fix_writes_the_cell_and_nothing_else(run, tmp_path):
    done = run("fix", "model.ipynb", "--unsafe-fixes", "--select", "BRK4")
    assert "model.ipynb:cell 3:4: BRK401 fixed" in done.out
    new = CELLS[2][1].replace(
        '        print("é", x)',
        '        if not torch.compiler.is_compiling():\n            print("é", x)',
    )
    wanted = written((*CELLS[:2], ("code", new), CELLS[3]))
    assert (tmp_path / "model.ipynb").read_text(encoding="utf-8") == wanted


def test_a_magic_inside_the_statement_is_not_rewritten(run, tmp_path):
    cell = "class M(torch.nn.Module):\n    def forward(self, x):\n        if x.sum() > 0:\n            %cd ..\n            x = x * 2\n        return x"
    text = written((*CELLS[:2], ("code", cell)))
    (tmp_path / "model.ipynb").write_text(text, encoding="utf-8")
    done = run("fix", "model.ipynb", "--unsafe-fixes")
    assert "BRK101" in done.out and (tmp_path / "model.ipynb").read_text(encoding="utf-8") == text


def test_an_import_goes_where_imports_are(run, tmp_path):
    cells = (
        ("code", "%load_ext x\nimport os\nfrom torch.nn import Module"),
        ("code", "class M(Module):\n    def forward(self, x):\n        print(1)\n        return x"),
    )
    (tmp_path / "model.ipynb").write_text(written(cells), encoding="utf-8")
    run("fix", "model.ipynb", "--unsafe-fixes", "--select", "BRK4")
    fixed = json.loads((tmp_path / "model.ipynb").read_text(encoding="utf-8"))["cells"]
    imports, model = ("".join(cell["source"]) for cell in fixed)
    assert "import torch\n" in imports and imports.startswith("%load_ext x\nimport os\n")
    assert "is_compiling" in model and "import" not in model


def test_a_syntax_error_has_its_cell(run, tmp_path):
    (tmp_path / "model.ipynb").write_text(written((*CELLS[:2], ("code", "x = 1\ndef f(:"))))
    done = run("check", "model.ipynb", "-f", "concise")
    assert done.code == 2 and done.out.startswith("model.ipynb:cell 3:2:1: error: syntax error")


def test_notebooks_come_by_standard_input(run, monkeypatch):
    import io
    import sys

    stream = io.TextIOWrapper(io.BytesIO(written().encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)
    done = run("check", "-", "--stdin-filename", "other.ipynb", "-f", "concise")
    assert done.out.startswith("other.ipynb:cell 3:4:9: BRK401")
