"""Packed sequences: torch's own C++ reads their batch sizes by address, so these stay real tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

from breakscope import limits
from breakscope.dynamic.child.fake.answers import Answers
from breakscope.dynamic.child.fake.values import Values

PACK = torch.ops.aten._pack_padded_sequence.default


def packed_places(
    values: Values,
    answers: Answers,
    padded: torch.Tensor,
    lengths: torch.Tensor,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which rows of `padded.flatten(0, 1)` the packed data has, and its batch sizes, by the lengths'
    values; every row is full where these are assumed and cannot be."""
    value = values.drawn(lengths, limits.MOST_DRAWN_ELEMENTS)
    steps = padded.shape[1 if batch_first else 0]
    assumed = value is None or value.shared.assumed
    with unset_fake_temporarily():
        real = torch.full(lengths.shape, steps) if value is None else value.real
        if assumed and (real.min() < 1 or real.max() > steps):
            real = torch.full(lengths.shape, steps)
        places = torch.arange(padded.shape[0] * padded.shape[1]).view(*padded.shape[:2], 1)
        order, batch_sizes = PACK(places, real, batch_first)
        rows = order[:, 0].to(padded.device)
    answers.answer("size", order.shape[0], assumed)
    return rows, batch_sizes


@contextmanager
def unpacked() -> Iterator[None]:
    """`pad_packed_sequence` of fake data, which torch writes by address, is made of other ops."""
    original = torch._C._VariableFunctions._pad_packed_sequence

    def pad(data: Any, batch_sizes: Any, batch_first: bool, padding: Any, total: int = -1) -> Any:
        if not isinstance(data, FakeTensor):
            return original(data, batch_sizes, batch_first, padding, total)
        with unset_fake_temporarily():  # it says what torch refuses, and where each row goes
            rows = torch.arange(1, data.shape[0] + 1)[:, None]
            places, lengths = original(rows, batch_sizes, False, 0, total)
        steps, batch = places.shape[:2]
        step, row = places[..., 0].nonzero().T
        padded = data.new_full((steps, batch, *data.shape[1:]), padding)
        padded = padded.index_put((step.to(data.device), row.to(data.device)), data)
        return padded.transpose(0, 1) if batch_first else padded, lengths

    with mock.patch.object(torch._VF, "_pad_packed_sequence", pad, create=True):
        yield
