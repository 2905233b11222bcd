"""A bidirectional LSTM tagger over sentences of different lengths, as packed sequences, with Viterbi decoding."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Tagger(nn.Module):
    def __init__(self, words: int = 50, tags: int = 5, width: int = 16):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.emission = nn.Linear(2 * width, tags)
        self.transitions = nn.Parameter(torch.randn(tags, tags) * 0.1)

    def scores(self, words, lengths):
        embedded = self.embedding(words)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = self.lstm(packed)
        hidden, _ = pad_packed_sequence(hidden, batch_first=True)
        return self.emission(hidden)

    def viterbi(self, emissions, length: int):
        """The best tags of one sentence: emissions (time, tags)."""
        best, back = emissions[0], []
        for t in range(1, length):
            total = best[:, None] + self.transitions + emissions[t]
            best, source = total.max(dim=0)
            back.append(source)
        path = [int(best.argmax())]
        for source in reversed(back):
            path.append(int(source[path[-1]]))
        return path[::-1]

    def forward(self, words):
        lengths = (words != 0).sum(dim=1).cpu()
        emissions = self.scores(words, lengths)
        return [self.viterbi(emissions[i], n) for i, n in enumerate(lengths.tolist())]


def make():
    torch.manual_seed(0)
    words = torch.randint(1, 50, (3, 7))
    words[1, 5:] = 0
    words[2, 3:] = 0
    return Tagger().eval(), (words,), {}
