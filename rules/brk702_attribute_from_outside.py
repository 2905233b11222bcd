"""An attribute that other code changes between calls recompiles.

`model.epoch = i` in the training loop: Dynamo treats Python values on a module as constants and
guards the ones that the region reads. Each new int, bool or string is a new graph, until the
recompile limit (8) is reached and the code is skipped for good. A float is compiled once more and
then kept as an input of the graph.

Keep a number that is only computed with in a 0-d tensor: `self.register_buffer("beta", torch.tensor(0.0))`,
and write `model.beta.fill_(value)`; or pass it in as a tensor argument. A size is better passed in as an
argument, which the second value makes dynamic. A number that sets the structure (how many blocks run), a
flag, and another module need a graph for each value anyway: change them rarely, and call each once
before it counts. A list that grows has another length in each call: keep a `deque(maxlen=n)` that is full
from the start, or a tensor.
"""

import torch

from breakscope.rulekit.events import Outside
from breakscope.rulekit.numbers.advice import of_kept
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Class, Const, ExternalInstance, Function, Instance, Py, Scalar

rule = Rule(
    "BRK702",
    "attribute-from-outside",
    kind="recompile",
    severity="warning",
    dynamo=tuple(
        """
        attribute closure global int_argument none_argument container_length size dtype stride
        requires_grad
        """.split()
    ),
)

OBJECTS = (Class, ExternalInstance, Function, Instance)
REPARAMETRIZES = "torch.nn.utils."
NUMBERS = ("int", "float", "number")
TENSORS = {
    "size": (
        "size",
        "make `{name}` as large as it will get and fill it, or pass it in as an argument",
    ),
    "dtype": ("dtype", "keep `{name}` in one dtype, and convert what is set to it"),
    "stride": ("memory layout", "set `{name}` to a tensor made `.contiguous()`"),
    "requires_grad": ("`requires_grad`", "detach what `{name}` is set to, each time"),
    "inference": (
        "mode (an inference tensor)",
        "set `{name}` to tensors made under `torch.no_grad()`, not under `torch.inference_mode()`",
    ),
}


@rule.on(Outside)
def check(event):
    name = f"{event.owner}.{event.name}" if event.owner else event.name
    if event.value.is_tensor and event.initial.is_tensor:
        other, help = TENSORS[event.what]
        yield event.problem(
            f"`{name}` has another {other} after line {event.line}, between calls, so the region is compiled again",
            help=help.format(name=event.name),
        )
        return
    if event.value.is_tensor:
        yield event.problem(
            f"`{name}` is no tensor at first and one after line {event.line}, between calls, so the region is compiled again",
            help=f"make `{event.name}` a tensor from the start, of ones or zeros, and `copy_` into it",
        )
        return
    if not event.owner and all(part.isidentifier() for part in name.split(".")) and "." in name:
        yield event.problem(
            f"line {event.line} changes the length of `{name}` between calls, so the region is compiled again",
            help=f"put all of `{name}` there before the first call, or keep its length, as a full `deque(maxlen=...)` does",
        )
        return
    if (
        isinstance(event.value, Const)
        and isinstance(event.initial, Const)
        and event.value.value == event.initial.value
    ):
        return
    if event.name == "param_groups[0]":
        yield event.problem(
            f"line {event.line} changes the learning rate between calls, which is a Python number, so the"
            " optimizer's step is compiled again",
            help="give the optimizer a tensor, as `lr=torch.tensor(1e-3)`: a scheduler writes into it",
            apart=True,
        )
        return
    if event.name == "momentum of param_groups[0]":
        yield event.problem(
            f"line {event.line} changes the momentum between calls, which is a Python number, so the optimizer's step is"
            " compiled again",
            help="give the scheduler `cycle_momentum=False`",
            apart=True,
        )
        return
    if isinstance(event.value, ExternalInstance) and event.value.name.startswith(REPARAMETRIZES):
        yield event.problem(
            f"line {event.line} changes what `{name}` is computed of between calls, so the region is compiled again",
            help="prune, and put parametrizations on or off, before the first compiled call",
        )
        return
    if isinstance(event.value, OBJECTS):
        yield event.problem(
            f"`{name}` is another object after line {event.line}, between calls, so the region is compiled again",
            help=f"set `{event.name}` before the first call: each object is compiled by itself",
        )
        return
    yield event.problem(
        f"`{name}` is a Python value that line {event.line} changes between calls, so the region is compiled again",
        help=of_kept(event.name, event.use)
        if is_number(event.value) and is_number(event.initial)
        else f"call once with each value of `{event.name}` before timing, or give each its own method: each is a"
        " version",
    )


def is_number(value):
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    return isinstance(value, Scalar) or (isinstance(value, Py) and value.type in NUMBERS)


def drive(call, model):
    for epoch in range(4):
        model.epoch = epoch
        call(torch.ones(2, 4))


@rule.example(drive=drive, module=True, dynamo=("attribute",))
def bad():
    class Curriculum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.epoch = 0

        def forward(self, x):
            return x * (1 + self.epoch)  # BRK702

    return Curriculum()


SCALE = 1


def drive_global(call, model):
    global SCALE
    for scale in (2, 3, 4):
        SCALE = scale
        call(torch.ones(2, 4))
    SCALE = 1


@rule.example(drive=drive_global, dynamo=("global",))
def bad_global(x):
    return x * SCALE  # BRK702


OPTIONS = {"power": 1}


def drive_options(call, model):
    for power in (2, 3, 4):
        OPTIONS["power"] = power
        call(torch.ones(2, 4))


@rule.example(drive=drive_options, dynamo=("global",))
def bad_options(x):
    return x * OPTIONS["power"]  # BRK702


def drive_cell(call, model):
    for factor in (2, 3, 4):
        model.__closure__[0].cell_contents = factor
        call(torch.ones(2, 4))


@rule.example(drive=drive_cell, module=True, dynamo=("int_argument",))
def bad_cell():
    factor = 1

    def forward(x):
        return x * factor  # BRK702

    return forward


def drive_method(call, model):
    for epoch in (1, 2, 3):
        model.set_epoch(epoch)
        call(torch.ones(2, 4))


@rule.example(drive=drive_method, module=True, dynamo=("attribute",))
def bad_method():
    class Scheduled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.epoch = 0

        def set_epoch(self, epoch):
            self.epoch = epoch

        def forward(self, x):
            return x * (1 + self.epoch)  # BRK702

    return Scheduled()


def drive_container(call, model):
    for _ in range(3):
        call(torch.ones(2, 4))
        model.residuals.append(torch.ones(4))


@rule.example(drive=drive_container, module=True, dynamo=("container_length",))
def bad_container():
    class Residual(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.residuals = []

        def forward(self, x):
            for residual in self.residuals:  # BRK702
                x = x + residual
            return x * 2

    return Residual()


def drive_larger(call, model):
    for _ in range(3):
        call(torch.ones(2, 4))
        model.extend(torch.ones(2, 4))


@rule.example(drive=drive_larger, module=True, dynamo=("size",))
def bad_larger():
    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("bank", torch.ones(3, 4))

        def extend(self, rows):
            self.bank = torch.cat([self.bank, rows])

        def forward(self, query):
            return (query @ self.bank.T).softmax(-1)  # BRK702

    return Memory()
