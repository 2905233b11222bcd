"""What a module keeps is None in the first call and a tensor in the next, which Dynamo compiles anew. Measured under torch
2.13: the marked lines break in the second call."""

import textwrap

import pytest
from programs import analysed, found

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, flag: bool = False):
        super().__init__()
        self.kept = None
        self.flag = flag

"""
KEPT = {
    "compared in the test itself": (
        """
        def forward(self, x):
            if self.kept is None or not torch.equal(self.kept, x):
                self.kept = x
            return x + 1
        """,
        [12],
    ),
    "in a helper": (
        """
        def is_other(self, x):
            return self.kept is None or not torch.equal(self.kept, x)

        def forward(self, x):
            if self.is_other(x):
                self.kept = x
            return x + 1
        """,
        [12],
    ),
    "set behind the look": (
        """
        def forward(self, x):
            if self.kept is not None:
                if self.kept.sum() > 0:
                    return x
            self.kept = x
            return x + 1
        """,
        [13],
    ),
    "a flag that the first call sets": (
        """
        def forward(self, x):
            if not self.flag:
                self.flag = True
                return x * 2
            return x.relu() if x.sum() > 0 else x
        """,
        [15],
    ),
    "set before each look": (
        """
        def forward(self, x):
            self.kept = None
            if self.kept is not None and self.kept.sum() > 0:
                return x
            self.kept = x
            return x + 1
        """,
        [],
    ),
    "no tensor": (
        """
        def forward(self, x):
            if self.kept is not None and self.kept.sum() > 0:
                return x
            self.kept = 3
            return x + 1
        """,
        [],
    ),
}


@pytest.mark.parametrize(("body", "lines"), KEPT.values(), ids=KEPT)
def test_a_break_in_what_only_the_second_call_runs(body, lines, tmp_path):
    source = HEAD + textwrap.indent(textwrap.dedent(body).lstrip("\n"), "    ")
    breaks = [(c, n) for c, n in found(analysed(tmp_path, {"model.py": source})) if c != "BRK707"]
    assert [line for _, line in breaks] == lines


def test_an_item_that_is_none_in_some_calls_and_of_several_sizes_in_others(tmp_path):
    program = """\
import torch


@torch.compile(backend="eager")
def step(**inputs):
    total = inputs["image"].sum()
    if inputs["text"] is not None:
        total = total + inputs["text"].sum()
    return total


for text in ({texts}):
    step(image=torch.ones(4), text=text)
"""

    def codes(texts):
        result = analysed(tmp_path, {"run.py": program.replace("{texts}", texts)})
        return sorted({code for code, _ in found(result)})

    assert codes("torch.ones(3), None, torch.ones(5)") == ["BRK711", "BRK712"]
    assert codes("torch.ones(3), None, torch.ones(3)") == ["BRK711"]


def test_a_counter_of_a_class_that_sizes_are_added_to(tmp_path):
    program = """\
import torch


class Stats:
    tokens = 0


@torch.compile(backend="eager")
def step(ids):
    last = ids[:, -3:]
    Stats.tokens += last.size(1)
    return last * 2


def main():
    ids = torch.ones(1, 4)
    while ids.size(1) < 9:
        ids = torch.cat([ids, step(ids)[:, :1]], 1)


main()
"""
    assert found(analysed(tmp_path, {"run.py": program})) == [("BRK712", 10), ("BRK701", 11)]


SET_BEFORE_READ = (
    HEAD
    + """\
    def run(self, x, more):
        if more:
            x = x + 1
        self.kept = x.dtype
        return x.to(self.kept)

    def forward(self, x):
        if self.training:
            return {calls}
        return x
"""
)


@pytest.mark.parametrize(
    ("calls", "codes"),
    [
        ("self.run(x, None) + self.run(x, 1)", []),
        ("(x if self.kept is None else x + 1) + self.run(x, 1)", ["BRK707"]),
    ],
)
def test_what_the_region_itself_has_set_before_it_reads_it(calls, codes, tmp_path):
    result = analysed(tmp_path, {"net.py": SET_BEFORE_READ.format(calls=calls)})
    assert [code for code, _ in found(result)] == codes
