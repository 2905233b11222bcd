"""What torch.compile returned, and what it was given, are told apart wherever the program hands them. Each
program was measured under torch 2.13: it compiles again where it says so, and nowhere else."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x, number):
        return self.layer(x) * number  # NUMBER


def scaled(x, number):
    return x * number  # NUMBER


X = torch.ones(2, 4)


"""
COMPILES_AGAIN = {
    "a parameter that is named like the module": """
        def train(model):
            for number in (1.0, 2.0):
                model(X, number)

        model = Net()
        fast = torch.compile(model)
        train(fast)
    """,
    "an attribute that is named like the module": """
        class Trainer:
            def __init__(self, model):
                self.model = model

            def run(self):
                for number in (1.0, 2.0):
                    self.model(X, number)

        def main():
            model = Net()
            Trainer(torch.compile(model)).run()

        main()
    """,
    "both in one dict": """
        functions = {"eager": scaled, "compiled": torch.compile(scaled)}
        for number in (1.0, 2.0):
            for function in functions.values():
                function(X, number)
    """,
    "compiled when asked to": """
        import sys

        net = Net()
        if "--compile" in sys.argv:
            net = torch.compile(net)
        for number in (1.0, 2.0):
            net(X, number)
    """,
    "a decorator of its own": """
        def fast(function):
            return torch.compile(function)

        @fast
        def halved(x, number):
            return x / number  # NUMBER

        for number in (1.0, 2.0):
            halved(X, number)
    """,
    "a forward that is replaced": """
        net = Net()
        net.forward = torch.compile(net.forward)
        for number in (1.0, 2.0):
            net(X, number)
    """,
    "what was compiled in place": """
        net = Net()
        net.compile()
        for number in (1.0, 2.0):
            net(X, number)
    """,
    "partials of what is compiled": """
        import functools

        net = torch.compile(Net())
        for run in (functools.partial(net, number=1.0), functools.partial(net, number=2.0)):
            run(X)
    """,
    "partials of a compiled function": """
        import functools

        fast = torch.compile(scaled)
        for run in (functools.partial(fast, number=1.0), functools.partial(fast, number=2.0)):
            run(X)
    """,
    "how many differ": """
        fast = torch.compile(scaled)
        for groups in ([0] * 2 + [1] * 2, [0, 1, 2] * 2):
            fast(X, len(set(groups)))
    """,
    "state that is set on the original": """
        class Rated(Net):
            rate = 1.0

            def forward(self, x):
                return self.layer(x) * self.rate  # NUMBER

        net = Rated()
        fast = torch.compile(net)
        for number in (1.0, 2.0, 3.0):
            net.rate = number
            fast(X)
    """,
}
QUIET = {
    "a partial of the original": """
        import functools

        net = Net()
        torch.compile(net)(X, 1.0)
        functools.partial(net, number=2.0)(X)
    """,
    "the original through a helper": """
        def measured(function, number):
            for _ in range(2):
                function(X, number)

        net = Net()
        fast = torch.compile(net)
        measured(net, 2.0)
        measured(fast, 1.0)
    """,
    "one after the other": """
        for function, number in ((scaled, 1.0), (torch.compile(scaled), 2.0)):
            function(X, number)
    """,
    "what the wrapper holds": """
        net = torch.compile(Net())
        net(X, 1.0)
        net._orig_mod(X, 2.0)
    """,
}


def lines_of(folder, program):
    source = HEAD + textwrap.dedent(program).lstrip("\n")
    lines = source.splitlines()
    return [lines[line - 1] for _, line in found(analysed(folder, {"run.py": source}))]


@pytest.mark.parametrize("what", COMPILES_AGAIN)
def test_calls_of_what_is_compiled_count(what, tmp_path):
    seen = lines_of(tmp_path, COMPILES_AGAIN[what])
    assert seen and all("# NUMBER" in line for line in seen)


@pytest.mark.parametrize("what", QUIET)
def test_calls_of_the_original_do_not(what, tmp_path):
    assert lines_of(tmp_path, QUIET[what]) == []


def test_a_module_of_torch_in_place_compiles_nothing(tmp_path):
    program = """
        net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        net.compile()
        for n in (2, 4):
            net(torch.ones(n, 4))
    """
    assert lines_of(tmp_path, program) == ["net.compile()"]


def test_modules_in_a_module_of_torch_that_is_compiled_in_place_are_compiled_by_themselves(
    tmp_path,
):
    program = """
        class Block(nn.Module):
            def __init__(self, before, after):
                super().__init__()
                self.layer = nn.Linear(before, after)

            def forward(self, x):
                return self.layer(x)  # BLOCK

        class Whole(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(Block(4, 8), Block(8, 2))

            def forward(self, x):
                return self.body(x)

        net = Whole()
        net.body.compile()
        net(X)
    """
    seen = {line.strip() for line in lines_of(tmp_path, program)}
    assert seen == {"return self.layer(x)  # BLOCK", "net.body.compile()"}


PARTLY = """
    class Loud(nn.Module):
        def forward(self, x):
            print("there")  # LOUD
            return x

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.loud, self.net = Loud(), Net()

        def forward(self, x):
            return self.net(self.loud(x), 2.0)

    both = Both()
    CALL
"""


def test_modules_that_the_program_only_calls_eagerly_are_no_regions(tmp_path):
    calls = "both.net = torch.compile(both.net)\n    both(X)"
    assert lines_of(tmp_path, PARTLY.replace("CALL", calls)) == []


@pytest.mark.parametrize("calls", ["both(X)", "both(X)\n    torch.compile(both)(X)"])
def test_modules_that_are_compiled_as_well_are_regions(calls, tmp_path):
    seen = lines_of(tmp_path, PARTLY.replace("CALL", calls))
    assert [line.strip() for line in seen] == ['print("there")  # LOUD']


def test_what_a_gradient_of_torch_func_gives_requires_grad_where_its_function_does(tmp_path):
    program = """
        layer = nn.Linear(4, 1)
        score = torch.compile(torch.func.grad(lambda x: layer(x).sum()))
        x = torch.randn(2, 4)
        for _ in range(3):
            x = x - score(x)
    """
    assert [line.strip() for line in lines_of(tmp_path, program)] == ["x = x - score(x)"]
