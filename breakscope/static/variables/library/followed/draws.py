"""What is another one each time in the code around a region: clocks, and what is chosen at random."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import NONE, UNKNOWN, Const, Py, Sequence, Tensor, Value, int_of
from breakscope.static.machine.driver import Driver
from breakscope.static.machine.lattice import element_of
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.modules.containers import contents_of

if TYPE_CHECKING:
    from random import Random

CLOCKS = frozenset(
    "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time".split()
)
DRAWS = frozenset(
    "random uniform randint randrange gauss normalvariate betavariate expovariate triangular".split()
)
WHOLE = frozenset({"randint", "randrange"})
OF_NUMPY = {  # numpy's that give numbers of Python's: the same of `random`, and the most arguments without a size
    "numpy.random.rand": ("random", 0),
    "numpy.random.random": ("random", 0),
    "numpy.random.uniform": ("uniform", 2),
    "numpy.random.normal": ("gauss", 2),
    "numpy.random.randn": ("gauss", 0),
    "numpy.random.randint": ("randrange", 2),
    "numpy.random.beta": ("betavariate", 2),
}
# functions that make tensors of drawn numbers, or of what others hold
OF_ELSEWHERE = frozenset(
    "rand randn randint randperm normal bernoulli as_tensor asarray from_numpy rand_like randn_like".split()
)
OF_NUMBERS = frozenset({"tensor", "full", "arange", "linspace"})  # that hold what they are given
KEYWORDS = {"k", "weights"}
SAMPLES = frozenset({"random.sample", "random.choices"})


def drawn(machine: Machine, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """What a clock gives, and numbers, or items, that are chosen at random; None for another function."""
    head, _, last = name.rpartition(".")
    if head == "time" and last in CLOCKS:
        return Py(_kind(last), "random")
    is_random = head == "random" or name in OF_NUMPY
    if is_random and (found := example(machine, name, args, kwargs)) is not None:
        return found
    if head == "random" and last in DRAWS:
        return Py(_kind(last), "random")
    source = contents_of(machine, args[0]) if args else None
    if not isinstance(source, Sequence):
        return None
    if name in SAMPLES:
        return _sample(source, kwargs.get("k") or args[-1])
    return _choice(source) if name == "random.choice" else None


def example(
    machine: Machine, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """What a function of `random`, or one of numpy's that gives a single number, may give, for what is followed
    step by step. Two in a row differ where they can."""
    driver, (last, most) = machine.driver, OF_NUMPY.get(name, (name.rpartition(".")[2], 3))
    chance = driver.chance
    if chance is None or driver.stands_for_many or kwargs.keys() - KEYWORDS or len(args) > most:
        return None
    source = contents_of(machine, args[0]) if args else None
    items = source.items if isinstance(source, Sequence) else None
    if isinstance(source, Const) and type(source.value) is str:
        items = [Const(letter) for letter in source.value[: limits.MOST_FOLDED_ITEMS]]
    numbers = [arg.value if isinstance(arg, Const) else None for arg in args]
    kind = int if last in WHOLE else int | float
    try:
        # without an end for some that are not finite
        if last in DRAWS and all(isinstance(n, kind) and math.isfinite(n) for n in numbers):
            found = _differing(driver, (last, *numbers), lambda: getattr(chance, last)(*numbers))
            found = Const(found)
        elif last == "choice" and items and len(args) == 1:
            key = (last, *(item.key(0) for item in items))
            at = _differing(driver, key, lambda: chance.randrange(len(items)))
            found = replace(items[at]) if isinstance(items[at], Const) else items[at]
        elif last == "choices" and items:
            found = _chosen(chance, items, kwargs)
        elif last == "sample" and items:
            found = _sampled(chance, items, kwargs.get("k") or args[-1])
        else:
            return None
    except (TypeError, ValueError, ArithmeticError):
        return None
    driver.note_varying(found)
    driver.examples += 1
    return found


def note_drawn_tensor(machine: Machine, last: str, args: list[Value], made: Tensor) -> None:
    """Keep an example of the number in what `torch.randint` or `torch.rand` gives, where it is a single one; of
    others, that they hold no drawn numbers."""
    driver = machine.driver
    is_another = last in OF_NUMBERS and any(map(driver.varies, _numbers_in(args)))
    if driver.calls is not None and last not in OF_ELSEWHERE and not is_another:
        driver.plain[id(made)] = made
    is_one = made.shape is not None and all(size == 1 for size in made.shape)
    if driver.chance is None or driver.stands_for_many or not is_one:
        return
    bounds = [bound for arg in args if (bound := int_of(arg)) is not None]
    if last == "rand":
        found = example(machine, "random.random", [], {})
    elif last == "randint":
        found = example(machine, "random.randrange", [Const(n) for n in bounds[:2]], {})
    else:
        return
    if found is not None:
        driver.contents[id(made)] = made, found


def _numbers_in(args: list[Value]) -> list[Value]:
    """The numbers that a tensor is made of, be they in a list."""
    rows = [arg.items or [] if isinstance(arg, Sequence) else [arg] for arg in args]
    return [number for row in rows for number in row]


def open_turns(driver: Driver, node: ast.AST) -> int:
    """How many turns a loop takes that ends when something happens which nobody knows beforehand: an example,
    another one each time that the loop is come to."""
    if driver.chance is None or driver.stands_for_many:
        return limits.FEW_DRIVEN_TURNS
    driver.examples += 1
    few = range(2, limits.FEW_DRIVEN_TURNS + 1)
    return _differing(driver, ("turns", id(node)), lambda: driver.chance.choice(few))


def _differing(driver: Driver, key: tuple, draw: Callable[[], float]) -> float:
    """Another number than the last one, if there soon is one."""
    numbers = (draw() for _ in range(4))
    before = driver.latest.get(key)
    found = next((number for number in numbers if number != before), before)
    driver.latest[key] = found
    return found


def _number_of(count: Value) -> int | None:
    """How many are drawn."""
    number = int_of(count)
    return number if number is not None and 0 <= number <= limits.MOST_KNOWN_TURNS else None


def _chosen(chance: Random, items: list[Value], kwargs: dict[str, Value]) -> Sequence | None:
    """Of `random.choices`."""
    count, weights = _number_of(kwargs.get("k", Const(1))), kwargs.get("weights")
    if isinstance(weights, Sequence) and weights.items:
        by = [weight.value if isinstance(weight, Const) else None for weight in weights.items]
    else:
        by = None
    return None if count is None else Sequence("list", chance.choices(items, by, k=count))


def _sampled(chance: Random, items: list[Value], count: Value) -> Sequence | None:
    number = _number_of(count)
    return None if number is None else Sequence("list", chance.sample(items, number))


def _choice(source: Sequence) -> Py | None:
    """A number, or a text, of several that differ."""
    kinds = {type(getattr(item, "value", None)) for item in source.items or ()}
    different = {item.value for item in source.items or () if isinstance(item, Const)}
    is_one_kind = len(kinds) == 1 and len(different) > 1
    return Py(kinds.pop().__name__, "random") if is_one_kind else None


def _sample(source: Sequence, count: Value) -> Sequence:
    """So many items of the source, whichever they are."""
    item = element_of(source)
    number = _number_of(count)
    if number is None:
        return Sequence("list", None, item)
    return Sequence("list", [_another(item) for _ in range(number)])


def drawn_by_python(machine: Machine, name: str, args: list[Value]) -> Value:
    """What a function of `random` or `time` gives that Python runs in the midst of a region."""
    last = name.rpartition(".")[2]
    if name in SAMPLES:
        source = contents_of(machine, args[0]) if args else None
        item = element_of(source) if isinstance(source, Sequence) else UNKNOWN
        return Sequence("list", None, Py("number", "random") if item.is_number else item)
    if name in ("random.seed", "random.setstate", "random.shuffle"):
        return NONE
    return UNKNOWN if name == "random.getstate" else Py(_kind(last), "random")


def _kind(last: str) -> str:
    """The type of the numbers that a function of `random` or `time` draws."""
    is_whole = last.endswith("_ns") or (last.startswith("rand") and last != "random")
    return "int" if is_whole or last == "getrandbits" else "float"


def _another(item: Value) -> Value:
    """One that is like it."""
    return replace(item) if type(item) is Tensor else item.rebuilt(_another)
