"""Lists that a module fills in its first call, behind a test of what it sets there, measured under torch 2.13: these
are compiled twice, for the flag, and are no list that grows in every call."""

import pytest
from programs import analysed, found

HEAD = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.todo, self.done, self.first = True, False, None
        self.sizes = []

    def _create(self, x):
        self.sizes.append(x.shape[0])

    def _create_and_note(self, x):
        self.sizes.append(x.shape[0])
        self.todo = False

    def _create_once(self, x):
        if self.done:
            return
        self.sizes.append(x.shape[0])
        self.done = True

    def forward(self, x):
"""
BODIES = {
    "the flag is set beside the call": """
        if self.todo:
            self._create(x)
            self.todo = False
    """,
    "the flag is set in the call": """
        if self.todo:
            self._create_and_note(x)
    """,
    "what is called returns at once later": """
        self._create_once(x)
    """,
    "what was None is filled": """
        if self.first is None:
            self.first = x.detach()
            self._create(x)
    """,
    "nobody sets the flag": """
        if self.todo:
            self._create(x)  # BRK703 in line 11
    """,
    "the flag is set, and set back": """
        if self.todo:
            self.todo = False
            self.todo = True
            self._create(x)  # BRK703 in line 11
    """,
    "another call stands behind no flag": """
        if self.todo:
            self._create(x)  # BRK703 in line 11
            self.todo = False
        self._create(x)
    """,
    "another flag is set": """
        if self.todo:
            self._create(x)  # BRK703 in line 11
            self.done = True
    """,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_list_that_is_filled_once(body, tmp_path):
    source = f"{HEAD}{body.strip(' ').lstrip(chr(10))}\n        return x * len(self.sizes)\n"
    grows = [
        line for code, line in found(analysed(tmp_path, {"net.py": source})) if code == "BRK703"
    ]
    assert grows == ([11] if "BRK703" in body else [])


LACKING = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, index=3):
        super().__init__()
        self.kept, self.index = [], index

    def __len__(self):
        return len(self.kept)

    def forward(self, x):
        missing = self.index + 1 - len({of})
        if missing > 0:
            self.kept.extend([None] * missing)
        return x + 1
"""


@pytest.mark.parametrize(
    ("of", "grows"), [("self.kept", False), ("self", False), ("self.training", True)]
)
def test_a_list_that_is_filled_up_to_a_length(of, grows, tmp_path):
    result = analysed(tmp_path, {"net.py": LACKING.format(of=of)})
    assert (("BRK703", 15) in found(result)) is grows
