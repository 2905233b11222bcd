"""A context manager that Dynamo cannot enter ends the graph, and the block runs without one.

Dynamo enters `torch.no_grad`, `autocast`, `record_function`, `contextlib.nullcontext` and context managers written in
Python whose body it can trace. It cannot enter locks, files, most generator-based ones of libraries (as
`torch.backends.cudnn.flags` or `torch.random.fork_rng`), `torch.device(...)`, saved-tensor hooks and anomaly mode.
The graph ends at the `with`, and because the block cannot be resumed in the middle, nothing in it is compiled.

Enter it around the compiled call instead of inside: `with torch.backends.cudnn.flags(...): model(x)`. A lock guards
something shared; take it outside too. For `with torch.device(d):` give `device=d` to the calls in the block.
"""

import threading

import torch

from breakscope.events import Enter
from breakscope.rule import Rule

rule = Rule("BRK508", "context-manager", dynamo=(
    "GB0142", "GB0208: non-Tensor", "GB0008: __init__", "GB0262", "GB0007: _thread|flags|fuser", "GB0294: errstate",
    "GB0156: of class `type`"))

LOCKS = {f"threading.{name}" for name in ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")} | {
    "_thread.lock", "_thread.RLock", "multiprocessing.Lock", "multiprocessing.RLock"}
TORCH = {f"torch.{name}" for name in (
    "device", "random.fork_rng", "autograd.set_detect_anomaly", "autograd.detect_anomaly", "autograd.graph.save_on_cpu",
    "autograd.graph.saved_tensors_hooks", "autograd.graph.allow_mutation_on_saved_tensors", "jit.fuser",
    "autograd.set_multithreading_enabled", "autograd.profiler.emit_nvtx", "cuda.nvtx.range", "backends.cudnn.flags",
    "backends.mkldnn.flags", "backends.opt_einsum.flags", "backends.cuda.sdp_kernel", "_dynamo.config.patch",
    "utils.flop_counter.FlopCounterMode", "sparse.check_sparse_tensor_invariants")}
OTHERS = {"contextlib.redirect_stdout", "contextlib.redirect_stderr", "contextlib.closing", "numpy.errstate",
          "tempfile.TemporaryDirectory", "tempfile.NamedTemporaryFile"}
HELP = {"torch.device": "give `device=` to the calls inside instead"}


@rule.on(Enter, LOCKS, TORCH, OTHERS)
def check(event):
    yield event.problem(
        f"Dynamo cannot enter `{event.shown}` (`{event.name}`), so the graph ends here and the block runs without one",
        help=HELP.get(event.name, "enter it around the compiled call, not inside it"),
    )


lock = threading.Lock()


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0142",))
def bad(x):
    y = x * 2
    with lock:  # BRK508
        y = y + 1
    return y


@rule.becomes
def good(x):
    y = x * 2
    y = y + 1
    return y


@rule.example(lambda: (torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3)), dynamo=("GB0142", "GB0208"))
def bad(x, w):
    with torch.backends.cudnn.flags(deterministic=True):  # BRK508
        return torch.nn.functional.conv2d(x, w)
