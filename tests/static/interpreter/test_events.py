"""What the analyzer says of single statements, as Dynamo of torch 2.13 was measured to do. Bodies
begin in line 9."""

import pytest
from programs import analysed, found, region

BODIES = {
    "match names each tried case": (
        "match x.sum():\n    case 1 | 2:\n        pass\n    # other\n    case 3:\n        pass\n",
        [("BRK111", 10), ("BRK111", 10), ("BRK111", 13)],
    ),
    "match inside a tuple": (
        "match (x.sum(), 1):\n    case (4, 1):\n        pass\n",
        [("BRK111", 10)],
    ),
    "a guard is a branch": (
        "match x:\n    case y if y.sum() > 1:\n        pass\n",
        [("BRK101", 10)],
    ),
    "a tensor is no sequence for match": (
        "match x:\n    case [a, b]:\n        x = a\n    case None:\n        x = x + 1\n",
        [],
    ),
    "percent": ('s = "%.3f" % x.sum()\n', [("BRK212", 9)]),
    "a tensor's text that is used": (
        's = f"{x.sum()}"\nt = s + "a", len(s)\nu = "{}".format(x) * 2\nfor c in s:\n    pass\n',
        [("BRK212", 10)],  # the function is skipped
    ),
    "a tensor's text that is repeated": ('u = "{}".format(x) * 2\n', [("BRK212", 9)]),
    "a tensor's text that is gone over": (
        's = f"{x.sum()}"\nfor c in s:\n    pass\n',
        [("BRK212", 10)],
    ),
    "a tensor's text that is kept": (
        's = f"{x.sum()}"\nt = f"{s}", [s], s is None, s or "a", {"a": s}, "{}".format(s)\n',
        [],
    ),
    "a text behind the break that made it": ('s = str(x)\ns = s + "a"\n', [("BRK212", 9)]),
    "a count of changes in place": (
        "v = x._version\nif x._version > v + 1:\n    x = x + 1\n",
        [("BRK101", 10)],
    ),
    "a count of changes in place that is only read": (
        "v = x._version\nassert v >= 0\nx = x + v if v is not None else x\n",
        [],
    ),
    "a text of sizes is used": ('s = f"{x.shape}"\nx = x * len(s + "a")\n', []),
    "percent of a tuple": ('s = "%s %d" % (x.sum(), 3)\n', [("BRK212", 9)]),
    "text times a tensor": ('s = "a" * x.argmax()\n', [("BRK212", 9)]),
    "a tensor modulo a number": ("x = x % 3\n", []),
    "assert not": ('assert not x.any(), "a"\n', [("BRK105", 9)]),
    "assert and": ('assert x.any() and x.max() > 0, "a"\n', [("BRK104", 9)]),
    "assert with the tensor last": ('assert len(x) and x.max() > 0, "a"\n', []),
    "assert or": ("assert x.any() or x.max() > 0\n", [("BRK104", 9)]),
    "assert with a sum of texts": ('assert x.any(), "a" + "b"\n', []),
    "assert with a tuple": ('assert x.any(), ("a", -1)\n', []),
    "assert with a formatted message": ('assert x.any(), "%d" % 3\n', [("BRK106", 9)]),
    "assert with a list": ('assert x.any(), ["a"]\n', [("BRK106", 9)]),
    "assert of a list of tensors": ("l = [x, x]\nassert l, 'a'\n", [("BRK114", 10)]),
    "assert of a list behind and": ("l = [x, x]\nassert x.dim() and l\n", [("BRK114", 10)]),
    "assert of a dict of tensors": ("d = dict(a=x)\nassert d\n", [("BRK114", 10)]),
    "assert of a list in front of and": ("l = [x, x]\nassert l and x.dim()\n", []),
    "assert of a list with a formatted message": ("l = [x, x]\nassert l, f'{len(l)}'\n", []),
    "assert of constants": (
        "assert [1, 'a'], 'b'\nassert x.shape\nassert not []\nassert torch.relu\n",
        [],
    ),
    "a size that is a tensor of one element": (
        "n = torch.randint(1, 3, size=(1,))\ny = torch.rand(n), torch.rand(2, n)\n",
        [("BRK208", 10), ("BRK208", 10)],
    ),
    "a typed tensor": (
        "y = x[torch.LongTensor([1, 2]).max()]\ny = x[torch.BoolTensor([True])]\n",
        [("BRK213", 9), ("BRK302", 10)],
    ),
    "a list of truths, a mask": (
        "m = [k == 'a' for k in 'ab']\ny = x[:2][m]\ny = x[[0, 1]]\nx[[True] * len(x)] = 0\n",
        [("BRK302", 10)],
    ),
    "whether torch.jit traces": (
        "y = x * 2\nif torch._C._is_tracing():\n    y = y[y > 0]\n",
        [("BRK523", 10)],
    ),
    "equal gives a bool": ("if x.equal(x + 1):\n    x = x + 1\n", [("BRK309", 9)]),
    "is_nonzero gives a bool": ("if x.sum().is_nonzero():\n    x = x + 1\n", [("BRK309", 9)]),
    "in a tuple is traced": ("x = x * (x.sum() in (1, 2))\n", []),
    "if on in a tuple": ("if x.sum() in (1, 2):\n    x = x + 1\n", [("BRK101", 9)]),
    "not in a tuple": ("x = x * (x.sum() not in (1, 2))\n", [("BRK110", 9)]),
    "in a tensor": ("x = x * (1 in x)\n", [("BRK110", 9)]),
    "list.index": ("k = [1, 2].index(x.argmax())\n", [("BRK112", 9)]),
    "list.remove": ("l = [x.sum(), x.max()]\nl.remove(x.sum())\n", [("BRK112", 10)]),
    "list.sort": ("l = [x.sum(), x.max()]\nl.sort()\n", [("BRK112", 10)]),
    "the sort of a tensor, which may be a list": (
        "l = [x, x] if x.shape[0] > 3 else x\nl.sort(dim=-1)\n",
        [],
    ),
    "argmax of an array": ("y = x[np.argmax(x.numpy())]\n", [("BRK213", 9)]),
    "where of 0-d tensors": ("m = torch.where(x.sum() > 0, 1, 0)\ny = x[m]\n", [("BRK213", 10)]),
    "a sum of booleans is an integer": ("y = x[(x > 0).sum()]\n", [("BRK213", 9)]),
    "an own Random draws": (
        "import random\nk = random.Random(3).randrange(3)\nx = x * k\nif 1 > k:\n    x = x + 1\n",
        [("BRK410", 12)],
    ),
    "numpy of Python numbers, folded": (
        "y = x[: int(np.ceil(x.shape[0] / 2))] * np.sqrt(3) / float(np.log(2))\nx = x * np.prod(x.shape)\n",
        [],
    ),
    "numpy of a list, read": (
        "y = x * int(np.prod(x.shape))\ny = x * float(np.mean([2, 3]))\n",
        [("BRK210", 9), ("BRK210", 10)],
    ),
    "a whole number of numpy, read": (
        "n = np.ceil(np.log(x.shape[0])).astype(int)\ny = x * n\ny = x * n.item()\ny = x[:n]\n",
        [("BRK210", 11), ("BRK206", 12)],
    ),
    "a comparison of numpy numbers": (
        "if np.sqrt(x.shape[0]) > 2 or np.isnan(3.0):\n    x = x + 1\n",
        [("BRK101", 9), ("BRK101", 9)],
    ),
    "a range to a numpy number": (
        "for i in range(np.prod((1, 2))):\n    x = x + 1\n",
        [("BRK207", 9)],
    ),
    "tensors where numbers must stand": (
        "i = x.argmax()\ny = x.roll(shifts=-i, dims=0)\nz = x[None].tril(i)\n",
        [("BRK209", 10), ("BRK209", 11)],
    ),
    "a Variable is a tensor": (
        "from torch.autograd import Variable\nv = Variable(x)\nif v.sum() > 0:\n    x = x + 1\n",
        [("BRK547", 10), ("BRK101", 11)],
    ),
    "nonzero as a tensor": (
        "rows = x.nonzero(as_tuple=False)\nfor k in rows[:, 0]:\n    y = rows[rows[:, 0] == k]\n",
        [("BRK301", 9), ("BRK302", 11)],
    ),
    "nonzero as a tuple": (
        "a, = x.nonzero(as_tuple=True)\ny = a[a == 2]\n",
        [("BRK301", 9), ("BRK302", 10)],
    ),
    "a mask that is stored": ("x[x > 0] = 0\n", []),
}


