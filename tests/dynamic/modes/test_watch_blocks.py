"""breakscope.watch: what it sees of a block, and that it leaves everything as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from import_path import PYTHONPATH
from running import TARGETS, line_of

from breakscope.dynamic import read_result

pytest.importorskip("torch")

BLOCKS = ("plain", "raising", "nested", "again")


def python(code_or_file: str, folder: Path, **environment: str) -> str:
    """What a fresh Python prints."""
    env = {
        name: value for name, value in os.environ.items() if not name.startswith("TORCH")
    } | environment
    env["PYTHONPATH"] = PYTHONPATH
    how = [code_or_file] if code_or_file.endswith(".py") else ["-c", code_or_file]
    done = subprocess.run(
        [sys.executable, *how], capture_output=True, text=True, env=env, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """What the target reports, by the environment that it runs in."""
    folder = tmp_path_factory.mktemp("watched")
    environments = {
        "bare": {"LAZY_HANDLER": "1"},
        "aot": {"WATCHED_BACKEND": "aot_eager"},
        "trace": {"TORCH_TRACE": str(folder / "trace")},
        "logs": {
            "TORCH_LOGS": "+dynamo,graph_breaks,recompiles",
            "TORCH_LOGS_OUT": str(folder / "log.txt"),
        },
    }
    reported = {
        name: json.loads(python(str(TARGETS / "watched.py"), folder, **env))
        for name, env in environments.items()
    }
    return reported, folder


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("where", ["bare", "aot", "trace", "logs"])
def test_nothing_is_changed(blocks, where, block):
    """Neither settings, logging and environment, nor what the block itself does: values, random
    numbers, counters, caches."""
    reported = blocks[0][where][block]
    assert reported["changed"] == []
    assert reported["differs"] == []


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("where", ["bare", "aot", "trace", "logs"])
def test_what_a_block_sees(blocks, where, block):
    for seen in blocks[0][where][block]["seen"][: 1 if block == "again" else None]:
        assert [b[0] for b in seen["breaks"]] == [line_of("# breaks", "watched.py")]
        assert seen["breaks"][0][2:] == ["confirmed", ["GB0170"]]
        assert [line_of("# recompiles", "watched.py"), 2, ["attribute"]] in seen["recompiles"]
        assert seen["graphs"] and all(seen["costs"]) and seen["torch"] and not seen["notes"]
        assert seen["target"].startswith(str(TARGETS / "watched.py") + ":")
        failed = block == "raising"
        assert seen["status"] == ("failed" if failed else "ok")
        assert seen["errors"] == (
            ["the block ended with ValueError: the block's own"] if failed else []
        )
        assert "BRK101" in seen["text"] and "1 break" in seen["text"]


def test_a_block_that_compiles_nothing_is_not_called_clean(blocks):
    seen = blocks[0]["bare"]["again"]["seen"][1]
    assert seen["status"] == "no-capture" and "no compile was seen" in seen["notes"][0]


def test_traces_of_others_are_whole(blocks):
    """The folder that TORCH_TRACE names holds what each block captured, file names and all."""
    reported, folder = blocks
    result = read_result(folder / "trace", ())
    line = line_of("# breaks", "watched.py")
    events = sum(b[1] for block in BLOCKS for b in reported["trace"][block]["seen"][0]["breaks"])
    # and one unwatched
    assert [(f.line, f.count) for f in result.findings if f.kind == "break"] == [(line, events + 1)]


def test_importing_breakscope_imports_no_torch(tmp_path):
    python(
        "import sys, breakscope; breakscope.watch; assert not {'torch', 'libcst'} & set(sys.modules), 'imported'\n"
        "with breakscope.watch() as report: pass\n"
        "assert 'torch' not in sys.modules and report.run.status == 'no-capture' and not report.breaks",
        tmp_path,
    )


def test_torch_may_come_inside_the_block(tmp_path):
    program = tmp_path / "late.py"
    program.write_text(
        "import breakscope\n"
        "with breakscope.watch() as report:\n"
        "    import torch\n"
        "    torch.compile(lambda x: x + 1 if x.sum() > 0 else x, backend='eager')(torch.ones(2))\n"
        "assert len(report.breaks) == 1 and report.breaks[0].line == 4, report\n"
    )
    python(str(program), tmp_path)


def test_a_library_function_of_the_same_name_as_its_caller(tmp_path):
    """Dynamo's traceback holds one frame for both, the library's; the finding stands at the user's
    call."""
    program = tmp_path / "copies.py"
    program.write_text(
        "import copy\nimport torch\nimport breakscope\nlayer = torch.nn.Linear(4, 4)\n"
        "def deepcopy(x):\n    x = x + 1\n    own = copy.deepcopy(layer)\n    return own(x)\n"
        "with breakscope.watch() as report:\n"
        "    torch.compile(deepcopy, backend='eager')(torch.ones(2, 4))\n"
        "assert [(f.line, f.dynamo) for f in report.breaks] == [(7, ('GB4198',))], report.breaks\n"
    )
    python(str(program), tmp_path)


GENERATED = """import torch
import breakscope
from dataclasses import dataclass

@dataclass
class Out:
    a: torch.Tensor
    def __post_init__(self):
        self.a = self.a * 2

def f(x):
    for _ in range(2):
        print("x")
    return Out(x + 1)

def steps(compiled):
    for n in (4, 5):
        compiled(torch.ones(n, 3))

with breakscope.watch() as report:
    steps(torch.compile(f, backend="eager", dynamic=False))
assert [(found.line, found.dynamo) for found in report.findings if found.kind == "recompile"] == [(18, ("size",))], report.findings
"""


def test_what_a_dataclass_generates_stands_at_the_line_that_runs_it(tmp_path):
    """Its `__init__` is compiled by itself once its caller is skipped, and is in no file."""
    program = tmp_path / "generated.py"
    program.write_text(GENERATED)
    python(str(program), tmp_path)


LAYER_IN_LAYER = """import torch
from torch import nn
import breakscope

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 1)
    def forward(self, x, mask):
        x = x + 1
        return self.layers(x, mask) + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x, mask):
        return self.block(x * 2, mask) + 1

with breakscope.watch() as report:
    torch.compile(Model(), backend="eager")(torch.ones(3, 1, 8), torch.ones(3, 3))
(found,) = report.breaks
assert found.dynamo == ("GB0124",) and found.count == 2, found
assert [(link.line, link.function) for link in found.chain] == [(18, "Model.forward"), (11, "Block.forward")], found.chain
"""


def test_a_layer_of_torch_breaks_in_a_forward_that_another_forward_calls(tmp_path):
    """Dynamo's tracebacks hold one `forward` for the three, torch's; where each goes on distinguishes the
    lines of the others."""
    program = tmp_path / "layers.py"
    program.write_text(LAYER_IN_LAYER)
    python(str(program), tmp_path)


def test_without_source_analysis_the_places_are_the_same_and_no_analyzer_is_imported(tmp_path):
    program = tmp_path / "bare.py"
    program.write_text(
        "import sys\nimport torch\nimport breakscope\n\n"
        "def f(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n\n"
        "with breakscope.watch(source=False) as report:\n    torch.compile(f, backend='eager')(torch.ones(2))\n"
        "(found,) = report.breaks\n"
        "assert (found.line, found.code, found.evidence, found.fix) == (6, 'BRK101', 'observed', None), found\n"
        "assert report.missed == 0 and report.run.status == 'ok' and 'libcst' not in sys.modules\n"
        "assert 'Source analysis' not in breakscope.as_text(report)\n"
    )
    python(str(program), tmp_path)
