"""Devices and backends, on a machine without any."""
# ruff: noqa

import torch
import torch.backends.cuda
import torch.backends.cudnn
import torch.cuda
import torch.cuda.nvtx


def cases_cuda(x):
    torch.cuda.is_available()
    torch.cuda.device_count()
    torch.cuda.synchronize()  # raises
    torch.cuda.current_device()  # raises
    torch.cuda.current_stream()  # raises
    torch.cuda.Stream()  # raises
    torch.cuda.Event()  # raises
    torch.cuda.empty_cache()
    torch.cuda.memory_allocated()
    torch.cuda.max_memory_allocated()
    torch.cuda.memory_reserved()
    torch.cuda.reset_peak_memory_stats()  # raises
    torch.cuda.get_device_properties(0)  # raises
    torch.cuda.get_device_name(0)  # raises
    torch.cuda.get_device_capability(0)  # raises
    torch.cuda.is_initialized()
    torch.cuda.is_bf16_supported()
    torch.cuda.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    torch.cuda.get_rng_state()  # raises
    torch.cuda.set_device(0)  # raises
    torch.cuda.mem_get_info()  # raises
    torch.cuda.nvtx.range_push("a")  # raises
    torch.cuda.nvtx.range_pop()  # raises
    torch.cuda.nvtx.mark("a")  # raises
    torch.cuda.amp.autocast()
    torch.backends.cuda.is_built()
    torch.backends.cuda.sdp_kernel()
    torch.backends.cuda.flash_sdp_enabled()
    torch.backends.cuda.enable_flash_sdp(True)
    torch.backends.cuda.matmul.allow_tf32  # as: torch.backends.cuda.matmul.allow_tf32
    torch.backends.cudnn.is_available()
    torch.backends.cudnn.version()
    torch.backends.cudnn.enabled  # as: torch.backends.cudnn.enabled
    torch.backends.cudnn.flags(enabled=False)
    torch.backends.cudnn.benchmark  # as: torch.backends.cudnn.benchmark
    torch.backends.mps.is_available()
    torch.backends.mkldnn.is_available()
    torch.backends.mkldnn.flags(enabled=False)
    torch.backends.opt_einsum.is_available()
    torch.xpu.is_available()
    torch.mps.is_available()
    torch.accelerator.is_available()
    torch.accelerator.current_accelerator()
    torch.cpu.is_available()
    torch.cpu.synchronize()
    torch.get_device_module("cpu")
