"""Device, backend and memory limit of the options, checked and set."""

from __future__ import annotations

import torch
import torch._dynamo

from breakscope.dynamic.child.load import TargetError


def pick_device(wanted: str | None) -> tuple[torch.device, bool]:
    """The device, and whether it was chosen by default; raises TargetError when there is no
    such device.

    NVML shows whether there is CUDA without starting it, so that forking stays safe.
    """
    cuda = torch.cuda.is_available()
    if not wanted:
        return torch.device("cuda" if cuda else "cpu"), True
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise TargetError(f"no device is called {wanted!r}; write cpu, cuda or cuda:1") from None
    if device.type == "cuda" and not cuda:
        raise TargetError(
            f"there is no device {wanted} here: torch {torch.__version__} sees no CUDA"
        )
    return device, False


def check_backend(name: str) -> None:
    """Raise TargetError for an unknown backend; after the import, as the user's file may register
    its own."""
    if name not in torch._dynamo.list_backends(exclude_tags=()):
        raise TargetError(
            f"no backend is called {name!r}; there are {', '.join(sorted(torch._dynamo.list_backends()))}"
        )


def limit_memory(job: dict, device: torch.device) -> None:
    """Bound the process's data, so that too large an allocation ends in an error message and not in
    the machine's OOM killer.

    The default applies to the CPU alone: CUDA's driver maps far more than it uses.
    """
    limit = job["memory"] or (
        job["default_memory"] if job["memory"] is None and device.type == "cpu" else 0
    )
    if not limit:
        return
    try:
        import resource

        resource.setrlimit(
            resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )
    except (ImportError, ValueError, OSError):
        return


def device_name(device: torch.device) -> str:
    """The device, of a GPU with its product name."""
    if device.type != "cuda":
        return str(device)
    return f"{device} ({torch.cuda.get_device_name(device)})"
