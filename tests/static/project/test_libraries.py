"""Installed packages are followed where they use torch; what breaks inside stands at the checked
line that enters them."""

from pathlib import Path

import pytest
from programs import TORCH, write

from breakscope.report.combining.join import at_its_place
from breakscope.static import StaticOptions, analyze

LIBRARY = {
    "site-packages/netlib-1.0.dist-info/METADATA": "Name: netlib\n",
    "site-packages/netlib/__init__.py": """\
        from typing import TYPE_CHECKING
        from .ops import Gate, read
        if TYPE_CHECKING:
            from .models import *
        """,
    "site-packages/netlib/ops.py": """\
        import torch

        def number(x):
            return x.sum().item()

        def read(x):
            return number(x) + 1

        def maybe(x, config):
            if config.debug:
                print(x)
            return x

        class Gate(torch.nn.Module):
            def forward(self, x):
                if x.max() > 3:
                    return x
                return -x

        class Drop(torch.nn.Module):
            def forward(self, x):
                if self.training:
                    if torch.rand(()) < 0.1:
                        return x
                return -x
        """,
    "site-packages/netlib/models/__init__.py": """\
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from .big import *
        """,
    "site-packages/netlib/models/big.py": """\
        import torch

        class BigModel(torch.nn.Module):
            def forward(self, x):
                for row in range(int(x[0])):
                    x = x * row
                return x
        """,
    "site-packages/textlib-2.0.dist-info/METADATA": "Name: textlib\n",
    "site-packages/textlib/__init__.py": """\
        from .loud import shout
        from otherlib import whisper
        """,
    "site-packages/textlib/loud.py": """\
        def shout(x):
            print(x)
            return x
        """,
    "site-packages/otherlib-2.0.dist-info/METADATA": "Name: otherlib\n",
    "site-packages/otherlib.py": """\
        def whisper(x):
            print(x)
            return x
        """,
}
MODEL = """\
    import torch
    import textlib
    from netlib import {names}

    class Net(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.gate = Gate()

        def forward(self, x: torch.Tensor):
            {body}
    """


@pytest.fixture
def checked(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))

    def check(body, names="Gate", **options):
        write(tmp_path, {**LIBRARY, "project/model.py": MODEL.format(body=body, names=names)})
        result = analyze([tmp_path / "project"], StaticOptions(torch=TORCH, **options))
        assert result.errors == ()
        return [f for f in result.findings if f.confidence != "possible"]

    return check


def test_a_break_in_an_installed_package_stands_at_the_line_that_enters_it(checked, tmp_path):
    (finding,) = checked("return self.gate(x)")
    assert finding.path == str(tmp_path / "project/model.py").replace("\\", "/")
    assert (finding.line, finding.code, finding.function, finding.library) == (
        12,
        "BRK101",
        "Net.forward",
        "netlib",
    )
    assert "`self.gate(x)` enters `netlib`" in finding.message and "x.max() > 3" in finding.message
    site = finding.chain[-1]
    assert (site.path.endswith("netlib/ops.py"), site.line, site.function) == (
        True,
        16,
        "Gate.forward",
    )
    assert finding.fix is None


def test_the_chain_leads_on_through_the_library(checked):
    (finding,) = checked("return read(x)", names="Gate, read")
    assert [(link.line, link.function) for link in finding.chain] == [
        (12, "Net.forward"),
        (7, "read"),
        (4, "number"),
    ]
    inside = at_its_place(finding)
    assert (inside.line, inside.function) == (4, "number") and inside.message.startswith(
        "`x.sum().item()`"
    )


def test_each_line_that_enters_a_library_is_told(checked):
    assert [f.line for f in checked("x = self.gate(x)\n            return self.gate(x)")] == [
        12,
        13,
    ]


def test_what_a_test_inside_the_library_decides_is_hidden(checked):
    assert (
        checked("return netlib.ops.maybe(x, self.config)", names="Gate\n    import netlib.ops")
        == []
    )


