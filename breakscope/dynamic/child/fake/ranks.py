"""One of several ranks that are not there: a process group that gives back what it gets."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch._dynamo.convert_frame import CatchErrorsWrapper
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._python_dispatch import _disable_current_modes


@contextmanager
def as_rank(rank: int, world_size: int) -> Iterator[str]:
    """torch.distributed as in one process of `world_size`; gives why that cannot be, "" where it can.

    A program that makes the process group itself, of any backend, gets this one."""
    import torch.distributed as dist

    if not dist.is_available():
        yield "this torch has no torch.distributed"
        return
    from torch.testing._internal.distributed.fake_pg import FakeStore

    names = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world_size}
    names |= {"LOCAL_WORLD_SIZE": world_size, "MASTER_ADDR": "localhost", "MASTER_PORT": 0}
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {k: str(v) for k, v in names.items()}))
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world_size)

        def nothing(*args: Any, **kwargs: Any) -> None:
            """It is there already."""

        for owner in (dist, dist.distributed_c10d):
            stack.enter_context(mock.patch.object(owner, "init_process_group", nothing))
            stack.enter_context(mock.patch.object(owner, "destroy_process_group", nothing))
        from torch.nn.parallel import distributed as ddp

        # they compare and copy the parameters of all ranks, below what a fake tensor has
        for name in ("_verify_param_shape_across_processes", "_sync_module_states"):
            stack.enter_context(mock.patch.object(ddp, name, nothing, create=True))
        stack.enter_context(mock.patch.object(dist, "Reducer", _reducer(dist.Reducer)))
        stack.enter_context(mock.patch.object(CatchErrorsWrapper, "__call__", _without_modes(ddp)))
        try:
            yield ""
        finally:
            stack.close()
            dist.destroy_process_group()


def _reducer(original: Any) -> Callable:
    """DDP's reducer over tensors of one number each, in the places of the parameters: what it does in C++
    needs memory, and a program that calls it must find torch's own class."""

    def make(parameters: Sequence[torch.Tensor], *args: Any, **kwargs: Any) -> Any:
        with unset_fake_temporarily():
            stand_ins = [torch.zeros(1, requires_grad=True) for _ in parameters]
            return original(stand_ins, *args, **kwargs)

    return make


def _without_modes(ddp: Any) -> Callable:
    """Dynamo leaves the modes around a program while it compiles a frame, but not for a frame inside DDP."""
    original = CatchErrorsWrapper.__call__

    def call(self: CatchErrorsWrapper, *args: Any) -> Any:
        if ddp.DistributedDataParallel._get_active_ddp_module() is None:
            return original(self, *args)
        with _disable_current_modes():
            return original(self, *args)

    return call
