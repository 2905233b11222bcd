"""Masks of uint8 in a region: torch of 2.13.0 takes them in eager mode, and raises where Dynamo traces them."""

import pytest
from programs import analysed, found


def flagged(tmp_path, *lines):
    """The code in which a mask of bytes is said to be used."""
    body = "\n".join(f"        {line}" for line in lines)
    source = f"""import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, tags: torch.LongTensor, mask=None):
{body}
"""
    result = analysed(tmp_path, {"net.py": source})
    return [source.splitlines()[at - 1].strip() for code, at in found(result) if code == "BRK556"]


@pytest.mark.parametrize(
    "made",
    [
        "torch.ones_like(tags, dtype=torch.uint8)",
        "torch.ones(2, 3, dtype=torch.uint8)",
        "(tags > 0).byte()",
        "(tags > 0).to(torch.uint8)",
        "(tags > 0).byte().transpose(0, 1)[0].unsqueeze(1)",
    ],
)
@pytest.mark.parametrize("used", ["torch.where(m, x, x + 1)", "x.where(m, x + 1)", "x[m]"])
def test_a_mask_of_bytes_is_seen(made, used, tmp_path):
    assert flagged(tmp_path, f"m = {made}", f"return {used}") == [f"return {used}"]


@pytest.mark.parametrize(
    "made",
    ["tags > 0", "(tags > 0).byte().bool()", "(tags > 0).byte() > 0", "mask", "tags.int() == 1"],
)
def test_other_masks_are_none_of_bytes(made, tmp_path):
    assert flagged(tmp_path, f"m = {made}", "return torch.where(m, x, x + 1)") == []


def test_a_mask_that_is_converted_where_its_dtype_is_another_is_one_of_bytes(tmp_path):
    """As the CRF layers that many packages carry do."""
    assert flagged(
        tmp_path,
        "if mask is None:",
        "    mask = torch.ones_like(tags, dtype=torch.uint8)",
        "if mask.dtype != torch.uint8:",
        "    mask = mask.byte()",
        "return torch.where(mask[0].unsqueeze(1), x, x + 1)",
    ) == ["return torch.where(mask[0].unsqueeze(1), x, x + 1)"]
