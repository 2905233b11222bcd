"""Setting `.real` or `.imag` of a tensor ends the graph.

`z.real = x` writes into the memory that the real part of `z` stands in. Dynamo does not trace the
setters of these two attributes, of whatever tensor; reading them and writing into what was read, as
`z.imag[0] = 1` does, it traces.

Write into the part: `z.real.copy_(x)`, and `z.imag.mul_(-1)` for `z.imag *= -1`. A tensor that is made
of two parts is `torch.complex(real, imag)`, and one with the imaginary part turned round `z.conj()`.
"""

import torch

from breakscope.rulekit.events import Store
from breakscope.rulekit.rule import Rule

rule = Rule("BRK577", "set-real-or-imag", dynamo=("GB0058",))


@rule.on(Store, scope="tensor")
def check(event):
    if event.name not in ("real", "imag"):
        return
    part = f"{event.owner}.{event.name}"
    yield event.graph_break(
        f"Dynamo does not set `{part}` of a tensor",
        help=f"write into it with `{part}.copy_(...)`, or make the tensor with `torch.complex`",
    )


@rule.example(lambda: (torch.ones(4), torch.ones(4)))
def bad(x, y):
    z = torch.zeros(4, dtype=torch.complex64)
    z.real = x  # BRK577
    return z.abs() + y


@rule.becomes
def good(x, y):
    z = torch.zeros(4, dtype=torch.complex64)
    z.real.copy_(x)
    return z.abs() + y


@rule.example(lambda: (torch.ones(4),))
def bad_turned(x):
    z = torch.fft.fft(x)
    z.imag *= -1  # BRK577
    return z.abs()


@rule.becomes
def good_turned(x):
    z = torch.fft.fft(x)
    z = z.conj()
    return z.abs()
