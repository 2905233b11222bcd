"""Models as people write them (closures, dataclasses, narrowing, registries, other files) in which
there is nothing to find, and what is found once a line of them breaks."""

import pytest
from clean_models import MODEL, REGISTERED

from breakscope.knowledge import shipped
from breakscope.static import StaticOptions, analyze

# the codes that are found, then what stands there and what is written instead
BREAKING = [
    (
        ["BRK201"],
        "seen = []",
        "seen = []\n        try:\n            n = x.sum().item()\n        except ValueError:\n            pass",
    ),
    (
        ["BRK201"],
        "return self.layer(x) + time[:, None]",
        "return self.layer(x) * time.max().item()",
    ),
    (["BRK201"], "lambda: torch.randn_like(x)", "lambda: torch.randn_like(x) * x.max().item()"),
    (
        ["BRK101"],
        "lambda t: timed(norm(t), time)",
        "lambda t: timed(norm(t), time) if t.sum() > 0 else t",
    ),
    (["BRK101"], "return x + function(x)", "return x + function(x) if function(x).any() else x"),
    (["BRK201"], 'rearrange(t, "b n d -> b d n")', 'rearrange(t, "b n d -> b d n").sum().item()'),
    (["BRK201"], "seen.append(x)", "seen.append(x.max().item())"),
    (
        ["BRK107"],
        "torch.stack([*seen, seen.pop()])",
        "torch.stack([s for s in seen if s.sum() > 0])",
    ),
    (["BRK101"], "if mask is not None and exists(mask):", "if mask is not None and mask.any():"),
    (["BRK101"], "x = layer(x)\n", "x = layer(x) if x.sum() > 0 else x\n"),
    (["BRK101"], "return x * 2", "return x * 2 if x.max() > 1 else x"),
    (["BRK101"], "HIGH - LOW)", "HIGH if x.max() > LOW else LOW)"),
    (["BRK302"], "[ids, torch.arange", "[ids > 0, torch.arange"),
    (
        ["BRK202"],
        "return self.width // self.heads",
        "return int(torch.ones(1).sum()) // self.heads",
    ),
    (["BRK201"], "Output(self.fold(x), score=pooled)", "Output(self.fold(x), score=pooled.item())"),
    (["BRK101"], "x + noise, time)", "x + noise, time) if noise.sum() > 0 else x"),
    (
        ["BRK701"],
        "x = self.steps",
        "self.seen = getattr(self, 'seen', 0) + 1\n        x = self.steps",
    ),
    (
        ["BRK201"],
        "seen = []",
        "seen = []\n        if isinstance(kwargs.get('t'), torch.Tensor):\n            kwargs['t'].item()",
    ),
    (
        ["BRK201"],
        "seen = []",
        "seen = []\n        def read(t):\n            return t.item()\n        read(x)",
    ),
    (
        ["BRK503"],
        'self.mode = "mean"',
        'self.mode = "mean"\n        self.copies[0] = nn.LSTM(4, 4)',
    ),
    (
        ["BRK101"],
        'self.mode = "mean"',
        'self.mode = "mean"\n        setattr(self, "mode", torch.ones(1))',
    ),
]
BREAKING_REGISTERED = [
    (
        ["BRK101"],
        "torch.lerp(x, self.layer(x), 0.5 + self.eps)",
        "x if x.sum() > 0 else self.layer(x)",
    ),
    (["BRK503"], "gate=0.5", "gate=nn.LSTM(4, 4)"),
    (
        ["BRK101"],
        "* self.gate",
        "* (1 if self.gate > 0 else 2)",
        "gate=0.5",
        "gate=nn.Parameter(torch.ones(1))",
    ),
    (["BRK503"], "BLOCKS[name] = cls", "BLOCKS[name] = nn.LSTM"),
    (["BRK503"], "class Stack", "register('lstm')(nn.LSTM)\n\n\nclass Stack"),
    (["BRK503"], "class Stack", "BLOCKS.update(lstm=nn.LSTM)\n\n\nclass Stack"),
    (
        ["BRK503"],
        "        super().__init__()\n        self.blocks",
        "        super().__init__()\n        rest.setdefault('norm', nn.LSTM)\n        self.blocks",
        "Stack(width, np.linspace",
        "Stack(width, rates=np.linspace",
    ),
    (
        ["BRK503"],
        "        super().__init__()\n        self.blocks",
        "        super().__init__()\n        rest['norm'] = nn.LSTM\n        self.blocks",
    ),
    (
        ["BRK302"],
        "torch.tensor([1, 0, 2, 3])",
        "torch.tensor(FLAGS)",
        "BLOCKS: Dict[str, type] = {}",
        "BLOCKS: Dict[str, type] = {}\nFLAGS = (True, False)",
    ),
    (["BRK101"], "model.training_steps > 3", "torch.max(x, 0).values > 3"),
    (["BRK302"], "source, target = edges", "source, target = x > 0, x < 0"),
    (["BRK213"], "source, target = edges", "source, target = torch.arange(4)[0], edges"),
    (["BRK213"], "(4,))", "())"),
    (["BRK302"], "[1, 0, 2, 3]", "[True, False]"),
    (["BRK302"], "[1, 0, 2, 3])", "[1, 0], dtype=torch.bool)"),
    (["BRK205"], "self.noise_0 * 2", "x.chunk(2)"),
    (["BRK302"], "(x * 2)[rows]", "(x * 2)[rows > 0]"),
    (["BRK201"], "model.training_steps > 3", "model.item() > 3"),
    (["BRK201"], "owner.scale", "owner.scale.item()"),
    (["BRK201"], "+ [self.rows]", "+ [x.argmax().item()]"),
    (["BRK101"], "model.training_steps > 3", "batch.edges > 3"),
    (["BRK201"], "c=x)", "c=x.sum().item())"),
    (["BRK201"], "getattr(self, f", "x.sum().item() + getattr(self, f"),
    (
        ["BRK101"],
        "range(2):\n            x = x +",
        "range(2):\n            x = x if x.sum() > 0 else",
    ),
]


