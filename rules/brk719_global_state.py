"""Global settings of torch that change between calls compile again.

Autocast, the default dtype, deterministic mode and the matmul precision are part of a graph's guards: a call inside
`with torch.autocast(...)` and one outside are two graphs, and `torch.set_default_dtype` between calls makes another.

Enter autocast inside the region, where it is traced and always the same, or around all calls alike; set defaults once,
at the start of the program.
"""

import torch

from breakscope.events import Varies
from breakscope.rule import Rule

rule = Rule("BRK719", "global-state-varies", kind="recompile", severity="warning",
            dynamo=("autocast", "default_dtype", "global_state"))


@rule.on(Varies, what=("autocast", "default_dtype"))
def check(event):
    what = "autocast is on" if event.what == "autocast" else "the default dtype differs"
    yield event.problem(f"{what} in some calls only, so each case is compiled by itself",
                        help="enter autocast inside the region or around all calls, and set defaults once at the start")


def drive(call, model):
    call(torch.ones(4))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        call(torch.ones(4))


@rule.example(drive=drive, dynamo=("autocast",))
def bad(x):
    return x * 2  # BRK719
