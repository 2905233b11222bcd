"""Dicts: what their methods give and what their keys stand for. The body of each program begins in
line 9; the branches on tensors break under Dynamo of torch 2.13.0, the others do not."""

import pytest
from programs import analysed, found, region

BODIES = {
    "a key": ("d = {'a': x.sum(), 'b': 2}\nif d['a'] > 0:\n    x = x + 1\n", [("BRK101", 10)]),
    "another key": ("d = {'a': x.sum(), 'b': 2}\nif d['b'] > 0:\n    x = x + 1\n", []),
    "a key that is set": (
        "d = {}\nd['a'] = x.sum()\nif d['a'] > 0:\n    x = x + 1\n",
        [("BRK101", 11)],
    ),
    "get": ("d = {'a': x.sum()}\nif d.get('a', 1) > 0:\n    x = x + 1\n", [("BRK101", 10)]),
    "get of a missing key": ("d = {'a': x.sum()}\nif d.get('b', 1) > 0:\n    x = x + 1\n", []),
    "pop": ("d = {'a': x.sum()}\nif d.pop('a') > 0:\n    x = x + 1\n", [("BRK101", 10)]),
    "a key that is gone": (
        "d = {'a': x.sum()}\nd.pop('a')\nif d.get('a', 1) > 0:\n    x = x + 1\n",
        [],
    ),
    "setdefault": (
        "d = {}\nif d.setdefault('a', x.sum()) > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "update": (
        "d = {'b': 1}\nd.update(a=x.sum())\nif d['a'] > 0:\n    x = x + 1\nif d['b'] > 0:\n    x = x + 1\n",
        [("BRK101", 11)],
    ),
    "values": (
        "for v in {'a': x.sum()}.values():\n    if v > 0:\n        x = x + 1\n",
        [("BRK101", 10)],
    ),
    "items": (
        "for k, v in {'a': x.sum()}.items():\n    if k == 'a':\n        x = x + 1\n    if v > 0:\n        x = x + 1\n",
        [("BRK101", 12)],
    ),
    "two dicts as one": (
        "d = {'a': 1} | {'a': x.sum()}\nif d['a'] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "a copy": ("d = {'a': x.sum()}.copy()\nif d['a'] > 0:\n    x = x + 1\n", [("BRK101", 10)]),
    "a comprehension": (
        "d = {k: x.sum() for k in ('a', 'b')}\nif d['b'] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "its keys, length and type": (
        "d = {'a': x.sum()}\nif 'a' in d and len(d) == 1 and isinstance(d, dict) and type(d) is dict:\n"
        "    x = x + 1\n",
        [],
    ),
    "a key that is not there": ("d = {'a': 1}\nif 'b' in d:\n    x = x + x.item()\n", []),
    "whether keys are shared": (
        "d = {'a': x}\nif d.keys().isdisjoint({'b'}):\n    x = x + 1\n",
        [("BRK542", 10)],
    ),
    "whether items are shared": (
        "d = {'a': 1}\nif d.items().isdisjoint([]):\n    x = x + 1\n",
        [("BRK542", 10)],
    ),
    "unpacked into a call": (
        "d = {'a': x.sum()}\nif dict(**d)['a'] > 0:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_dict(name, tmp_path):
    body, expected = BODIES[name]
    assert found(region(tmp_path, body)) == expected


def test_a_dict_made_of_keys_is_traced(tmp_path):
    body = "x = x * len(dict.fromkeys(['a', 'b'])) + len(dict.fromkeys([1], 0))\n"
    assert found(region(tmp_path, body, "torch.ones(2)")) == []


def test_an_argument_that_is_called_a_dict_and_has_attributes(tmp_path):
    source = """\
import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self, args: dict):
        super().__init__()
        self.sizes, self.names = args.sizes, list(args.keys())

    def forward(self, x):
        if len(self.names) > 2:
            x = x + 1
        return x.reshape(-1, np.prod(self.sizes))
"""
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK208", 13)]


@pytest.mark.parametrize(
    ("missing", "is_tensor"), [("False", False), ("'none'", False), ("1.0", True)]
)
def test_a_flag_among_the_tensors_of_an_argument(missing, is_tensor, tmp_path):
    source = (
        "import torch\n\n\n@torch.compile\ndef f(x, batch: dict[str, torch.Tensor]):\n"
        f"    return x if batch.get('a', {missing}) else x + 1\n"
    )
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK101", 6)] * is_tensor


def test_sorting_the_keys_of_a_dict_by_what_it_holds(tmp_path):
    body = "d = {'a': 2, 'b': 1}\nreturn x + len(sorted(d, key=d.get))\n"
    result = region(tmp_path, body)
    assert found(result) == [] and result.gaps == ()


@pytest.mark.parametrize(
    "put",
    [
        "self.kept[name].append(x)",
        "self.by_name.setdefault(name, []).append(x)",
        "self.by_name.setdefault('all', []).append(x)",
    ],
)
def test_lists_of_keys_that_are_not_known_are_of_any_length(put, tmp_path):
    held = put.partition(".append")[0].replace(".setdefault(", "[").replace(", [])", "]")
    source = (
        "import torch\nfrom collections import defaultdict\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.kept, self.by_name = defaultdict(list), {}\n\n"
        f"    def forward(self, x: torch.Tensor, name):\n        {put}\n"
        f"        if len({held}) == 3:\n            x = x * x.max().item()\n        return x\n"
    )
    result = analysed(tmp_path, {"net.py": source})
    assert ("BRK201", 13) in found(result)


def test_a_key_that_was_deleted_is_no_argument_that_does_not_fit(tmp_path):
    source = """import torch


def read(x):
    return x.sum().item()


def renamed(x, **options):
    options["old"] = options.pop("new")
    del options["old"]
    return read(x, **options)


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        try:
            return renamed(x, new=1)
        except ValueError:
            return x
"""
    assert found(analysed(tmp_path, {"net.py": source})) == [("BRK201", 5)]


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("del self.kept['last']", []),
        ("self.kept.pop('last')", []),
        ("self.kept.pop('last', None)", [10]),
        ("del self.kept['first']", [10]),
    ],
)
def test_a_key_that_was_taken_out_is_no_new_one(before, lines, tmp_path):
    source = f"""\
        import torch


        class Net(torch.nn.Module):
            def __init__(self, kept: dict):
                super().__init__()
                self.kept = dict(kept)

            def forward(self, x):
                {before}; self.kept['last'] = x * 2
                return x + 1
        """
    assert [line for _, line in found(analysed(tmp_path, {"net.py": source}))] == lines


@pytest.mark.parametrize(
    ("first", "step", "expected"),
    [
        ('{"a": {}}', 'self.kept["a"]["k"] = x * 2', [("BRK704", 8)]),
        ("[{}, {}]", 'self.kept[0]["k"] = x * 2', [("BRK704", 8)]),
        (
            "defaultdict(dict)",
            'state = self.kept["a"]; state["k"] = state.get("k", 0)',
            [("BRK704", 8)],
        ),
        ('{"a": {"k": None}}', 'self.kept["a"]["k"] = x * 2', []),
        ('{n: {"k": None} for n in ("a", "b")}', 'self.kept["a"]["k"] = x * 2', []),
        ('{"a": {}}', 'self.kept["a"] = {}; self.kept["a"]["k"] = x * 2', []),
    ],
)
def test_a_dict_inside_of_another_gains_a_key(first, step, expected, tmp_path):
    source = f"""\
        import torch
        from collections import defaultdict
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.kept = {first}
            def forward(self, x):
                {step}
                return x + 1
        def make():
            return Model(), (torch.ones(3),), {{}}
        """
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert [place for place in found(result) if place[0] == "BRK704"] == expected


def test_an_optimizer_of_the_users_has_no_state_before_its_first_step(tmp_path):
    source = """\
        import torch
        class Mine(torch.optim.Optimizer):
            def __init__(self, params, lr=0.1):
                super().__init__(params, dict(lr=lr))
            @torch.no_grad()
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        state = self.state[p]
                        if state and state["m"].sum() > 3:
                            continue
                        if len(state) == 0:
                            state["m"] = torch.zeros_like(p)
                        p.add_(state["m"], alpha=-group["lr"])
        def make():
            net = torch.nn.Linear(4, 2)
            return Mine(net.parameters()).step, (), {}
        """
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert found(result) == [("BRK101", 10), ("BRK704", 13)]
