"""Numbers, operators and algorithms of the standard library."""
# ruff: noqa

import array
import ast
import bisect
import calendar
import cmath
import decimal
import difflib
import fnmatch
import fractions
import heapq
import math
import operator
import statistics

numbers_array = array.array("f", [1.0])
heap = [1, 2, 3]


def cases_math(x, t, k, n, p):
    math.sqrt(n)
    math.sqrt(t)
    math.sqrt(x.shape[0])
    math.log(n)
    math.log(n, 2)
    math.log2(n)
    math.log10(n)
    math.log1p(n)
    math.log(t)
    math.exp(p)
    math.exp(t)
    math.pow(n, 2)
    math.pow(t, 2)
    math.floor(p)
    math.floor(t)
    math.ceil(p)
    math.ceil(t)
    math.ceil(x.shape[0] / 2)
    math.trunc(p)
    math.prod([1, 2])
    math.prod(x.shape)
    math.sin(p)
    math.cos(p)
    math.tan(p)
    math.tanh(p)
    math.atan2(p, p)
    math.fabs(p)
    math.fmod(p, 1)
    math.gcd(4, 6)
    math.lcm(4, 6)
    math.factorial(n)
    math.comb(n, 2)
    math.isnan(p)
    math.isnan(t)
    math.isinf(p)
    math.isinf(t)
    math.isfinite(p)
    math.isclose(p, p)
    math.copysign(p, -1)
    math.hypot(p, p)
    math.degrees(p)
    math.radians(p)
    math.erf(p)
    math.gamma(p)
    math.fsum([p, p])
    math.dist([0], [1])
    math.isqrt(n)
    math.frexp(p)
    math.ldexp(p, 1)
    math.modf(p)
    math.pi  # as: math.pi
    math.inf  # as: math.inf
    cmath.sqrt(n)
    cmath.exp(1j)


def cases_operator(x, y, t, ns, ts, n, d):
    operator.add(x, y)
    operator.mul(n, 2)
    operator.itemgetter(0)
    operator.itemgetter(0)(ns)  # as: operator.itemgetter called
    sorted([(2, 1), (1, 2)], key=operator.itemgetter(0))  # as: sorted with itemgetter
    operator.attrgetter("shape")(x)  # as: operator.attrgetter called
    operator.attrgetter("shape")
    operator.methodcaller("sin")(x)  # as: operator.methodcaller called
    operator.methodcaller("sin")
    operator.matmul(x, y.T)
    operator.getitem(x, 0)
    operator.setitem(d, "a", x)
    operator.index(n)
    operator.index(t.long())
    operator.eq(x, y)
    operator.lt(n, 2)
    operator.truth(n)
    operator.truth(t)
    operator.not_(n)
    operator.not_(t)
    operator.contains(ns, 1)
    operator.is_(x, y)
    operator.iadd(x, y)
    operator.neg(x)
    operator.length_hint(ns)
    operator.concat(ns, ns)
    operator.countOf(ns, 1)
    operator.mod(n, 2)
    operator.pow(x, 2)


def cases_algorithms(x, ns, t, v):
    heapq.heappush(heap, 1)
    heapq.heappush([1], 2)
    heapq.heappop([1, 2])
    heapq.heapify(ns)
    heapq.nlargest(2, ns)
    heapq.nsmallest(2, ns)
    heapq.heappushpop([1, 2], 3)
    heapq.heapreplace([1, 2], 3)
    list(heapq.merge(ns, ns))  # as: heapq.merge consumed
    bisect.bisect([1, 2], 1)
    bisect.bisect_left([1, 2], 1)
    bisect.bisect_right([1, 2], 1)
    bisect.insort(ns, 1)
    statistics.mean(ns)
    statistics.median(ns)
    statistics.stdev(ns)
    fractions.Fraction(1, 2)
    decimal.Decimal("1.5")
    decimal.Decimal("1.5") + 1  # as: decimal arithmetic
    array.array("f", [1.0])
    numbers_array.append(1.0)
    calendar.isleap(2024)
    fnmatch.fnmatch("a", "*")
    difflib.get_close_matches("a", ["a"])
    ast.literal_eval("1")
