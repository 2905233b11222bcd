"""Global settings of torch that change between calls compile again.

Autocast, the default dtype and device, deterministic mode, the matmul precision and the number of
threads are part of a graph's guards: a call inside `with torch.autocast(...)` and one outside are two graphs, and
`torch.set_default_dtype` between calls makes another.

Enter autocast inside the region, where it is traced and always the same, or around all calls alike;
set defaults once, at the start of the program.
"""

import torch

from breakscope.rulekit.events import Varies
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK719",
    "global-state-varies",
    kind="recompile",
    severity="warning",
    dynamo=("autocast", "default_dtype", "global_state"),
)


WORDS = {
    "autocast": "autocast is on",
    "default_dtype": "the default dtype differs",
    "global_state": "determinism, matmul precision, default device or number of threads differs",
}


@rule.on(Varies, what=("autocast", "default_dtype", "global_state"))
def check(event):
    what = WORDS[event.what]
    yield event.problem(
        f"{what} in some calls only, so each case is compiled by itself",
        help="enter autocast inside the region or around all calls, and set defaults once at the start",
    )


def drive(call, model):
    call(torch.ones(4))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        call(torch.ones(4))


@rule.example(drive=drive, dynamo=("autocast",))
def bad(x):
    return x * 2  # BRK719


def drive_determinism(call, model):
    call(torch.ones(4))
    torch.use_deterministic_algorithms(True)
    call(torch.ones(4))
    torch.use_deterministic_algorithms(False)


@rule.example(drive=drive_determinism, dynamo=("global_state",))
def bad_determinism(x):
    return x * 2  # BRK719
