"""Objects of packages that Dynamo skips, as a progress bar is: each way to go over one ends the graph (GB0008), under
torch 2.13.0 on these lines and no others."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from tqdm.auto import tqdm, trange


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        bar = {made}
        y = x.sin()
        {use}
        print("end")
        return y
"""
MADE, AT, END = 7, 9, 10
LOOP = "for i in bar:\n            print(i)"
# use -> are its first line and the `print` behind it reported?
USES = {
    LOOP: (True, False),
    "for n, i in enumerate(bar):\n            print(i)": (True, False),
    "y = y + torch.stack([y + i for i in bar]).sum(0)": (True, False),
    "z = [*bar]": (True, False),
    "a, b = bar": (True, False),
    "z = 3 in bar": (True, False),
    "with bar:\n            y = y + 1": (True, False),
    "z = list(bar)": (True, True),
    "z = sum(bar)": (True, True),
    "z = zip(bar, [1, 2])": (True, True),
    "z = len(bar)": (True, True),
    'bar.set_description("a")': (True, True),
    "z = isinstance(bar, list) or bar is None or bar.total": (False, True),
}


@pytest.mark.parametrize(("use", "expected"), USES.items())
def test_what_goes_over_a_progress_bar(use, expected, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(made="tqdm([1, 2])", use=use)})
    end = END + use.count("\n")
    lines = [MADE] + [AT] * expected[0] + [end] * expected[1]
    shown = [(c, line) for c, line in found(result) if c in ("BRK548", "BRK401")]
    assert shown == [("BRK401" if line == end else "BRK548", line) for line in lines]


@pytest.mark.parametrize("made", ["trange(3)", "tqdm(total=3)"])
def test_bars_of_other_names(made, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(made=made, use=LOOP)})
    assert found(result) == [("BRK548", MADE), ("BRK548", AT)]


def test_what_stands_in_the_header_of_its_loop_is_one_place(tmp_path):
    """What the body calls Dynamo begins by itself."""
    program = """\
        import torch, tqdm, networkx

        def step(x):
            print(x)
            return x + 1

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                for _ in tqdm.tqdm(range(2)):
                    x = step(x)
                    print("body")
                return x

        class Nodes(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                graph = networkx.Graph()
                for _ in graph:
                    x = x + 1
                return x
        """
    result = analysed(tmp_path, {"net.py": program})
    expected = [("BRK401", 4), ("BRK548", 9), ("BRK548", 16), ("BRK548", 17)]
    assert found(result) == expected
