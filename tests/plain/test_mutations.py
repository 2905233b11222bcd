"""What breaks must never be cleared: every rule's bad example inside a model, and breaking lines inside a plain one."""

import ast
import textwrap
from pathlib import Path

import pytest

from breakscope.glance import is_clever, may_be_plain
from breakscope.plain import is_plain
from breakscope.static import analyze

RULES = sorted((Path(__file__).resolve().parents[2] / "rules").glob("brk*.py"))
MODEL = '''import logging
import math
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger(__name__)
SEEN = []
STATS = {"calls": 0}


class Block(nn.Module):
    def __init__(self, width, heads=4, drop=0.1, kinds=("a", "b")):
        super().__init__()
        self.heads, self.step, self.history, self.last = heads, 0, [], None
        self.flags = {"warm": False}
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(drop)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.recurrent = nn.LSTM(width, width)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.register_buffer("scale", torch.ones(1))

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x, mask=None, lengths=None):
        q, k, v = [self.split(part) for part in self.qkv(self.norm(x)).chunk(3, dim=-1)]
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        y = self.drop(F.softmax(scores, dim=-1)) @ v
        y = y.transpose(1, 2).flatten(2)
        for layer in self.layers:
            y = y + layer(y)
        # HERE
        return x + self.out(y) * self.scale
'''
LINES = """
if y.sum() > 0: y = -y
if y.max(): y = y / 2
if not (y > 0).all(): y = y * 0
while y.norm() > 1: y = y / 2
y = y if y.mean() > 0 else -y
assert y.sum() > 0, f"bad {y}"
y = y.sum() and y
ok = 0 < y.sum() < 1
ok = bool(y.sum())
n = int(y.sum())
n = y.sum().item()
n = y.sum().tolist()
n = float(y.max()) + 1
n = y.detach().cpu().numpy()
n = math.sqrt(y.sum())
n = sum([float(row) for row in y.sum(1).sum(1)])
rows = y.nonzero()
rows = torch.nonzero(y)
rows = torch.where(y > 0)
rows = y[y > 0]
y[y > 1] += 1
rows = torch.masked_select(y, y > 0)
rows = torch.unique(y)
rows = y[y.argmax()]
rows = y[:, : lengths.max()]
rows = [1, 2, 3][y.argmax()]
for i in range(y.sum()): y = y + i
z = torch.zeros(lengths.max())
z = y.view(lengths.sum(), -1)
z = torch.arange(lengths.max())
z = y.clamp(0, y.mean())
z = F.dropout(y, p=y.mean())
z = F.one_hot(y.long())
z = torch.bincount(y.long().flatten())
z = torch.repeat_interleave(y, lengths.long())
z = torch.equal(y, x)
print(y)
print("forward")
logger.info("forward")
logging.warning("forward")
warnings.warn("forward")
start = time.time()
z = np.random.beta(1, 1)
z = torch.rand(3, generator=torch.Generator())
z = str(y.sum())
z = "%s" % y
z = f"{y.sum():.2f}"
with open("log") as file: pass
with torch.device("cpu"): y = y * 2
self.step += 1
self.step = self.step + 1
self.last = y
self.history.append(y)
history = self.history; history.append(y)
self.flags["warm"] = True
self.flags["n"] += 1
SEEN.append(y)
STATS["calls"] += 1
global SEEN; SEEN = [y]
y.requires_grad = True
y.sum().backward()
z = torch.autograd.grad(y.sum(), y)
self.out.half()
self.scale.requires_grad_(True)
z, _ = self.recurrent(y)
z = nn.Linear(4, 4)(y)
z = y.to_sparse()
torch.manual_seed(0)
torch._dynamo.graph_break()
z = sorted([y.sum(), x.sum()])
z = max([y.sum(), x.sum()], key=lambda t: t.abs())
z = y.sum() in [1, 2]
z = (lambda t: t.item())(y.sum())
z = any(row.sum() > 0 for row in y)
z = next(iter(self.parameters())).sum().item()
exec("z = 1")
z = self.__dict__["step"]
setattr(self, "step", 1)
del self.flags["warm"]
try: n = y.sum().item()
except ValueError: pass
""".strip().replace("\ntry:", "\x00try:").replace("\nexcept", "\x01except")
LINES = [line.replace("\x01", "\n") for part in LINES.split("\x00") for line in part.split("\n")]


def look(source: str) -> bool:
    data = source.encode()
    return may_be_plain(data) and is_plain(compile(data, "x.py", "exec", 0x400), is_clever(data))


def findings(source: str, folder: Path) -> int:
    path = folder / "model.py"
    path.write_text(source)
    return len(analyze([path]).findings)


def test_the_model_itself_is_cleared(tmp_path):
    assert look(MODEL) and not findings(MODEL, tmp_path)


@pytest.mark.parametrize("line", ["n = self.acts[0].item()", "n = self.given.item()", "n = self.given.item; n()"])
def test_what_is_called_like_a_tensor_is_one(line, tmp_path):
    source = MODEL.replace("drop=0.1,", "drop=0.1, given=None,").replace("# HERE", line)
    source = source.replace("self.norm,", "self.given, self.acts = given, nn.ModuleList([given()])\n        self.norm,")
    assert not look(source) and look(source.replace(line, "y = self.acts[0](y)"))


@pytest.mark.parametrize("line", LINES)
def test_a_model_with_a_breaking_line_is_not_cleared(line):
    assert not look(MODEL.replace("# HERE", line.replace("\n", "\n        ")))


def models(path: Path):
    """(name, source of a model whose forward is a bad example of the rule) of one rule file."""
    text = path.read_text()
    tree = ast.parse(text)
    shared = [ast.get_source_segment(text, n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)
              and "breakscope" not in ast.unparse(n)]
    shared += [ast.get_source_segment(text, n) for n in tree.body if isinstance(n, ast.ClassDef | ast.Assign)
               and "Rule(" not in ast.unparse(n)]
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("bad"):
            continue
        inner = textwrap.dedent("\n".join(text.splitlines()[node.body[0].lineno - 1 : node.end_lineno]))
        if node.args.args:
            node.args.args.insert(0, ast.arg("self"))
            head = f"class Model(torch.nn.Module):\n    def forward({ast.unparse(node.args)}):\n"
            inner = head + textwrap.indent(inner, " " * 8)
        else:
            inner = "\n".join(line for line in inner.splitlines() if not line.startswith("return"))
        yield node.name, "\n".join(["import torch", *filter(None, shared), inner, ""])


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_a_model_with_a_bad_example_is_not_cleared(path, tmp_path):
    for name, source in models(path):
        if look(source):
            assert not findings(source, tmp_path), name


def test_most_bad_examples_make_a_model_with_findings(tmp_path):
    sources = [source for path in RULES if path.name < "brk8" for _, source in models(path)]
    found = sum(bool(findings(source, tmp_path)) for source in sources[::3])
    assert found > 0.5 * len(sources[::3])
