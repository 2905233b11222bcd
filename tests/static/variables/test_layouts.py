"""Which tensors do not lie in memory as new ones do, in the code around a region, is compared with torch itself."""

import pytest
import torch
from programs import analysed

EXPRESSIONS = """
x.permute(2, 0, 1)
x.permute(2, 0, 1).unsqueeze(0)
x.permute(2, 0, 1).unsqueeze(1)
x.permute((0, 2, 1)).float().div(255)
x.transpose(1, 2).relu()
x.transpose(-1, 0) * 2
x.mT
x.mT[0]
x.mT[:, 1:]
x.mT.clone()
x.mT.contiguous()
1 - x.mT.exp()
x.movedim(0, 2)
x.swapaxes(0, 1).tanh()
x[:, ::2] + 1
x[:, 1:].relu()
y.t()
y.T
y.t().t()
y.t() / 3
y.expand(5, 3, 4) * 2
x.view(6, 4).t()
x.transpose(0, 2).unsqueeze(2).sigmoid()
""".strip().splitlines()
PROGRAM = """\
import torch


@torch.compile
def step(x):
    return x * 2


x, y = torch.ones(2, 3, 4), torch.ones(3, 4)
made = {expression}
step(made)
step(torch.zeros({shape}))
"""


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_layout_is_that_of_torch(expression, tmp_path):
    made = eval(expression, {"x": torch.ones(2, 3, 4), "y": torch.ones(3, 4)})
    program = PROGRAM.format(expression=expression, shape=", ".join(map(str, made.shape)))
    found = [finding.code for finding in analysed(tmp_path, {"run.py": program}).findings]
    assert found == ([] if made.is_contiguous() else ["BRK715"])


READS = {
    "a test": ("if self.kept is not None:\n            x = x + 1", True),
    "a test of what has a name": (
        "kept = self.kept\n        if kept is None:\n            return x",
        True,
    ),
    "a name": ("kept = self.kept", False),
}


@pytest.mark.parametrize("name", READS)
def test_where_a_sparse_tensor_of_a_module_is_read(name, tmp_path):
    """Under Dynamo the first operation on it ends the graph, a test among them."""
    body, breaks = READS[name]
    source = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, n):\n"
        "        super().__init__()\n        self.kept = torch.eye(n).to_sparse()\n\n"
        f"    def forward(self, x):\n        {body}\n        return x * 2\n"
    )
    line = 10 + body.startswith("kept = self.kept\n")
    wanted = [("BRK505", line)] if breaks else []
    result = analysed(tmp_path, {"net.py": source})
    assert [(f.code, f.line) for f in result.findings] == wanted
