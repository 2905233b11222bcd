"""The batches of a data loader over tensors whose sizes are known: the last one may be smaller."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.rulekit.values import TRUE, Const, ExternalInstance, Sequence, Tensor, Value

LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
DATASETS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})


def batches(loader: Value) -> list[Value] | None:
    """What going over a loader gives: a whole batch, another, and the last one; None where that is not
    known."""
    if not isinstance(loader, ExternalInstance) or loader.name not in LOADERS:
        return None
    given = dict(zip(("dataset", "batch_size"), loader.args)) | dict(loader.kwargs)
    data, size = given.get("dataset"), given.get("batch_size", Const(1))
    tensors = _tensors_of(data)
    lengths = {t.shape[0] for t in tensors if t.shape}
    if len(lengths) != 1 or not isinstance(size, Const) or type(size.value) is not int:
        return None
    whole, rest = divmod(lengths.pop(), size.value) if size.value > 0 else (0, 0)
    sizes = [size.value] * min(whole, 2)
    if rest and given.get("drop_last") != TRUE:
        sizes.append(rest)
    return [_batch(tensors, number, data) for number in sizes]


def _tensors_of(data: Value | None) -> list[Tensor]:
    if type(data) is Tensor:
        return [data]
    is_set = isinstance(data, ExternalInstance) and data.name in DATASETS
    tensors = [value for value in data.args if type(value) is Tensor] if is_set else []
    return tensors if tensors and all(t.shape for t in tensors) else []


def _batch(tensors: list[Tensor], size: int, data: Value) -> Value:
    parts: list[Value] = [replace(t, shape=(size, *t.shape[1:])) for t in tensors]
    return parts[0] if type(data) is Tensor else Sequence("list", parts)