def test_what_runs_in_training_alone_is_shown(checked):
    """Nobody has to look that test up."""
    (finding,) = checked("return Drop()(x)", names="Gate\n    from netlib.ops import Drop")
    assert (finding.code, finding.chain[-1].line, finding.condition) == (
        "BRK101",
        23,
        "self.training",
    )


def test_what_only_type_checkers_are_told_of_is_found_when_it_is_used(checked):
    (finding,) = checked("return BigModel()(x)", names="Gate, BigModel")
    assert finding.chain[-1].path.endswith("netlib/models/big.py") and finding.chain[-1].line == 5


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("return textlib.shout(x)", ["BRK401"]),
        ("return textlib.whisper(x)", []),
        ("return otherlib.whisper(x)", ["BRK401"]),
    ],
)
def test_from_a_package_without_torch_no_other_is_followed(body, codes, checked):
    assert [f.code for f in checked(body, names="Gate\n    import otherlib")] == codes


def test_libraries_can_be_left_out(checked):
    assert checked("return self.gate(x)", libraries=False) == []


def test_an_installed_package_under_check_is_told_at_its_own_lines(checked, tmp_path):
    checked("return x")
    result = analyze([tmp_path / "site-packages/netlib"], StaticOptions(torch=TORCH))
    assert ("ops.py", 16) in {(f.path.rpartition("/")[2], f.line) for f in result.findings}
    assert all(f.library == "" for f in result.findings)


def test_a_folder_without_init_inside_of_a_package_is_a_part_of_it(tmp_path):
    part = """\
        import torch
        from netlib.ops import Gate

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = Gate()

            def forward(self, x):
                return self.gate(x)
        """
    write(tmp_path, {**LIBRARY, "site-packages/netlib/parts/net.py": part})
    found = analyze([tmp_path / "site-packages/netlib/parts"], StaticOptions(torch=TORCH)).findings
    assert [(f.path.rpartition("/")[2], f.line, f.library) for f in found] == [("ops.py", 16, "")]


def test_a_class_that_inherits_a_librarys_forward_is_told_at_its_head(checked, tmp_path):
    write(
        tmp_path,
        {
            "project/subclass.py": "import torch\nfrom netlib import Gate\n\n\nclass Mine(Gate):\n    scale = torch.pi\n"
        },
    )
    (finding,) = checked("return x")
    assert (finding.line, finding.code) == (5, "BRK101")
    assert "`Mine` inherits code of `netlib`" in finding.message


def test_a_factory_that_returns_a_librarys_model_is_told_at_its_return(checked, tmp_path):
    write(
        tmp_path,
        {
            "project/make.py": """\
        import torch
        from netlib import Gate

        def make():
            return Gate(), (torch.ones(3),)
        """
        },
    )
    (finding,) = checked("return x", entries=("*::make",))
    assert (finding.line, finding.function) == (
        4,
        "make",
    ) and "`make` returns code of `netlib`" in finding.message


