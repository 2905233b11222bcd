"""`if self.bias:` asks whether there is a parameter, as the truth of several numbers is an error."""

import pytest
from programs import analysed, found, seen

LAYER = """\
import torch


class Layer(torch.nn.Module):
    def __init__(self, width, bias=None):
        super().__init__()
        self.bias = bias
        if bias:
            self.bias = torch.nn.Parameter(torch.{made})

    def forward(self, x):
        if {test}:
            x = x + self.bias
        return x
"""


@pytest.mark.parametrize(
    ("made", "test", "is_shown"),
    [
        ("Tensor(width)", "self.bias", False),
        ("zeros(width, 3)", "self.bias", False),
        ("zeros(width, 3)", "not self.bias", False),
        ("zeros(())", "self.bias", True),
        ("zeros(1)", "self.bias", True),
        ("Tensor(width)", "self.bias.sum() > 0", True),
    ],
)
def test_a_parameter_that_may_be_there(made, test, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": LAYER.format(made=made, test=test)})
    assert (("BRK101", 12) in found(result)) == is_shown


SIZES = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes

    def forward(self, x):
        sizes = torch.tensor({made})
        if sizes == self.sizes:
            return x + 1
        return x - 1
"""


@pytest.mark.parametrize(("made", "is_shown"), [("[x.shape[0], 2]", False), ("3", True)])
def test_a_row_of_sizes_that_is_compared(made, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": SIZES.format(made=made)})
    assert (("BRK101", 11) in found(result)) == is_shown


def test_a_text_is_looked_for_in_a_dict(tmp_path):
    source = """
        import torch


        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                if "tokens" in x:
                    return x["tokens"]
                return x * 2 if 2 in x else x
        """
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK110", 9)]


def test_what_a_dict_stands_in_for_is_no_tensor(tmp_path):
    source = """
        import torch


        class Block(torch.nn.Module):
            def forward(self, x, settings=None):
                settings = settings or {}
                return x * settings.get("scale", 1)


        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()

            def forward(self, x: torch.Tensor, mask: torch.Tensor):
                return self.block(x, mask)
        """
    assert seen(analysed(tmp_path, {"net.py": source})) == []


CACHED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, cache: list[torch.{kind}]):
        count = cache[0][0][2]
        return x[:count]
"""


@pytest.mark.parametrize(("kind", "is_shown"), [("FloatTensor", False), ("LongTensor", True)])
def test_a_float_tensor_by_annotation_does_not_count(kind, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": CACHED.format(kind=kind)})
    assert ("BRK206", 7) in seen(result)
    assert (("BRK206", 7) in found(result)) == is_shown


HANDED = """\
import torch


def added(x, rows{default}):
    if rows:
        x = x + rows
    return x


class Net(torch.nn.Module):
    def forward(self, x, rows):
        return added(x * 2, rows)
"""


@pytest.mark.parametrize(("default", "is_shown"), [("=None", False), ("", True)])
def test_a_guess_that_may_be_left_out(default, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": HANDED.format(default=default)})
    assert (("BRK101", 5) in found(result)) == is_shown
