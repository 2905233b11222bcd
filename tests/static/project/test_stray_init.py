"""A package that leaves an `__init__.py` in the folder that all are installed in makes no package of that folder."""

import pytest
from programs import TORCH, write

from breakscope.static import StaticOptions, analyze

FILES = {
    "site-packages/netlib-1.0.dist-info/METADATA": "Name: netlib\n",
    "site-packages/netlib/__init__.py": "",
    "site-packages/netlib/ops.py": """\
        import torch

        def number(x):
            return x.sum().item()
        """,
    "site-packages/netlib/net.py": """\
        import torch
        from netlib.ops import number

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x * number(x)
        """,
}


@pytest.mark.parametrize("stray", [{}, {"site-packages/__init__.py": ""}])
def test_the_packages_stay_what_imports_call_them(stray, tmp_path):
    write(tmp_path, FILES | stray)
    package = tmp_path / "site-packages" / "netlib"
    files = [str(package / name) for name in ("net.py", "ops.py")]
    result = analyze(files, StaticOptions(torch=TORCH))
    assert [(f.code, f.line, f.path.rpartition("/")[2]) for f in result.findings] == [
        ("BRK201", 4, "ops.py")
    ]
