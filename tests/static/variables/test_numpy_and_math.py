"""Python's functions of numbers that NumPy computes in the region. Dynamo of torch 2.13.0 ends the graph where a break
is expected (GB0033, GB0208, GB0088; of `round` it raises a RuntimeError), and nowhere else."""

import pytest
from programs import analysed, found

PROGRAM = """\
import math

import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = np.sqrt(4.0)

    def forward(self, x: torch.Tensor):
        p = {made}
        return x * {use}
"""
ROOT, PRODUCT, KEPT = "np.sqrt(x.shape[0])", "np.prod(x.shape)", "self.kept"


@pytest.mark.parametrize(
    ("made", "use", "code"),
    [
        (ROOT, "math.ceil(p)", "BRK211"),
        (ROOT, "math.isnan(p)", "BRK211"),
        (ROOT, "math.exp(p)", ""),
        (PRODUCT, "math.exp(p)", "BRK211"),
        (PRODUCT, "math.sqrt(p)", "BRK211"),
        (PRODUCT, "math.radians(p)", ""),
        (KEPT, "math.floor(p)", "BRK211"),
        (KEPT, "math.log(p)", ""),
        (ROOT, "round(p)", "BRK210"),
        (KEPT, "round(p, 1)", "BRK210"),
        (ROOT, "divmod(7, p)[0]", "BRK210"),
        (ROOT, "(2 if p in (1, 2) else 3)", "BRK110"),
        (ROOT, "max(p, 3)", ""),
        ("math.sqrt(x.shape[0])", "round(p)", ""),
        ("math.prod(x.shape)", "math.log(p)", ""),
    ],
)
def test_a_number_of_numpy(made, use, code, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(made=made, use=use)})
    assert found(result) == ([(code, 14)] if code else [])


def test_a_whole_number_that_the_constructor_computes(tmp_path):
    """Outside of the region it is one of Python's, and no size is read from a tensor."""
    source = PROGRAM.replace("np.sqrt(4.0)", "math.ceil(np.log2(4))")
    source = source.format(made="self.kept", use="torch.ones(p).sum()")
    assert found(analysed(tmp_path, {"net.py": source})) == []


def test_what_goes_into_a_weight_is_a_number(tmp_path):
    source = """\
        import math

        import torch
        from torch.nn import init


        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.ones(4, 3))

            def forward(self, x):
                inside, _ = init._calculate_fan_in_and_fan_out(self.weight)
                bound = init.calculate_gain("relu") / math.sqrt(inside)
                if math.sqrt(init.ones_(x).sum()) > bound:
                    return x
                return x @ self.weight
        """
    assert [line for _, line in found(analysed(tmp_path, {"net.py": source}))] == [15]


KEPT = """\
import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self, scales):
        super().__init__()
        self.border = {made}

    def forward(self, x):
        return {used}
"""


@pytest.mark.parametrize(
    ("made", "used", "breaks"),
    [
        ("2 * np.prod(scales)", "x[:, : -self.border]", True),
        ("np.prod(scales)", "x[:, self.border :]", False),
        ("-np.prod(scales)", "x[:, : self.border]", False),
        ("np.prod(scales)", "x * -self.border", False),
        ("2 * len(scales)", "x[:, : -self.border]", False),
    ],
)
def test_the_negative_of_a_number_that_numpy_made_before(made, used, breaks, tmp_path):
    result = analysed(tmp_path, {"net.py": KEPT.format(made=made, used=used)})
    assert found(result) == ([("BRK206", 11)] if breaks else [])
