"""Loops, comprehensions, generators, and what breaks inside them."""
# ruff: noqa

import torch


def _numbers(n):
    for e in range(n):
        yield e


def _tensors(x):
    for row in x:
        yield row + 1


def _delegating(x):
    yield from _tensors(x)


def program_while_on_tensor(x):
    """while on a tensor"""
    while x.sum() < 100:
        x = x * 2
    return x


def program_print_in_loop(x):
    """print in a for loop"""
    for e in range(2):
        x = x + e
        print(e)
    return x


def program_print_in_try(x):
    """print in a try block"""
    try:
        x = x + 1
        print("a")
        x = x * 2
    except ValueError:
        x = x - 1
    return x


def program_print_in_with(x):
    """print under torch.no_grad"""
    with torch.no_grad():
        x = x + 1
        print("a")
        x = x * 2
    return x


def program_print_in_comprehension(x):
    """print inside a list comprehension"""
    return [x + 1 for _ in range(2) if print("a") is None]


def program_item_in_comprehension(x):
    """.item() inside a list comprehension"""
    values = [row.sum().item() for row in x]
    return x * values[0]


def program_item_in_loop(x):
    """.item() in a for loop"""
    total = 0.0
    for row in x:
        total += row.sum().item()
    return x * total


def program_branch_in_loop(x):
    """if on a tensor in a for loop"""
    for row in range(3):
        if x[row].sum() > 0:
            x = x + 1
    return x


def program_break_in_loop(x):
    """break out of a loop on a tensor test"""
    for _ in range(3):
        x = x * 2
        if x.max() > 4:
            break
    return x


def program_nonzero_in_loop(x):
    """nonzero in a loop over experts"""
    out = torch.zeros_like(x)
    for expert in range(2):
        rows = torch.where(x[:, 0] > expert * 0.5)[0]
        out[rows] = x[rows] + expert
    return out


def program_loop_over_tensor(x):
    """for over a tensor's rows"""
    for row in x:
        x = x + row
    return x


def program_loop_over_range_of_tensor(x):
    """for over range(int tensor)"""
    for _ in range(x.shape[0]):
        x = x + 1
    return x


def program_loop_over_nonzero(x):
    """for over nonzero()"""
    for index in (x > 0.5).nonzero():
        x = x + index.sum()
    return x


def program_loop_over_unique(x):
    """for over unique()"""
    for value in torch.unique(x.round()):
        x = x + value
    return x


def program_loop_over_tolist(x):
    """for over tolist()"""
    for value in x[:, 0].long().tolist():
        x = x + value
    return x


def program_generator(x):
    """generator function consumed"""
    return x + sum(_numbers(3))


def program_generator_tensors(x):
    """generator of tensors consumed"""
    return torch.stack(list(_tensors(x)))


def program_yield_from(x):
    """yield from"""
    return torch.stack(list(_delegating(x)))


def program_generator_send(x):
    """generator driven by send"""

    def inner():
        got = yield 1
        yield got

    made = inner()
    next(made)
    return x + made.send(2)


def program_generator_returned(x):
    """generator expression returned"""
    return (row + 1 for row in x)


def program_generator_close(x):
    """generator closed"""
    made = _numbers(3)
    next(made)
    made.close()
    return x + 1


def program_next_default(x):
    """next of a generator expression with a condition"""
    return x + next((e for e in [1, 2, 3] if e > 1), 0)


def program_dict_comprehension(x):
    """dict comprehension"""
    return {k: x + k for k in range(2)}


def program_nested_comprehension(x):
    """nested comprehension"""
    return [[row[e] for e in range(2)] for row in x]
