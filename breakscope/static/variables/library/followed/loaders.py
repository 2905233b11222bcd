"""The batches of a data loader over tensors whose sizes are known: the last one may be smaller."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
    int_of,
)
from breakscope.rulekit.walking import walk
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
BATCH_SAMPLERS = frozenset(
    {"torch.utils.data.BatchSampler", "torch.utils.data.sampler.BatchSampler"}
)
SAMPLERS = {  # their arguments
    f"torch.utils.data{inner}.{name}": arguments
    for inner in ("", ".sampler")
    for name, arguments in {
        "RandomSampler": ("data_source", "replacement", "num_samples"),
        "SequentialSampler": ("data_source",),
        "SubsetRandomSampler": ("indices",),
        "WeightedRandomSampler": ("weights", "num_samples"),
    }.items()
}
SUBSET = "torch.utils.data.Subset"
DATASETS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})


def batches(machine: Machine, loader: Value, node: ast.AST, frame: Frame) -> list[Value] | None:
    """What going over a loader gives: as many whole batches as a loop is followed for, and the last one; None
    where that is not known."""
    return _batches(machine, loader, machine.driver.most_turns(1) - 1, node, frame)


def first_batches(
    machine: Machine, loader: Value, node: ast.AST, frame: Frame
) -> list[Value] | None:
    """The batches of a loader in their order, as many as are asked for one by one."""
    return _batches(machine, loader, limits.MOST_DRIVEN_TURNS, node, frame)


def _batches(
    machine: Machine, loader: Value, most: int, node: ast.AST, frame: Frame
) -> list[Value] | None:
    given = _arguments(loader)
    if given is None:
        return None
    data = given.get("dataset", UNKNOWN)
    if isinstance(given.get("batch_sampler"), Instance):
        return _sampled(machine, given, node, frame)
    if (stream := _iterated(machine, data, node, frame)) is not None:
        return _streamed(machine, given, stream, node, frame)
    if "collate_fn" in given:
        return _collated(machine, given, most, node, frame)
    length = _count_sampled(machine, data, given.get("sampler"), node, frame)
    size = _batch_size(given)
    if length is None or size is None:
        return None
    whole, rest = divmod(length, size)
    sizes = [(at * size, size) for at in range(min(whole, most))]
    if rest and given.get("drop_last") != Const(True):
        sizes.append((whole * size, rest))
    if type(data) is Instance and not given.get("sampler"):  # all of a batch are as its first
        return [_batch(_item(machine, data, at, node, frame), number) for at, number in sizes]
    sample = _sample(machine, data, node, frame)
    return [_batch(sample, number) for _, number in sizes]


def count_batches(machine: Machine, loader: Value, node: ast.AST, frame: Frame) -> int | None:
    """The `len` of a loader, where it is known."""
    given = _arguments(loader) or {}
    size = _batch_size(given)
    if not given or size is None or isinstance(given.get("batch_sampler"), Instance):
        return None
    data = given.get("dataset", UNKNOWN)
    length = _count_sampled(machine, data, given.get("sampler"), node, frame)
    drops = given.get("drop_last", Const(False))
    if length is None or not isinstance(drops, Const):
        return None
    return length // size if drops.value else -(-length // size)


def _arguments(loader: Value) -> dict[str, Value] | None:
    """What a loader was made with, by name; None for anything else."""
    if not isinstance(loader, ExternalInstance) or loader.name not in LOADERS:
        return None
    given = dict(zip(("dataset", "batch_size"), loader.args)) | dict(loader.kwargs)
    return given | _of_batch_sampler(given.get("batch_sampler"))


def _batch_size(given: dict[str, Value]) -> int | None:
    size = int_of(given.get("batch_size", Const(1)))
    return size if size is not None and size > 0 else None


def _of_batch_sampler(sampler: Value | None) -> dict[str, Value]:
    """What a batch sampler of torch's stands for of a loader's own arguments."""
    if not isinstance(sampler, ExternalInstance) or sampler.name not in BATCH_SAMPLERS:
        return {}
    return dict(zip(("sampler", "batch_size", "drop_last"), sampler.args)) | dict(sampler.kwargs)


def _count_sampled(
    machine: Machine, data: Value, sampler: Value | None, node: ast.AST, frame: Frame
) -> int | None:
    """How many items a loader goes over: those of its sampler."""
    if isinstance(sampler, ExternalInstance) and sampler.name in SAMPLERS:
        given = dict(zip(SAMPLERS[sampler.name], sampler.args)) | dict(sampler.kwargs)
        if (count := int_of(given.get("num_samples"))) is not None:
            return count
        data = given.get("data_source", given.get("indices", UNKNOWN))
    elif sampler is not None and not sampler.is_none:
        data = sampler
    return _length(machine, data, node, frame)


def _sampled(
    machine: Machine, given: dict[str, Value], node: ast.AST, frame: Frame
) -> list[Value] | None:
    """The batches whose numbers a sampler of the program's own lists."""
    rows = _iterated(machine, given["batch_sampler"], node, frame)
    data = given.get("dataset", UNKNOWN)
    item = machine.getattr(data, "__getitem__", node, frame)
    if rows is None or not isinstance(item, Function):
        return None
    batches = []
    for row in rows[: limits.MOST_DRIVEN_TURNS]:
        if not isinstance(row, Sequence) or not row.items:
            return None
        picked = row.items[: limits.MOST_KNOWN_TURNS]
        group = [machine.call(item, [number], {}, node, frame) for number in picked]
        batches.append(_put_together(machine, given, group, node, frame))
    return batches


