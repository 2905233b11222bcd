"""Whole numbers that a tensor was made of, in the code around a region: their largest, smallest and sum are
lengths there, as in `int(torch.tensor([len(row) for row in rows]).max())`."""

from __future__ import annotations

from breakscope.rulekit.values import Const, Sequence, Tensor, Value, int_of
from breakscope.static.machine.machine import Machine

MADE_OF = frozenset({"tensor", "as_tensor"})
ONE_OF_ALL = {"max": max, "amax": max, "min": min, "amin": min, "sum": sum}


def note_numbers(machine: Machine, last: str, args: list[Value], made: Tensor) -> None:
    """Keep the numbers that a tensor is made of."""
    items = args[0].items if args and isinstance(args[0], Sequence) else None
    if machine.driver.sets and last in MADE_OF and items:
        if None not in map(int_of, items):
            machine.driver.rows[id(made)] = made, [*items]


def note_result(machine: Machine, owner: Tensor, name: str, given: object, result: Value) -> None:
    """Keep the number in what a method gives; one that works in place leaves others."""
    rows = machine.driver.rows
    if name.endswith("_"):
        rows.pop(id(owner), None)
    elif id(owner) in rows and name in ONE_OF_ALL and not given and type(result) is Tensor:
        items = rows[id(owner)][1]
        number = Const(ONE_OF_ALL[name](item.value for item in items))
        machine.driver.contents[id(result)] = result, machine.driver.result_of(number, items)
