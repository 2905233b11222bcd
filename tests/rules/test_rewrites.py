"""Shapes beside the rules' own examples: what a rewrite makes of them, letter for letter, and what
it leaves alone."""

import textwrap

import pytest

from breakscope.static import StaticOptions, analyze

HEAD = "import torch\n\n\ndef region(x, n):\n    x = x * 2.0\n"
TAIL = "    return x, n\n\n\ndef make():\n    return region, (torch.ones(4), torch.tensor(2)), {}\n"

REWRITTEN = [
    (
        "BRK101",
        "if x.sum() > 0:  # why\n    y = 1.0\nelse:\n    y = x\n",
        "y = torch.where(x.sum() > 0, 1.0, x)  # why\n",
    ),
    (
        "BRK101",
        "# above\nif x.sum() > 0:\n    x += 1\n",
        "# above\nx = torch.where(x.sum() > 0, x + 1, x)\n",
    ),
    (
        "BRK101",
        "y = x + (x * 2 if x.sum() > 0 else x)\n",
        "y = x + torch.where(x.sum() > 0, x * 2, x)\n",
    ),
    (
        "BRK101",
        "if x.sum() > 0:\n    x = x + 1\n    n = n + 1\n",
        "chosen = x.sum() > 0\nx = torch.where(chosen, x + 1, x)\nn = torch.where(chosen, n + 1, n)\n",
    ),
    (
        "BRK101",
        "if x.sum() > 0:\n    x = torch.log(x)\n",
        "x = torch.cond(x.sum() > 0, lambda: torch.log(x), lambda: x.clone())\n",
    ),
    (
        "BRK101",
        "if x.sum() > 0:\n    x = n / x\n",
        "x = torch.cond(x.sum() > 0, lambda: n / x, lambda: x.clone())\n",
    ),
    (
        "BRK101",
        "if x.sum() > 0:\n    y = 1.0\nelif x.sum() < -1:\n    y = 2.0\nelse:\n    y = x\n",
        "y = torch.where(x.sum() > 0, 1.0, torch.where(x.sum() < -1, 2.0, x))\n",
    ),
    (
        "BRK101",
        "if not torch.isfinite(x).all():\n    x = torch.nan_to_num(x)\n",
        "x = torch.where(torch.logical_not(torch.isfinite(x).all()), torch.nan_to_num(x), x)\n",
    ),
    (
        "BRK101",
        "if torch.isnan(x).any():\n    print('NaN')\n",
        "if not torch.compiler.is_compiling():\n    if torch.isnan(x).any():\n        print('NaN')\n",
    ),
    (
        "BRK102",
        "if x.sum() != n:\n    raise ValueError(\n        'other'\n    )\n",
        "assert x.sum() == n, (\n    'other'\n)\n",
    ),
    ("BRK102", "if not x.sum() > 0:\n    raise ValueError('low')\n", "assert x.sum() > 0, 'low'\n"),
    (
        "BRK104",
        "y = x * (x.sum() > 0 or x.max() < 1)\n",
        "y = x * ((x.sum() > 0) | (x.max() < 1))\n",
    ),
    ("BRK105", "y = x * (not x.sum())\n", "y = x * torch.logical_not(x.sum())\n"),
    ("BRK109", "y = x * (0 < n < 1)\n", "y = x * ((0 < n) & (n < 1))\n"),
    ("BRK201", "y = x / (x.mean().item() + 1)\n", "y = x / (x.mean().detach() + 1)\n"),
    ("BRK202", "y = x - float(x.sum() * 2)\n", "y = x - (x.sum() * 2).detach()\n"),
    ("BRK202", "y = x / float(n + 1)\n", "y = x / (n + 1).detach()\n"),
    ("BRK202", "if bool(x.any()):\n    x = x + 1\n", "if x.any():\n    x = x + 1\n"),
    ("BRK211", "y = x * math.sqrt(x.sum())\n", "y = x * torch.sqrt(x.sum().detach())\n"),
    (
        "BRK303",
        "x[x > 1] *= 3  # big ones\n",
        "x.copy_(torch.where(x > 1, x * 3, x))  # big ones\n",
    ),
    ("BRK309", "y = torch.equal(x, n)\n", "y = x.shape == n.shape and (x == n).all()\n"),
    (
        "BRK309",
        "if torch.equal(x, n):\n    x = x + 1\n",
        "if x.shape == n.shape and (x == n).all():\n    x = x + 1\n",
    ),
]
LEFT_ALONE = [
    ("BRK101", "if x.sum() > 0:\n    y = 'warm'\nelse:\n    y = 'cold'\n"),
    ("BRK101", "if x.sum() > 0:\n    y = None\nelse:\n    y = x\n"),
    ("BRK101", "if x.sum() > 0:\n    # a reason\n    x = x + 1\n"),
    ("BRK101", "if x.sum() > 0:\n    y = x\nelse:\n    z = x\n"),
    (
        "BRK101",
        "if n is None:\n    y = x\nelif x.sum() > 0:\n    y = x + 1\nelse:\n    y = x - 1\n",
    ),
    ("BRK101", "if x.sum() > 0:\n    y = (t := x + 1)\nelse:\n    y = x\n"),
    ("BRK101", "y = (x  # as it is\n     if x.sum() > 0 else x + 1)\n"),
    ("BRK101", "if n in [1, 2]:\n    x = x + 1\n"),
    ("BRK101", "if x.sum() > 0:\n    x = x + torch.randn_like(x)\n"),
    ("BRK101", "y = torch.nn.functional.dropout(x, 0.1) if x.sum() > 0 else x\n"),
    ("BRK101", "if x.sum() > 0:\n    x = x.add_(1)\n"),
    ("BRK101", "def noisy(v):\n    return v * 2\nif x.sum() > 0:\n    x = noisy(x)\n"),
    ("BRK102", "if x.sum() > 0:\n    raise ValueError(f'{n}')\n"),
    ("BRK102", "if x.sum() > 0:\n    raise ValueError('low') from None\n"),
    ("BRK104", "y = x.sum() and n\n"),
    ("BRK108", "masks = [x > 0, x > 1]\ny = all(m.any() for m in masks)\n"),
    ("BRK109", "y = 0 < x.sum() < 1\n"),
    ("BRK110", "y = n not in [x.sum(), x.max()]\n"),
    ("BRK201", "y = range(x.mean().item())\n"),
    ("BRK212", 'y = str(x["a" and 0])\n'),
    ("BRK303", "x[x > 0] /= 0\n"),
    ("BRK303", "x[x > 0] += n\n"),
    ("BRK309", "y = torch.equal(x, n.exp())\n"),
]


