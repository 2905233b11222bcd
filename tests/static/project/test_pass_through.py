"""Functions of libraries that need not be followed outside of regions."""

import pytest
from programs import TORCH, write

from breakscope.static import StaticOptions, analyze
from breakscope.static.interpreter.calls import running

LOADING = """\
    from typing import Optional, Union
    {imports}

    class Receipt:
        pass

    def place(name: str, folder: str = "models") {returns}:
        parts = name.split("/")
        if len(parts) < 2:
            parts = ["main", *parts]
        path = folder
        for part in parts:
            path = path + "/" + part
        found = open(path)
        text = found.read()
        if not text:
            raise ValueError(path)
        return path

    def checked(function):
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)
        return wrapper

    checked_place = checked(place)
    """
NET = """\
    import torch
    from hub.loading import checked_place, place

    class Net(torch.nn.Module):
        def __init__(self, name):
            super().__init__()
            self.path = place(name, folder="weights")
            self.other = checked_place(name)

        def forward(self, x):
            if self.path is None:
                return x
            return x.item()
    """


OWN = """\
    import torch
    from .loading import place

    class Own(torch.nn.Module):
        def __init__(self, name):
            super().__init__()
            self.path = place(name)

        def forward(self, x):
            return x.item()
    """


def followed(tmp_path, monkeypatch, imports, returns, *others):
    """How often `place` was followed while the net was checked, and others behind it."""
    write(
        tmp_path,
        {
            "site-packages/hub-1.0.dist-info/METADATA": "Name: hub\n",
            "site-packages/hub/__init__.py": "",
            "site-packages/hub/layers.py": "import torch\n",
            "site-packages/hub/own.py": OWN,
            "site-packages/hub/loading.py": LOADING.format(imports=imports, returns=returns),
            "net.py": NET,
        },
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages"))
    names, run = [], running.run_function

    def counted(machine, function, *rest):
        names.append(function.info.name)
        return run(machine, function, *rest)

    monkeypatch.setattr(running, "run_function", counted)
    paths = [tmp_path / name for name in ("net.py", *others)]
    result = analyze(paths, StaticOptions(torch=TORCH), jobs=1)
    assert result.errors == () and result.gaps == ()
    assert {finding.code for finding in result.findings} == {"BRK201"}
    assert len(result.findings) == len(paths)
    return names.count("place")


@pytest.mark.parametrize(
    "returns",
    ["-> str", "-> str | Receipt", "-> Optional[str]", "-> Union[Receipt, str]"],
)
def test_a_text_of_a_module_without_torch_is_not_followed(tmp_path, monkeypatch, returns):
    assert followed(tmp_path, monkeypatch, "import json  # pytorch_model.bin", returns) == 0


@pytest.mark.parametrize(
    "imports, returns",
    [
        ("import torch", "-> str"),
        ("", ""),
        ("", "-> Receipt"),
        ("", "-> list[str]"),
        ("", "-> None"),
    ],
)
def test_all_else_is_followed(tmp_path, monkeypatch, imports, returns):
    assert followed(tmp_path, monkeypatch, imports, returns) > 0


def test_a_package_of_its_own_is_followed_whoever_was_checked_before(tmp_path, monkeypatch):
    own = "site-packages/hub/own.py"
    assert followed(tmp_path, monkeypatch, "", "-> str", own) > 0
