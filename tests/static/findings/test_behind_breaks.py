"""What a function changes behind its last break, where nothing is computed any more, is no hazard: Dynamo compiles
none of that. Measured under torch 2.13."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.count = 0
        self.seen = {}
        self.history = []

"""
QUIET = {
    "a counter behind a print": """
        def forward(self, x):
            y = self.linear(x)
            print(y.mean().item())
            self.count += 1
            return y, y.shape[0]
    """,
    "a number that is kept by name": """
        def forward(self, x):
            loss = self.linear(x).pow(2).mean()
            if self.training:
                self.seen["loss"] = loss.item()
            return loss
    """,
    "in a helper with a break": """
        def track(self, y):
            print(y.mean())
            self.count += 1

        def forward(self, x):
            y = self.linear(x)
            self.track(y)
            return y * 2
    """,
    "in a helper behind a break": """
        def track(self, value):
            self.count += 1

        def forward(self, x):
            y = self.linear(x)
            self.track(y.mean().item())
            return y
    """,
    "what is read is added up behind a break": """
        def track(self, value):
            self.count += value

        def forward(self, x):
            y = self.linear(x)
            self.track(y.mean().item())
            return y
    """,
}
LOUD = {
    "something is computed behind it": """
        def forward(self, x):
            y = self.linear(x)
            self.seen["mean"] = y.mean().item()  # HAZARD
            return y * 2
    """,
    "the list was read before": """
        def forward(self, x):
            y = self.linear(x)
            self.history.append(y.mean().item())  # HAZARD
            return y
    """,
    "in place": """
        def forward(self, x):
            y = self.linear(x)
            print(y.mean().item())
            self.count += 1  # HAZARD
            y += 1
            return y
    """,
}


def lines_of(folder, body):
    source = HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    source += "\n\n\nnet = torch.compile(Net())\nfor _ in range(4):\n    net(torch.ones(2, 3))\n"
    lines = source.splitlines()
    hazards = ("BRK701", "BRK703", "BRK704")
    return [
        lines[line - 1]
        for code, line in found(analysed(folder, {"run.py": source}))
        if code in hazards
    ]


@pytest.mark.parametrize("what", QUIET)
def test_changes_where_nothing_is_computed_are_no_hazard(what, tmp_path):
    assert lines_of(tmp_path, QUIET[what]) == []


@pytest.mark.parametrize("what", LOUD)
def test_changes_that_are_compiled_are_found(what, tmp_path):
    seen = lines_of(tmp_path, LOUD[what])
    assert len(seen) == 1 and "HAZARD" in seen[0]