def _streamed(
    machine: Machine, given: dict[str, Value], items: list[Value], node: ast.AST, frame: Frame
) -> list[Value] | None:
    """The batches of a dataset that is gone over; of one without end the whole ones."""
    size = _batch_size(given)
    if size is None:
        return None
    groups = [items[at : at + size] for at in range(0, len(items), size)]
    source = machine.getattr(given["dataset"], "__iter__", node, frame)
    is_endless = any(isinstance(part, ast.While) for part in walk(source.info.node))
    is_cut = len(items) >= limits.MOST_KNOWN_TURNS
    if is_endless or is_cut or given.get("drop_last") == Const(True):
        groups = [group for group in groups if len(group) == size]
    return [_put_together(machine, given, group, node, frame) for group in groups]


def _iterated(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> list[Value] | None:
    """What going over an object of the program's own gives, which has no items by number."""
    if not isinstance(value, Instance):
        return None
    method = machine.getattr(value, "__iter__", node, frame)
    by_number = machine.getattr(value, "__getitem__", node, frame)
    if not isinstance(method, Function) or isinstance(by_number, Function):
        return None
    made = machine.call(method, [], {}, node, frame)
    return made.items if isinstance(made, Sequence) else None


def _put_together(
    machine: Machine, given: dict[str, Value], group: list[Value], node: ast.AST, frame: Frame
) -> Value:
    collate = given.get("collate_fn")
    if collate is None or collate.is_none:
        return _batch(group[0], len(group))
    return machine.call(collate, [Sequence("list", group)], {}, node, frame)


def _collated(
    machine: Machine, given: dict[str, Value], most: int, node: ast.AST, frame: Frame
) -> list[Value] | None:
    """What a function of the program's own makes of the items of each batch."""
    size = _batch_size(given)
    if size is None:
        return None
    data = given.get("dataset", UNKNOWN)
    length = _length(machine, data, node, frame)
    if length is None or size > limits.MOST_KNOWN_TURNS:
        return None
    starts = range(0, length, size)
    whole = [at for at in starts if at + size <= length]
    last = [*starts[len(whole) :]] if given.get("drop_last") != Const(True) else []
    followed = whole[: min(most, limits.MOST_KNOWN_TURNS // size)]
    batches = []
    for at in [*followed, *last]:
        numbers = range(at, min(at + size, length))
        group = [_item(machine, data, number, node, frame) for number in numbers]
        batches.append(_put_together(machine, given, group, node, frame))
    return batches


def _item(machine: Machine, data: Value, number: int, node: ast.AST, frame: Frame) -> Value:
    """One item of a dataset, by its number."""
    if isinstance(data, Sequence) and data.items is not None:
        return data.items[number] if number < len(data.items) else data.element
    method = machine.getattr(data, "__getitem__", node, frame) if type(data) is Instance else None
    if isinstance(method, Function):
        return machine.call(method, [Const(number)], {}, node, frame)
    return _sample(machine, data, node, frame)


def _length(machine: Machine, data: Value, node: ast.AST, frame: Frame) -> int | None:
    if isinstance(data, ExternalInstance) and data.name in DATASETS:
        data = data.args[0] if data.args else UNKNOWN
    if isinstance(data, ExternalInstance) and data.name == SUBSET and len(data.args) > 1:
        return data.args[1].value if isinstance(data.args[1], Const) else _count(data.args[1])
    if not isinstance(data, Tensor | Instance | Sequence):
        return None
    method = machine.getattr(data, "__len__", node, frame) if isinstance(data, Instance) else None
    if isinstance(method, Function):
        length = machine.call(method, [], {}, node, frame)
    else:
        length = machine.behaviour(data).length(machine, data, node, frame)
    return int_of(length)


def _sample(machine: Machine, data: Value, node: ast.AST, frame: Frame) -> Value:
    """One item of a dataset."""
    if isinstance(data, ExternalInstance) and data.name == SUBSET:
        return _sample(machine, data.args[0], node, frame) if data.args else UNKNOWN
    if isinstance(data, ExternalInstance):
        items = [_first_of(value) for value in data.args]
        return Sequence("tuple", items)
    if isinstance(data, Instance):
        method = machine.getattr(data, "__getitem__", node, frame)
        known = isinstance(method, Function)
        return machine.call(method, [Py("int")], {}, node, frame) if known else UNKNOWN
    if isinstance(data, Sequence):
        return data.items[0] if data.items else data.element
    return _first_of(data)


def _count(indices: Value) -> int | None:
    is_known = isinstance(indices, Sequence) and indices.items is not None
    return len(indices.items) if is_known else None


def split_dataset(machine: Machine, args: list[Value], kwargs, node, frame) -> Value:
    """`random_split(dataset, lengths)`: subsets of these lengths, or of these shares."""
    given = dict(zip(("dataset", "lengths"), args)) | kwargs
    data, lengths = given.get("dataset", UNKNOWN), given.get("lengths", UNKNOWN)
    if not isinstance(lengths, Sequence) or not lengths.items:
        return UNKNOWN
    whole = _length(machine, data, node, frame)
    numbers = [v.value if isinstance(v, Const) else None for v in lengths.items]
    if all(type(n) is float and 0 <= n <= 1 for n in numbers) and whole is not None:
        numbers = [int(whole * n) for n in numbers]
        numbers[0] += whole - sum(numbers)
    counts = [Const(n) if type(n) is int else UNKNOWN for n in numbers]
    return Sequence("list", [ExternalInstance(SUBSET, (data, count)) for count in counts])


def _first_of(value: Value) -> Value:
    shape = value.shape[1:] if type(value) is Tensor and value.shape else None
    return replace(value, shape=shape) if type(value) is Tensor else UNKNOWN


def _batch(sample: Value, size: int) -> Value:
    """Several of a sample, as a loader puts them together."""
    if type(sample) is Tensor:
        shape = None if sample.shape is None else (size, *sample.shape)
        return replace(sample, shape=shape, ndim=None if shape is None else len(shape))
    if isinstance(sample, Sequence) and sample.items is not None:
        return Sequence("list", [_batch(item, size) for item in sample.items])
    if isinstance(sample, Dict) and not sample.open:
        return Dict({name: _batch(item, size) for name, item in sample.items.items()})
    is_number = isinstance(sample, Const | Py) and not isinstance(getattr(sample, "value", 0), str)
    return Tensor(None, 1, (size,)) if is_number else UNKNOWN
