"""A `torch.Generator` as an argument ends the graph.

`torch.randn(..., generator=g)`: a generator is a host object with a state of its own, which Dynamo
cannot put into a graph. A generator made inside the region (`torch.Generator()`) breaks too.

Draw without one: the compiled graph then uses the default generator of the device, seeded outside
with `torch.manual_seed` (other numbers than before for the same seed). If the numbers must come
from that generator, draw them outside the region and pass the noise in.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import ExternalInstance, Py, condition_of, options

rule = Rule("BRK507", "generator-argument", dynamo=("GB0055", "GB0363: Opaque"))


DRAWS = {
    f"torch.{name}"
    for name in "rand randn randint randperm normal bernoulli multinomial poisson rand_like randn_like".split()
}
FILLS = {
    f"{owner}.{name}_"
    for owner in ("Tensor", "torch.nn.init")
    for name in "normal uniform exponential bernoulli random cauchy geometric log_normal trunc_normal".split()
}


@rule.on(Call, DRAWS, FILLS, "Tensor.bernoulli", "Tensor.multinomial")
def check(event):
    generator = event.kwargs.get("generator")
    if generator is None or generator.is_none:
        return
    is_annotated = isinstance(generator, Py) and generator.type == "Generator"
    known = is_annotated or any(map(_is_generator, options(generator)))
    yield event.graph_break(
        f"`{event.shown}` takes a generator, which Dynamo cannot put into a graph",
        help="draw without `generator=`, or draw outside the region and pass the noise in",
        certainty=None if known else "possible",
        condition=condition_of(generator, _is_generator),
    )


def _is_generator(value):
    return isinstance(value, ExternalInstance) and value.name == "torch.Generator"


@rule.on(Call, "torch.Generator")
def check_made(event):
    yield event.graph_break(
        "a `torch.Generator` is made inside the region",
        help="make it outside the compiled region, and draw there",
    )


@rule.example(lambda: (torch.ones(4),), module=True, equal=False, dynamo=("GB0055",))
def bad():
    generator = torch.Generator()

    def forward(x):
        return x + torch.randn(4, generator=generator)  # BRK507

    return forward


@rule.becomes
def good():
    def forward(x):
        return x + torch.randn(4)

    return forward


@rule.example(lambda: (torch.ones(4),), equal=False, dynamo=("GB0363", "GB0055"))
def bad_made_inside(x):
    generator = torch.Generator()  # BRK507
    return x + torch.randn(4, generator=generator)  # BRK507


@rule.becomes
def good_made_inside(x):
    return x + torch.randn(4)
