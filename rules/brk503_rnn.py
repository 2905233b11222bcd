"""`nn.LSTM`, `nn.GRU` and `nn.RNN` run outside the graph.

Dynamo does not trace the fused recurrent modules: it ends the graph before the call, runs the module eagerly (on a GPU
with cuDNN, which is fast) and starts a new graph behind it. The cells (`nn.LSTMCell`, `nn.GRUCell`) are traced.

Often the right answer is to accept the break and to keep everything around it in few graphs: compile the encoder and
the head and leave the recurrent module between them, out of any loop or `try`. `torch._dynamo.config.allow_rnn = True`
traces the module with its loop over time unrolled: compile time grows with the length, and each length is a graph of
its own. For short sequences of one length, a loop over a cell does the same in the open.
"""

import torch

from breakscope.events import Call
from breakscope.rule import Rule

rule = Rule("BRK503", "rnn-module", dynamo=("GB0014",))

MODULES = {f"torch.nn.{where}{name}.forward" for where in ("", "modules.rnn.")
           for name in ("LSTM", "GRU", "RNN", "RNNBase")}


@rule.on(Call, MODULES)
def check(event):
    kind = event.name.split(".")[-2]
    yield event.problem(
        f"Dynamo does not trace `nn.{kind}`, so the graph ends at `{event.shown}`",
        help=f"compile what stands before and behind it, or loop over an `nn.{kind}Cell` where sequences are short",
    )


@rule.example(lambda: (torch.ones(2, 3, 4),), module=True, equal=False)
def bad():
    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = torch.nn.LSTM(4, 4, batch_first=True)
            self.head = torch.nn.Linear(4, 2)

        def forward(self, x):
            y, _ = self.rnn(x)  # BRK503
            return self.head(y)

    return Tagger()


@rule.becomes
def good():
    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = torch.nn.LSTMCell(4, 4)
            self.head = torch.nn.Linear(4, 2)

        def forward(self, x):
            states = [self.rnn(x[:, 0])]
            for t in range(1, x.shape[1]):
                states.append(self.rnn(x[:, t], states[-1]))
            return self.head(torch.stack([h for h, _ in states], 1))

    return Tagger()
