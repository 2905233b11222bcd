"""Numpy while Dynamo traces: its numbers are arrays, and reading one ends the graph (torch
2.13.0)."""

import pytest
from programs import analysed, found, region

BREAKS = {
    "a product as a size": ("x = x.reshape(-1, np.prod(x.shape[1:]))", "BRK208"),
    "a product of constants": ("x = x.view(np.prod((2, 2)))", "BRK208"),
    "an order that is unpacked": ("x = x.permute(*np.arange(x.ndim)[::-1])", "BRK208"),
    "a product of what is not known": ("x = x.reshape(-1, np.prod(space.dims))", "BRK208"),
    "a product of it and a number": ("x = x.reshape(2 * np.prod(space.dims))", "BRK208"),
    "a comparison of a product": ("x = x + 1 if np.prod(space.dims) > 3 else x", "BRK101"),
    "a list of an array": ("x = x.permute(list(np.argsort([1, 0])))", "BRK208"),
    "a list's array as a list": ("x = x.permute(np.argsort([1, 0]).tolist())", "BRK204"),
    "a bound": ("ends = np.cumsum([0, 2])\nx = x[:ends[1]]", "BRK206"),
    "a test of what is not known": ("x = x + 1 if np.any(space.low != 0) else x", "BRK101"),
    "a dtype": ("x = x + 1 if x.numpy().dtype == np.float32 else x", "BRK599"),
}
TRACED = {
    "an array of a list": "x = x[:, np.argsort([1, 0])]",
    "arithmetic": "x = x * np.sum([1.0, 2.0]) / np.sqrt(x.shape[-1])",
    "arithmetic with what is not known": "x = x * np.prod(space.dims) + np.max(space.high)",
    "a sum of what is not known along a dimension": "x = x * np.sum(space.dims, 0)",
    "one by one": "for k in np.arange(2):\n    x = x * k",
    "a rounded quotient of what is not known": "x = x * int(np.ceil(space.high / 2))",
    "a size of an array": "x = x.view(-1, np.zeros((2, 2)).shape[0])",
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_number_of_numpy_that_python_reads_breaks(name, tmp_path):
    body, code = BREAKS[name]
    result = region(tmp_path, body + "\n", "torch.ones(2, 2), space", "x, space")
    assert [c for c, _ in found(result)] == [code]


@pytest.mark.parametrize("name", TRACED)
def test_an_array_stays_in_the_graph(name, tmp_path):
    assert found(region(tmp_path, TRACED[name] + "\n", "torch.ones(2, 2), space", "x, space")) == []


def test_an_array_by_its_annotation(tmp_path):
    source = (
        "import numpy as np\nimport torch\nfrom torch import nn\n\n\n"
        "class Net(nn.Module):\n"
        "    def forward(self, rows: list[dict[str, np.ndarray]]):\n"
        "        out = []\n"
        "        for row in rows:\n"
        "            seen = row['pixels']\n"
        "            if seen.dtype == np.uint8:\n"
        "                seen = seen.astype(np.float32)\n"
        "            out.append(torch.from_numpy(seen))\n"
        "        return torch.stack(out)\n"
    )
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK599", 11)]


KEPT = """\
import math

import numpy as np
import torch

LIMIT = np.sqrt(8)


class Model(torch.nn.Module):
    def __init__(self, width: int = 4, shape=(2, 2)):
        super().__init__()
        self.n = {made}

    def forward(self, x):
        return {used}
"""
SQUARE, COUNT, OPEN = "np.sqrt(width)", "np.prod((2, 2))", "np.prod(shape)"


@pytest.mark.parametrize(
    ("made", "used", "code"),
    [
        (SQUARE, "x if self.n > 1 else x + 1", "BRK101"),
        (SQUARE, "x if LIMIT > x.shape[0] else x + 1", "BRK101"),
        (OPEN, "x if self.n == x.shape[0] else x + 1", "BRK101"),
        (SQUARE + " * 2 + 1", "x if self.n else x + 1", "BRK101"),
        ("np.float32(width)", "x if self.n > 1 else x + 1", "BRK101"),
        ("np.any([True])", "x if self.n else x + 1", "BRK101"),
        (SQUARE, "x if self.n is not None else x + 1", ""),
        (SQUARE, "x / self.n + float(self.n) + max(self.n, 1)", ""),
        (f"float({SQUARE})", "x if self.n > 1 else x + 1", ""),
        (f"{SQUARE}.item()", "x if self.n > 1 else x + 1", ""),
        ("math.sqrt(width)", "x if self.n > 1 else x + 1", ""),
        ("width if np.sqrt(width) > 1 else 0", "x if self.n > 1 else x + 1", ""),
        (COUNT, "x.reshape(self.n, -1) + x[: self.n].sum() + int(self.n)", ""),
        (COUNT, "x.reshape(self.n // 2, -1)", "BRK208"),
        (COUNT, "x * int(self.n // 2)", "BRK210"),
        (COUNT, "sum(x for i in range(self.n))", "BRK207"),
        (f"int({COUNT})", "sum(x for i in range(self.n // 2))", ""),
    ],
)
def test_a_number_that_is_kept_outside_of_the_region(made, used, code, tmp_path):
    result = analysed(tmp_path, {"program.py": KEPT.format(made=made, used=used)})
    assert found(result) == ([(code, 15)] if code else [])


INTEGERS = """\
import numpy as np
import torch

NAMES = ["a", "b", "c"]


def step(x: torch.Tensor):
    {body}
"""


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return torch.zeros(np.minimum(x.shape[0], 3))", ""),
        ("return x.view(np.maximum(1, 2) * 2, -1)", ""),
        ("return torch.zeros(np.clip(3, 0, 4))", ""),
        ("return torch.zeros(np.int64(3))", ""),
        ("return torch.zeros(np.prod([2, 3]))", "BRK208"),
        ("return torch.zeros(np.prod([2, 3]) + 1)", "BRK208"),
        ("return x[: np.clip(x.shape[0], 0, 3)]", "BRK206"),
        ("return x[: np.minimum(2, 3) + 1]", "BRK206"),
        ("return x[: np.int64(3) - 1]", "BRK206"),
        ("return x[: int(np.int64(3))]", "BRK210"),
        ("return x[: int(np.clip(2.5, 0, 4))]", ""),
        ("return x + np.float32(2.5).item()", ""),
        ("return x if np.float32(2.5) > 1 else -x", "BRK101"),
        ("return x, NAMES[np.argmax([1, 3, 2])]", "BRK205"),
        ("return x, NAMES[np.minimum(1, 2)]", "BRK205"),
        ("return x, str(np.minimum(1, 2))", "BRK212"),
        ("return x, f'{np.minimum(1, 2)}'", ""),
    ],
)
def test_numbers_of_pythons_integers(body, code, tmp_path):
    """Under Dynamo of torch 2.13.0 those without a code are in one graph."""
    result = analysed(tmp_path, {"program.py": INTEGERS.format(body=body)}, "program.py::step")
    assert [rule for rule, _ in found(result)] == [code] * bool(code)


