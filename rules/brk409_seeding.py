"""Seeding or saving the random state ends the graph.

`torch.manual_seed`, `torch.get_rng_state`, `torch.set_rng_state` and the methods of a
`torch.Generator` change or read state outside the graph, so Dynamo stops the graph for them. A
compiled graph draws its numbers from the same generator that eager code uses, but a seed in the
middle of a step also makes every step draw the same numbers.

Seed before the compiled call. To draw the same noise in each call, draw it once, keep it as a
buffer and add it. To replay a forward pass, `torch.utils.checkpoint` keeps and restores the state
by itself.
"""

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK409", "seeding", dynamo=("GB0007: manual_seed|rng_state", "GB7650"))

FUNCTIONS = {
    f"torch.{owner}{name}"
    for owner in ("", "random.")
    for name in ("manual_seed", "get_rng_state", "set_rng_state")
}
CUDA = {
    f"torch.cuda.{owner}{name}"
    for owner in ("", "random.")
    for name in ("manual_seed", "manual_seed_all", "get_rng_state", "set_rng_state")
}
METHODS = {
    f"torch.Generator.{name}"
    for name in ("manual_seed", "seed", "initial_seed", "get_state", "set_state")
}


@rule.on(Call, FUNCTIONS, CUDA, METHODS, "torch.initial_seed")
def check(event):
    yield event.graph_break(
        f"`{event.shown}` touches the state of a random generator",
        help="seed before the compiled call; keep noise that must repeat as a buffer",
    )


@rule.example(lambda: (torch.ones(4),), equal=False, dynamo=("GB0007",))
def bad(x):
    torch.manual_seed(0)  # BRK409
    return x + torch.rand(4)


NOISE = (0.4963, 0.7682, 0.0885, 0.1320)


@rule.becomes
def good(x):
    return x + torch.tensor(NOISE)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB7650",), module=True)
def bad():
    generator = torch.Generator()

    def forward(x):
        generator.manual_seed(0)  # BRK409
        return x + 1

    return forward


@rule.example(lambda: (torch.ones(4),), dynamo=("GB7650",))
def bad_of_the_default_one(x):
    state = torch.default_generator.get_state()  # BRK409
    return x + 1, state
