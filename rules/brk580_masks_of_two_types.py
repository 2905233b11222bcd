"""An attention mask of numbers beside a boolean padding mask makes torch warn, which ends the graph.

`nn.MultiheadAttention`, and the transformers and layers made of it, want both masks in one type: else
`_canonical_mask` warns that the support for two is deprecated, in each call. Dynamo cannot trace
`warnings.warn`, so the graph ends at your line, in torch's code. What most programs have is a mask of
`nn.Transformer.generate_square_subsequent_mask`, of numbers, and a padding mask like `tokens == 0`.

Write both in one type. A mask that is `-inf` where nothing may be looked at, and 0 elsewhere, says the same as
`mask == float("-inf")`.
"""

import ast

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import NONE, options

rule = Rule(
    "BRK580",
    "masks-of-two-types",
    dynamo=("GB0007: _?warnings",),
    shares=("GB0007",),
    seen="{} has masks of two types, of which torch warns",
    help="give both masks one type",
)

PADDING = "key_padding_mask"
# the mask of positions and the mask of padding that torch holds together; places behind the module
OF_DECODER = (
    ((2, "tgt_mask"), (4, f"tgt_{PADDING}")),
    ((3, "memory_mask"), (5, f"memory_{PADDING}")),
)
MASKS = {
    "MultiheadAttention": (((5, "attn_mask"), (3, PADDING)),),
    "TransformerEncoderLayer": (((1, "src_mask"), (2, f"src_{PADDING}")),),
    "TransformerEncoder": (((1, "mask"), (2, f"src_{PADDING}")),),
    "TransformerDecoderLayer": OF_DECODER,
    "TransformerDecoder": OF_DECODER,
    "Transformer": (
        ((2, "src_mask"), (5, f"src_{PADDING}")),
        ((3, "tgt_mask"), (6, f"tgt_{PADDING}")),
        ((4, "memory_mask"), (7, f"memory_{PADDING}")),
    ),
}


@rule.on(Call, {f"torch.nn.{name}.forward" for name in MASKS})
def check(event):
    kind = event.name.split(".")[-2]
    for positions, padding in MASKS[kind]:
        first, second = event.argument(*positions), event.argument(*padding)
        types = {_type(first), _type(second)}
        if types != {"bool", "float"}:
            continue
        absent = [at for at in (positions, padding) if _may_be_none(event.argument(*at))]
        numbers = positions[1] if _type(first) == "float" else padding[1]
        yield event.graph_break(
            f"`nn.{kind}` warns of its masks, since one of `{positions[1]}` and `{padding[1]}` is boolean and "
            "one is not",
            help=f'give it a boolean `{numbers}`: `mask == float("-inf")`, where it is 0 elsewhere',
            certainty="likely" if absent else None,
            condition=" and ".join(filter(None, (_is_given(event, at) for at in absent))),
        )
        return


def _type(mask) -> str | None:
    """The type of a mask that is a tensor wherever there is one; None where it is not known."""
    kinds = [option for option in options(mask or NONE) if not option.is_none]
    types = {option.dtype if option.is_tensor else None for option in kinds}
    return types.pop() if len(types) == 1 else None


def _is_given(event, at) -> str:
    """The test that the mask is there, where the call names it."""
    position, keyword = at
    nodes = [word.value for word in event.node.keywords if word.arg == keyword]
    nodes += event.node.args[position : position + 1]
    is_named = nodes and isinstance(nodes[0], ast.Name | ast.Attribute)
    return f"{ast.unparse(nodes[0])} is not None" if is_named else ""


def _may_be_none(mask) -> bool:
    return any(option.is_none for option in options(mask))


@rule.example(lambda: (torch.ones(2, 3, 4), torch.tensor([[1, 2, 0], [3, 0, 0]])), module=True)
def bad():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
            mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
            self.register_buffer("mask", mask)

        def forward(self, x, tokens):
            padding = tokens == 0
            x, _ = self.attention(x, x, x, padding, attn_mask=self.mask)  # BRK580
            return x

    return Model()


@rule.becomes
def good():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
            mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
            self.register_buffer("mask", mask == float("-inf"))

        def forward(self, x, tokens):
            padding = tokens == 0
            x, _ = self.attention(x, x, x, padding, attn_mask=self.mask)
            return x

    return Model()


@rule.example(lambda: (torch.ones(2, 3, 4), torch.tensor([[1, 2, 0], [3, 0, 0]])), module=True)
def bad_layer():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)

        def forward(self, x, tokens):
            mask = torch.triu(torch.full((3, 3), float("-inf")), diagonal=1)
            return self.layer(x, src_mask=mask, src_key_padding_mask=tokens == 0)  # BRK580

    return Model()


@rule.becomes
def good_layer():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)

        def forward(self, x, tokens):
            mask = torch.triu(torch.ones(3, 3, dtype=torch.bool), diagonal=1)
            return self.layer(x, src_mask=mask, src_key_padding_mask=tokens == 0)

    return Model()
