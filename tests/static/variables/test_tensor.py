"""Tensors: attributes, methods, operators, items. The body of each program begins in line 9; the
breaks are those of Dynamo of torch 2.13.0."""

import pytest
from programs import found, region

BODIES = {
    "its truth": ("if x.sum() > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "its shape, dtype and device": (
        "if x.ndim == 1 and x.shape[0] > 2 and x.dtype == torch.float32 and x.device.type == 'cpu':\n    x = x + 1\n",
        [],
    ),
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
    "its length": ("if len(x) > 2:\n    x = x + 1\n", []),
    "an operator with a number": ("if 2 - x.sum() > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "a matrix product": ("if x @ x > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "a pair": (
        "values, indices = x.reshape(2, 2).max(dim=1)\nif indices[0] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "an item": ("if x[0] > 0:\n    x = x + 1\n", [("BRK101", 9)]),
    "a mask": ("y = x[x > 0]\n", [("BRK302", 9)]),
    "a mask under a store": ("x[x > 0] = 0\n", []),
    "iterated": ("for row in x:\n    if row > 0:\n        x = x + 1\n", [("BRK101", 10)]),
    "in a list": ("y = x.sum() in [1, 2]\n", []),
    "contains": ("y = 1.0 in x\n", [("BRK110", 9)]),
    "its sizes as arguments": (
        "y = torch.zeros(x.shape[0], len(x))\nif y.shape[0] > 2:\n    x = x + 1\n",
        [],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_tensor(name, tmp_path):
    body, expected = BODIES[name]
    assert found(region(tmp_path, body)) == expected
