"""What a break that a condition decides does to the code around it, under that condition. Measured under torch
2.13 and Python 3.11: GB4347 at the comprehension when the flag is set, nothing when it is not."""

import textwrap

import pytest
from programs import analysed, found, seen

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, flag: bool):
        super().__init__()
        self.flag = flag
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def one(self, x, y):
        if self.flag:
            return x
        if y.sum() > 0:
            x = x * 2
        return x

"""
BEHIND = {
    "in the loop before": (
        """
        def forward(self, x):
            for layer in self.layers:
                if self.flag:
                    x = x * x.sum().item()
            return [layer(x) for layer in self.layers]
        """,
        "self.flag",
    ),
    "in what the comprehension calls": (
        """
        def forward(self, x, y):
            return [self.one(a, b) for a, b in zip(x.split(1), y.split(1))]
        """,
        "not self.flag",
    ),
    "beside a condition of its own": (
        """
        def forward(self, x, y=None):
            for layer in self.layers:
                if self.flag:
                    x = x * x.sum().item()
            if y is not None:
                return [layer(x) for layer in self.layers]
            return x
        """,
        "y is not None and self.flag",
    ),
    "in what the loop calls": (
        """
        def forward(self, x: torch.Tensor, y: torch.Tensor):
            for layer in self.layers:
                x = self.one(x, y)
            return [layer(x) for layer in self.layers]
        """,
        "not self.flag",
    ),
}
NOT_BEHIND = {
    "the break is resumed": """
        def forward(self, x):
            if self.flag:
                x = x * x.sum().item()
            return [layer(x) for layer in self.layers]
    """,
    "a graph has it before": """
        def forward(self, x):
            y = [layer(x) for layer in self.layers]
            print(x)
            for layer in self.layers:
                if self.flag:
                    x = x * x.sum().item()
            return x, y
    """,
}


def comprehensions(tmp_path, body):
    source = HEAD + textwrap.indent(textwrap.dedent(body), "    ")
    result = analysed(tmp_path, {"model.py": source})
    return [f.condition for f in result.findings if f.code == "BRK113"]


@pytest.mark.parametrize(("body", "condition"), BEHIND.values(), ids=BEHIND)
def test_a_comprehension_runs_by_itself_where_a_break_does_that_a_condition_decides(
    body, condition, tmp_path
):
    assert comprehensions(tmp_path, body) == [condition]


@pytest.mark.parametrize("body", NOT_BEHIND.values(), ids=NOT_BEHIND)
def test_a_comprehension_that_stays_in_a_graph_is_none(body, tmp_path):
    assert comprehensions(tmp_path, body) == []


ROTARY = """\
def turned(x, kind):
    if kind == "dynamic":
        print(x)
    return x * 2
"""
OVER_KINDS = """\
import torch
from torch import nn
{above}


class Net(nn.Module):
    def __init__(self, kind="default"):
        super().__init__()
        self.kind = kind

    def forward(self, x: torch.Tensor):
        made = {{name: turned(x, self.kind) for name in {{"a": 1}}.keys()}}
        return made["a"] + 1
"""


def test_what_another_file_decides_is_said_there_only(tmp_path):
    here = analysed(tmp_path / "here", {"net.py": OVER_KINDS.format(above=ROTARY)})
    assert {code for code, _ in found(here)} == {"BRK113", "BRK401"}
    files = {
        "net.py": OVER_KINDS.format(above="from rotary import turned"),
        "rotary.py": ROTARY,
    }
    assert {code for code, _ in found(analysed(tmp_path / "there", files))} <= {"BRK401", "BRK410"}


MADE_INSIDE = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, indices, flag):
        super().__init__()
        if flag:
            print(indices)
        self.indices = indices


class Reader:
    def __init__(self, flag):
        self.flag = flag

    def read(self, x):
        if self.flag:
            print(x)
        return x + 1


class Net(nn.Module):
    def __init__(self, flag: bool):
        super().__init__()
        self.flag = flag

    def forward(self, x):
{body}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    (
        # GB0092 at the call, GB0119 at `super().__init__()` (torch 2.13), and neither without the flag
        ("reader = Reader(self.flag)\nreturn reader.read(x)", ("BRK558", 30)),
        ("layer = Layer([1, 2], self.flag)\nreturn x + layer.indices[0]", ("BRK560", 7)),
    ),
)
def test_a_break_that_a_condition_decides_in_what_an_object_made_here_runs(
    body, expected, tmp_path
):
    source = MADE_INSIDE.format(body=textwrap.indent(body, "        "))
    result = analysed(tmp_path, {"net.py": source})
    conditions = {(f.code, f.line): f.condition for f in result.findings}
    assert conditions[expected].endswith("flag")
    decided = analysed(tmp_path, {"net.py": source.replace("self.flag)", "False)")})
    assert found(decided) == []


CELLS = """\
import torch
from torch import nn


class Cell(nn.Module):
    def forward(self, x, state=None, kind="plain"):
        if state is None:
            print(x)
        if kind == "loud":
            print(x)
        return x + 1


