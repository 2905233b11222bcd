"""Fake CUDA tensors where there is no GPU: what torch and programs ask of the device is answered as
by a GPU of the assumed kind."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch._dynamo import utils
from torch._dynamo.device_interface import CudaInterface
from torch._dynamo.variables.ctx_manager import CUDADeviceVariable
from torch._subclasses.fake_tensor import FakeTensorMode

REGISTRAR = (
    "_ZN3c104impl24DeviceGuardImplRegistrarC1ENS_10DeviceTypeEPKNS0_24DeviceGuardImplInterfaceE"
)
EXCHANGES = {  # each has its own reference to what switches the device
    torch.cuda: ("_exchange_device", "_maybe_exchange_device"),
    CUDADeviceVariable: ("_exchange_fn", "_maybe_exchange_fn"),
    CudaInterface: ("exchange_device", "maybe_exchange_device"),
}
NAME, CAPABILITY = "NVIDIA H100 80GB HBM3", (9, 0)
NO_GUARD = (
    "torch {version} has no CUDA and takes no stand-in for it: fake CUDA tensors cannot be computed "
    "with where gradients are tracked; install a CUDA build of torch, which needs no GPU for this"
)
NO_BACKWARD = (
    "torch {version} is built without CUDA, so the backward pass on fake CUDA tensors was left out; "
    "a CUDA build of torch can, without a GPU"
)


class Properties(SimpleNamespace):
    """Of a GPU, as `torch.cuda.get_device_properties` gives them; torch's own class cannot be made. Dynamo
    takes them for a constant."""

    __hash__ = object.__hash__


@contextmanager
def as_on_cuda() -> Iterator[dict[str, Any]]:
    """torch answers as if there were one GPU; gives what is assumed and what could not be done."""
    if torch.cuda.is_available():
        yield {"assumed": "", "backward": True, "left_out": ""}
        return
    built = torch.version.cuda is not None
    guard = built or _have_guard()
    left_out = "" if built else NO_BACKWARD if guard else NO_GUARD
    kind = f"{NAME}, compute capability {'.'.join(map(str, CAPABILITY))}"
    with ExitStack() as stack:
        for owner, name, value in _replaced():
            stack.enter_context(mock.patch.object(owner, name, value, create=True))
        utils.common_constant_types.add(Properties)
        stack.callback(utils.common_constant_types.discard, Properties)
        yield {
            "assumed": kind,
            "backward": built,
            "left_out": left_out.format(version=torch.__version__),
        }


def _replaced() -> list[tuple[Any, str, Any]]:
    """What is asked of a GPU, and the answers, below the functions for which Dynamo has rules: these stay
    torch's own."""
    properties = Properties(
        name=NAME,
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        total_memory=80 << 30,
        multi_processor_count=132,
        warp_size=32,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        shared_memory_per_block_optin=232448,
        gcnArchName="",
    )
    state = torch.zeros(16, dtype=torch.uint8)
    return [
        (torch._C, "_cuda_getDeviceCount", lambda: 1),
        (torch._C, "_cuda_isInBadFork", lambda: False),
        (torch._C, "_cuda_getDevice", lambda: 0),
        (torch._C, "_cuda_setDevice", lambda device: None),
        *(
            (owner, name, staticmethod(lambda device: 0))
            for owner, names in EXCHANGES.items()
            for name in names
        ),
        (torch._C, "_cuda_synchronize", lambda: None),
        (torch._C, "_cuda_emptyCache", lambda: None),
        (torch._C, "_cuda_memoryStats", lambda device: {}),  # nothing is allocated
        (torch._C, "_cuda_resetPeakMemoryStats", lambda device: None),
        *(
            (owner, "mem_get_info", lambda device=None: (properties.total_memory,) * 2)
            for owner in (torch.cuda, torch.cuda.memory)
        ),
        (torch.cuda, "_nvml_based_avail", lambda: False),
        (torch.cuda, "_device_count_nvml", lambda: 1),
        (torch.cuda, "_cached_device_count", 1),
        (torch.cuda, "_initialized", True),
        (torch.cuda, "_get_device_properties", lambda device: properties),
        (torch.cuda, "get_rng_state", lambda device="cuda": state.clone()),
        (torch.cuda, "set_rng_state", lambda new_state, device="cuda": None),
        (torch.cuda, "manual_seed", lambda seed: None),
        (torch.cuda, "manual_seed_all", lambda seed: None),
        (FakeTensorMode, "avoid_device_init", property(lambda self: True)),
    ]


def _have_guard() -> bool:
    """Let a build without CUDA take CUDA for a device on which nothing has to be switched.

    torch has such a guard, and installs it where it is built for CUDA and finds no GPU: where the
    registered guard counts none. A build without CUDA has none registered; one that counts zero in
    every slot of its table is all that is missing. Whether it worked is tried.
    """
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so"))
        zero = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: 0)
        address = ctypes.cast(zero, ctypes.c_void_p).value
        table = (ctypes.c_void_p * 64)(*[address] * 64)
        guard = (ctypes.c_void_p * 1)(ctypes.addressof(table))
        registered = (ctypes.c_char * 8)()  # 1 below: c10::DeviceType::CUDA
        getattr(library, REGISTRAR)(ctypes.byref(registered), ctypes.c_int8(1), ctypes.byref(guard))
        torch._C._ensureCUDADeviceGuardSet()
        # until then it may be asked, and it is not freed with this call
        _have_guard.kept = (zero, table, guard)
        with FakeTensorMode():
            torch.empty(2, device="cuda", requires_grad=True).mul(2).detach().copy_(torch.ones(2))
    except Exception:
        return False
    return True
