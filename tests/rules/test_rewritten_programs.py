"""Programs whose breaks end by rewrites: each is one graph afterwards, and computes the same in both
arms, with gradients; and what is left as it is."""

import importlib.util
import textwrap

import pytest
import torch
import torch._dynamo

from breakscope.fixes import FixOptions, fixed_sources
from breakscope.static import StaticOptions

HEAD = """import hashlib
import torch
import torch.nn.functional as F


def has_nan(t):
    return torch.isnan(t).any()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.flag = True
        self.experts = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
        self.register_buffer("best", torch.tensor(0.0))

    def forward(self, x, n, k):
        y = self.fc(x)
"""
TAIL = """

def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(3, 4), torch.tensor([1, 2, 0]), torch.tensor(2)), {}
"""
ENDED = [
    "if y.sum() > 0:\n    return y\nz = torch.relu(y)\nreturn z + 1\n",
    "if n.sum() == 0:\n    return y * 0.0\nz = torch.log(y)\nreturn z / y\n",
    "if n.sum() == 0:\n    return torch.relu(y)\nreturn F.log_softmax(self.fc(y), -1)\n",
    "if y.sum() > 0:\n    return y, y.mean()\nreturn -y, y.sum()\n",
    "if y.max() > 9 or torch.isnan(y).any():\n    y = y.clamp(max=1)\nreturn y\n",
    "if torch.isinf(y).any() or y.max() > 1:\n    top = torch.finfo(y.dtype).max - 1000\n"
    "    y = torch.clamp(y, max=top)\nreturn y\n",
    "if y.abs().max() > self.best:\n    self.best = y.abs().max().detach()\nreturn y / (self.best + 1)\n",
    "if (n > 1).any().item():\n    y = y * 2\nreturn y\n",
    "if has_nan(y):\n    y = torch.nan_to_num(y)\nreturn y\n",
    "assert not torch.isnan(n.float()).any()\nreturn y\n",
    "assert torch.allclose(n, n), 'no'\nreturn y\n",
    "assert (n >= 0).all().item(), f'{n.min()} is too low'\nreturn y\n",
    "if self.flag and (n < 0).any():\n    raise ValueError('%d of %s' % (n.min(), 'n'))\nreturn y\n",
    "if (n > 9).any():\n    bad = int((n > 9).sum())\n    raise ValueError(f'{bad} are too large')\nreturn y\n",
    "if n.min() < 0 or n.max() >= 9:\n    raise IndexError\nreturn y\n",
    "return torch.stack([y[i, n[i]] for i in range(3)])\n",
    "return y[n.argmax().item()]\n",
    "first = n[0] % 3\nreturn y[first]\n",
    "return torch.stack([q.sum() for q in y.split(n.tolist())])\n",
    "for i in range(k):\n    y = self.fc(y) + i\nreturn y\n",
    "return [y, y.cos(), y * 3][k] + 1\n",
    "return y if k.item() == 2 else y * 2\n",
    "for e in range(2):\n    m = n == e\n    if m.any():\n        y[m] = y[m] * 2\nreturn y.cos()\n",
    "out = y * 0\nfor e, expert in enumerate(self.experts):\n    idx = (n == e).nonzero(as_tuple=True)[0]\n"
    "    if idx.numel() > 0:\n        rows = expert(x[idx])\n        out[idx] = rows\nreturn out\n",
    "return y / torch.unique(n).numel()\n",
    "return y * (int(hashlib.md5(str(self.flag).encode()).hexdigest(), 16) % 7)\n",
    "if n.sum().item() % 2 == 0:\n    print('even')\nreturn y\n",
    "z = y.detach().requires_grad_()\ne = self.fc(z).pow(2).sum()\n"
    "(g,) = torch.autograd.grad(e, z, create_graph=True)\nreturn y + g\n",
    "z = y * 2\nz.requires_grad_(True)\ns = self.fc(z)\ng = torch.autograd.grad(outputs=s, inputs=z,\n"
    "    grad_outputs=torch.ones_like(s), create_graph=True, retain_graph=True)[0]\nreturn g.norm() + s\n",
    "z = y.detach().requires_grad_()\nh = self.fc(z)\nh = h.cos()\n"
    "g = torch.autograd.grad(h.sum(), z)[0]\nreturn y * g\n",
    "top = int(n.max())\nprint('the largest is', top)\nreturn y\n",
    "return y * 2 if bool((y > 0).all()) else y\n",
    "h = (y * 2).detach()\nh.requires_grad = True\nreturn self.fc(h)\n",
    "h = y.detach().requires_grad_()\nreturn self.fc(h)\n",
]
LEFT = [
    "z = y.detach().requires_grad_()\n"
    "g = torch.autograd.grad(self.fc(z).sum(), z, create_graph=self.flag)[0]\nreturn g\n",
    "z = y.detach().requires_grad_()\ne = self.fc(z).sum()\nself.kept = z\n"
    "(g,) = torch.autograd.grad(e, z)\nreturn g\n",
    "z = y.detach().requires_grad_()\ne = self.fc(z)\n(g,) = torch.autograd.grad(e.sum(), z)\nreturn g + e\n",
    "h = y * 2\nh.requires_grad_()\nh.retain_grad()\nreturn self.fc(h)\n",
    "h = y * 2\nh.requires_grad_()\nself.kept = h\nreturn self.fc(h)\n",
    "return y, (y * 2).tolist()\n",
    "return y, torch.softmax(y, -1).tolist()\n",
    "return y, (n > 1).tolist()\n",
    "if n.any():\n    y[n] = 0.0\nreturn y\n",
    "for i in range(n.max()):\n    y = y + i\nreturn y\n",
    "return [y, y.cos(), y * 3][n.argmin()] + 1\n",
    "if y.sum() > 0:\n    return y\nself.count = 1\nreturn y + 1\n",
    "if y.sum() > 0:\n    return y\nz = torch.rand_like(y)\nreturn z\n",
    "if y.sum() > 0:\n    return y\ny = y / y.sum()\nreturn torch.log(y)\n",
    "if y.sum() > 0:\n    self.flag = y\nreturn y\n",
    "if n.sum() == 0:\n    return y.sum() * 0.0\nloss = F.cross_entropy(y, n)\nreturn loss\n",
    "if y.sum() > 0 or make():\n    y = y + 1\nreturn y\n",
    "if y.sum() > 0:\n    t = torch.rand(())\n    y = y + t\nreturn y\n",
    "if y.sum() > 0:\n    raise ValueError(f'{n}')\nreturn y\n",
    "if y.sum() > 0 or make():\n    raise ValueError('high')\nreturn y\n",
    "d = {n.argmax().item(): 1.0}\nreturn y * len(d)\n",
    "row = y[n.argmax()]\nrow += 1\nreturn y\n",
    "key = hashlib.md5(n.numpy().tobytes()).hexdigest()\nreturn y * len(key)\n",
]
INPUTS = [
    (torch.ones(3, 4), torch.tensor([1, 2, 0]), torch.tensor(0)),
    (-torch.ones(3, 4), torch.tensor([0, 3, 0]), torch.tensor(1)),
    (torch.full((3, 4), torch.nan), torch.tensor([0, 0, 3]), torch.tensor(2)),
    (torch.full((3, 4), 50.0), torch.tensor([1, 1, 1]), torch.tensor(0)),
]


