"""Random state, defaults and global modes of torch."""
# ruff: noqa

import torch
import torch.autograd
import torch.random

generator = torch.Generator()
rng_state = torch.get_rng_state()


def cases_state(x):
    torch.manual_seed(0)
    torch.seed()
    torch.initial_seed()
    torch.get_rng_state()
    torch.set_rng_state(rng_state)
    torch.random.manual_seed(0)
    torch.random.get_rng_state()
    torch.random.initial_seed()
    torch.random.fork_rng()
    torch.Generator()
    torch.default_generator  # as: torch.default_generator
    generator.manual_seed(0)
    generator.seed()
    generator.get_state()
    generator.initial_seed()
    torch.set_default_dtype(torch.float32)
    torch.get_default_dtype()
    torch.set_default_device("cpu")
    torch.get_default_device()
    torch.set_default_tensor_type(torch.FloatTensor)
    torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    torch.is_inference_mode_enabled()
    torch.is_autocast_enabled()
    torch.is_autocast_enabled("cpu")
    torch.is_autocast_cache_enabled()
    torch.get_autocast_dtype("cpu")
    torch.get_autocast_gpu_dtype()
    torch.set_autocast_enabled("cpu", False)
    torch.clear_autocast_cache()
    torch.is_anomaly_enabled()
    torch.is_deterministic_algorithms_warn_only_enabled()
    torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode(0)
    torch.get_num_threads()
    torch.set_num_threads(1)
    torch.get_num_interop_threads()
    torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    torch.set_printoptions(precision=4)
    torch.set_flush_denormal(False)
    torch.set_warn_always(False)
    torch.is_warn_always_enabled()
    torch.__version__  # as: torch.__version__
    torch.__version__ >= "2"  # as: torch.__version__ compare
    torch.version.cuda  # as: torch.version.cuda
    torch.__config__.show()
    torch.autograd.set_detect_anomaly(False)
    torch.autograd.set_grad_enabled(True)
    torch.autograd.grad_mode.set_grad_enabled(True)
    torch.autograd.detect_anomaly()