GENERATORS = {
    "made": ("seed", "np.random.RandomState(seed)", "laplace(size=x.shape[0])"),
    "made by scikit-learn": ("seed", "check_random_state(seed)", "uniform(size=x.shape[0])"),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_breaks_at_every_draw(name, tmp_path):
    parameter, made, draw = GENERATORS[name]
    source = f"""\
        import numpy as np
        import torch
        from sklearn.utils import check_random_state

        class Noise(torch.nn.Module):
            def __init__(self, {parameter}=None):
                super().__init__()
                self.rng = {made}

            def forward(self, x):
                return x + torch.as_tensor(self.rng.{draw})
        """
    assert found(analysed(tmp_path, {"model.py": source})) == [("BRK510", 11)]


@pytest.mark.parametrize("kind", ["np.random.Generator", "int | np.random.RandomState | None"])
def test_an_annotated_generator_breaks_at_every_draw(kind, tmp_path):
    source = f"""\
        import numpy as np
        import torch

        def noise(x: torch.Tensor, rng: {kind} = None):
            return x + torch.as_tensor(rng.normal(size=3))
        """
    assert found(analysed(tmp_path, {"step.py": source}, "step.py::noise")) == [("BRK510", 5)]


@pytest.mark.parametrize(
    "made", ["np.ogrid[0:4]", "np.mgrid[0:4, 0:2]", "np.r_[0:4]", "np.s_[0:2]"]
)
def test_what_numpy_makes_by_indexing(made, tmp_path):
    text = f"import numpy as np, torch\n\n\n@torch.compile\ndef f(x):\n    {made}\n    return x\n"
    assert found(analysed(tmp_path, {"run.py": text})) == [("BRK510", 6)]


@pytest.mark.parametrize(
    ("made", "codes"),
    [
        ("x.reshape(-1, np.prod((4,)))", []),
        ("x.reshape(-1, np.prod((2, 2)))", ["BRK208"]),
        ("x.reshape(-1, int(np.prod((4,))))", ["BRK210"]),
        ("x[: np.prod([2])]", ["BRK206"]),
    ],
)
def test_a_product_of_one_number(made, codes, tmp_path):
    text = f"import numpy as np, torch\n\n\n@torch.compile\ndef f(x):\n    return {made}\n"
    places = found(analysed(tmp_path, {"run.py": text}))
    assert [code for code, _ in places] == codes


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (["n = np.prod(x.shape)", "y = x.view(1, n)", "y = x.view(n)", "y = x.view(n, 1)"], [7]),
        (["n, m = np.prod(x.shape), np.prod((2, 2))", "y = x.view(n)", "y = x.view(m)"], [7]),
        (["n = np.prod(x.shape)", "y = x.view(n)", "y = x.view(1 * n)"], [7, 8]),
        (["y = x.view(np.prod(x.shape))", "y = x.view(1, np.prod(x.shape))"], [6, 7]),
    ],
)
def test_a_number_with_a_name_is_read_in_one_graph(body, lines, tmp_path):
    """Behind the break it is an argument of the graph, which torch takes for a size."""
    code = "import numpy as np, torch\n\n\n@torch.compile\ndef f(x):\n    "
    text = code + "\n    ".join([*body, "return y"]) + "\n"
    assert found(analysed(tmp_path, {"run.py": text})) == [("BRK208", line) for line in lines]
