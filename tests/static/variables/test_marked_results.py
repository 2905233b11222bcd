"""`requires_grad_()` changes nothing where a layer's parameters require a gradient, as they do unless they are frozen."""

import pytest
from programs import analysed, found, seen

NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, is_marked=False):
        super().__init__()
        self.layer = torch.nn.{layer}
        if is_marked:
            self.mark()

    def mark(self):
        def note(module, given, made):
            made.requires_grad_(True)

        self.layer.register_forward_hook(note)

    def forward(self, x: torch.Tensor):
        {body}
"""


@pytest.mark.parametrize(
    ("layer", "body", "lines"),
    [
        ("Embedding(5, 3)", "return self.layer(x)", []),
        ("Linear(5, 3)", "return self.layer(x).requires_grad_() * 2", []),
        ("Linear(5, 3)", "return (self.layer(x) * 2).requires_grad_() + 1", []),
        ("ReLU()", "return self.layer(x).requires_grad_() * 2", [13, 18]),
        ("Linear(5, 3)", "return (x * 2).requires_grad_() + 1", [18]),
    ],
)
def test_marks_on_what_a_layer_gives(layer, body, lines, tmp_path):
    result = analysed(tmp_path, {"net.py": NET.format(layer=layer, body=body)})
    assert found(result) == [("BRK605", line) for line in lines]
    assert ("BRK605", 13) in seen(result)
