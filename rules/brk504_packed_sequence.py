"""Packing sequences ends the graph.

`pack_padded_sequence` and `pack_sequence` read the lengths on the host to sort and cut the batch.
Dynamo does not trace them; the graph ends there, once more at the recurrent module, and once more
where `pad_packed_sequence` unpacks, unless nothing but packed sequences is alive there: such a
frame is not traced at all.

If the model only needs the output at each true position, run the padded batch and mask the padding;
a unidirectional RNN does not see padding behind a sequence. Otherwise put packing, RNN and
unpacking into one function under `torch.compiler.disable`, so that there is one break and not
three.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK504", "packed-sequence", dynamo=(r"GB0007: pack_padded_sequence|pad_packed_sequence",)
)


@rule.on(Call, "torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` reads the lengths on the host",
        help="run the padded batch and mask the padding, or disable packing, RNN and unpacking as one function",
    )


@rule.on(Call, "torch.nn.utils.rnn.pad_packed_sequence")
def check_unpack(event):
    yield event.graph_break(
        f"`{event.shown}` cannot be traced",
        help="run the padded batch and mask the padding",
        certainty="likely",
    )


@rule.example(lambda: (torch.ones(2, 3, 4), torch.tensor([3, 2])), equal=False)
def bad(x, lengths):
    y = x * 2
    return torch.nn.utils.rnn.pack_padded_sequence(y, lengths, batch_first=True)  # BRK504


@rule.becomes
def good(x, lengths):
    y = x * 2
    return y * (torch.arange(3) < lengths[:, None])[..., None]
