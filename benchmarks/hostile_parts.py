"""The parts of hostile programs, and programs put together of them at random. Each has true findings
around what is hostile, on lines marked with `# FIND`."""

from __future__ import annotations

import ast
import random

HEAD = """\
import torch
from torch import nn
from typing import *


class Before(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # FIND
            x = x + 1
        return x


"""
TAIL = """


class Behind(nn.Module):
    def forward(self, x):
        print(x.sum().item())  # FIND
        return x
"""


def around(body: str, top: str = "") -> str:
    """A module whose `forward` has a break before and behind the body; `top` stands at the module's
    top level."""
    inside = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        f"{HEAD}{top}\n\nclass Hostile(nn.Module):\n    def forward(self, x):\n"
        "        if x.max() > 0:  # FIND\n            x = x - 1\n"
        f"{inside}        if x.min() > 0:  # FIND\n            x = x + 2\n        return x\n{TAIL}"
    )


def beside(top: str) -> str:
    """A module with the text between two others."""
    return f"{HEAD}{top}{TAIL}"


GROWING_TEXT = {
    "add": "s = s + s",
    "add_itself": "s += s",
    "multiply": "s = s * 1000000",
    "by_itself": "s = s * s",
    "replace": "s = s.replace('a', s)",
    "join": "s = s.join([s, s])",
    "ljust": "s = s.ljust(10 ** 10)",
    "zfill": "s = s.zfill(10 ** 11)",
    "center": "s = s.center(10 ** 11)",
    "percent": "s = '%9999999999d' % 1",
    "percent_star": "s = '%*d' % (10 ** 10, 1)",
    "f_string": "s = f'{s}{s}'",
    "f_string_width": "s = f'{1:>9999999999}'",
    "format": "s = '{0}{0}'.format(s)",
    "format_width": "s = '{:>9999999999}'.format(1)",
    "format_inner": "s = '{:>{}}'.format(1, 10 ** 10)",
    "expandtabs": "s = '\\t'.expandtabs(10 ** 10)",
    "split": "s = 'a '.join(s.split('a'))",
    "title": "s = (s + s).title()",
    "translate": "s = s.translate({97: s})",
    "encode": "s = (s.encode() + s.encode()).decode()",
}
GROWING = {
    "add": "s = s + s",
    "add_itself": "s += s",
    "multiply": "s = s * 4",
    "square": "s = s * s",
    "power": "s = s ** s",
    "shift": "s = s << s",
    "display": "s = [*s, *s]",
    "extend": "s.extend(s)",
    "nest": "s = [s, s]",
    "nest_tuple": "s = (s, s)",
    "nest_dict": "s = {1: s, 2: s}",
    "slice": "s[:] = [*s, *s]",
    "list": "s = list(s) + list(s)",
    "zip": "s = list(zip(s, s))",
    "comprehension": "s = [b for a in [s, s] for b in a]",
    "union": "s = {*s, *map(str, s)}",
    "call": "s = (lambda *a: a)(*s, *s)",
    "conditional": "s = [s, 1] if x.sum() > 3 else (s, 2)",
}
STARTS = {"list": "[1, 2]", "tuple": "(1, 2)", "int": "3", "bytes": "b'ab'", "tensors": "[x, 1]"}
RECURSIVE = """\
class P:
    @property
    def a(self):
        return self.a
    def __getattr__(self, n):
        return getattr(self, n + "a")
    def __getitem__(self, i):
        return self[i + 1]
    def __len__(self):
        return len(self)
    def __bool__(self):
        return bool(self)
    def __add__(self, o):
        return self + o
    def __eq__(self, o):
        return self == o
    def __call__(self, *a):
        return self(*a, *a)
    def __contains__(self, o):
        return o in self
    def __iter__(self):
        return iter(self)
    def __enter__(self):
        with self:
            pass
    def __exit__(self, *a):
        with self:
            pass
    def __int__(self):
        return int(self)
    def __neg__(self):
        return -self
"""
USES_OF_RECURSIVE = (
    "p = P()\np.a\np.zzz\np[0]\nlen(p)\nbool(p)\nif p:\n    pass\np + 1\np == 1\np(1)\n1 in p\nint(p)\n"
    "-p\nfor i in p:\n    pass\nwith p:\n    pass\n[i for i in p]\nlist(p)\n[*p]"
)
ODD_CALLS = """\
y = int("1" * 5000)
z = str(10 ** 5000)
print(f"{10 ** 5000}", 10 ** 5000)
y = float("1e999999")
y = int(float("inf"))
y = round(float("nan"))
y = 1e308 * 10
int(1e400)
abs(-1e400)
range(int(1e30))
range(10 ** 30)
range(0, 10 ** 30, 10 ** 29)
[1, 2][10 ** 30]
"a" * -10 ** 30
[1] * 10 ** 30
x[10 ** 30]
"%d" % 10 ** 5000
chr(10 ** 30)
"a"[::0]
[1, 2][::0]
(1, 2)[1:2:0]
range(1, 2, 0)
"abc".split("")
"{}".format()
"{0.__class__}".format(1)
"{:d}".format("a")
"\\ud800".encode()
~1.5
-"a"
max()
max([])
min(1, "a")
next()
zip(1)
map()
enumerate()
filter()
all()
any(1)
len()
isinstance(1)
isinstance()
getattr(1)
setattr(1)
hasattr(1)
divmod()
round()
abs()
int(1, 2, 3)
str()
range()
slice()
super(1, 2, 3)
super()
reversed()
dict(1)
dict([1])
set([[]])
{[]: 1}
{**1}
[*1]
print(*1, **2)
bytes(-1)
type()
iter()
callable()
map(1)
filter(None)
torch.zeros()
torch.cat()
torch.stack([])
torch.where()
x.view()
x.size(99)
x.shape[99]
torch.arange()
nn.Linear()
nn.LSTM()(x)
torch.split(x, 0)
x.chunk(10 ** 9)
x.unbind(99)
x.permute(1, 1, 1)
x.sum(dim=10 ** 30)
x.unsqueeze(10 ** 30)
torch.zeros(10 ** 30)
torch.zeros([1] * 5000)
x.view(*range(10 ** 9))"""
RANGES = """\
s = list(range(10 ** 9))
t = [i for i in range(10 ** 9)]
u = [0] * 10 ** 9
v = tuple(range(10 ** 9))
w = "a" * 10 ** 10
w = bytes(10 ** 10)
"""


