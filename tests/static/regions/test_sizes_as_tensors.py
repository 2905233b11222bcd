"""Parameters that are called as sizes are, in the forward of a module."""

import pytest
from programs import analysed, found


@pytest.mark.parametrize(
    ("read", "is_tensor"),
    [
        ("h, w = sizes.max(0)[0].tolist()", True),
        ("h, w = sizes.unbind(-1)[0].tolist()", True),
        ("h = list(sizes[0])", False),
        ("h = sizes.index(1)", False),
    ],
)
def test_what_only_tensors_have(read, is_tensor, tmp_path):
    source = f"""\
        import torch


        class Scaled(torch.nn.Module):
            def forward(self, x, sizes):
                {read}
                return x * h
        """
    codes = [code for code, _ in found(analysed(tmp_path, {"scaled.py": source}))]
    assert codes == ["BRK204"] * is_tensor
