"""Context managers entered inside a compiled function."""
# ruff: noqa

import contextlib
import decimal
import io
import os
import tempfile
import threading
import unittest.mock
import warnings

import numpy as np
import torch
import torch.autograd.forward_ad
import torch.autograd.graph
import torch.autograd.profiler
import torch.backends.cuda
import torch.backends.cudnn
import torch.backends.mkldnn
import torch.cuda.nvtx
import torch.func
import torch.nn.attention
import torch.nn.utils.parametrize
import torch.overrides
import torch.profiler
import torch.sparse
import torch.utils._device
import torch.utils._python_dispatch
import torch.utils.flop_counter

lock, rlock, condition, semaphore = (
    threading.Lock(),
    threading.RLock(),
    threading.Condition(),
    threading.Semaphore(),
)
no_grad = torch.no_grad()
autocast = torch.autocast("cpu", dtype=torch.bfloat16)
null = contextlib.nullcontext()


class Plain:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        return None


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        return True


class Timer:
    def __enter__(self):
        import time

        self.start = time.time()
        return self

    def __exit__(self, *details):
        return None


class Decorated(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *details):
        return None


@contextlib.contextmanager
def generated():
    yield 1


@contextlib.contextmanager
def generated_try():
    try:
        yield 1
    finally:
        pass


@contextlib.contextmanager
def generated_grad():
    with torch.no_grad():
        yield


plain, timer = Plain(), Timer()


def cases_torch(x, w, yes):
    with torch.no_grad():
        x + 1
    with torch.enable_grad():
        x + 1
    with torch.set_grad_enabled(True):
        x + 1
    with torch.set_grad_enabled(yes):
        x + 1
    with torch.inference_mode():
        x + 1
    with torch.inference_mode(False):
        x + 1
    with no_grad:
        x + 1
    with torch.autocast("cpu"):
        x + 1
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        x @ x.T
    with torch.autocast("cuda", enabled=False):
        x @ x.T
    with torch.autocast(x.device.type, enabled=False):
        x @ x.T
    with torch.amp.autocast("cpu"):
        x @ x.T
    with torch.amp.autocast(device_type="cpu", enabled=False):
        x @ x.T
    with torch.cuda.amp.autocast():
        x @ x.T
    with torch.cuda.amp.autocast(enabled=False):
        x @ x.T
    with torch.cpu.amp.autocast():
        x @ x.T
    with autocast:
        x @ x.T
    with torch.device("cpu"):
        torch.zeros(3)
    with torch.device("meta"):
        torch.zeros(3)
    with torch.cuda.device(0):
        x + 1  # raises
    with torch.cuda.stream(None):
        x + 1
    with torch.cuda.device_of(x):
        x + 1
    with torch.cuda.nvtx.range("a"):
        x + 1  # raises
    with torch.profiler.record_function("a"):
        x + 1
    with torch.autograd.profiler.record_function("a"):
        x + 1
    with torch.profiler.profile():
        x + 1
    with torch.autograd.profiler.profile():
        x + 1
    with torch.autograd.profiler.emit_nvtx(enabled=False):
        x + 1
    with torch.autograd.set_detect_anomaly(True):
        x + 1
    with torch.autograd.detect_anomaly():
        x + 1
    with torch.autograd.graph.saved_tensors_hooks(lambda e: e, lambda e: e):
        w * w
    with torch.autograd.graph.save_on_cpu():
        w * w
    with torch.autograd.graph.disable_saved_tensors_hooks("no"):
        w * w
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        w * w
    with torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch:
        x + 1  # raises
    with torch.autograd.set_multithreading_enabled(False):
        x + 1
    with torch.autograd._force_original_view_tracking(True):
        x + 1
    with torch.autograd.set_grad_enabled(False):
        x + 1
    with torch.autograd.no_grad():
        x + 1
    with torch.autograd.forward_ad.dual_level():
        x + 1
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        x + 1
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.MATH]):
        x + 1
    with torch.backends.cuda.sdp_kernel(enable_flash=False):
        x + 1
    with torch.backends.cudnn.flags(enabled=False):
        x + 1
    with torch.backends.mkldnn.flags(enabled=False):
        x + 1
    with torch.backends.flags():
        x + 1  # raises
    with torch.random.fork_rng():
        x + 1
    with torch.random.fork_rng(devices=[]):
        x + 1
    with torch.random.fork_rng(enabled=False):
        x + 1
    with torch.nn.utils.parametrize.cached():
        x + 1
    with torch.nn.utils.stateless._reparametrize_module:
        x + 1  # raises
    with torch.overrides.BaseTorchFunctionMode():
        x + 1
    with torch._C.DisableTorchFunctionSubclass():
        x + 1
    with torch._C.DisableTorchFunction():
        x + 1
    with torch.utils.flop_counter.FlopCounterMode(display=False):
        x + 1
    with torch.sparse.check_sparse_tensor_invariants():
        x + 1
    with torch.jit.optimized_execution(True):
        x + 1
    with torch.jit.strict_fusion():
        x + 1
    with torch.onnx.select_model_mode_for_export:
        x + 1  # raises
    with torch.compiler.set_stance("force_eager"):
        x + 1
    with torch._dynamo.config.patch(suppress_errors=False):
        x + 1
    with torch._dynamo.disable():
        x + 1  # raises
    with torch._inductor.config.patch(debug=False):
        x + 1
    with torch.fx.traceback.annotate({"a": "b"}):
        x + 1
    with torch.no_grad(), torch.autocast("cpu"):
        x @ x.T  # as: two contexts in one with
    with torch.no_grad() as context:
        x + 1  # as: torch.no_grad with as


