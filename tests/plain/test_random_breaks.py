"""Lines that may break, put into cleared files wherever chance says: what stays cleared must be clean."""

import ast
import random
from pathlib import Path

import pytest
from plain_models import MODEL, REGISTERED

from breakscope.glance import is_clean
from breakscope.static import analyze

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
LINES = """
print({v})
n = {v}.item()
n = int({v}.max())
if {v}.sum() > 0: {v} = -{v}
if {v} is not None and {v}.any(): pass
if {v}: pass
assert {v}.sum() > 0, f"{{{v}}}"
z = torch.nonzero({v})
z = {v}[{v} > 0]
z = {v}[{v}.argmax()]
z = {v}[:, : {w}.max()]
for i in range({v}.sum()): pass
z = torch.zeros({v}.max())
z = {v}.view({w}.sum(), -1)
z = torch.nn.functional.one_hot({v})
z = [t.item() for t in {v}]
z = list(map(lambda t: t.item(), {v}))
z = {v}.cpu().numpy().tolist()
f = {v}.item; f()
z = {v} and {w}
z = {v} if {w} else None
z = f"{{{v}:.2f}}"
self.count = getattr(self, "count", 0) + 1
self.last = {v}
z = dict(a={v})["a"].item()
z = ({v}, {w}); z[1].item()
z = [{v}, {w}]; z[-1].item()
def inner(t): return t.item()
g = lambda t: t.item(); g({v})
z = unknown({v}); z.item()
z = getattr({v}, "item")()
if isinstance({v}, torch.Tensor): {v}.item()
if torch.is_tensor({v}) and {v}.sum() > 0: pass
z: torch.Tensor = {v}; z.item()
z = torch.where({v} > 0)
z = sum(t.item() for t in {v})
z = [1, 2, 3][{v}.argmax()]
z = {v}.max(dim=-1)[1].item()
a, *b = {v}, {w}, 1; b[0].item()
z = (lambda: {v}.item())()
z = {v}.tail; z.item()
z = {v}.tail.read({w}).item()
a, b = {v}; z = {w}[a]
z = {w}[{v}[0]]
z = torch.relu({w})[{v}]
z = torch.relu({w})[{v} > 0]
z = torch.relu({w}).chunk(2)[{v}]
z = {w}[torch.randint(0, 3, ())]
z = {w}[torch.tensor([True, False])]
z = {w}[torch.tensor(1)]
z = torch.max({v}, 0).values > 0 and 1
z = torch.arange(4)[0]; y = {w}[z]
z = torch.arange(4)[None, :][..., 0]; y = {w}[z]
z = dict(dict(a={v}), b={w})["b"].item()
z = {{**dict(a={v}), "b": {w}}}["a"].item()
z = ({v}, {w}).count({v})
""".strip().splitlines()
TIMES = 25  # for each file
WRITTEN = {"constructs": MODEL, "registered": REGISTERED}


def broken(text: str, chance: random.Random) -> str:
    """The source with one more line in one of its functions."""
    tree = ast.parse(text)
    function = chance.choice([node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)])
    names = [a.arg for a in function.args.args if a.arg != "self"] or ["self"]
    names += [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    names += [f"self.{n.attr}" for n in ast.walk(function) if isinstance(n, ast.Attribute)][:2]
    bodies = [getattr(node, part, None) for node in ast.walk(function) for part in ("body", "orelse")]
    body = chance.choice([b for b in bodies if b and type(b) is list])
    line = chance.choice(LINES).format(v=chance.choice(names), w=chance.choice(names))
    try:
        body[chance.randrange(len(body)):0] = ast.parse(line).body
    except SyntaxError:
        return text
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize("name", [*sorted(p.name for p in SAMPLES.glob("*_clean.py")), *WRITTEN])
def test_what_stays_cleared_is_clean(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = WRITTEN.get(name) or (SAMPLES / name).read_text()
    chance, path = random.Random(name), tmp_path / "model.py"
    kept = 0
    for _ in range(TIMES):
        path.write_text(broken(text, chance))
        if is_clean((str(path),)):
            kept += 1
            assert not analyze([path]).findings, path.read_text()
    assert kept < TIMES or name not in WRITTEN  # some samples do all of their work outside of regions