class Net(nn.Module):
    def __init__(self, kind: str):
        super().__init__()
        self.kind = kind
        self.cells = nn.ModuleList([Cell(), Cell()])

    def forward(self, x: torch.Tensor, state=None):
        made = [torch.zeros(3) for _ in self.cells]
        for i, cell in enumerate(self.cells):
            x = cell(x, {handed})
        return [cell(x, made[0]) for cell in self.cells]
"""


@pytest.mark.parametrize(
    ("handed", "condition"),
    [
        ("state", ["state is None"]),
        ("state[i]", []),  # where that is None has no words in the caller
        ("made[i], self.kind", ["self.kind == 'loud'"]),
        ("made[i], kind=self.kind", ["self.kind == 'loud'"]),
    ],
)
def test_a_condition_of_what_is_called_is_said_with_what_is_handed_to_it(
    handed, condition, tmp_path
):
    result = analysed(tmp_path, {"net.py": CELLS.format(handed=handed)})
    # of either comprehension, since the break skips the function
    assert [f.condition for f in result.findings if f.code == "BRK113"] == condition * 2


def test_one_of_two_opposite_conditions_always_holds(tmp_path):
    source = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, fast: bool):
        super().__init__()
        self.fast = fast
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            if self.fast:
                x = x * x.sum().item()
            else:
                x = x + x.mean().item()
        return [layer(x) for layer in self.layers]
"""
    result = analysed(tmp_path, {"net.py": source})
    assert [(f.code, f.line, f.condition) for f in result.findings] == [
        ("BRK201", 14, "self.fast"),
        ("BRK201", 16, "not self.fast"),
        ("BRK113", 17, ""),
    ]


RESUMED = "            x = x * x.sum().item()\n"
SKIPPED = "            for layer in self.layers:\n                x = x * x.sum().item()\n"


@pytest.mark.parametrize(
    ("first", "second", "condition"),
    [
        (SKIPPED, RESUMED, ["self.fast"]),
        (RESUMED, SKIPPED, ["not self.fast"]),
        (SKIPPED, SKIPPED, [""]),
        (RESUMED, RESUMED, []),
    ],
)
def test_an_arm_that_is_resumed_leaves_the_other_its_condition(first, second, condition, tmp_path):
    """A break in a loop skips the function; one outside of loops does not."""
    source = f"""import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, fast: bool):
        super().__init__()
        self.fast = fast
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x: torch.Tensor):
        if self.fast:
{first}        else:
{second}        return [layer(x) for layer in self.layers]
"""
    result = analysed(tmp_path, {"net.py": source})
    assert [f.condition for f in result.findings if f.code == "BRK113"] == condition


@pytest.mark.parametrize("other", ["Plain", "Reads"])
def test_one_of_several_layers_breaks_in_a_loop(other, tmp_path):
    """What is behind the loop is left to Python where the layer that breaks is in it, which is not said to be so."""
    source = f"""import torch
from torch import nn


class Reads(nn.Module):
    def forward(self, x):
        return x * x.sum().item()


class Plain(nn.Module):
    def forward(self, x):
        return x * 2


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        kind = config.get("kind", "plain")
        self.stack = nn.ModuleList()
        for _ in config.get("hidden", [4, 4]):
            if kind == "reads":
                layer = Reads()
            else:
                layer = {other}()
            self.stack.append(layer)
        self.gru = nn.GRU(4, 4)

    def forward(self, x: torch.Tensor):
        for layer in self.stack:
            x = layer(x)
        return self.gru(x)
"""
    result = found(analysed(tmp_path, {"net.py": source}))
    assert result == [("BRK201", 7), *([("BRK503", 31)] if other == "Plain" else [])]


@pytest.mark.parametrize(
    ("test", "is_shown"),
    [
        ("self.third", True),
        ("self.third or self.fourth", True),
        ("not self.third", False),
        ("self.training", True),
    ],
)
def test_what_stands_behind_the_ways_of_many_kinds(test, is_shown, tmp_path):
    source = f"""\
import torch


class Net(torch.nn.Module):
    def __init__(self, first, second, third, fourth):
        super().__init__()
        self.first, self.second, self.third, self.fourth = first, second, third, fourth

    def forward(self, x):
        if self.first:
            return x * 2
        elif self.second:
            return x * 3
        elif {test}:
            return x * x.sum().item()
        return x
"""
    result = analysed(tmp_path, {"net.py": source})
    assert seen(result) == [("BRK201", 15)]
    assert found(result) == ([("BRK201", 15)] if is_shown else [])


@pytest.mark.parametrize(("name", "is_shown"), [("exported", True), ("is_torchscript", False)])
def test_a_part_that_is_another_one_where_the_model_is_exported(name, is_shown, tmp_path):
    source = f"""\
import torch


class Reads(torch.nn.Module):
    def forward(self, x):
        return x * x.sum().item()


class Net(torch.nn.Module):
    def __init__(self, {name}):
        super().__init__()
        if {name}:
            self.part = torch.nn.LSTM(3, 3)
        else:
            self.part = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.part(x)
"""
    result = analysed(tmp_path, {"net.py": source})
    assert ("BRK503", 18) in seen(result)
    assert (("BRK503", 18) in found(result)) is is_shown
