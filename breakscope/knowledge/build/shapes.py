"""The table `shapes`: for each function of tensors, a word that held in every try."""

from __future__ import annotations

import inspect
import itertools
import multiprocessing
import os
import tempfile
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pkgutil import resolve_name
from random import Random
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from breakscope.knowledge.build import from_torch, operators, tries
from breakscope.knowledge.build.operators import Operator
from breakscope.knowledge.build.tries import Try
from breakscope.knowledge.ndim import DTYPE, FLAGS, NDIM, call_form, is_same_shape
from breakscope.knowledge.shapes import FORMS, Result, Shape
from breakscope.rulekit.values import External, Tensor, Value

UNKNOWN = "?"
LEAST = 4  # a rule answers one of so many questions
SPACES = ("Tensor", "torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    np.ufunc,
    type(np.sum),  # a function of numpy's that others may override
)
# a move to a device that this machine lacks returns what one to the CPU does
MOVES = {"Tensor.cuda": "Tensor.cpu", "Tensor.xpu": "Tensor.cpu"}
SECONDS = 60  # for all tries of one name


def table(returns: dict[str, str]) -> dict[str, str | dict[str, str]]:
    """Every function, method and layer of which something held; `returns` is the table of that
    name."""
    programs = defaultdict(list)
    for operator in operators.programs():
        programs[operator.name].append(operator)
    asked = sorted({*_names(returns), *filter(_is_public, programs), *_layers()})
    found = {
        name: entry_of(
            isolated_tries(name, programs[name]),
            is_list="[tensor]" in returns.get(name, ""),
            is_sampled=bool(programs[name]) or name in _layers(),
        )
        for name in asked
    }
    found |= {name: found[like] for name, like in MOVES.items()}
    return {name: entry for name, entry in found.items() if entry is not None}


def isolated_tries(name: str, samples: list[Operator]) -> list[Try]:
    """The tries of one name, made in a process of their own; those of its samples alone where the
    ready-made arguments end the process or never end."""
    found = _in_a_process(lambda: list(tries_of(name, samples)))
    if found is None and samples:
        found = _in_a_process(lambda: list(tries_of(name, samples, with_ready_made=False)))
    return found or []


def _in_a_process(function: Callable[[], Any]) -> Any:
    """What the function returns, run in a process of its own; None when that ends or takes too
    long."""

    def run() -> None:
        torch.set_num_threads(1)  # the threads of the parent are not here
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with tempfile.TemporaryDirectory() as folder:  # some functions write files
            os.chdir(folder)
            sender.send(function())

    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=run)
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(SECONDS) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def tries_of(name: str, samples: list[Operator], with_ready_made: bool = True) -> Iterator[Try]:
    """The tries of a function, method or layer."""
    torch.manual_seed(0)
    torch.set_warn_always(True)  # each time, so that each deprecated try shows
    if name in _layers():
        yield from _layer_tries(getattr(torch.nn, name.removeprefix("torch.nn.")))
        return
    in_place = name.startswith("Tensor.") and name.endswith("_")
    found = 0
    for operator in samples:
        for made in tries.of_operator(operator, _samples(operator.info), in_place):
            found += 1
            yield made
    # torch.nn.functional takes anything for the flags that add results
    ready_made = with_ready_made and not (found and name.startswith("torch.nn.functional."))
    if ready_made and (function := _find(name)) is not None:
        yield from tries.of_function(function, in_place, name.startswith("numpy"))


def wrong(entry: str | dict[str, str], found: Iterable[Try]) -> list[Try]:
    """The tries that returned something else than a table's entry says."""
    return [made for made in _current(found) if not _holds(entry, made)]


def _holds(entry: str | dict[str, str], made: Try) -> bool:
    known = Shape.of(entry, call_form(made.rest, made.kwargs))
    if known is None:
        return True
    rows = known.results * (len(made.results) if known.container == "list" else 1)
    return len(rows) == len(made.results) and all(
        answer in (None, given)
        for row, part in zip(rows, made.results, strict=True)
        for answer, given in (
            (NDIM[row.ndim](made.owner, made.rest, made.kwargs), part.ndim),
            (_dtype_by(row.dtype, made), part.dtype),
        )
    )


def _current(found: Iterable[Try]) -> list[Try]:
    """Without the ways to call it that torch calls deprecated, where there are others."""
    found = list(found)
    return [made for made in found if not made.deprecated] or found


def entry_of(found: Iterable[Try], is_list: bool, is_sampled: bool) -> str | dict[str, str] | None:
    """A table's entry for the tries of one name, None when nothing held. `is_list`: the number of
    results is the caller's choice; `is_sampled`: torch's own samples are among the tries."""
    found = _current(found)
    flags, forms = defaultdict(list), defaultdict(list)
    for made in found:
        form = call_form(made.rest, made.kwargs)
        flags["" if form in FORMS else form].append(made)
        forms[form].append(made)
    words = {
        form: _word(those, is_list, bool(form) or not is_sampled) for form, those in flags.items()
    }
    if UNKNOWN in words.get("", ""):  # then it hangs on the first argument too, perhaps
        split = {
            form: _word(forms[form], is_list, not is_sampled)
            for form in ("", *FORMS)
            if form in forms
        }
        if UNKNOWN not in split.get("", UNKNOWN) or UNKNOWN not in split.get("arguments", UNKNOWN):
            words |= split
    if not any(set(word) - set("? ,()") for word in words.values()):
        return None
    return words[""] if words.keys() == {""} else dict(sorted(words.items()))


