"""A Python float argument that varies recompiles once.

Dynamo makes a float argument a constant of the graph and guards its value. The second value
compiles again, and the float becomes an input of the graph, unless it decides a branch, or an operator
or a function of Python's needs the number (`F.dropout(x, p)`, `math.exp(p)`): then every new value is a
new graph.

Pass a number that changes (a temperature, a weight of the loss) as a 0-d tensor:
`torch.tensor(0.7)`. Where an operator takes a number only, as `alpha` in `p.add_(u, alpha=-lr)`, multiply
instead, `p.add_(u * -lr)`: a tensor is read there, which ends the graph.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.numbers.advice import of_argument
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK709", "float-argument", kind="recompile", severity="warning", dynamo=("float_argument",)
)


@rule.on(Varies, what="float")
def check(event):
    yield event.problem(
        f"`{event.name}` is a Python float that varies between calls{event.seen}; its value is guarded",
        help=of_argument(event.name, event.use),
    )


def calls():
    return [(torch.ones(4), temperature) for temperature in (0.5, 0.7, 0.9)]


@rule.example(calls=calls)
def bad(x, temperature):
    return (x / temperature).softmax(-1)  # BRK709
