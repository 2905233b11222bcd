"""Layers that the constructor of a layer of torch's makes, as Dynamo was seen to trace them."""

import pytest
from programs import analysed

PROGRAM = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = nn.Transformer(4, 2{options})

    def forward(self, x, memory):
        mask = torch.ones(4, 4)
        return {value}
"""
LOOKED_AT = {
    "an encoder": "self.transformer.encoder(x, mask)",
    "a decoder": "self.transformer.decoder(x, memory, tgt_mask=mask)",
    "one that a name stands for": "(lambda part: part(x, memory, mask))(self.transformer.decoder)",
}
TRACED = {
    "no mask": "self.transformer.decoder(x, memory)",
    "said": "self.transformer.decoder(x, memory, mask, tgt_is_causal=False)",
    "another": "self.transformer.decoder(x, memory, memory_mask=mask)",
}


def codes(folder, value: str, options: str = "") -> list[str]:
    source = PROGRAM.format(value=value, options=options)
    return [f.code for f in analysed(folder, {"program.py": source}).findings]


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_mask_that_is_looked_at(name, tmp_path):
    assert codes(tmp_path, LOOKED_AT[name]) == ["BRK573"]


@pytest.mark.parametrize("name", TRACED)
def test_a_mask_that_is_not(name, tmp_path):
    assert codes(tmp_path, TRACED[name]) == []


def test_a_part_that_is_handed_in(tmp_path):
    assert codes(tmp_path, LOOKED_AT["an encoder"], ", custom_encoder=nn.Linear(4, 4)") == []