def test_a_library_that_takes_too_much_work(monkeypatch, tmp_path):
    """What was found in it until the budget ended stands at the checked line, with its chain."""
    monkeypatch.setattr("breakscope.limits.MOST_REGION_STATEMENTS", 200)
    monkeypatch.setattr("breakscope.limits.MORE_STATEMENTS", 0)
    work = "".join(f"    x = x + {i}\n" for i in range(300))
    write(
        tmp_path,
        {
            "site-packages/busy-1.0.dist-info/METADATA": "Name: busy\n",
            "site-packages/busy.py": "import torch\n\ndef outer(x):\n    if x.sum() > 0:\n        x = x + 1\n"
            f"    return inner(x)\n\ndef inner(x):\n    print(x)\n    return work(x)\n\n"
            f"def work(x):\n{work}    return x\n",
            "net.py": """\
                import torch
                from busy import outer

                class Net(torch.nn.Module):
                    def forward(self, x):
                        return outer(x)
                """,
        },
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages"))
    result = analyze([tmp_path / "net.py"], StaticOptions(torch=TORCH))
    assert [gap.message for gap in result.gaps] == [
        "this code takes too much work to be followed to its end"
    ]
    chains = {
        tuple((link.function, link.line) for link in finding.chain) for finding in result.findings
    }
    first = ("Net.forward", 6)
    assert chains == {(first, ("outer", 4)), (first, ("outer", 6), ("inner", 9))}


@pytest.mark.parametrize("module", ["torch", "re"])
def test_a_file_without_torch_may_do_much_outside_of_regions(module, tmp_path, monkeypatch):
    monkeypatch.setattr("breakscope.limits.MOST_REGION_STATEMENTS", 200)
    work = "".join(f"    x = x + {i}\n" for i in range(300))
    file = tmp_path / "tool.py"
    file.write_text(
        f"import zoo\nimport {module}\n\ndef main(x):\n{work}\nmain(zoo.compile('a'))\n"
    )
    result = analyze([file], StaticOptions(torch=TORCH))
    assert len(result.gaps) == (module == "torch")


@pytest.mark.parametrize("name", ["netmil.nn.relevance", "netmil.other", "other.nn.relevance"])
def test_a_package_without_an_init_file_is_found_from_within(name, tmp_path):
    """`netmil` is a namespace package: its folders have `__init__.py`, it has none itself."""
    write(
        tmp_path,
        {
            "netmil/models/__init__.py": "",
            "netmil/nn/__init__.py": "",
            "netmil/nn/relevance.py": """\
                import torch

                def relevance(x):
                    return x * x.max().item()
                """,
            "netmil/models/net.py": f"""\
                import torch
                from {name} import relevance

                class Net(torch.nn.Module):
                    def forward(self, x):
                        return relevance(x)
                """,
        },
    )
    report = analyze([tmp_path / "netmil/models/net.py"], StaticOptions(torch=TORCH))
    places = [(f.code, Path(f.path).name) for f in report.findings]
    assert places == [("BRK201", "relevance.py")] * (name == "netmil.nn.relevance")


def test_an_assignment_enters_a_library_through_a_property(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    library = """\
        import torch

        class Base(torch.nn.Module):
            @property
            def level(self):
                return 1

            @level.setter
            def level(self, value):
                print(value)
        """
    program = """\
        import torch
        from netlib.levels import Base

        class Net(Base):
            def forward(self, x: torch.Tensor):
                self.level = [
                    x,
                ]
                return x
        """
    files = {"site-packages/netlib/levels.py": library, "project/model.py": program}
    write(tmp_path, LIBRARY | files)
    result = analyze([tmp_path / "project"], StaticOptions(torch=TORCH))
    (finding,) = result.findings
    assert (finding.line, finding.code, result.gaps) == (6, "BRK401", ())
    assert finding.message.startswith("this statement enters `netlib`, where ")


def test_a_package_without_a_front_file_is_followed_from_its_own_files_wherever_it_lies(tmp_path):
    files = {
        "site-packages/spread-1.0.dist-info/METADATA": "Name: spread\n",
        "site-packages/spread/models/__init__.py": "",
        "site-packages/spread/models/parts/base.py": """\
            from torch import nn

            class Base(nn.Module):
                def forward(self, x):
                    return self.transform(x)
            """,
        "site-packages/spread/models/parts/__init__.py": "",
        "site-packages/spread/models/parts/net.py": """\
            import torch
            from spread.models.parts.base import Base

            class Net(Base):
                def transform(self, x):
                    return x * torch.sum(x).item()
            """,
    }
    write(tmp_path, files)
    checked = tmp_path / "site-packages/spread/models/parts/net.py"
    result = analyze([checked], StaticOptions(torch=TORCH))
    assert [(f.code, f.line) for f in result.findings] == [("BRK201", 6)]