@pytest.fixture
def codes(tmp_path, monkeypatch):
    """Writes a file and gives the codes of what is found in it."""
    monkeypatch.chdir(tmp_path)

    def written(text: str, name: str = "model.py", **options) -> list[str]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        result = analyze([path], StaticOptions(**options))
        assert not result.errors and not result.gaps and result.regions
        return sorted({finding.code for finding in result.findings})

    return written


def changed(text: str, *changes: str) -> str:
    for old, new in zip(changes[::2], changes[1::2]):
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("model", [MODEL, REGISTERED], ids=["model", "registered"])
def test_a_clean_model_has_no_findings(codes, model):
    assert codes(model) == []


@pytest.mark.parametrize("found, old, new", BREAKING, ids=range(len(BREAKING)))
def test_a_line_that_breaks_is_found(codes, found, old, new):
    assert codes(changed(MODEL, old, new)) == found


@pytest.mark.parametrize(
    "found_and_changes", BREAKING_REGISTERED, ids=range(len(BREAKING_REGISTERED))
)
def test_what_breaks_among_registered_blocks_is_found(codes, found_and_changes):
    found, *changes = found_and_changes
    assert codes(changed(REGISTERED, *changes)) == found


def test_a_package_counts_that_can_be_read_or_that_dynamo_skips(codes, tmp_path):
    package = "from rearranging import"
    assert codes(changed(MODEL, package, "from elsewhere import")) == []
    assert codes(changed(MODEL, package, "from xarray import")) == ["BRK548"]
    (tmp_path / "rearranging.py").write_text(
        "class Rearrange:\n    pass\n\n\ndef rearrange(x, how):\n    return x if x.sum() > 0 else -x\n"
    )
    assert codes(MODEL) == ["BRK101"]