def _word(found: list[Try], is_list: bool, is_rare: bool) -> str:
    """The word that holds for all of these tries; what is rare was not tried with everything."""
    containers, counts = {made.container for made in found}, {len(made.results) for made in found}
    if len(containers) != 1 or not counts - {0}:
        return UNKNOWN
    container = containers.pop()
    if container and (is_list or len(counts) > 1):
        container, columns = "list", [[(made, part) for made in found for part in made.results]]
    else:
        columns = [[(made, made.results[at]) for made in found] for at in range(counts.pop())]
    return str(
        Shape(
            tuple(Result(_ndim(column, is_rare), _dtype(column)) for column in columns), container
        )
    )


def _ndim(column: list[tuple[Try, Tensor]], is_rare: bool) -> str:
    """The rule that never fails in these tries and that needs to know least."""
    if is_rare and len({made.owner.ndim for made, _ in column}) == 1 and _has_others(column):
        return UNKNOWN
    return _best(
        NDIM,
        [(view, part.ndim) for made, part in column for view in _views(made)],
        lambda word: all(
            made.owner.shape == part.shape
            for made, part in column
            if is_same_shape(word, made.rest, made.kwargs)
        ),
    )


def _dtype(column: list[tuple[Try, Tensor]]) -> str:
    """The same for the dtype."""
    calls = [
        ((made.owner, made.rest, made.kwargs), part.dtype)
        for made, part in column
        if not _says_dtype(made)
    ]
    return _best(DTYPE, calls)


def _dtype_by(word: str, made: Try) -> str | None:
    return None if _says_dtype(made) else DTYPE[word](made.owner, made.rest, made.kwargs)


def _says_dtype(made: Try) -> bool:
    return "dtype" in made.kwargs or any(type(value) is External for value in made.rest)


def _best(
    rules: dict[str, Callable],
    wanted: list[tuple[tuple, Any]],
    holds: Callable[[str], bool] = lambda word: True,
) -> str:
    """The rule with the most answers, all of them right; UNKNOWN when none has enough."""
    best, most = UNKNOWN, max(len(wanted) // LEAST, 2)
    for word, rule in rules.items():
        answers = 0
        for call, result in wanted:
            answer = rule(*call)
            if answer not in (None, result):
                break
            answers += answer is not None
        else:
            if answers > most and holds(word):
                best, most = word, answers
    return best


def _views(made: Try) -> Iterator[tuple[Tensor, list[Value], dict[str, Value]]]:
    """The arguments as they were, and with the first or the other tensors' dimensions unknown."""
    yield made.owner, made.rest, made.kwargs
    yield _blurred(made.owner), made.rest, made.kwargs
    kwargs = {name: _blurred(value) for name, value in made.kwargs.items()}
    yield made.owner, [_blurred(value) for value in made.rest], kwargs


def _blurred(value: Value) -> Value:
    return replace(value, ndim=None, shape=None) if type(value) is Tensor else value


def _has_others(column: list[tuple[Try, Tensor]]) -> bool:
    return any(made.rest or made.kwargs for made, _ in column)


def _names(returns: dict[str, str]) -> Iterator[str]:
    """The functions and methods that return tensors, and all of torch.nn.functional and numpy."""
    for name, word in returns.items():
        space, _, last = name.rpartition(".")
        if space in SPACES and "tensor" in word and not last.startswith("_"):
            yield name
    for space in ("torch.nn.functional", "numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray"):
        for name, value in vars(resolve_name(space)).items():
            if isinstance(value, FUNCTIONS) and not name.startswith("_"):
                yield f"{space}.{name}"


def _find(name: str) -> Callable | None:
    try:
        found = resolve_name(f"torch.{name}" if name.startswith("Tensor.") else name)
    except (ImportError, AttributeError, ValueError):
        return None
    return found if callable(found) and not isinstance(found, type) else None


def _samples(info: Any) -> Iterator[tuple[tuple, dict]]:
    for dtype in tries.DTYPES:
        if dtype in info.dtypes:
            every = list(itertools.islice(operators.samples(info, dtype), 50 * tries.SAMPLES))
            for sample in Random(0).sample(every, min(len(every), tries.SAMPLES)):
                yield (sample.input, *sample.args), sample.kwargs


def _is_public(name: str) -> bool:
    """False for what torch's samples name otherwise than people do."""
    return not name.startswith("torch.torch.") and not any(
        part.startswith("_") for part in name.split(".")
    )


def _layers() -> Iterator[str]:
    return (name.removesuffix(".forward") for name in from_torch.modules())


def _layer_tries(layer: type) -> Iterator[Try]:
    from torch.testing._internal.common_modules import module_db

    inputs = list(tries.layer_inputs())
    for made in (*tries.LAYERS_MADE_WITH, ((torch.nn.TransformerDecoderLayer(6, 2, 8), 1), {})):
        try:
            named = inspect.signature(layer).bind(*made[0], **made[1]).arguments
            module = layer(*made[0], **made[1])
        except Exception:  # arguments that do not fit
            continue
        if not any(name.startswith(FLAGS) for name in named.keys() - made[1].keys()):
            yield from tries.of_layer(module.eval(), made, inputs)
    for info in module_db:
        if info.module_cls is not layer:
            continue
        for sample in info.module_inputs_func(info, "cpu", torch.float32, False, False):
            given = sample.constructor_input
            module = layer(*given.args, **given.kwargs)
            args = sample.forward_input.args if sample.forward_input else ()
            yield from tries.of_layer(module.eval(), (given.args, given.kwargs), [args])
