"""The table `numbers`: which arguments of an operator must be Python numbers.

Torch's own samples are called on fake tensors, with a fake 0-d tensor in place of one number at a time:
where torch would read its value, fake tensors raise. Of each argument one call is traced by Dynamo.
"""

from __future__ import annotations

import inspect
import itertools
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from breakscope.knowledge.build import capture, from_torch, operators
from breakscope.knowledge.build.operators import Operator
from breakscope.knowledge.build.tables import VALUE

SAMPLES = 8  # of each operator and dtype
INSTEAD = {"number": 0.5, "float": 0.5, "int": 1}  # of a default that is None, by a schema's type


class Place(NamedTuple):
    """An argument of a function: its keyword, and its position with the first tensor as 0, None where it
    has only the keyword."""

    keyword: str
    position: int | None


class Try(NamedTuple):
    """A call with a number at a position or keyword: is a tensor in its place read?"""

    operator: Operator
    args: list
    kwargs: dict[str, Any]
    at: int | str
    is_read: bool


def table() -> dict[str, dict[str, int | None]]:
    """Name of a function or method -> keyword and position of each argument that is read when it is a
    tensor, and never taken as one."""
    found: dict[str, dict[Place, list[Try]]] = defaultdict(lambda: defaultdict(list))
    named = _named()
    for operator in operators.programs():
        for place, made in _tries(operator, named.get(operator.name, ())):
            found[operator.name][place].append(made)
    entries = {
        name: {
            place.keyword: place.position
            for place, made in places.items()
            if all(one.is_read for one in made) and _breaks(made[0])
        }
        for name, places in found.items()
    }
    return {name: places for name, places in entries.items() if places}


def _named() -> dict[str, list[Any]]:
    """Public name -> the schemas of its overloads."""
    found = defaultdict(list)
    for packet in from_torch.packets():
        schemas = [getattr(packet, overload)._schema for overload in packet.overloads()]
        for name in from_torch.public_names(packet.__name__):
            found[name] += schemas
    return found


def _tries(operator: Operator, schemas: list[Any]) -> Iterator[tuple[Place, Try]]:
    parameters = list(_parameters(operator, schemas))
    for dtype in operators.DTYPES:
        if dtype not in operator.info.dtypes:
            continue
        for sample in itertools.islice(operators.samples(operator.info, dtype), SAMPLES):
            args = (sample.input, *sample.args)
            for place, default in parameters:
                for given, named, at in _with_number(place, default, args, sample.kwargs):
                    is_read = _is_read(operator, given, named, at)
                    if is_read is not None:
                        yield place, Try(operator, given, named, at, is_read)


def _with_number(
    place: Place, default: Any, args: tuple, kwargs: dict[str, Any]
) -> Iterator[tuple[list, dict[str, Any], int | str]]:
    """The call with a number in that place, and where it stands: a position or a keyword."""
    keyword, position = place
    if position is not None and position < len(args):
        if position and _is_number(args[position]):
            yield [*args], kwargs, position
    elif _is_number(number := kwargs.get(keyword, default)):
        yield [*args], {**kwargs, keyword: number}, keyword


def _parameters(operator: Operator, schemas: list[Any]) -> Iterator[tuple[Place, Any]]:
    """The parameters that may be numbers, each with its default, or a number for one that has none."""
    function = operators.function_of(operator.name)
    if inspect.isfunction(function):
        for position, found in enumerate(inspect.signature(function).parameters.values()):
            is_named = found.kind is found.KEYWORD_ONLY
            default = found.default
            if default is None and "float" in str(found.annotation):
                default = 0.5
            yield Place(found.name, None if is_named else position), default
        return
    seen = set()
    for schema in schemas:
        for position, argument in enumerate(schema.arguments):
            place = Place(argument.name, None if argument.kwarg_only else position)
            kind = str(argument.type).removeprefix("Optional[").removesuffix("]")
            if kind in INSTEAD and place not in seen:
                seen.add(place)
                default = argument.default_value if argument.has_default_value() else None
                yield place, INSTEAD[kind] if default is None else default


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_read(operator: Operator, args: list, kwargs: dict[str, Any], at: int | str) -> bool | None:
    """Does torch read the value of a tensor in that place? None where the call is none."""
    try:
        operator(_own(args[0]), *args[1:], **kwargs)
    except Exception:  # not a call that torch takes
        return None
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        given, named = torch.utils._pytree.tree_map_only(
            torch.Tensor, mode.from_tensor, (args, {**kwargs})
        )
        holder = given if isinstance(at, int) else named
        holder[at] = mode.from_tensor(torch.tensor(holder[at]))
        try:
            operator(*given, **named)
        except DataDependentOutputException as problem:
            return "_local_scalar_dense" in str(problem.func)
        except Exception:  # takes no tensor there
            return None
    return False


def _breaks(made: Try) -> bool:
    """Does Dynamo end the graph there?"""
    name, function = made.operator.name.rpartition(".")[2], None
    if not made.operator.is_method:
        function = operators.function_of(made.operator.name)

    def probe(args, kwargs, number):
        number = number * 1
        args, kwargs = [args[0].clone(), *args[1:]], {**kwargs}
        if isinstance(at, int):
            args[at] = number
        else:
            kwargs[at] = number
        return (
            getattr(args[0], name)(*args[1:], **kwargs) if is_method else function(*args, **kwargs)
        )

    is_method, at = made.operator.is_method, made.at
    number = made.args[at] if isinstance(at, int) else made.kwargs[at]
    if not isinstance(made.args[0], torch.Tensor):
        return False
    return VALUE in capture.run(probe, (made.args, made.kwargs, torch.tensor(number))).breaks


def _own(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value
