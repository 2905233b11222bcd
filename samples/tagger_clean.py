"""tagger.py without graph breaks: the LSTM written as tensor work with a mask, and Viterbi over the whole batch.

The parameters keep the names that `nn.LSTM` gives them, so checkpoints of both files fit each other.
"""

import torch
from torch import nn
from torch.nn import functional as F


class MaskedLSTM(nn.Module):
    """A bidirectional LSTM layer that stands still where `real` (batch, time) is False."""

    def __init__(self, inputs: int, width: int):
        super().__init__()
        for name, parameter in nn.LSTM(inputs, width, bidirectional=True).named_parameters():
            self.register_parameter(name, parameter)

    def forward(self, x, real):
        bias, bias_back = self.bias_ih_l0 + self.bias_hh_l0, self.bias_ih_l0_reverse + self.bias_hh_l0_reverse
        ahead = direction(x, real, self.weight_ih_l0, self.weight_hh_l0, bias)
        back = direction(x.flip(1), real.flip(1), self.weight_ih_l0_reverse, self.weight_hh_l0_reverse, bias_back)
        return torch.cat([ahead, back.flip(1)], dim=-1)


def direction(x, real, w_input, w_state, bias):
    hidden = cell = x.new_zeros(x.shape[0], w_state.shape[1])
    outputs = []
    for t in range(x.shape[1]):
        gates = F.linear(x[:, t], w_input, bias) + F.linear(hidden, w_state)
        enter, forget, new, leave = gates.chunk(4, dim=-1)
        next_cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        next_hidden = leave.sigmoid() * next_cell.tanh()
        keep = real[:, t, None]
        cell, hidden = torch.where(keep, next_cell, cell), torch.where(keep, next_hidden, hidden)
        outputs.append(hidden * keep)
    return torch.stack(outputs, dim=1)


class Tagger(nn.Module):
    def __init__(self, words: int = 50, tags: int = 5, width: int = 16):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = MaskedLSTM(width, width)
        self.emission = nn.Linear(2 * width, tags)
        self.transitions = nn.Parameter(torch.randn(tags, tags) * 0.1)

    def scores(self, words, real):
        return self.emission(self.lstm(self.embedding(words), real))

    def viterbi(self, emissions, real):
        """The best tags of every sentence, -1 behind its end: emissions (batch, time, tags)."""
        stay = torch.arange(emissions.shape[-1], device=emissions.device).expand(emissions.shape[0], -1)
        best, back = emissions[:, 0], []
        for t in range(1, emissions.shape[1]):
            total, source = (best[:, :, None] + self.transitions + emissions[:, t, None]).max(dim=1)
            best = torch.where(real[:, t, None], total, best)
            back.append(torch.where(real[:, t, None], source, stay))
        path = [best.argmax(dim=-1, keepdim=True)]
        for source in reversed(back):
            path.append(source.gather(1, path[-1]))
        return torch.cat(path[::-1], dim=1).masked_fill(~real, -1)

    def forward(self, words):
        real = words != 0
        return self.viterbi(self.scores(words, real), real)


def make():
    torch.manual_seed(0)
    words = torch.randint(1, 50, (3, 7))
    words[1, 5:] = 0
    words[2, 3:] = 0
    return Tagger().eval(), (words,), {}