@pytest.mark.parametrize("name", BODIES)
def test_statement(name, tmp_path):
    body, wanted = BODIES[name]
    assert found(region(tmp_path, body)) == wanted


def test_conditions_are_shown_as_written(tmp_path):
    body = "if not x.any():\n    x = x + 1\nif not (x.max() > 1):\n    raise ValueError('low')\nassert not x.any()\n"
    messages = [f.message for f in region(tmp_path, body).findings]
    assert [
        m.count(text)
        for m, text in zip(
            messages, ["`if not x.any()`", "`if not (x.max() > 1)`", "`not x.any()`"]
        )
    ] == [1, 1, 1]


def test_what_follows_a_return_that_configuration_decides_says_so(tmp_path):
    body = "if x.max() > 2:\n    x = x + 1\nif not self.training:\n    return x\nif x.sum() > 0:\n    x = x + 1\n"
    assert [f.condition for f in region(tmp_path, body).findings] == ["", "self.training"]


def test_both_events_of_one_subscript(tmp_path):
    body = "m = torch.ones(4, 4)\ny = m[x > 0, x.argmax()]\n"
    assert [line for _, line in found(region(tmp_path, body))] == [10]


def test_what_follows_a_lost_frame_is_only_possible(tmp_path):
    result = region(tmp_path, "x = x * (1 in x)\nif x.sum() > 0:\n    x = x + 1\n")
    assert [(f.code, f.confidence, f.lost) for f in result.findings] == [
        ("BRK110", "certain", "call"),
        ("BRK101", "possible", ""),
    ]


