"""The fixes of one file put together: only what was meant changes, and what is not sound is declined."""

import ast

import pytest

from breakscope.fixes.patch import patched
from breakscope.fixes.source_file import SourceFile
from breakscope.report.model import Edit, Finding, Fix

SOURCE = """\
# a comment
from torch import nn


def f(x):
    y = x + 1  # why
    if x:
        print(y)
    return y
"""


def finding(line, end_line, replacement, safety="safe", code="BRK401", **more):
    fix = Fix(
        safety=safety,
        description="",
        line=line,
        end_line=end_line,
        replacement=replacement,
        **more,
    )
    return Finding(
        path="m.py",
        line=line,
        column=1,
        end_line=end_line,
        end_column=2,
        code=code,
        rule="r",
        kind="break",
        severity="error",
        confidence="certain",
        evidence="predicted",
        function="f",
        message=f"{line} {replacement}",
        fix=fix,
    )


def made(findings, source=SOURCE):
    data = source if isinstance(source, bytes) else source.encode()
    return patched("m.py", data, findings)


def test_one_fix_changes_its_lines_only():
    done = made([finding(8, 8, "        print(y, x)\n")])
    assert done.data.decode() == SOURCE.replace("print(y)", "print(y, x)")
    assert len(done.applied) == 1 and not done.waiting and not done.declined


def test_fixes_beside_each_other_are_applied_together():
    done = made([finding(8, 8, "        pass\n"), finding(6, 6, "    y = x + 2  # why\n")])
    assert "x + 2  # why" in done.data.decode() and "pass" in done.data.decode()
    assert len(done.applied) == 2


def test_of_fixes_in_each_other_the_inner_one_goes_first_and_the_outer_one_waits():
    inner, outer = finding(8, 8, "        pass\n"), finding(7, 8, "    y = y\n")
    done = made([outer, inner])
    assert (done.applied, done.waiting) == ((inner,), (outer,))


def test_safe_fixes_go_first():
    unsafe, safe = finding(8, 8, "        pass\n", "unsafe"), finding(7, 8, "    y = y\n")
    assert made([unsafe, safe]).applied == (safe,)


def test_one_rewrite_that_fixes_two_findings_is_made_once():
    one, two = finding(8, 8, "        pass\n"), finding(8, 8, "        pass\n", code="BRK402")
    done = made([one, two])
    assert done.data.decode().count("pass") == 1 and len(done.applied) == 2


def test_all_places_of_a_fix_change_or_none():
    both = finding(
        6, 6, "    y = x  # why\n", also=(Edit(line=9, end_line=9, replacement="    return x\n"),)
    )
    assert made([both]).data.decode().endswith("return x\n")
    lost = finding(
        8, 8, "        pass\n", also=(Edit(line=6, end_line=6, replacement="    y = x\n"),)
    )
    done = made([lost])
    assert done.data.decode() == SOURCE
    assert done.declined[0][1] == "the comment `# why` would be lost"


@pytest.mark.parametrize(
    ("replacement", "reason"),
    [
        ("        print(\n", "cannot be parsed|could not be parsed|cannot be read"),
        ("    print(y)\n  x\n", "cannot be read|could not be parsed|not read"),
        ("        break\n", "could not be compiled any more"),
        ("        'a\x0cb'\n        print(\x0cy\n", "cannot be read|could not be parsed"),
    ],
)
def test_what_would_not_be_read_as_meant_is_declined(replacement, reason):
    done = made([finding(8, 8, replacement)])
    assert done.data.decode() == SOURCE
    (declined,) = done.declined
    assert any(part in declined[1] for part in reason.split("|")), declined[1]


def test_a_fix_whose_statement_is_not_there_is_declined():
    for line, end in ((1, 1), (7, 7), (8, 9), (40, 41)):
        done = made([finding(line, end, "pass\n")])
        assert done.data.decode() == SOURCE and len(done.declined) == 1, line


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_stay(newline, last):
    source = SOURCE.replace("\n", newline)
    source = source if last else source.removesuffix(newline)
    fixes = [finding(8, 8, "        print(y,\n            x)\n"), finding(9, 9, "    return x\n")]
    text = made(fixes, source).data.decode()
    assert text.endswith("return x" + (newline if last else ""))
    assert text.count(newline) == text.count("\n")
    assert f"print(y,{newline}            x){newline}" in text


