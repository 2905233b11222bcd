"""Asks Dynamo about functions that no probe names: compiled functions of the standard library and of
SciPy, getters of torch and functions of it that Dynamo skips, methods of tensors.

Compiled functions are never run: with `fullgraph=True` Dynamo raises at a call that
it cannot trace, and what it says of a compiled function does not depend on the arguments.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch._dynamo import trace_rules
from torch._dynamo.variables import SkipFunctionVariable

from breakscope.knowledge.build import capture
from breakscope.knowledge.build.results import describe

MODULES = (
    "time",
    "os",
    "posix",
    "sys",
    "signal",
    "socket",
    "select",
    "resource",
    "gc",
    "threading",
    "faulthandler",
    "fcntl",
    "termios",
    "math",
    "cmath",
    "random",
    "secrets",
    "hashlib",
    "hmac",
    "zlib",
    "bz2",
    "lzma",
    "binascii",
    "struct",
    "marshal",
    "pickle",
    "csv",
    "json",
    "heapq",
    "bisect",
    "functools",
    "itertools",
    "operator",
    "collections",
    "unicodedata",
    "locale",
    "codecs",
    "weakref",
    "ctypes",
    "inspect",
    "tracemalloc",
    "atexit",
    "errno",
    "pwd",
    "grp",
    "mmap",
    "sqlite3",
    "ssl",
    "syslog",
    "multiprocessing",
    "asyncio",
    "contextvars",
    "io",
    "shutil",
    "string",
    "statistics",
    "decimal",
    "platform",
    "warnings",
)
# public ones whose functions are called on arrays in models' code
SCIPY = (
    "scipy.cluster.vq",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse.csgraph",
    "scipy.spatial",
    "scipy.spatial.distance",
    "scipy.special",
    "scipy.stats",
)
COMPILED = {  # the id of Dynamo for a call of each type, whatever the arguments
    "builtin_function_or_method": "GB0007",
    "cython_function_or_method": "GB0156",
    "ufunc": "GB0156",
    "method": "GB0007",  # of the context that stands behind the functions of multiprocessing
    "function": "GB0007",  # of a file of torch that Dynamo skips
}
GETTERS = re.compile(
    r"(_?is_|are_|has_|_?get_|can_|current_|memory_|max_memory|mem_|host_memory_stats|device_|version$|num_"
    r"|initial_seed|preferred_|detect_fake_mode|any_|_len_|compiled_with_|.*_enabled$|.*_available$|.*_allowed$)"
)
UNSAFE = re.compile(r"(get_rng_state|.*debug_mode_|get_file_path|.*process_group.*)")
TORCH = (
    "torch",
    "torch.cuda",
    "torch.cpu",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.backends.mps",
    "torch.backends.mkl",
    "torch.backends.mkldnn",
    "torch.backends.openmp",
    "torch.backends.opt_einsum",
    "torch.accelerator",
    "torch.autograd",
    "torch.overrides",
    "torch.distributed",
    "torch.jit",
    "torch.compiler",
    "torch.mps",
    "torch.xpu",
    "torch.version",
    "torch._guards",
    "torch.autograd.forward_ad",
    "torch.utils._python_dispatch",
)
# those with functions that Dynamo does not follow, and that models' code may call
SKIPPED = (
    "torch",
    "torch._C",
    "torch._C._functorch",
    "torch._guards",
    "torch._tensor_str",
    "torch._utils",
    "torch.accelerator",
    "torch.ao.quantization",
    "torch.autograd",
    "torch.autograd.graph",
    "torch.autograd.profiler",
    "torch.compiler",
    "torch.cpu",
    "torch.cuda",
    "torch.cuda.memory",
    "torch.cuda.random",
    "torch.distributed",
    "torch.distributed.distributed_c10d",
    "torch.export",
    "torch.hub",
    "torch.jit",
    "torch.library",
    "torch.masked",
    "torch.mps",
    "torch.multiprocessing",
    "torch.nested",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.onnx",
    "torch.overrides",
    "torch.profiler",
    "torch.quantization",
    "torch.random",
    "torch.serialization",
    "torch.sparse",
    "torch.storage",
    "torch.testing",
    "torch.utils",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.utils.data._utils.collate",
    "torch.utils.data._utils.pin_memory",
    "torch.utils.data.dataloader",
    "torch.utils.mkldnn",
    "torch.utils.model_zoo",
    "torch.xpu",
)


@dataclass(frozen=True)
class Asked:
    """One function and how to ask about it: "trace" it without arguments, "run" it without, "run x"
    with a tensor."""

    name: str
    function: Callable
    how: str

    @property
    def source(self) -> str:
        return f"{self.name}({'x' if self.how == 'run x' else ''})"


def programs() -> list[Asked]:
    """Everything to ask about."""
    return [*_library(), *_getters(), *_skipped(), *_methods()]


def _library() -> Iterator[Asked]:
    for module in (*MODULES, *SCIPY):
        try:
            found = importlib.import_module(module)
        except ImportError:  # not on this platform, or not installed
            continue
        for name, value in sorted(vars(found).items()):
            if type(value).__name__ in _types_of(module) and not name.startswith("_"):
                yield Asked(f"{module}.{name}", value, "trace")


def _types_of(module: str) -> tuple[str, ...]:
    """The types of those functions of a module that Dynamo is asked about."""
    if module in SCIPY:
        return ("builtin_function_or_method", "cython_function_or_method", "ufunc")
    methods = ("method",) if module == "multiprocessing" else ()
    return ("builtin_function_or_method", *methods)


def _getters() -> Iterator[Asked]:
    for module in TORCH:
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        for name, value in sorted(vars(found).items()):
            own = getattr(value, "__module__", None) or module
            if (
                callable(value)
                and not isinstance(value, type)
                and GETTERS.match(name)
                and not UNSAFE.match(name)
                and own.startswith("torch")
            ):
                yield Asked(f"{module}.{name}", value, "run")
                if module == "torch":
                    yield Asked(f"{module}.{name}", value, "run x")


def _skipped() -> Iterator[Asked]:
    """Functions that Dynamo skips, and public ones that may lead to such, as their decorator does."""
    for module in SKIPPED:
        for name, value in sorted(vars(importlib.import_module(module)).items()):
            kind = type(value).__name__
            if (
                kind in ("function", "builtin_function_or_method")
                and (value.__module__ or module).partition(".")[0] == "torch"
                and not name.startswith("__")
                and (
                    (kind == "function" and not name.startswith("_"))
                    or trace_rules.lookup(value) is SkipFunctionVariable
                )
            ):
                yield Asked(f"{module}.{name}", value, "trace")


def _methods() -> Iterator[Asked]:
    for name in sorted(dir(torch.Tensor)):
        value = getattr(torch.Tensor, name)
        if not name.startswith("_") and callable(value):
            yield Asked(f"Tensor.{name}", value, "run x")


def measure(asked: Asked) -> dict:
    """The verdict, in the form of `measure._one`; "invalid" when the question does not apply."""
    function = asked.function
    if asked.how == "trace":

        def probe(x):
            return function(), x.sin()

        verdict = capture.trace(probe, (torch.rand(3),))
        if COMPILED[type(function).__name__] not in verdict.breaks:
            return {"invalid": "depends on the arguments"}
        return _row(asked, verdict, None)

    def probe_getter(x):
        y = x.sin()
        function(x.clone()) if asked.how == "run x" else function()
        return y.cos()

    argument = torch.rand(4, 3)
    try:
        returned = [describe(function(argument.clone()) if asked.how == "run x" else function())]
    except Exception as problem:
        return {"invalid": f"{type(problem).__name__}: {problem}"[:200]}
    if returned == ["none"]:
        returned = None  # another process, or another moment, may have it
    return _row(asked, capture.run(probe_getter, (argument,)), returned)


def _row(asked: Asked, verdict: capture.Verdict, returned: list[str] | None) -> dict:
    row = {
        "table": "calls",
        "name": asked.name,
        "arguments": ["float tensor"] * (asked.how == "run x" and asked.name.startswith("torch.")),
        "keywords": {},
        "breaks": verdict.breaks,
        "graphs": verdict.graphs,
        "lost": verdict.lost,
        "error": verdict.error,
        "reason": verdict.reason,
        "swept": True,
    }
    return row | ({"returned": returned} if returned else {})
