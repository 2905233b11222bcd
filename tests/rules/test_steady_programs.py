"""Programs whose calls look as if they varied and do not: Dynamo compiles once, and source analysis
says nothing."""

import importlib.util
import textwrap

import pytest
import torch
from capture import recording

from breakscope.static import StaticOptions, analyze

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.epoch = 0

    def forward(self, x):
        return self.linear(x).relu()

def make():
    return Net(), (torch.ones(2, 4),), {}
"""

PROGRAMS = {
    "an attribute that the region does not read": NET
    + """
def drive(call, model):
    for epoch in range(4):
        model.epoch = epoch
        call(torch.ones(2, 4))
""",
    "train and eval without a layer that looks at it": NET
    + """
def drive(call, model):
    model.train()
    call(torch.ones(2, 4))
    model.eval()
    call(torch.ones(2, 4))
""",
    "always without gradients": NET
    + """
def drive(call, model):
    with torch.no_grad():
        for _ in range(3):
            call(torch.ones(2, 4))
""",
    "autocast that is off": NET
    + """
def drive(call, model):
    call(torch.ones(2, 4))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
        call(torch.ones(2, 4))
""",
    "a global that another function reads": """
SCALE = 1

def report():
    return SCALE

def scale(x):
    return x * 2

def make():
    return scale, (torch.ones(3),), {}

def drive(call, model):
    global SCALE
    for SCALE in (1, 2, 3):
        call(torch.ones(3))
""",
    "a key that the region does not read": """
OPTIONS = {"power": 2, "name": "a"}

def scale(x):
    return x * OPTIONS["power"]

def make():
    return scale, (torch.ones(3),), {}

def drive(call, model):
    for name in ("a", "b", "c"):
        OPTIONS["name"] = name
        call(torch.ones(3))
""",
    "equal objects made anew": """
class Options:
    def __init__(self, factor, label):
        self.factor = factor
        self.label = label

def scale(x, options):
    return x * options.factor

def make():
    return scale, (torch.ones(3), Options(2, "a")), {}

def calls():
    return [(torch.ones(3), Options(2, "a")), (torch.ones(3), Options(2, "b"))]
""",
    "a step that is a tensor": """
def scale(x, step):
    return x * step

def make():
    return scale, (torch.ones(3), torch.tensor(1)), {}

def calls():
    return [(torch.ones(3), torch.tensor(n)) for n in (1, 2, 3)]
""",
    "a counter that a context manager sets back": """
class Depth:
    level = 0

    def __enter__(self):
        Depth.level += 1

    def __exit__(self, *exception):
        Depth.level -= 1

def scale(x):
    with Depth():
        return x * Depth.level

def make():
    return scale, (torch.ones(3),), {}

def calls():
    return [(torch.ones(3),) for _ in range(3)]
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_recompiles_and_nothing_is_flagged(tmp_path, name):
    path = tmp_path / "program.py"
    path.write_text("import torch\n" + textwrap.dedent(PROGRAMS[name]), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("steady_program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    target = program.make()[0]
    with recording() as seen:
        compiled = torch.compile(target, backend="eager")
        if hasattr(program, "drive"):
            program.drive(compiled, target)
        else:
            for arguments in program.calls():
                compiled(*arguments)
    assert seen.graphs == 1 and seen.families == []
    result = analyze([path], StaticOptions(entries=(f"{path}::make",)))
    assert result.findings == () and not result.errors
