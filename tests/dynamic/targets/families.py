"""One program that recompiles in many ways; `drive` makes the calls."""

import enum

import torch

MODE = 1


class Phase(enum.Enum):
    TRAIN = 0
    EVAL = 1


class State(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0
        self.history = []
        self.cache = {}
        self.extra = None

    def forward(self, what, x, *rest):
        return getattr(self, what)(x, *rest)

    def size(self, x):
        return x + 1

    def dtype(self, x):
        return x + 2

    def stride(self, x):
        return x.sum(0)

    def requires_grad(self, x):
        return x * 3

    def grad_mode(self, x):
        return x * 4

    def default_dtype(self, x):
        return x * 5

    def alias(self, x, y):
        return x + y

    def int_argument(self, x, k):
        return x + k

    def float_argument(self, x, k):
        return x * k

    def bool_argument(self, x, k):
        return x + 1 if k else x - 1

    def str_argument(self, x, k):
        return x + 1 if k == "up" else x - 1

    def enum_argument(self, x, k):
        return x + 1 if k is Phase.TRAIN else x - 1

    def none_argument(self, x, k):
        return x if k is None else x + k

    def attribute(self, x):
        return x + self.steps

    def container_length(self, x):
        self.history.append(1)
        return x + len(self.history)

    def container_key(self, x):
        return x + 1 if "seen" in self.cache else x - 1

    def object_identity(self, x, f):
        return f(x)

    def type(self, x, k):
        return x + 1 if isinstance(k, list) else x - 1

    def global_(self, x):
        return x * MODE


def make():
    return State(), (), {}


def change_global():
    global MODE
    MODE = 2


def drive(call, model):
    """Every family alone: two calls that differ in one thing, after a reset."""
    x = torch.ones(4, 4)

    def pair(what, first, second, between=lambda: None):
        torch._dynamo.reset()
        call(what, *first)
        between()
        call(what, *second)

    pair("size", (x,), (torch.ones(5, 4),))
    pair("dtype", (x,), (x.double(),))
    pair("stride", (x,), (torch.ones(4, 8)[:, ::2],))
    pair("requires_grad", (x,), (torch.ones(4, 4, requires_grad=True),))
    pair("grad_mode", (x,), (x,), lambda: torch.set_grad_enabled(False))
    torch.set_grad_enabled(True)
    pair("default_dtype", (x,), (x,), lambda: torch.set_default_dtype(torch.float64))
    torch.set_default_dtype(torch.float32)
    pair("alias", (x, x), (x, x.clone()))
    pair("int_argument", (x, 3), (x, 4))
    pair("float_argument", (x, 0.5), (x, 0.7))
    pair("bool_argument", (x, True), (x, False))
    pair("str_argument", (x, "up"), (x, "down"))
    pair("enum_argument", (x, Phase.TRAIN), (x, Phase.EVAL))
    pair("none_argument", (x, x), (x, None))
    pair("attribute", (x,), (x,), lambda: setattr(model, "steps", 7))
    pair("container_length", (x,), (x,))
    pair("container_key", (x,), (x,), lambda: model.cache.update(seen=1))
    pair("object_identity", (x, lambda t: t + 1), (x, lambda t: t + 2))
    pair("type", (x, [1]), (x, (1,)))
    pair("global_", (x,), (x,), change_global)
