"""A `match` on a tensor compares it with every case, and the graph ends.

`case 0:` means `subject == 0` and then Python needs the truth of the answer: a data-dependent
branch for each case that is tried (GB0170).

If the choice is configuration, pass a Python int or an enum instead of a tensor: the match then
costs nothing at run time, and each value gets its own graph. If it is data, compute the candidates
and pick: `torch.where` for two, an index into `torch.stack([a, b, c])` for more, `torch.cond` when
they are expensive. All candidates then run, and a candidate that is infinite where it is not chosen
spoils the gradient of the chosen one; clamp its input.
"""

import torch

from breakscope.rulekit.events import Branch
from breakscope.rulekit.rule import Rule

rule = Rule("BRK111", "match-on-tensor", shares=("GB0170",))


@rule.on(Branch, construct="match")
def check(event):
    if event.test.is_tensor:
        yield event.graph_break(
            f"`case {event.source}` compares the matched tensor and needs the answer",
            help="match on a Python value, or index the stacked candidates: `torch.stack([a, b])[index]`",
        )


@rule.example(lambda: (torch.ones(4), torch.tensor(0)), lambda: (torch.ones(4), torch.tensor(1)))
def bad(x, mode):
    x = x.cos()
    match mode:
        case 0:  # BRK111
            return x * 2
        case _:
            return x - 1


@rule.becomes
def good(x, mode):
    x = x.cos()
    return torch.where(mode == 0, x * 2, x - 1)
