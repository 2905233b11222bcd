"""A tagger with packed sequences: packing reads the lengths, and the RNN is not traced.

Dynamo traces neither, so the frame ends at both; `allow_rnn` makes the LSTM part of a graph, and a mask takes the
place of packing.

cured: breaks 0, recompiles 0
"""

import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CURED = "--cured" in sys.argv
torch.manual_seed(0)
if CURED:
    torch._dynamo.config.allow_rnn = True


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.head = nn.Linear(8, 4)

    def forward(self, tokens, lengths):
        x = self.embed(tokens)
        if CURED:
            y, _ = self.lstm(x)
            mask = torch.arange(tokens.shape[1]) < lengths[:, None]
            return self.head(y * mask[..., None])
        # want below: break
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = self.lstm(packed)  # want: break
        y, _ = pad_packed_sequence(y, batch_first=True)
        return self.head(y)


model = torch.compile(Tagger(), backend="eager")
for _ in range(3):
    model(torch.randint(0, 20, (3, 7)), torch.tensor([7, 5, 3])).sum().backward()