def fixed(body, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HEAD + textwrap.indent(body, " " * 8) + TAIL, encoding="utf-8")
    options = StaticOptions(entries=(f"{program}::make",))
    made = fixed_sources([str(program)], options, FixOptions(unsafe=True))
    return made.new.get(str(program), b"").decode()


def loaded(text, tmp_path, name):
    file = tmp_path / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make()[0]


def outcome(function, model, x, *others):
    """Results and gradients of one call; the gradient of what took no part counts as zeros."""
    model.zero_grad()
    x = x.clone().requires_grad_()
    results = function(x, *others)
    results = list(results) if isinstance(results, tuple) else [results]
    sum(result.sum() for result in results).backward()
    leaves = [x, *model.parameters()]
    return results + [torch.zeros_like(t) if t.grad is None else t.grad for t in leaves]


@pytest.mark.parametrize("body", ENDED)
def test_a_program_ends_as_one_graph_with_the_same_results(body, tmp_path):
    new = fixed(body, tmp_path)
    assert new
    off = {"capture_scalar_outputs": False, "capture_dynamic_output_shape_ops": False}
    with torch._dynamo.config.patch(off):  # a fixed program may set them
        before = loaded(HEAD + textwrap.indent(body, " " * 8) + TAIL, tmp_path, "before")
        after = loaded(new, tmp_path, "after")
        torch._dynamo.reset()
        compiled = torch.compile(after, backend="aot_eager", fullgraph=True)
        for inputs in INPUTS:
            wanted = outcome(before, before, *inputs)
            torch.testing.assert_close(outcome(compiled, after, *inputs), wanted, equal_nan=True)


@pytest.mark.parametrize("body", LEFT)
def test_what_is_not_sure_is_left_alone(body, tmp_path):
    assert fixed(body, tmp_path) == ""


def test_what_no_row_cannot_go_through_stays_under_its_test(tmp_path):
    body = "m = n > 5\nif m.any():\n    y[m] = y[m].max(0).values\nreturn y\n"
    assert "if m.any():\n" in fixed(body, tmp_path)