LAYERS = """from torch import nn

from .tools import scaled


class Base(nn.Module):
    def __init__(self, width, act=nn.ReLU):
        super().__init__()
        self.layer, self.act = nn.Linear(width, width), act()

    def unused(self, x):
        return x.item()


class Layer(Base):
    def forward(self, x):
        return scaled(self.act(self.layer(x)))
"""
USER = """from torch import nn

from . import tools
from .layers import Layer as Inner


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = Inner(width)

    def forward(self, x):
        return tools.scaled(self.inner(x), by=tools.FACTOR)
"""
TOOLS = """FACTOR = 2.0


def scaled(x, by=1.0):
    return x * by
"""


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        ("tools.py", "return x * by", "return x * by if x.sum() > 0 else x", ["BRK101"]),
        ("layers.py", "scaled(self.act(self.layer(x)))", "self.unused(x)", ["BRK201"]),
        ("layers.py", "act()", "nn.LSTM(width, width)", ["BRK503"]),
        ("layers.py", "Layer(Base)", "Layer(Missing)", []),
    ],
)
def test_files_that_a_model_imports_from_are_followed(codes, tmp_path, name, old, new, found):
    package = tmp_path / "package"
    package.mkdir()
    files = {"__init__.py": "", "layers.py": LAYERS, "tools.py": TOOLS}
    for file, text in files.items():
        (package / file).write_text(text)
    assert codes(USER, "package/model.py") == []
    (package / name).write_text(changed(files[name], old, new))
    assert codes(USER, "package/model.py") == found


SMALL = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, mode="mean", shift=2):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.mode, self.shift = mode, shift

    def forward(self, x):
        y = self.fc(x)
        {body}
        return y
"""
CLEAN = {
    "match": "match self.mode:\n            case 'mean' | 'avg':\n                y = y.mean(-1)\n            case None:\n                y = y * 2\n"
    "            case _ if self.shift > 1:\n                return x\n            case _:\n                pass",
    "slice": "for s in (slice(0, -self.shift), slice(-self.shift, None)):\n            y = y + x[:, s].sum()",
    "percent": "self.fc('%d_%s' % (x.dim(), self.mode)) if False else None",
    "parameters": "y = y.to(next(self.fc.parameters()).dtype)",
}
BROKEN = {
    "match on a tensor": (
        "BRK111",
        "match y.sum():\n            case 1:\n                y = y * 2",
    ),
    "a break in a case": (
        "BRK201",
        "match self.mode:\n            case 'mean':\n                y = y * y.sum().item()",
    ),
    "a guard on a tensor": (
        "BRK101",
        "match self.mode:\n            case 'mean' if y.sum() > 0:\n                y = y * 2",
    ),
    "a slice of a tensor": ("BRK206", "y = x[slice(0, y.argmax())]"),
    "a tuple by a tensor": ("BRK205", "y = y * (1, 2)[x.argmax()]"),
    "percent of a tensor": ("BRK212", "s = '%d' % (y.sum(),)"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_single_constructs(codes, name):
    assert codes(SMALL.replace("{body}", CLEAN[name])) == []


@pytest.mark.parametrize("name", BROKEN)
def test_single_constructs_that_break(codes, name):
    code, body = BROKEN[name]
    assert codes(SMALL.replace("{body}", body)) == [code]


FULL = """import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, n, config):
        super().__init__()
        self.n, self.config = n, config

    def forward(self, x, fill=None):
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf"), device=x.device)
        return x + mask, torch.full((self.n,), self.config.value), torch.full([2], 0), torch.full(x.shape, fill)
"""


@pytest.mark.parametrize("torch", shipped())
def test_a_function_that_was_measured_only_with_what_breaks_may_be_given_numbers(codes, torch):
    assert codes(FULL, torch=torch) == []
