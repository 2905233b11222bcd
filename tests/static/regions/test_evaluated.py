"""What Python's functions make of known values is known in the code around a region, and shown: each expression is
compared with what Python itself makes of it."""

import pytest
from programs import analysed

HEAD = """\
import bisect, collections, csv, dataclasses, enum, functools, heapq, io, itertools, json, math, operator, random
import re, statistics
import torch

L, N, W = [3, 1, 2], [[1, 2], [3], [4, 5, 6]], ["x", "yy", "zzz"]
D, S = {"a": 1, "b": 2}, "hello world"
Pair = collections.namedtuple("Pair", "x y")


class Color(enum.Enum):
    RED = 11
    BLUE = 22


class Box:
    def __init__(self):
        self.items = [4, 5]


@dataclasses.dataclass(order=True)
class Rank:
    at: int
    name: str = dataclasses.field(compare=False)


class Version:
    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number


def drained(items):
    heap = []
    for item in items:
        heapq.heappush(heap, (item, str(item)))
    heapq.heappushpop(heap, (0, "zero"))
    first = heapq.heappop(heap)
    return 10 * first[0] + heap[0][0]


def gen(n):
    for i in range(n):
        yield i * i


def add(a, b):
    return a + b


"""
EXPRESSIONS = """
sum(L)
sum(N, [])[-1]
len(max(W, key=len))
ord(max(D, key=D.get))
len(set(L) & {1, 2})
max(set(L) | {9})
sum(set(L) - {1})
len({x % 2 for x in L})
5 if 3 in L else 6
L.index(1)
L.count(1)
list(itertools.chain.from_iterable(N))[-1]
list(itertools.accumulate(L))[-1]
sum(itertools.islice(itertools.count(), 4))
len(list(itertools.zip_longest(L, [1])))
sum(itertools.takewhile(lambda x: x > 2, L))
sum(itertools.dropwhile(lambda x: x > 2, L))
sum(itertools.starmap(pow, [(2, 3), (3, 2)]))
[len(list(g)) for k, g in itertools.groupby([1, 1, 2])][0]
sum(filter(lambda x: x > 1, L))
functools.reduce(add, L, 10)
math.prod(L)
divmod(7, 2)[0]
round(25.67, -1)
pow(2, 5)
ord("a")
len(S[::-1] + S[:3])
S.find("w")
len(" ".join(W))
int(f"{31.4159:.0f}")
len("%d-%s" % (3, "a"))
len("ab" * 4)
collections.Counter("aab")["a"]
collections.Counter("aab")["z"]
collections.Counter([1, 1, 2]).most_common(1)[0][1]
len(Pair(1, 2))
sum(Pair(3, 4))
Color.RED.value
len(Color.RED.name)
Color(22).value
Color["RED"].value
heapq.nsmallest(2, L)[1]
bisect.bisect(sorted(L), 2)
statistics.median(L)
json.loads("[1, 27]")[1]
len([x for x in range(20) if x % 7 == 0])
len(range(100))
len([y for row in N for y in row])
sorted(W, key=lambda w: -len(w)).index("x")
7 if [1, 2] < [1, 3] else 8
7 if bool(L) else 8
7 if hasattr(Box(), "other") else 8
7 if hasattr(Box(), "items") else 8
sum(1 for _ in gen(5))
len(list(map(add, L, L)))
{w: i for i, w in enumerate(sorted(set(S)))}["w"]
next(x for x in L if x < 3)
list(enumerate(W, 5))[2][0]
max([], default=14)
len(re.findall(r"\\w+|[^\\w\\s]", "a bc, d"))
len(re.split(r"(?<=[.!?])\\s+", "a. b! c"))
len(re.compile("a+").sub("b", "caat"))
sorted([Rank(3, "a"), Rank(1, "bb")])[0].at
len(max(Rank(3, "a"), Rank(5, "bb")).name)
min([Version(4), Version(2)]).number
max(range(3), key=L.__getitem__)
ord(next(itertools.cycle(D)))
drained([5, 3, 8])
len(list(csv.reader(io.StringIO("a,b\\n1,2\\n3,4\\n"))))
"""
LINES = EXPRESSIONS.split("\n")[1:-1]


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    parts = [HEAD]
    for at, expression in enumerate(LINES):
        parts.append(f"@torch.compile\ndef f{at}(x, n{at}):\n    return x * n{at}\n\n\n")
        parts.append(f"f{at}(torch.ones(3), -77)\nf{at}(torch.ones(3), {expression})\n\n\n")
    result = analysed(tmp_path_factory.mktemp("evaluated"), {"run.py": "".join(parts)})
    return [finding.message for finding in result.findings]


@pytest.mark.parametrize("at", range(len(LINES)), ids=LINES)
def test_the_value_is_that_of_python(at, messages):
    names = {"__name__": "run"}  # else its classes are taken for those of builtins
    exec(HEAD.replace("import torch", ""), names)
    wanted = eval(LINES[at], names)
    assert any(f"`n{at}`" in message and f"-77, {wanted})" in message for message in messages)


ODD = """
sum(unknown)
sum([torch.ones(2), torch.ones(2)])
sorted([torch.ones(2), 3])
max(L, key=unknown)
max(L, key=lambda: 1)
functools.reduce(lambda a: a, L)
"x".ljust(10**9)
"%1000000000d" % 3
"ab" * 10**9
[1] * 10**9 == [1]
round(12345, -(10**9))
random.betavariate(math.inf, 1)
random.gauss(10**400, 1)
json.dumps([L], indent=10**9)
"{0.value}".format(unknown)
re.findall("(a*)*b", "a" * 200)
re.findall("a*a*a*b", "a" * 900)
re.split("(", "x")
re.sub("a", lambda m: 3, "aa")
re.sub("a", "\\\\7", "aa")
re.findall(*L)
re.findall("a")
re.compile("(").findall("a")
re.compile("a", 5).findall(L)
heapq.heappop([])
heapq.heappush(5, 1)
heapq.heappush([2, "a"], 1)
heapq.heappush([2])
heapq.heapreplace([1, 2])
csv.reader(5)
list(csv.reader(["\\0"]))
sorted([Rank(1, "a"), 3])
sorted([Version("a"), Version(3)])
random.choices(L, weights=[0, 0, 0])
random.choices(L, weights=[1], k=2)
random.choices([], k=3)
random.choices(L, k=-2)
L.__getitem__("a")
unknown.__getitem__(1)
itertools.accumulate(5)
itertools.groupby()
divmod(1, 0)
chr(-5)
collections.Counter(5)
collections.Counter([[1], unknown])
{[1]: 2}
set([[1]]) | {1}
Color("none")
Color["NONE"]
L.index(99)
"a".join([1, 2])
f"{3:>1000000}"
S[unknown:2]
S[::0]
json.loads("{")
heapq.nsmallest("a", L)
bisect.bisect(L, "a")
sum(L, start="a")
min()
"""


@pytest.mark.parametrize("expression", ODD.split("\n")[1:-1])
def test_what_python_refuses_is_no_error(expression, tmp_path):
    source = (
        f"{HEAD}from somewhere import unknown\n\n\n@torch.compile\ndef f(x, n):\n    return x\n\n\n"
    )
    source += f"def main():\n    f(torch.ones(3), {expression})\n    f(torch.ones(3), {expression})\n\n\nmain()\n"
    result = analysed(tmp_path, {"run.py": source})
    assert not result.errors and not result.gaps
