"""Tensors: attributes, methods, operators, items. The body of each program begins in line 9; the
breaks are those of Dynamo of torch 2.13.0."""

import pytest
from programs import analysed, found, region

BODIES = {
    "its truth": ("if x.sum() > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "its shape, dtype and device": (
        "if x.ndim == 1 and x.shape[0] > 2 and x.dtype == torch.float32 and x.device.type == 'cpu':\n    x = x + 1\n",
        [],
    ),
    "a hook's handle": ("h = x.register_hook(lambda g: g * 2)\nx = x * 2\nh.remove()\n", []),
    "item": ("y = x.sum().item()\n", [("BRK201", 9)]),
    "int and float": ("y = int(x.sum())\nz = float(x.sum())\n", [("BRK202", 9), ("BRK202", 10)]),
    "tolist": ("y = x.tolist()\n", [("BRK204", 9)]),
    "is None": ("if x is None:\n    x = x + 1\n", []),
    "is equal to no list": ("if x == [1.0] or x == {}:\n    x = x.nonzero()\n", []),
    "is different from any tuple": ("if x != ():\n    x = x + 1\n", []),
    "equal to None": ("if x == None:\n    x = x + 1\n", []),
    "isinstance": (
        "if isinstance(x, torch.Tensor) and not isinstance(x, (list, dict)):\n    x = x + 1\n",
        [],
    ),
    "its type": ("if type(x) is torch.Tensor:\n    x = x + 1\n", []),
    "an index of a squeezed tensor": (
        "scores = x[:, None].squeeze(-1)\nbest = scores.argsort()[0]\nx = x[best] + x[:, None].argsort(0)[0]\n",
        [("BRK213", 11)],
    ),
    "its length": ("if len(x) > 2:\n    x = x + 1\n", []),
    "an operator with a number": ("if 2 - x.sum() > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "a matrix product": ("if x @ x > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "a pair": (
        "values, indices = x.reshape(2, 2).max(dim=1)\nif indices[0] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "an item": ("if x[0] > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "an item as a size": ("y = torch.zeros(x[0], 2)\n", [("BRK208", 9)]),
    "parts as sizes": ("h, w = x[0]\ny = torch.arange(h * w)\n", [("BRK208", 10)]),
    "a mask": ("y = x[x > 0]\n", [("BRK302", 9)]),
    "a position in what a mask leaves": (
        "scores = x[x > 0]\nbest = scores.argsort()[0]\ny = scores[best]\n",
        [("BRK302", 9), ("BRK213", 11)],
    ),
    "positions beside a slice": (
        "y = torch.zeros(3, 4)[:, torch.tensor([0, 1])][0, 0]\nz = x[y.long()]\n",
        [("BRK213", 10)],
    ),
    "a mask of a 0-d tensor and a number": (
        "m = x.sum() * 2 > 0\ny = torch.ones_like(x)\ny[m] = 0.0\n",
        [("BRK213", 11)],
    ),
    "a mask of a 0-d tensor and what is not known": (
        "from elsewhere import other\nm = x.sum() * other() > 0\ny = torch.ones_like(x)\ny[m] = 0.0\n",
        [],
    ),
    "a mask under a store": ("x[x > 0] = 0\n", []),
    "iterated": ("for row in x:\n    if row > 0:\n        x = x + 1\n", [("BRK101", 10)]),
    "in a list": ("y = x.sum() in [1, 2]\n", []),
    "contains": ("y = 1.0 in x\n", [("BRK110", 9)]),
    "its gradient's mark": ("y = x * 2\ny.requires_grad_()\n", [("BRK605", 10)]),
    "its gradient's mark, copied": ("y = x * 2\ny.requires_grad_(x.requires_grad)\n", []),
    "its gradient's mark by setattr": (
        "y = x * 2\nsetattr(y, 'requires_grad', True)\nsetattr(y, 'note', 1)\n",
        [("BRK605", 10)],
    ),
    "its sizes as arguments": (
        "y = torch.zeros(x.shape[0], len(x))\nif y.shape[0] > 2:\n    x = x + 1\n",
        [],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_tensor(name, tmp_path):
    body, expected = BODIES[name]
    assert found(region(tmp_path, body)) == expected


@pytest.mark.parametrize(
    ("made", "is_reached"),
    [
        ("torch.Tensor(0.5)", False),
        ("torch.FloatTensor([1, 2], dtype=torch.float32)", False),
        ("torch.Tensor([0.5])", True),
        ("torch.Tensor(5)", True),
    ],
)
def test_what_an_old_constructor_does_not_take(made, is_reached, tmp_path):
    result = region(tmp_path, f"y = {made}\nz = x.sum().item()\n")
    assert found(result) == [("BRK201", 10)][:is_reached]


SPARSE = """\
import torch


def product(adjacency, y):
    z = y * 2
    return adjacency @ z


def made(i, v):
    s = torch.sparse_coo_tensor(i, v, (3, 3))
    return s.coalesce()


class Graph(torch.nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor, v: torch.Tensor):
        y = x + 1
        s = {matrix}
        z = {first}
        return z + product(s, y)


class Given(torch.nn.Module):
    def forward(self, x: torch.Tensor, adjacency: torch.Tensor):
        y = x + 1
        y = y * adjacency.shape[0]
        return torch.sparse.mm(adjacency, y)


class Dense(torch.nn.Module):
    def forward(self, x: torch.Tensor, adjacency: torch.Tensor):
        return torch.mm(adjacency, x) * adjacency.shape[0]


class Asks(torch.nn.Module):
    def forward(self, x: torch.Tensor, adjacency: torch.Tensor):
        if adjacency.is_sparse:
            return adjacency.coalesce()
        return x


class Makes(torch.nn.Module):
    def forward(self, x: torch.Tensor, adjacency: torch.Tensor):
        x = x * adjacency.shape[0]
        adjacency = adjacency * 2
        return adjacency._values()
"""
MADE, GIVEN = [("BRK505", 10), ("BRK505", 11)], ("BRK505", 25)


@pytest.mark.parametrize(
    ("matrix", "first", "expected"),
    [
        ("made(i, v)", "torch.mm(s, y)", [*MADE, ("BRK505", 18)]),
        ("made(i, v)", "y * 2", [*MADE, ("BRK505", 19)]),
        ("made(i, v).to_dense()", "torch.mm(s, y)", [*MADE, ("BRK505", 17)]),
        ("torch.eye(3)", "torch.mm(s, y)", []),
    ],
)
def test_a_sparse_tensor(matrix, first, expected, tmp_path):
    result = analysed(tmp_path, {"program.py": SPARSE.format(matrix=matrix, first=first)})
    inside = [("BRK505", 6)] if expected and "dense" not in matrix else []
    assert sorted(found(result)) == sorted([*expected, *inside, GIVEN])


HANDED = """\
import torch


class Layer(torch.nn.Module):
    def forward(self, x, adjacency):
        y = x * 2
        return {product}


class Graph(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Layer()

    def forward(self, x, adjacency):
        {before}
        return self.first(x + 1, adjacency)
"""


@pytest.mark.parametrize(
    ("product", "before", "lines"),
    [
        ("torch.spmm(adjacency, y)", "x = x.relu()", [7, 17]),
        ("torch.sparse.mm(adjacency, y)", "x = x.relu()", [7, 17]),
        ("torch.spmm(adjacency, y)", "adjacency = torch.eye(3) * x", [7]),
        ("torch.mm(adjacency, y)", "x = x.relu()", []),
    ],
)
def test_what_a_part_of_a_module_takes_for_sparse(product, before, lines, tmp_path):
    result = analysed(tmp_path, {"program.py": HANDED.format(product=product, before=before)})
    assert sorted(found(result)) == [("BRK505", line) for line in lines]


GIVEN_SPARSE = """\
import torch


class Graph(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def spread(self, matrix, x):
        return torch.sparse.mm(matrix, x)

    def forward(self, x: torch.Tensor, matrix: {annotation}):
        \"""Forward.

        Parameters
        ----------
        matrix : {documented}
            The neighbours.
        \"""
        {body}
"""


@pytest.mark.parametrize(
    ("documented", "annotation", "body", "line"),
    [
        ("torch.sparse, shape = (n, n)", "torch.Tensor", "return matrix @ x", 20),
        ("sparse matrix", "torch.Tensor", "return self.weight * matrix.shape[0]", 20),
        (
            "2-tuple of sparse matrices",
            "tuple[torch.Tensor, torch.Tensor]",
            "return matrix[0] @ x",
            20,
        ),
        ("dense or sparse tensor", "torch.Tensor", "return matrix @ x", 0),
        ("torch.Tensor", "torch.Tensor", "return matrix @ x", 0),
        ("torch.Tensor", "torch.Tensor", "matrix = matrix.coalesce(); return matrix @ x", 20),
        ("torch.Tensor", "torch.Tensor", "rows, columns = matrix.indices(); return x[rows]", 20),
        ("torch.Tensor", "torch.Tensor", "matrix = matrix * 2; return matrix._values()", 0),
        ("torch.Tensor", "torch.Tensor", "return self.spread(matrix, x)", 20),
    ],
)
def test_what_docstrings_and_uses_say_is_sparse(documented, annotation, body, line, tmp_path):
    source = GIVEN_SPARSE.format(documented=documented, annotation=annotation, body=body)
    lines = [at for code, at in found(analysed(tmp_path, {"program.py": source})) if at > 11]
    assert set(lines) == {line} - {0}


LAST = """\
import torch


class Last(torch.nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor):
        kept = []
        for i, n in enumerate(lengths):
            kept.append(x[{index}])
        return torch.stack(kept)
"""


@pytest.mark.parametrize(
    ("index", "breaks"),
    [
        ("i, n - 1", True),
        ("i, n", False),
        ("n - 1", False),
        ("n - 1, n", False),
        ("..., n - 1", False),
        ("i, n - n", False),
    ],
)
def test_a_position_beside_a_counter_is_one_number(index, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": LAST.format(index=index)})
    assert found(result) == ([("BRK213", 8)] if breaks else [])


SLICED = """\
import torch


class Cut(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.size = torch.tensor(2)
        self.kept = {slice}

    def forward(self, x: torch.Tensor):
        y = x * 2
        {use}
        return y
"""


@pytest.mark.parametrize(
    ("made", "use", "breaks"),
    [
        ("slice(0, self.size)", "y = y[self.kept]", True),
        ("(slice(None), slice(self.size))", "y[self.kept] = 0", True),
        ("slice(0, self.size)", "y = y[..., self.kept]", True),
        ("(*map(slice, range(2)), slice(self.size))", "y = y[self.kept]", True),
        ("slice(0, 2)", "y = y[self.kept]", False),
        ("slice(0, self.size)", "y = (y, self.kept)[0]", False),
    ],
)
def test_a_slice_that_was_made_elsewhere_of_a_tensor(made, use, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": SLICED.format(slice=made, use=use)})
    assert found(result) == ([("BRK206", 12)] if breaks else [])


SIZES = """\
import torch


class Grid(torch.nn.Module):
    def forward(self, x, sizes):
        {before}
        return x.sum() + torch.zeros(sizes[0], sizes[1])
"""


@pytest.mark.parametrize(
    ("before", "expected"), [("x = x + 1", []), ("sizes = sizes.long()", [("BRK208", 7)])]
)
def test_items_of_what_may_be_a_tuple_are_sizes(before, expected, tmp_path):
    result = analysed(tmp_path, {"program.py": SIZES.format(before=before)})
    assert found(result) == expected


@pytest.mark.parametrize(
    ("given", "value", "breaks"),
    [("3", "x", False), ("3.0", "x", True), ("3", "(x + 1)", True), ("[3]", "x", True)],
)
def test_an_integer_that_is_handed_in_is_symbolic(given, value, breaks, tmp_path):
    source = f"import torch\n@torch.compile\ndef step(x):\n    return {value}.tolist()\nstep(torch.tensor({given}))\n"
    assert found(analysed(tmp_path, {"run.py": source})) == ([("BRK204", 4)] if breaks else [])


@pytest.mark.parametrize(("method", "codes"), [("unbind", ["BRK101"]), ("parts_of_plates", [])])
def test_a_method_that_no_plain_tensor_has_gives_what_is_not_known(method, codes, tmp_path):
    body = f"for part in x.{method}():\n    if part > 0:\n        x = x + 1\n"
    assert [code for code, _ in found(region(tmp_path, body))] == codes