def nested(levels: int, what: str = "range(12)") -> str:
    """Comprehensions inside each other."""
    names = "abcdefgh"[:levels]
    text = " + ".join(names)
    for name in names:
        text = f"[{text} for {name} in {what}]"
    return f"s = {text}"


def chain(count: int, line: str, last: str) -> str:
    """A text with `{i}` and `{j}`, the next one, for each number; then the last."""
    return "\n".join(line.format(i=i, j=i + 1) for i in range(count)) + "\n" + last.format(i=count)


def generated(seed: int) -> str:
    """A program of some of the same parts, at random places."""
    chance = random.Random(seed)
    parts, tops = [], []
    for number in range(chance.randint(1, 6)):
        start = chance.choice([*STARTS.values(), "'a'", "x", "self", "{1: x}", "0.5", "None"])
        steps = [*GROWING.values(), *GROWING_TEXT.values(), *ODD_CALLS.splitlines()]
        lines = [chance.choice(steps) for _ in range(chance.randint(1, 8))]
        times = chance.choice((1, 3, 10, 40))
        block = f"s = {start}\n" + "\n".join(lines * times)
        kind = chance.randrange(7)
        if kind == 0:
            tops.append(f"x = self = torch.ones(1)\n{block}")
        elif kind == 1:
            depth = chance.randint(1, 12)
            head = chance.choice(
                ("for i{} in s:", "while s:", "if s:", "for i{} in range(s):", "with s:")
            )
            heads = [("    " * i) + head.format(i) for i in range(depth)]
            inner = "\n".join("    " * depth + line for line in block.splitlines())
            parts.append(f"s = {start}\n" + "\n".join(heads) + "\n" + inner)
        elif kind == 2:
            body = "\n".join("    " + line for line in block.splitlines())
            calls = chance.choice((f"g{number}(x)", f"g{number}([x, s])", f"g{number}(g{number})"))
            again = chance.choice((calls, f"{calls} + {calls}", "s"))
            parts.append(f"def g{number}(x):\n{body}\n    return {again}\n{calls}")
        elif kind == 3:
            parts.append(
                f"[{chance.choice(steps).split('=')[-1].strip()} for s in {start} for x in [s, s]]"
            )
        elif kind == 4:
            operator = chance.choice((" + ", " and ", " ** ", ".", " if x else ", ", ", " < "))
            word = chance.choice(("x", "x.sum()", "s", "1", "'a'"))
            word = "a" if operator == "." else word
            parts.append("z = " + operator.join([word] * chance.choice((3, 60, 900))))
        elif kind == 5:
            methods = chance.sample(
                (
                    "__iter__",
                    "__next__",
                    "__len__",
                    "__getitem__",
                    "__call__",
                    "__bool__",
                    "__add__",
                ),
                3,
            )
            results = (
                "self",
                "iter(self)",
                "self[0]",
                "len(self)",
                "self()",
                "self + self",
                "[self]",
            )
            body = "".join(
                f"    def {name}(self, *a):\n        return {chance.choice(results)}\n"
                for name in methods
            )
            tops.append(f"class G{number}:\n{body}")
            parts.append(f"s = G{number}()\nfor s in s:\n    s = s()\n" + "\n".join(lines))
        else:
            parts.append(block)
    program = around("\n".join(parts), "\n".join(tops))
    try:
        ast.parse(program)
    except SyntaxError:  # parts that do not fit each other
        return generated(seed + 1_000_003)
    except (RecursionError, MemoryError):
        pass
    return program
