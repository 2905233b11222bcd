"""Training scripts that make, wrap and use a model: nothing is said of plain use, and the other ways
have their findings."""

import pytest

from breakscope.static import analyze

HEAD = """
import time

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.step = 0

    def encode(self, x):
        return self.linear(x)

    def forward(self, x, tag=None):
        return F.relu(self.encode(x))


class Other(nn.Module):
    def forward(self, x):
        return x * 2


MODELS = {"net": Net, "other": Other}


def build(width=8):
    model = Net(width)
    return model


def build_two():
    return Net(), Other()


def make_step(model):
    def step(x):
        print(x)
        return model(x)

    return step


def use(net, x):
    return net(x).sum()


def use_otherwise(net, x):
    return net.encode(x)


def use_texts(net, n):
    for i in range(n):
        name = f"s{i}"
        net(torch.ones(2, 8), name)


def timed(net, x):
    start = time.perf_counter()
    net(x)
    return time.perf_counter() - start


def breaking(x):
    print(x)
    return x
"""
MADE = [
    "model = Net()", "model = build()", "model, other = build_two()", "model = Net().to('cpu')", "model = MODELS[which]()",
    "model = nn.Sequential(nn.Linear(8, 8))", "model = Net() if flag else Other()",
]  # fmt: skip
WRAPPED = [
    "net = torch.compile(model)", "net = torch.compile(model) if flag else model", "net = torch.compile(model, dynamic=True)",
    "net = torch.compile(model, fullgraph=True)", "model = torch.compile(model)",
]  # fmt: skip
USED = [
    "y = NET(x)", "NET.train()", "use(NET, x)", "use(net=NET, x=x)", "opt = torch.optim.SGD(NET.parameters(), 0.1)",
    "for i in range(9):\n    loss = NET(x).sum()\n    loss.backward()", "outs = [NET(x) for _ in range(3)]",
    "start = time.time()\nfor i in range(9):\n    x = x + 1\n    NET(x)\nprint(time.time() - start)",
]  # fmt: skip
CALLED = "main('net', True, Net())"
OTHERWISE_MADE = {
    "model = make_step(Net())": ["BRK401"],
    "model = breaking": ["BRK401"],
    "model = torch.jit.script(Net())": ["BRK819"],
    "model = lambda x: x": [],
    "model = given": [],
}
OTHERWISE_WRAPPED = {
    "net = torch.compile(given)": [],
    "torch.compile(model)": ["BRK804"],
    "net = torch.compile(model, backend='inductr')": ["BRK811"],
    "net = torch.compile(model, mode='fast')": ["BRK809"],
    "net = torch.compile(breaking)": ["BRK401"],
    "net = torch.compile(torch.compile(model))": ["BRK806"],
    "for k in range(5):\n    net = torch.compile(model)": ["BRK801"],
    "try:\n    net = torch.compile(model)\nexcept Exception:\n    net = model": ["BRK814"],
}
OTHERWISE_USED = {
    "NET.encode(x)": ["BRK821"],
    "kept = NET\nkept.encode(x)": ["BRK821"],
    "late = lambda: NET.encode(x)\nlate()": ["BRK821"],
    "def inner():\n    return NET.encode(x)\ninner()": ["BRK821"],
    "use_otherwise(NET, x)": ["BRK821"],
    "model.encode(x)": [],
    "torch.save(NET.state_dict(), 'x.pt')": ["BRK808"],
    "NET.load_state_dict(torch.load('x.pt'))": ["BRK807"],
    "use_texts(NET, 9)": ["BRK824"],
    "for i in range(9):\n    NET(x, f'a{i}')": ["BRK824"],
    "for i in range(9):\n    text = f'a{i}'\n    NET(x, text)": ["BRK824"],
    "isinstance(NET, Net)": ["BRK822"],
    "again = torch.compile(NET)": ["BRK806"],
    "torch.jit.trace(NET, x)": ["BRK820"],
    "try:\n    NET(x)\nexcept Exception:\n    pass": [],
}


def written(made: str, wrapped: str, used: list[str], called: str, in_main: bool = False) -> str:
    """A training script: a function that makes, wraps and uses a model, or the same at the end of
    the file."""
    name = "model" if wrapped.startswith("model =") else "net"
    lines = "\n".join([made, "x = torch.ones(2, 8)", wrapped, *used]).replace("NET", name)
    body = "    " + lines.replace("\n", "\n    ")
    if in_main:
        return f"{HEAD}\n\nwhich, flag, given = 'net', True, Net()\nif __name__ == '__main__':\n{body}\n"
    return f"{HEAD}\n\nGLOBAL = Net()\n\n\ndef main(which, flag, given: nn.Module):\n{body}\n\n\n{called}\n"


@pytest.fixture
def codes(tmp_path):
    """Writes a script and gives the codes of what is found in it."""

    def found(*script, **options) -> list[str]:
        path = tmp_path / "train.py"
        path.write_text(written(*script, **options))
        result = analyze([path])
        assert not result.errors and not result.notes
        return [finding.code for finding in result.findings]

    return found


@pytest.mark.parametrize("in_main", [False, True])
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_plain_use_has_no_findings(codes, wrapped, in_main):
    used = USED[:6] if wrapped.startswith("model =") else USED
    for made in MADE:
        assert codes(made, wrapped, used, CALLED, in_main=in_main) == [], made


@pytest.mark.parametrize("made", OTHERWISE_MADE)
def test_what_is_wrapped_counts(codes, made):
    assert codes(made, WRAPPED[0], USED[:1], CALLED) == OTHERWISE_MADE[made]


@pytest.mark.parametrize("wrapped", OTHERWISE_WRAPPED)
def test_how_it_is_wrapped_counts(codes, wrapped):
    assert codes(MADE[0], wrapped, USED[:1], CALLED) == OTHERWISE_WRAPPED[wrapped]


@pytest.mark.parametrize("used", OTHERWISE_USED)
def test_how_it_is_used_counts(codes, used):
    assert codes(MADE[0], WRAPPED[0], [*USED[:1], used], CALLED) == OTHERWISE_USED[used]


@pytest.mark.parametrize("handler", ["except", "except*"])
def test_fullgraph_beside_a_handler_is_found(codes, handler):
    used = f"try:\n    NET(x)\n{handler} Exception:\n    pass"
    assert codes(MADE[0], WRAPPED[3], [used], CALLED) == ["BRK815"]


def test_a_function_that_wraps_what_it_is_given_counts_in_a_loop(codes):
    script = ("pass", "net = torch.compile(given)", USED[:1])
    assert codes(*script, "main('net', True, GLOBAL)") == []
    loop = "for r in range(3):\n    main('net', True, GLOBAL)"
    assert codes(*script, loop) == ["BRK802"]


def test_an_option_called_compile_is_no_wrapping(codes):
    wrapped = "net = torch.compile(model) if flag.compile and not flag.eager else model"
    assert codes(MADE[0], wrapped, USED[:1], CALLED) == []
    made = "if flag.compile:\n    print(flag)\nmodel = Net()"
    assert codes(made, WRAPPED[0], USED[:1], CALLED) == []
