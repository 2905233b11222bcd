"""A transformer of torch's compares its mask with the causal one, which reads it.

`nn.TransformerEncoder`, `nn.TransformerDecoder` and `nn.Transformer` look at a mask of two dimensions to find
out whether it is the causal one, when they are not told: `bool((mask == causal).all())` is a read of a tensor's
value, in torch's code but at your line. A mask of three dimensions (one for each head) is not looked at, the
single layers look at none, and neither does the decoder at its `memory_mask`.

Say it: `is_causal=` of the encoder, `tgt_is_causal=` of the decoder, `src_is_causal=` and `tgt_is_causal=` of
`nn.Transformer`. `False` is right for every mask; `True` promises that it is the causal one, and lets a faster
kernel be used.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import NONE, options

rule = Rule(
    "BRK573",
    "causal-mask-by-value",
    dynamo=("GB0124: in torch/nn/modules/transformer.py",),
    shares=("GB0124",),
    seen="{} has a mask that torch compares with the causal one, which reads it",
    help="say with `is_causal=` whether the mask is the causal one",
)

# the masks that are looked at, each with the argument that makes it needless; places behind the module
MASKS = {
    "TransformerEncoder": (((1, "mask"), (3, "is_causal")),),
    "TransformerDecoder": (((2, "tgt_mask"), (6, "tgt_is_causal")),),
    "Transformer": (
        ((2, "src_mask"), (8, "src_is_causal")),
        ((3, "tgt_mask"), (9, "tgt_is_causal")),
    ),
}


@rule.on(Call, {f"torch.nn.{name}.forward" for name in MASKS})
def check(event):
    kind = event.name.split(".")[-2]
    read, missing = [], []
    for (place, mask), (switch_place, switch) in MASKS[kind]:
        told = event.argument(switch_place, switch)
        kinds = options(event.argument(place, mask) or NONE)
        tensors = [one for one in kinds if one.is_tensor and one.ndim in (None, 2)]
        if tensors and (told is None or told.is_none):
            read.append((mask, len(tensors) == len(kinds)))
            missing.append(f"`{switch}=False`")
    if not read:
        return
    masks = " and ".join(f"`{mask}`" for mask, _ in read)
    yield event.graph_break(
        f"`nn.{kind}` compares {masks} with the causal mask, which reads tensors",
        help=f"pass {' and '.join(missing)}, or `True` where the mask is the causal one",
        certainty=None if any(sure for _, sure in read) else "likely",
    )


@rule.example(lambda: (torch.ones(2, 3, 4), torch.zeros(3, 3)), module=True)
def bad():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
            self.encoder = torch.nn.TransformerEncoder(layer, 2)

        def forward(self, x, mask):
            return self.encoder(x * 2, mask=mask)  # BRK573

    return Model()


@rule.becomes
def good():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
            self.encoder = torch.nn.TransformerEncoder(layer, 2)

        def forward(self, x, mask):
            return self.encoder(x * 2, mask=mask, is_causal=False)

    return Model()


@rule.example(lambda: (torch.ones(2, 3, 4),), module=True)
def bad_decoder():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layer = torch.nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
            self.decoder = torch.nn.TransformerDecoder(layer, 2)

        def forward(self, x):
            mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
            return self.decoder(x, x * 2, mask)  # BRK573

    return Model()


@rule.becomes
def good_decoder():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layer = torch.nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
            self.decoder = torch.nn.TransformerDecoder(layer, 2)

        def forward(self, x):
            mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
            return self.decoder(x, x * 2, mask, tgt_is_causal=True)

    return Model()


@rule.example(lambda: (torch.ones(2, 3, 4), torch.zeros(3, 3)), module=True)
def bad_both():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, batch_first=True)

        def forward(self, x, mask):
            return self.inner(x, x, src_mask=mask, tgt_mask=mask)  # BRK573

    return Model()


@rule.becomes
def good_both():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, batch_first=True)

        def forward(self, x, mask):
            return self.inner(
                x, x, src_mask=mask, tgt_mask=mask, src_is_causal=False, tgt_is_causal=False
            )

    return Model()