def test_a_comprehension_is_a_frame_of_its_own_before_python_3_12(tmp_path):
    body = "rows = [1 for r in x if r > 0]\nif x.sum() > 0:\n    x = x + 1\n"
    new, old = (region(tmp_path, body, python=version) for version in ((3, 12), (3, 11)))
    shown = [
        [(f.code, f.confidence, bool(f.lost)) for f in result.findings] for result in (old, new)
    ]
    assert shown[0] == [("BRK107", "certain", True), ("BRK101", "certain", False)]
    assert shown[1] == [("BRK107", "certain", True), ("BRK101", "possible", False)]


@pytest.mark.parametrize(
    ("around", "lost"),
    [
        ("for _ in range(3):\n        x = read(x)", ("loop", "f")),
        ("x = read(x)", ("", "")),
        ("with torch.no_grad():\n        x = read(x)", ("", "")),
        ("try:\n        x = read(x)\n    finally:\n        pass", ("try", "f")),
    ],
)
def test_a_break_in_a_callee_says_which_caller_it_loses(tmp_path, around, lost):
    text = f"import torch\n\n\ndef read(x):\n    return x * x.sum().item()\n\n\n@torch.compile\ndef f(x):\n    {around}\n    return x\n"
    (found,) = analysed(tmp_path, {"m.py": text}).findings
    assert (found.function, found.lost, found.lost_function) == ("read", *lost)


LOSES = {  # held to Dynamo of torch 2.13, each by running it
    "while x.sum() < 10:\n    x = x + 1\n": [("BRK103", "")],
    "while x.sum().item() < 10:\n    x = x + 1\n": [("BRK201", "loop")],
    "n = 0\nwhile n < 5 and not x.sum() > 10:\n    x, n = x + 1, n + 1\n": [("BRK103", "")],
    "for i in range(3):\n    if x.sum() > 100:\n        continue\n    if i == 7:\n        return x\n": [
        ("BRK101", "loop")
    ],
    "for i in range(3):\n    x = x * x.sum().item()\n    for j in range(2):\n        x = x + 1\n    if i == 7:\n        return x\n": [
        ("BRK201", "")
    ],
    "for i in range(3):\n    if i == 7:\n        return x\n    x = x * x.sum().item()\n": [
        ("BRK201", "loop")
    ],
    "for i in range(3):\n    for j in range(2):\n        x = x * x.sum().item()\n        if j == 7:\n            return x\n    x = x + 1\n": [
        ("BRK201", "")
    ],
    "while True:\n    x = x + 1\n    if x.sum() > 10:\n        break\n": [("BRK101", "loop")],
    "while x.sum() < 10:\n    x = x * x.max().item()\n": [("BRK103", ""), ("BRK201", "loop")],
    "for i in range(3):\n    if i == 7:\n        def g():\n            return 1\n    x = x * x.sum().item()\n": [
        ("BRK201", "loop")
    ],
}


@pytest.mark.parametrize("body", LOSES, ids=range(len(LOSES)))
def test_a_break_loses_the_frame_where_a_jump_back_comes_before_a_return(tmp_path, body):
    assert [(f.code, f.lost) for f in region(tmp_path, body).findings] == LOSES[body]
