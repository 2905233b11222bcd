"""Dictionaries of tensors as tensordict has them. Each body breaks at its last line under Dynamo of torch
2.13.0 and tensordict 0.15, or does not break where no code is given."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch
from tensordict import TensorDict


def step(td: TensorDict, key: str):
    {body}
"""
CASES = {
    "an item": ("return td['a'] if td['b'].all() else -td['a']", "BRK101"),
    "by the method": ("return td['a'] if td.get('b').all() else -td['a']", "BRK101"),
    "under a path": ("return td['n', 'c'].max().item()", "BRK201"),
    "under a name that is an argument": ("return td[key].max().item()", "BRK201"),
    "of a copy": ("return td.clone()['a'].max().item()", "BRK201"),
    "of a row": ("return td[0]['a'].max().item()", "BRK201"),
    "of one that is made here": (
        "made = TensorDict({'q': td['a']}, batch_size=td.batch_size)\n    return made['q'].max().item()",
        "BRK201",
    ),
    "each of its tensors": ("return [value.max().item() for key, value in td.items()]", "BRK201"),
    "in a loop": ("while not td['b'].all(): td['b'] = td['b'] | True", "BRK103"),
    "a store": ("td['z'] = td['a'] + 1\n    return td.set('y', td['a'])", ""),
    "its keys": ("return td['a'] if 'a' in td.keys() else td['b']", ""),
    "its sizes": ("return td['a'] if td.batch_size[0] > 2 else td['b']", ""),
}
SOURCE = {
    "tensordict/__init__.py": "from tensordict._td import TensorDict\n",
    "tensordict/base.py": "import torch\n\n\nclass TensorDictBase:\n    def __getitem__(self, index):\n        return self._get(index)\n",
    "tensordict/_td.py": "from tensordict.base import TensorDictBase\n\n\nclass TensorDict(TensorDictBase):\n    def __init__(self, source, batch_size):\n        self.source = source\n",
}


@pytest.mark.parametrize("files", [{}, SOURCE], ids=["not installed", "installed"])
@pytest.mark.parametrize("name", CASES)
def test_what_a_dictionary_of_tensors_holds(name, files, tmp_path):
    body, code = CASES[name]
    program = PROGRAM.format(body=body)
    result = analysed(tmp_path, files | {"program.py": program}, "program.py::step")
    assert {rule for rule, _ in found(result)} == {code} - {""}
