"""Files that use torch.compile plainly are cleared; what the analyzer has something to say of, never."""

import random

import pytest

from breakscope.glance import is_clean
from breakscope.static import analyze

HEAD = '''
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
'''
MADE = [
    "model = Net()", "model = build()", "model, other = build_two()", "model = Net().to('cpu')", "model = MODELS[which]()",
    "model = nn.Sequential(nn.Linear(8, 8))", "model = Net() if flag else Other()", "model = given", "model = make_step(Net())",
    "model = breaking", "model = torch.jit.script(Net())", "model = lambda x: x", "model = Net().encode", "model = Net(); model.compile()",
]  # fmt: skip
WRAPPED = [
    "net = torch.compile(model)", "net = torch.compile(model) if flag else model", "net = torch.compile(model, dynamic=True)",
    "net = torch.compile(model, fullgraph=True)", "model = torch.compile(model)", "net = torch.compile(given)",
    "net = torch.compile(model, mode='max-autotune')", "net = torch.compile(model, dynamic=False)", "torch.compile(model)",
    "net = torch.compile(model, backend='inductr')", "net = torch.compile(model, mode='fast')", "net = torch.compile(breaking)",
    "net = torch.compile(torch.compile(model))", "for k in range(5):\n    net = torch.compile(model)",
    "try:\n    net = torch.compile(model)\nexcept Exception:\n    net = model", "net = torch.compile(model); net.encode(x)",
]  # fmt: skip
USED = [
    "y = NET(x)", "NET.train()", "use(NET, x)", "use(net=NET, x=x)", "opt = torch.optim.SGD(NET.parameters(), 0.1)",
    "for i in range(9):\n    loss = NET(x).sum()\n    loss.backward()", "outs = [NET(x) for _ in range(3)]",
    "start = time.time()\nfor i in range(9):\n    x = x + 1\n    NET(x)\nprint(time.time() - start)",
    "NET.encode(x)", "torch.save(NET.state_dict(), 'x.pt')", "NET.load_state_dict(torch.load('x.pt'))", "use_otherwise(NET, x)",
    "use_texts(NET, 9)", "timed(NET, x)", "isinstance(NET, Net)", "start = time.time()\nNET(x)\nspan = time.time() - start",
    "start = time.time()\nfor i in range(10):\n    NET(x)\nspan = time.time() - start", "for i in range(9):\n    NET(x, f'a{i}')",
    "for i in range(9):\n    text = f'a{i}'\n    NET(x, text)", "for i in range(9):\n    model.step = i\n    NET(x)",
    "for n in (1, 2, 3, 4):\n    NET(torch.ones(n, 8))", "try:\n    NET(x)\nexcept Exception:\n    pass",
    "again = torch.compile(NET)", "kept = NET\nkept.encode(x)", "late = lambda: NET.encode(x)\nlate()", "torch.jit.trace(NET, x)",
    "def inner():\n    return NET.encode(x)\ninner()", "return NET", "global NET", "model.encode(x)", "NET.forward(x)",
]  # fmt: skip
CALLED = ["main('net', True, Net())", "pass", "for r in range(3):\n    main('net', True, GLOBAL)",
          "try:\n    main('net', True, Net())\nexcept Exception:\n    pass"]  # fmt: skip
GOOD = {"made": MADE[:7], "wrapped": WRAPPED[:5], "used": USED[:8], "called": CALLED[:2]}


def written(made: str, wrapped: str, used: list[str], called: str, in_main: bool) -> str:
    """A training script: a function that makes, wraps and uses a model, or the same at the end of the file."""
    name = "model" if wrapped.startswith("model =") else "net"
    lines = "\n".join([made, "x = torch.ones(2, 8)", wrapped, *used]).replace("NET", name)
    body = "    " + lines.replace("\n", "\n    ")
    if in_main:
        return f"{HEAD}\n\nwhich, flag, given = 'net', True, Net()\nif __name__ == '__main__':\n{body}\n"
    return f"{HEAD}\n\nGLOBAL = Net()\n\n\ndef main(which, flag, given: nn.Module):\n{body}\n\n\n{called}\n"


def cleared(folder, text: str) -> bool:
    (folder / "train.py").write_text(text)
    return is_clean((str(folder / "train.py"),))


@pytest.mark.parametrize("made", GOOD["made"])
@pytest.mark.parametrize("wrapped", GOOD["wrapped"])
def test_plain_use_is_cleared(tmp_path, monkeypatch, made, wrapped):
    monkeypatch.chdir(tmp_path)
    used = USED[:6] if wrapped.startswith("model =") else USED[:8]
    for in_main in (False, True):
        assert cleared(tmp_path, written(made, wrapped, used, CALLED[0], in_main))
        assert not analyze([tmp_path / "train.py"]).findings


