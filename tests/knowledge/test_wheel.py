"""Reading a wheel's own files: a small tree in the shape of a torch wheel, as a folder and as an
archive."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from breakscope import knowledge
from breakscope.knowledge.build import differences
from breakscope.knowledge.build.from_wheel import (
    OPERATORS,
    REGISTRY,
    TRACE_RULES,
    Wheel,
    WheelError,
)

RULES = """
import abc, copy

BUILTIN_SKIPLIST = (
    abc,
    copy,
)
THIRDPARTY_SKIPLIST = ("pandas", "torch.fx")
MOD_INLINELIST = ["torch._refs", "torch.fx"]
MOD_INLINELIST = set(MOD_INLINELIST)
LEGACY_MOD_INLINELIST = {"torch.nn.quantized"}
if abc:
    LEGACY_MOD_INLINELIST |= {"torch.testing"}
    MOD_INLINELIST.add("torch.distributed")
"""
YAML = """
- func: nonzero(Tensor self) -> Tensor
  variants: method, function
  tags: [dynamic_output_shape, core]

- func: equal(Tensor self, Tensor other) -> bool
  tags: data_dependent_output
  variants: method, function

- func: linalg_lstsq(Tensor self, Tensor b) -> Tensor
  python_module: linalg
  tags: dynamic_output_shape

- func: _private(Tensor self) -> Tensor
  tags: dynamic_output_shape

- func: sin(Tensor self) -> Tensor
  variants: function
  tags: core
"""
GB = {"GB0001": [{"Gb_type": "old words"}, {"Gb_type": "older"}], "GB9999": [{"Gb_type": "new"}]}


@pytest.fixture
def tree(tmp_path):
    files = {
        "torch/version.py": "from typing import Optional\n\n__version__ = '2.99.1'\n",
        TRACE_RULES: RULES,
        REGISTRY: json.dumps(GB),
        OPERATORS: YAML,
    }
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tree"


def test_a_folder_and_an_archive_say_the_same(tree):
    archive = shutil.make_archive(str(tree.parent / "torch-2.99.1-any"), "zip", tree)
    for wheel in (Wheel(tree), Wheel(tree.parent / archive)):
        assert wheel.version() == "2.99.1"
        assert wheel.registry() == {"GB0001": "old words", "GB9999": "new"}
        assert wheel.tagged() == {
            "Tensor.nonzero": "shape",
            "torch.nonzero": "shape",
            "Tensor.equal": "value",
            "torch.equal": "value",
            "torch.linalg.lstsq": "shape",
        }


def test_the_trace_rules_are_read_without_running_them(tree):
    found = Wheel(tree).skips()
    assert found["abc"] == found["pandas"] == "skip"
    assert found["torch.fx"] == "trace"  # named in both
    assert {n for n, verdict in found.items() if verdict == "trace"} == {
        "torch._refs", "torch.fx", "torch.nn.quantized", "torch.testing", "torch.distributed"
    }  # fmt: skip


def test_torch_without_a_registry_has_no_ids(tree):
    (tree / REGISTRY).unlink()
    assert Wheel(tree).registry() == {}


def test_what_is_no_wheel_is_named(tmp_path):
    (tmp_path / "file.whl").write_text("no archive")
    with pytest.raises(WheelError, match=r"file\.whl is neither a wheel nor a folder"):
        Wheel(tmp_path / "file.whl")
    with pytest.raises(WheelError, match=r"holds no torch/version\.py"):
        Wheel(tmp_path).version()


@pytest.mark.parametrize(
    ("base", "own"),
    [
        ({"a": 1, "b": [2]}, {"a": 1, "b": [3], "c": 4}),
        ({"a": 1, "b": 2}, {}),
        ({}, {"a": 1}),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_differences_lead_from_one_table_to_the_other(base, own):
    assert knowledge.differing(base, differences.difference(base, own)) == own


def test_one_command_writes_the_tables_of_a_version_and_keeps_what_was_measured(tree, tmp_path):
    out = tmp_path / "2.99.1"
    differences.write(out, "2.99.1", "2.13.0", {"calls": {"changed": {"print": []}}})
    command = [sys.executable, "-m", "breakscope.knowledge.build", "--wheel", tree, "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    written = json.loads((out / knowledge.DIFFERENCES).read_text())
    assert (written["torch"], written["base"]) == ("2.99.1", "2.13.0")
    assert written["tables"]["calls"] == {"changed": {"print": []}}
    assert written["tables"]["registry"]["changed"]["GB9999"] == "new"
    assert "GB0007" in written["tables"]["registry"]["removed"]
    assert written["tables"]["skips"]["changed"]["torch.fx"] == "trace"


def test_an_unreadable_wheel_is_wrong_use(tmp_path):
    command = [
        sys.executable,
        "-m",
        "breakscope.knowledge.build",
        "--wheel",
        tmp_path / "no.whl",
        "--out",
        tmp_path,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (
        done.returncode == 2
        and "neither a wheel nor a folder" in done.stderr
        and "Traceback" not in done.stderr
    )


def measured(source, breaks, **more):
    entry = {
        "topic": "t",
        "source": source,
        "table": "calls",
        "name": source.partition("(")[0],
        "arguments": [],
    }
    return (
        entry
        | {"keywords": {}, "breaks": breaks, "graphs": 1, "lost": False, "reason": "", "error": ""}
        | more
    )


def test_differences_of_measurements():
    pytest.importorskip("torch")
    base = [
        measured("a()", []),
        measured("b()", ["GB0007"]),
        measured("c()", []),
        measured("d()", []),
    ]
    own = [
        measured("a()", ["GB0059"]),
        measured("b()", [], reason="in words only"),
        {"topic": "t", "source": "c()", "invalid": "cannot be run"},
        measured("d()", [], reason="in words only"),
    ]
    found = differences.from_measurements(base, own, {})
    assert found["calls"] == {"changed": {"a": ["GB0059"], "d": [differences.UNNAMED]}}


def test_the_files_of_the_installed_torch_say_what_importing_it_does():
    torch = pytest.importorskip("torch")
    version = torch.__version__.partition("+")[0]
    if version not in knowledge.shipped() or knowledge.load(version)._differences:
        pytest.skip("no tables were made by importing this torch")
    wheel = Wheel(Path(torch.__file__).parents[1])
    assert wheel.version() == version
    assert differences.from_wheel(wheel, knowledge.load(version)) == {
        "registry": {},
        "skips": {},
        "ops": {},
    }