def test_lines_that_stay_keep_their_own_ends():
    source = "def f(x):\n    if x:\r\n        y = 1\n        z = 2\r\n    return x\n"
    text = made([finding(2, 4, "    if x:\n        y = 3\n        z = 2\n")], source).data
    assert text == b"def f(x):\n    if x:\r\n        y = 3\r\n        z = 2\r\n    return x\n"


def test_the_byte_order_mark_and_the_encoding_stay():
    text = "# -*- coding: latin-1 -*-\nname = 'caf\xe9'\nprint(name)\n"
    done = made([finding(3, 3, "pass\n")], text.encode("latin-1"))
    assert done.data == text.replace("print(name)", "pass").encode("latin-1")
    assert made([finding(3, 3, "'\u20ac'\n")], text.encode("latin-1")).declined[0][1] == (
        "the file's encoding, iso-8859-1, cannot write it"
    )
    marked = made([finding(1, 1, "pass\n")], b"\xef\xbb\xbfprint(1)\n")
    assert marked.data == b"\xef\xbb\xbfpass\n"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("from torch import nn\nf()\n", "import torch\nfrom torch import nn\npass\n"),
        ("import torch.nn as nn\nf()\n", "import torch\nimport torch.nn as nn\npass\n"),
        ("import os\nimport sys\n\nf()\n", "import os\nimport sys\n\nimport torch\n\npass\n"),
        (
            '"""Doc."""\nfrom __future__ import annotations\n\nf()\n',
            '"""Doc."""\nfrom __future__ import annotations\n\nimport torch\n\npass\n',
        ),
        (
            "#!/usr/bin/env python\n# what it is\nf()\n",
            "#!/usr/bin/env python\nimport torch\n\n# what it is\npass\n",
        ),
        ("import os; x = 1\nf()\n", "import os; x = 1\n\nimport torch\npass\n"),
        ("import torch\nf()\n", "import torch\npass\n"),
        ("from .a import b\nf()\n", "import torch\n\nfrom .a import b\npass\n"),
        (
            "import os\n\nfrom .a import b\n\nf()\n",
            "import os\n\nimport torch\n\nfrom .a import b\n\npass\n",
        ),
        (
            "import numpy\nimport zlib\n\nfrom .a import b\n\nf()\n",
            "import numpy\nimport torch\nimport zlib\n\nfrom .a import b\n\npass\n",
        ),
        ("f()\n", "import torch\n\npass\n"),
        (
            "try:\n    import os\nexcept ImportError:\n    pass\nimport abc\nf()\n",
            "try:\n    import os\nexcept ImportError:\n    pass\nimport abc\n\nimport torch\npass\n",
        ),
    ],
)
def test_an_import_goes_where_the_file_has_its_imports(source, wanted):
    line = source.splitlines().index("f()") + 1
    done = made([finding(line, line, "pass\n", imports=("import torch",))], source)
    assert done.data.decode() == wanted


def test_an_import_goes_to_a_file_without_a_line_end():
    text = made([finding(2, 2, "pass\n", imports=("import torch",))], "import os\nf()").data
    assert text == b"import os\n\nimport torch\npass"


def test_a_decorated_statement_is_replaced_with_its_decorators():
    source = "@a\n@b\ndef f():\n    return 1\n"
    done = made([finding(1, 4, "@a\ndef f():\n    return 1\n")], source)
    assert done.data.decode() == "@a\ndef f():\n    return 1\n"


def test_a_source_file_gives_back_its_bytes():
    for data in (b"", b"x = 1", b"x = 1\r\ny = 2\n", b"\xef\xbb\xbfx = '\xc3\xa9'\n"):
        file = SourceFile.of("m.py", data)
        pieces = [file.piece(number) for number in range(1, len(file.lines) + 1)]
        assert file.with_pieces(pieces) == data
        assert isinstance(file.tree, ast.Module)