@pytest.mark.parametrize("made", MADE[8:])
def test_what_may_be_a_function_of_the_file_is_not_cleared(tmp_path, monkeypatch, made):
    monkeypatch.chdir(tmp_path)
    assert not cleared(tmp_path, written(made, WRAPPED[0], USED[:1], CALLED[0], False))


@pytest.mark.parametrize(
    "bound",
    ["match given:\n    case model:\n        pass", "for model in (breaking,):\n    pass", "import model", "if (model := breaking):\n    pass",
     "try:\n    pass\nexcept OSError as model:\n    pass", "def model(x):\n    return x", "global model", "model = breaking"],
)  # fmt: skip
def test_a_name_that_is_bound_twice_is_not_cleared(tmp_path, monkeypatch, bound):
    monkeypatch.chdir(tmp_path)
    assert not cleared(tmp_path, written(f"{MADE[0]}\n{bound}", WRAPPED[0], USED[:1], CALLED[0], False))


@pytest.mark.parametrize("handler", ["except", "except*"])
def test_fullgraph_beside_a_handler_is_not_cleared(tmp_path, monkeypatch, handler):
    monkeypatch.chdir(tmp_path)
    used = f"try:\n    NET(x)\n{handler} Exception:\n    pass"
    assert not cleared(tmp_path, written(MADE[0], WRAPPED[3], [used], CALLED[0], False))
    assert [finding.code for finding in analyze([tmp_path / "train.py"]).findings] == ["BRK815"]


@pytest.mark.parametrize("wrapped", WRAPPED[6:])
def test_other_ways_to_wrap_are_not_cleared(tmp_path, monkeypatch, wrapped):
    monkeypatch.chdir(tmp_path)
    assert not cleared(tmp_path, written(MADE[0], wrapped, USED[:1], CALLED[0], False))


@pytest.mark.parametrize("used", [use for use in USED[8:] if "NET" in use])
def test_other_ways_to_use_are_not_cleared(tmp_path, monkeypatch, used):
    """But for handlers, which matter under fullgraph=True, and sizes, which do under dynamic=False."""
    monkeypatch.chdir(tmp_path)
    plain = "except" in used or "torch.ones(n" in used
    text = written(MADE[0], WRAPPED[0], [*USED[:1], used], CALLED[0], False)
    assert cleared(tmp_path, text) == (plain and not analyze([tmp_path / "train.py"]).findings)


def test_a_function_that_wraps_what_it_is_given_in_a_loop_is_not_cleared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cleared(tmp_path, written("pass", "net = torch.compile(given)", USED[:1], "main('net', True, GLOBAL)", False))
    assert not cleared(tmp_path, written("pass", "net = torch.compile(given)", USED[:1], CALLED[2], False))
    assert [finding.code for finding in analyze([tmp_path / "train.py"]).findings] == ["BRK802"]


def test_an_option_called_compile_is_no_wrapping(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrapped = "net = torch.compile(model) if flag.compile and not flag.eager else model"
    assert cleared(tmp_path, written(MADE[0], wrapped, USED[:1], CALLED[0], False))
    assert cleared(tmp_path, written("if flag.compile:\n    print(flag)\nmodel = Net()", WRAPPED[0], USED[:1], CALLED[0], False))


@pytest.mark.parametrize("other", ["t", "flag"])
def test_a_wrapper_under_another_name_is_not_cleared(tmp_path, monkeypatch, other):
    monkeypatch.chdir(tmp_path)
    text = f"{HEAD}\n\nt = torch\n\n\n@{other}.compile\ndef main(x):\n    print(x)\n    return x + 1\n"
    assert not cleared(tmp_path, text)


def test_a_global_that_a_function_reads_is_not_cleared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = written(MADE[0], WRAPPED[0], USED[:1], "", True)
    assert cleared(tmp_path, text)
    assert not cleared(tmp_path, text.replace("class Other", "def later(x):\n    return net.encode(x)\n\n\nclass Other"))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_cleared_by_chance_is_clean(tmp_path, monkeypatch, seed):
    monkeypatch.chdir(tmp_path)
    chance, found = random.Random(seed), 0

    def one(kind: str, everything: list[str]) -> str:
        return chance.choice(GOOD[kind] if chance.random() < 0.85 else everything)

    for _ in range(80):
        used = [one("used", USED) for _ in range(chance.randint(1, 4))]
        in_main = chance.random() < 0.3
        used = [use for use in used if not (in_main and use.startswith(("return", "global")))]
        text = written(one("made", MADE), one("wrapped", WRAPPED), used, one("called", CALLED), in_main)
        if cleared(tmp_path, text):
            found += 1
            assert not analyze([tmp_path / "train.py"]).findings, text
    assert found > 5
