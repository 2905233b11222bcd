"""How a value gets from one name to another in plain Python: a tensor that goes this way is one in
the end, and a size is not. Dynamo broke the graph at the branch on each of these tensors (torch
2.13.0)."""

import pytest
from programs import analysed, found

HEAD = """import collections, contextlib, dataclasses, functools, itertools, operator, types
from collections import ChainMap, deque, namedtuple
import torch
from torch import nn


"""
BOX = "@dataclasses.dataclass\nclass Box:\n    a: object\n"
POINT = "Point = namedtuple('Point', 'a b')\n"
MADE_IN_C = {"BRK521", "BRK529"}  # a namespace and asdict() break by themselves
CASES = {  # v is the value, t must be the same one
    "accumulate": "t = list(itertools.accumulate([v, v]))[-1]",
    "islice": "t = list(itertools.islice([v, v], 1))[0]",
    "pairwise": "for n, t in itertools.pairwise([1, v]): pass",
    "product": "for n, t in itertools.product([1], [v]): pass",
    "zip_longest": "for n, t in itertools.zip_longest([1], [v]): pass",
    "from_iterable": "t = list(itertools.chain.from_iterable([[v], [v]]))[0]",
    "starmap": "t = list(itertools.starmap(lambda a, b: a * b, [(v, 2)]))[0]",
    "takewhile": "t = list(itertools.takewhile(lambda a: True, [v]))[0]",
    "repeat": "t = list(itertools.repeat(v, 2))[0]",
    "itemgetter": "t = operator.itemgetter(1)([1, v])",
    "attrgetter": ("t = operator.attrgetter('a')(Box(v))", BOX),
    "methodcaller": (
        "t = operator.methodcaller('get')(Box(v))",
        BOX + "\n    def get(self):\n        return self.a\n",
    ),
    "an operator as a function": "t = operator.mul(v, 2)",
    "a reduced list": "t = functools.reduce(operator.add, [v, v])",
    "fromkeys": "t = dict.fromkeys(['a'], v)['a']",
    "a chain of dicts": "t = ChainMap({'a': v}, {})['a']",
    "asdict": ("t = dataclasses.asdict(Box(v))['a']", BOX),
    "a class of dict": ("t = D(a=v)['a']", "class D(dict):\n    pass\n"),
    "its attributes": (
        "t = D(a=v).a",
        "class D(dict):\n    def __getattr__(self, k):\n        return self[k]\n",
    ),
    "a class of list": ("t = L([v])[0]", "class L(list):\n    pass\n"),
    "pop": "rows = [1, v]\n        t = rows.pop()",
    "popleft": "rows = deque([v, 1])\n        t = rows.popleft()",
    "reverse": "rows = [1, v]\n        rows.reverse()\n        t = rows[0]",
    "a slice that is set": "rows = [0, 0]\n        rows[:] = [1, v]\n        t = rows[1]",
    "a part that is set": "rows = [0, 0]\n        rows[1:] = [v]\n        t = rows[1]",
    "a class that is matched": ("match Box(v):\n            case Box(a=t): pass", BOX),
    "its fields in order": ("match Box(v):\n            case Box(t): pass", BOX),
    "a dict that is matched": "match {'a': v}:\n            case {'b': t}: t = 0\n            case {'a': t}: pass",
    "a named tuple": ("t = Point(v, 1).a", POINT),
    "a named tuple with a list of names": (
        "t = Point(1, b=v).b",
        "Point = collections.namedtuple('Point', ['a', 'b'])\n",
    ),
    "one that is unpacked": ("t, n = Point(v, 1)", POINT),
    "one that is replaced": ("t = Point(1, 1)._replace(a=v).a", POINT),
    "a class of a named tuple": (
        "t = P(v, 1).a",
        "class P(namedtuple('Point', 'a b')):\n    pass\n",
    ),
    "a namespace": "t = types.SimpleNamespace(a=v).a",
    "a context that hands it on": "with contextlib.nullcontext(v) as t: pass",
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_stays_what_it_is(name, tmp_path):
    body, before = CASES[name] if isinstance(CASES[name], tuple) else (CASES[name], "")
    source = (
        f"{HEAD}{before}\n\nclass Net(nn.Module):\n    def forward(self, x: torch.Tensor):\n        v = VALUE\n        {body}\n"
        "        if t > 0:\n            x = x + 1\n        return x\n"
    )
    said = {
        value: {
            code
            for code, _ in found(analysed(tmp_path, {"program.py": source.replace("VALUE", value)}))
        }
        - MADE_IN_C
        for value in ("x.sum()", "x.shape[0]")
    }
    assert said == {"x.sum()": {"BRK101"}, "x.shape[0]": set()}


def test_buffers_under_names_that_are_put_together(tmp_path):
    source = (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        for i in range(2):\n"
        "            self.register_buffer(f'b{i}', torch.ones(2))\n\n    def forward(self, x):\n"
        "        if self.b0.sum() > 0 or getattr(self, 'b1').sum() > 0:\n            x = x + 1\n        return x\n"
    )
    assert [code for code, _ in found(analysed(tmp_path, {"program.py": source}))] == [
        "BRK101",
        "BRK101",
    ]
