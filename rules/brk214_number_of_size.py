"""Something needs the number that a size is, once Dynamo has a symbol for it.

A size is a constant in the first graph. When a later call brings another size, Dynamo compiles again with a symbol in its
place (with `dynamic=True` at once), and then the graph ends where only a number will do:

- an argument of a torch function that is on or off, decided by a size: `is_causal=q.shape[2] > 1` (GB0112);
- `str(n)`, `str(x.shape)` (GB0059), `repr(n)` and `repr(x.shape)` (GB6053), and `"%d" % n` (GB0088);
- `divmod(n, m)` (GB0088), `sorted(sizes)` (GB0207);
- `math.gcd`, `lcm`, `isqrt`, `comb`, `perm`, `factorial`, `isclose`, `isfinite`, `isinf` and `isnan` (GB0208).

Arithmetic, `min`, `max`, `math.sqrt`, `math.ceil`, `math.prod`, f-strings and branches take symbols: some of these make a guard
of the number, which compiles again and does not end the graph.

Write `True if q.shape[2] > 1 else False`, which is a branch: Dynamo guards which side it took. Write an f-string for a
text, `n // m, n % m` for `divmod`, and do the rest outside.
"""

import math

import torch
import torch.nn.functional as F

from breakscope.rulekit.rule import Rule
from breakscope.rulekit.size_reads import SizeRead

rule = Rule(
    "BRK214",
    "number-of-size",
    severity="warning",
    shares=("GB0112", "GB0059", "GB0088", "GB0207", "GB0208", "GB6053"),
)

INSTEAD = {
    "flag": "write `True if {0} else False`: Dynamo guards which side a branch takes",
    "text": "write an f-string, which makes a graph for each size, or keep sizes out of texts",
    "percent": "write an f-string, which makes a graph for each size, or keep sizes out of texts",
    "divmod": "write `//` and `%` one by one",
    "sorted": "compare with `min` and `max`, or sort outside of the compiled code",
    "math": "compute it outside of the compiled code and pass it on",
}


@rule.on(SizeRead)
def check(event):
    if event.varies is False:
        return
    size = event.expression
    if event.how == "flag":
        brief = f"`{size}` is no Python bool for `{event.taker}` once the size is a symbol"
    else:
        brief = (
            f"`{event.source}` needs the number of `{size}`, which is a symbol once it has changed"
        )
    yield event.graph_break(
        brief,
        help=INSTEAD[event.how].format(size),
        certainty=None if event.varies else "possible",  # most sizes are the same in all calls
        condition="" if event.varies else f"varies({size})",
        fixable=False,
    )


def calls():
    return [(torch.ones(1, 2, n, 4),) for n in (5, 6, 7)]


@rule.example(calls=calls, dynamo=("GB0112",))
def bad(q):
    return F.scaled_dot_product_attention(q, q, q, is_causal=q.shape[2] > 1)  # BRK214, BRK712


@rule.becomes
def good(q):
    causal = True if q.shape[2] > 1 else False  # BRK713
    return F.scaled_dot_product_attention(q, q, q, is_causal=causal)


@rule.example(calls=calls, dynamo=("GB0088",))
def bad_divmod(q):
    whole, rest = divmod(q.shape[2], 4)  # BRK214, BRK712
    return q * whole + rest


@rule.becomes
def good_divmod(q):
    whole, rest = q.shape[2] // 4, q.shape[2] % 4  # BRK712
    return q * whole + rest


@rule.example(calls=calls, dynamo=("GB0059",))
def bad_text(q):
    return {"name": str(q.shape[2]), "value": q * 2}  # BRK214, BRK712


@rule.becomes
def good_text(q):
    return {"name": f"{q.shape[2]}", "value": q * 2}  # BRK714


@rule.example(calls=calls, dynamo=("GB6053",))
def bad_shape(q):
    return {"name": repr(q.shape), "value": q * 2}  # BRK214, BRK712


@rule.becomes
def good_shape(q):
    return {"name": f"{q.shape}", "value": q * 2}  # BRK714


@rule.example(calls=calls, dynamo=("GB0088",))
def bad_percent(q):
    return {"name": "%d" % q.shape[2], "value": q * 2}  # BRK214, BRK712


@rule.becomes
def good_percent(q):
    return {"name": f"{q.shape[2]}", "value": q * 2}  # BRK714


@rule.example(calls=calls, dynamo=("GB0208",), equal=False)
def bad_math(q):
    return q * math.gcd(q.shape[2], 4)  # BRK214, BRK712


@rule.example(calls=calls, dynamo=("GB0207",))
def bad_sorted(q):
    return q * sorted([q.shape[2], q.shape[3]])[0]  # BRK214, BRK712


@rule.becomes
def good_sorted(q):
    return q * min(q.shape[2], q.shape[3])  # BRK712
