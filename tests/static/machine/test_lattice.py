"""What is known of a value behind two paths, and which values have the same key."""

import pytest
from programs import analysed, seen

from breakscope import limits
from breakscope.rulekit.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    External,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
)
from breakscope.static.machine.lattice import join, join_all, key_of

JOINS = [
    (Const(1), Const(1), Const(1)),
    (Const(1), Const(2), Py("int")),
    (TRUE, FALSE, Py("bool")),
    (Const(1), Const("a"), Union((Const(1), Const("a")))),
    (Const(1), NONE, Union((Const(1), NONE))),
    (Const(1), ShapeInt(2), ShapeInt()),
    (Const(1.5), Scalar("int"), Scalar()),
    (ShapeInt(), Scalar("int"), Scalar()),
    (Const(1), Py("float", "config"), Py("number", "config")),
    (Py("int"), Py("int", "draw"), Py("int", "draw")),
    (Py("bool", "config", True), Py("bool", "config", False), Py("bool", "config")),
    (ShapeInt(1), ShapeInt(1), ShapeInt(1)),
    (Tensor("int", 2), Tensor("float", 2), Tensor(None, 2)),
    (Tensor(sure=False), Tensor(kind="buffer"), Tensor(sure=False)),
    (Tensor(), NONE, Union((Tensor(), NONE))),
    (External("a"), External("a"), External("a")),
    (External("a"), External("b"), Union((External("a"), External("b")))),
    (UNKNOWN, Tensor(), Union((UNKNOWN, Tensor()))),
    (Union((NONE, Const(1))), Const(2), Union((NONE, Py("int")))),
]


@pytest.mark.parametrize(("a", "b", "expected"), JOINS)
def test_a_join(a, b, expected):
    assert join(a, b) == expected


def test_containers_are_joined_item_by_item():
    joined = join(Sequence("list", [Const(1), NONE]), Sequence("list", [Const(2), NONE]))
    assert (joined.type, joined.items) == ("list", [Py("int"), NONE])
    joined = join(Dict({"a": Const(1), "b": NONE}), Dict({"a": Const(2)}))
    assert list(joined.items.items()) == [("a", Py("int"))] and joined.open


def test_two_short_tuples_of_different_lengths_stay_two():
    pair, triple = Sequence("tuple", [NONE] * 2), Sequence("tuple", [NONE] * 3)
    assert join(pair, triple) == Union((pair, triple))
    assert join(Sequence("list", [NONE]), Sequence("list", [NONE] * 2)).items is None


def test_what_holds_itself_is_joined():
    one, other = Dict({}), Dict({})
    one.items["self"], other.items["self"] = one, other
    assert join(one, other).open


def test_too_many_values_are_unknown():
    names = [External(str(number)) for number in range(limits.MOST_OPTIONS + 1)]
    assert join_all(names[:-1]) == Union(tuple(names[:-1]))
    assert join_all(names) is UNKNOWN and join_all([]) is UNKNOWN


def test_values_with_the_same_key():
    assert key_of(Tensor("int", 1)) == key_of(Tensor("int", 2))
    assert key_of(Tensor("int")) != key_of(Tensor("bool"))
    assert key_of(ShapeInt(1)) == key_of(ShapeInt(2)) != key_of(Scalar())
    assert key_of(Const(1)) != key_of(TRUE)
    assert key_of(Sequence("list", [Const(1)])) == key_of(Sequence("list", [Const(1)]))
    assert key_of(Sequence("list", [Const(1)])) != key_of(Sequence("tuple", [Const(1)]))
    assert key_of(Dict({"a": Const(1)})) == key_of(Dict({"a": Const(1)}))
    assert key_of(Union((NONE, TRUE))) == key_of(Union((TRUE, NONE)))
    assert key_of(Method(NONE, "a")) == key_of(Method(NONE, "a")) != key_of(Method(NONE, "b"))
    assert key_of(Dict({})) != key_of(Dict({}, open=True))


STARRED = """\
import torch


class Scaled:
    def __init__(self):
        self.rest = []

    def __call__(self, x, *more):
        flag = torch.is_grad_enabled()
        given = (x, {second}, flag, *self.rest, *more)
        return chosen(*given)


def chosen(x, second, flag, *more):
    if flag:
        return x * 2
    return x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scaled = Scaled()

    def forward(self, x, *more):
        return self.scaled(x, *more)
"""


def test_a_flag_beside_tensors_in_a_tuple_of_unknown_length_is_none(tmp_path):
    result = analysed(tmp_path, {"net.py": STARRED.format(second="self")})
    assert seen(result) == []


def test_tensors_alone_in_a_tuple_of_unknown_length_are_tensors(tmp_path):
    source = STARRED.format(second="x + 1").replace("flag, *self.rest, ", "")
    result = analysed(tmp_path, {"net.py": source})
    assert seen(result) == [("BRK101", 15)]
