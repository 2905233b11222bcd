"""Where findings stand, what fixes replace, and which comments silence them."""

import ast
import textwrap

import pytest
from programs import TORCH, analysed, found, region

from breakscope.static import StaticOptions, analyze
from breakscope.static.findings.slices import parse_slice
from breakscope.static.project.spans import Spans
from breakscope.static.regions.discovery.discover import NOWHERE

HEADERS = {
    "if with a comment below": "if x.sum() > 0:  # why\n    # first\n\n    # second\n    x = x + 1\n",
    "if in one line": "if x.sum() > 0: x = x + 1\n",
    "if over two lines": "if (len(x) > 1 and  # sizes\n        x.sum() > 0):\n    # below\n    x = x + 1\n",
    "body behind the end of a header over two lines": "if (len(x) > 1 and\n        x.sum() > 0): x = x + 1\n",
    "backslash": "if len(x) > 1 and \\\n        x.sum() > 0:\n    x = x + 1\n",
    "elif": "if len(x) > 9:\n    pass\nelif x.sum() > 0:\n    # below\n    x = x + 1\n",
    "while": "while x.sum() > 0:  # why\n    # below\n    x = x - 1\n",
    "for": "for i in range(int(x.sum())):\n    # below\n    x = x + i\n",
    "with": "with torch.autocast('cpu', enabled=bool(x.sum() > 0)):\n    # below\n    x = x + 1\n",
    "match": "match int(x.sum() > 0):\n    # below\n    case 0:\n        pass\n",
    "case": "match len(x):\n    case 4 if x.sum() > 0:\n        # below\n        x = x + 1\n",
    "case in parentheses": "match len(x):\n    case (\n        4\n    ) if x.sum() > 0:\n        # below\n        x = x + 1\n",
    "two statements in a line": "y = 1; z = (x.sum() > 0).item()\n",
    "a text over two lines": 's = """\n ä"""; z = (x.sum() > 0).item()\n',
    "nested": "for i in range(2):\n    try:\n        if x.sum() > 0:\n            # below\n            x = x + 1\n    finally:\n        pass\n",
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_finding_in_a_header_is_found_whatever_stands_below(name, tmp_path):
    lines = HEADERS[name].splitlines()
    wanted = 9 + next(i for i, line in enumerate(lines) if "x.sum()" in line)
    result = region(tmp_path, HEADERS[name])
    assert [
        (
            f.line,
            f.source[f.line - f.first_source_line][f.column - 1 :].startswith(
                ("x.sum()", "int", "bool", "(x.sum")
            ),
        )
        for f in result.findings
    ] == [(wanted, True)]


@pytest.mark.parametrize(
    "text",
    [
        "async def f(a=x.item()):\n    ",
        "@one\n# why\n@two(1)\nclass C(B):\n        # why\n        ",
        "async with a as b:\n ",
        "async for a in b: ",
        "except (A, B) as e:\n    # why\n    ",
        "except* A:\n\t",
        "try:\n    ",
        "elif a:\n        ",
        "case [1, *rest] if rest:\n        ",
        "match (a,\n       b):\n    ",
        "while (a\n  ): ",
        "def f[T](a: T) -> T:\n    ",
    ],
)
def test_headers_parse(text):
    assert parse_slice(text, True) is not None


@pytest.mark.parametrize("unit", ["    ", "  ", "\t"])
def test_a_guard_is_indented_by_one_level_of_the_file(unit, tmp_path):
    source = """\
        import logging
        import torch
        logger = logging.getLogger(__name__)
        def region(x, n):
            logger.info("one")  # kept
            if n > 1:
                # kept
                logger.info("two %s",
                    n)
                for i in range(n):
                    logger.info("three")
            return x
        def make():
            return region, (torch.ones(4), 2), {}
        """
    source = textwrap.dedent(source).replace("    ", unit)
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    lines = source.splitlines(keepends=True)
    for depth, finding in enumerate(result.findings, 1):
        fix = finding.fix
        wanted = [unit * depth + "if not torch.compiler.is_compiling():\n"]
        wanted += [unit + line for line in lines[fix.line - 1 : fix.end_line]]
        assert fix.replacement.splitlines(keepends=True) == wanted
    assert len(result.findings) == 3


@pytest.mark.parametrize(
    ("imports", "wanted"),
    [
        ("import torch", ()),
        ("import torch.nn", ()),
        ("import torch as th", ("import torch",)),
        ("from torch import nn", ("import torch",)),
        ("import torch.nn as nn", ("import torch",)),
        ("if TYPE_CHECKING:\n    import torch\n", ("import torch",)),
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", ()),
        ("torch = None", None),
        ("from mine import torch", None),
    ],
)
def test_a_fix_imports_torch_where_the_file_does_not_bind_it(imports, wanted, tmp_path):
    model = f"{imports}\nfrom torch.nn import Module\nclass M(Module):\n    def forward(self, x):\n        print('a')\n        return x\n"
    result = analysed(tmp_path, {"program.py": model})
    (finding,) = result.findings
    assert (finding.code, finding.fix and finding.fix.imports) == ("BRK401", wanted)


def test_columns_count_characters(tmp_path):
    (finding,) = region(tmp_path, 'ä = "öü"; z = x.item()\n').findings
    assert (finding.line, finding.column, finding.end_column) == (9, 19, 27)


def test_lines_are_pythons_own(tmp_path):
    (finding,) = region(tmp_path, "s = 'a\u2028b\x85c'  # \x0c\nz = x.item()\n").findings
    assert (finding.line, finding.source[-1]) == (10, "    z = x.item()")


SILENCED = {
    "z = x.item()  # breakscope: ignore": True,
    "z = x.item()  # breakscope: ignore[BRK2] a reason": True,
    "z = x.item()  # breakscope: ignore[BRK101]": False,
    "z = x.item()  # noqa: BRK201": True,
    "z = x.item()  # noqa: E501": False,
    "z = x.item(), '# breakscope: ignore'": False,
    "z = (x.item(),\n     1)  # breakscope: ignore": True,
    "if (len(x) and\n    x.item()): z = 1  # breakscope: ignore": True,
    "if x.item():\n    # breakscope: ignore\n    z = 1": False,
    "z = x.item()\n# breakscope: ignore-file": True,
    "z = x.item()\n# breakscope: ignore-file[BRK1]": False,
}


@pytest.mark.parametrize("body", SILENCED)
def test_suppression(body, tmp_path):
    result = region(tmp_path, body + "\n")
    assert (len(found(result)), result.hidden) == ((0, 1) if SILENCED[body] else (1, 0))


def test_each_place_once_and_in_order(tmp_path):
    shared = "import torch\ndef helper(x):\n    return x.item()\n"
    model = """\
        import torch
        from shared import helper
        class A(torch.nn.Module):
            def forward(self, x):
                print(x)
                return helper(x)
        class B(A):
            pass
        """
    result = analysed(tmp_path, {"b.py": model, "a.py": model, "shared.py": shared})
    places = [(f.path.rpartition("/")[2], f.line, f.code) for f in result.findings]
    assert places == [("a.py", 5, "BRK401"), ("b.py", 5, "BRK401"), ("shared.py", 3, "BRK201")]


def test_the_statement_around_an_expression():
    source = "if a:\n    b; c = d\n    for e in f: g\nelse:\n    @h\n    def i(j=k): l\nmatch m:\n    case n if o: p\n"
    source += "try:\n    q\nexcept r:\n    s = 1\nelse:\n    t\nfinally:\n    return u\nv\n"
    tree = ast.parse(source)
    spans = Spans(tree, source.splitlines(keepends=True))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    around = {node.id: type(spans.around(node).node).__name__ for node in names}
    assert around == {
        "a": "If",
        "b": "Expr",
        "c": "Assign",
        "d": "Assign",
        "e": "For",
        "f": "For",
        "g": "Expr",
        "h": "FunctionDef",
        "k": "FunctionDef",
        "l": "Expr",
        "m": "Match",
        "o": "match_case",
        "p": "Expr",
        "q": "Expr",
        "r": "ExceptHandler",
        "s": "Assign",
        "t": "Expr",
        "u": "Return",
        "v": "Expr",
    }


def test_what_stands_nowhere_is_in_no_statement():
    assert Spans(ast.parse("a\n"), ["a\n"]).around(NOWHERE) is None


def test_files_that_cannot_be_read_do_not_stop_the_rest(tmp_path):
    (tmp_path / "syntax.py").write_text("def f(:\n    pass\n")
    (tmp_path / "nulls.py").write_bytes(b"import torch\n\0")
    (tmp_path / "latin.py").write_bytes(b"import torch\ns = '\xe4'\n")
    (tmp_path / "deep.py").write_text("x = " + "(" * 3000 + ")" * 3000 + "\n")
    (tmp_path / "zgood.py").write_text(
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x.item()\n"
    )
    result = analyze([str(tmp_path)], StaticOptions(torch=TORCH))
    assert [(f.code, f.line) for f in result.findings] == [("BRK201", 4)]
    errors = {e.path.rpartition("/")[2]: (e.line, e.message) for e in result.errors}
    assert set(errors) == {"syntax.py", "nulls.py", "latin.py", "deep.py"}
    assert errors["syntax.py"][0] == 1 and errors["latin.py"][0] == 2
    assert "null bytes" in errors["nulls.py"][1] and "0xe4" in errors["latin.py"][1]