def cases_python(x):
    with contextlib.nullcontext():
        x + 1
    with contextlib.nullcontext(1) as value:
        x + value
    with null:
        x + 1
    with contextlib.suppress(ValueError):
        x + 1
    with contextlib.ExitStack() as stack:
        x + 1
    # as: contextlib.ExitStack.enter_context
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
    with contextlib.redirect_stdout(io.StringIO()):
        x + 1
    with contextlib.redirect_stderr(io.StringIO()):
        x + 1
    with contextlib.closing(io.StringIO()):
        x + 1
    with contextlib.chdir("."):
        x + 1
    with lock:
        x + 1  # as: threading.Lock
    with rlock:
        x + 1  # as: threading.RLock
    with condition:
        x + 1
    with semaphore:
        x + 1
    with threading.Lock():
        x + 1
    with warnings.catch_warnings():
        x + 1
    with warnings.catch_warnings(record=True) as seen:
        x + 1
    with open(os.devnull):
        x + 1
    with open(os.devnull, "w") as file:
        file.write("a")
    with tempfile.TemporaryDirectory():
        x + 1
    with tempfile.NamedTemporaryFile():
        x + 1
    with io.StringIO() as file:
        x + 1
    with decimal.localcontext():
        x + 1
    with np.errstate(all="ignore"):
        x + 1
    with np.printoptions(precision=2):
        x + 1
    with unittest.mock.patch("os.getcwd"):
        x + 1
    with memoryview(b"a"):
        x + 1
    with plain:
        x + 1  # as: user context manager class
    with Plain():
        x + 1  # as: user context manager class made
    with Plain() as value:
        x + 1  # as: user context manager class made
    with Swallowing():
        x + 1  # as: user context manager that swallows
    with timer:
        x + 1  # as: user context manager that reads the clock
    with Decorated():
        x + 1  # as: contextlib.ContextDecorator subclass
    with generated():
        x + 1  # as: function under contextlib.contextmanager
    with generated() as value:
        x + value  # as: function under contextlib.contextmanager
    with generated_try():
        x + 1  # as: function under contextlib.contextmanager with finally
    with generated_grad():
        x + 1  # as: function under contextlib.contextmanager around no_grad
