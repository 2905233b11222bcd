"""`nn.LSTM`, `nn.GRU` and `nn.RNN` run outside the graph.

Dynamo does not trace the fused recurrent modules, and cannot resume behind them: the whole function
that calls one, or only reads it (`self.rnn.flatten_parameters()`, `self.rnn.num_layers`), is
skipped; only what it calls is compiled, each call by itself. On a GPU the module itself is
fast (cuDNN). The cells (`nn.LSTMCell`, `nn.GRUCell`) are traced.

Often the right answer is to accept it and to keep everything around it in few graphs: put the
encoder and the head into modules of their own, and let the function that calls the recurrent module
do nothing else. `torch._dynamo.config.allow_rnn = True` traces the module with its loop over time
unrolled: compile time grows with the length, and each length is a graph of its own. For short
sequences of one length, a loop over a cell does the same.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK503", "rnn-module", dynamo=("GB0014",))

MODULES = {
    f"torch.nn.{where}{name}.forward"
    for where in ("", "modules.rnn.")
    for name in ("LSTM", "GRU", "RNN", "RNNBase")
}


@rule.on(Call, MODULES)
def check(event):
    kind = event.name.split(".")[-2]
    yield event.problem(
        f"Dynamo does not trace `nn.{kind}` and skips the function that uses it, at `{event.shown}`",
        help=f"compile what stands before and behind it, or loop over an `nn.{kind}Cell` where sequences are short",
        skips="call",
        setting="allow_rnn",
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