SWITCHED = [
    ("BRK201", "y = x.argmax().item()\n", "capture_scalar_outputs"),
    ("BRK202", "y = int(x.sum())\n", "capture_scalar_outputs"),
    ("BRK302", "y = x[x > 0].mean()\n", "capture_dynamic_output_shape_ops"),
    ("BRK302", "y = x[x.exp() > 0].sum()\n", "capture_dynamic_output_shape_ops"),
]


def findings(body, folder):
    program = folder / "program.py"
    program.write_text(
        "import math\n" + HEAD + textwrap.indent(body, "    ") + TAIL, encoding="utf-8"
    )
    result = analyze([str(program)], StaticOptions(entries=(f"{program}::make",)))
    assert not result.errors
    return program, result.findings


@pytest.mark.parametrize(("code", "before", "after"), REWRITTEN)
def test_a_shape_is_rewritten(code, before, after, tmp_path):
    program, found = findings(before, tmp_path)
    fix = next(f.fix for f in found if f.code == code)
    lines = program.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[fix.line - 1 : fix.end_line] = [fix.replacement]
    assert "".join(lines) == "import math\n" + HEAD + textwrap.indent(after, "    ") + TAIL


@pytest.mark.parametrize(("code", "body"), LEFT_ALONE)
def test_a_shape_is_left_alone(code, body, tmp_path):
    _, found = findings(body, tmp_path)
    assert [f.fix for f in found if f.code == code] == [None]


@pytest.mark.parametrize(("code", "body", "setting"), SWITCHED)
def test_what_cannot_be_rewritten_is_kept_in_the_graph_by_a_setting(code, body, setting, tmp_path):
    program, found = findings(body, tmp_path)
    fix = next(f.fix for f in found if f.code == code)
    assert fix.safety == "unsafe" and setting in fix.changes
    assert f"torch._dynamo.config.{setting} = True\n" in fix.replacement
    lines = program.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[fix.line - 1 : fix.end_line] = [fix.replacement]
    program.write_text("".join(lines), encoding="utf-8")
    again = analyze([str(program)], StaticOptions(entries=(f"{program}::make",)))
    assert [f for f in again.findings if f.code == code] == []
