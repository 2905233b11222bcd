"""Compiles the outermost nn.Module calls of a program that does not use torch.compile.

This file is copied beside the traces and put on the program's PYTHONPATH, with an entry point in the
group "torch.backends": torch calls `install` at the end of its import, in the program and in all its
children. It therefore imports nothing of breakscope, and never raises.

A call is captured by an `OptimizedModule`, as `torch.compile(model)` would make it, with the backend
eager. torch reads `_compiled_call_impl` at every module call; as long as it is None the call is
eager, and Dynamo itself does not read it, so what happens inside of a captured call is what happens
without us.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.abc
import importlib.machinery
import inspect
import json
import logging
import os
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatch
from types import ModuleType
from typing import Any

SETTINGS = "BREAKSCOPE_COMPILE"  # the variable that holds them, as JSON
PHASE = "breakscope_phase"  # as in breakscope.dynamic.trace.phases


def install() -> None:
    """Capture from now on; does nothing in a process that was not started by `trace --compile`."""
    try:
        settings = json.loads(os.environ[SETTINGS])
        capture = Capture(
            settings["folder"], settings["depth"], settings["per_module"], settings["alike"]
        )
        if settings["entries"]:
            sys.meta_path.insert(0, _Entries(settings["entries"], capture))
        import torch

        torch.nn.Module._compiled_call_impl = _Outermost(capture)
        _keep_apart(logging.getLogger("torch.__trace"))
    except Exception as problem:  # torch would make an error of its own import of it
        print(f"breakscope: nothing is compiled in this process: {problem}", file=sys.stderr)


def _keep_apart(log: logging.Logger) -> None:
    """Let only torch and us handle the records of the trace: pytest gives each logger a handler of its
    own, and a test that counts log records would count these."""

    def add(handler: logging.Handler) -> None:
        if type(handler).__module__.partition(".")[0] in ("torch", "breakscope"):
            logging.Logger.addHandler(log, handler)

    log.addHandler = add


class Capture:
    """The calls that are captured in this process.

    `folder` receives a line of JSON for each of them, `depth` is the nesting of the module calls to
    capture (1: the outermost), `per_module` the most calls of one class, `alike` the most instances
    of it that are built and called alike: each costs a compile of its own, and shows the same.
    """

    def __init__(self, folder: str, depth: int, per_module: int, alike: int) -> None:
        self.folder = folder
        self.depth = depth
        self.per_module = per_module
        self.alike = alike
        self.kinds: Counter[tuple] = Counter()  # instances captured, by what they have in common
        self.calls: Counter[str] = Counter()
        self.known: dict[int, weakref.ref] = {}  # what was captured before, by id
        self.explained: set[tuple[str, str]] = set()
        self.at_work = threading.Lock()
        self.local = threading.local()

    def module_call(self, module: Any, args: tuple, kwargs: dict) -> Any:
        """The result of calling a module, captured where it is the module's turn."""
        level = getattr(self.local, "level", 0)
        if level + 1 < self.depth:
            self.local.level = level + 1
            try:
                return module._call_impl(*args, **kwargs)
            finally:
                self.local.level = level
        kind = type(module)
        name = f"{kind.__module__}.{kind.__qualname__}"
        place = _place_of(inspect.getattr_static(kind, "forward", None))
        return self.call(module, module._call_impl, name, place, args, kwargs)

    def call(
        self,
        target: Any,
        eager: Callable,
        name: str,
        place: tuple[str, int],
        args: tuple,
        kwargs: dict,
    ) -> Any:
        """The result of one call of a module or function, whose eager form is `eager`."""
        import torch

        if not self.at_work.acquire(blocking=False):  # another thread's call is being captured
            return eager(*args, **kwargs)
        outermost = torch.nn.Module.__dict__["_compiled_call_impl"]
        torch.nn.Module._compiled_call_impl = None
        try:
            reason = _why_eager(target, torch)
            if not reason and self.calls[name] >= self.per_module:
                reason = f"{self.per_module} calls of it were captured"
            if not reason and self._is_new(target):
                kind = (name, *_kind_of(target, args, kwargs, torch))
                if self.kinds[kind] >= self.alike:
                    count = f"{self.alike} instances" if self.alike > 1 else "an instance"
                    reason = f"it is built and called like {count} captured before"
                self.kinds[kind] += 1
            if reason:
                if (name, reason) not in self.explained:
                    self.explained.add((name, reason))
                    self._note(name, place, eager=reason)
                return eager(*args, **kwargs)
            self.calls[name] += 1
            self._note(name, place)
            return self._captured(target, eager, name, place, args, kwargs)
        finally:
            torch.nn.Module._compiled_call_impl = outermost
            self.at_work.release()

    def _captured(
        self,
        target: Any,
        eager: Callable,
        name: str,
        place: tuple[str, int],
        args: tuple,
        kwargs: dict,
    ) -> Any:
        import torch
        import torch._dynamo

        if self._is_new(target):
            if self.known:
                torch._dynamo.reset()  # what other instances taught Dynamo is not this one's
            self.known[id(target)] = weakref.ref(target)
        _mark(torch, f"capture module {name}")
        random = torch.get_rng_state()
        try:
            with torch._dynamo.config.patch(suppress_errors=True):
                return torch.compile(target, backend="eager")(*args, **kwargs)
        except Exception as problem:
            if not _is_of_dynamo(problem, torch):
                raise
            self._note(
                name, place, eager=f"Dynamo raised {type(problem).__name__}: {problem}"[:500]
            )
            torch.set_rng_state(random)
            return eager(*args, **kwargs)
        finally:
            _mark(torch, "capture program")

    def _is_new(self, target: Any) -> bool:
        known = self.known.get(id(target))
        return known is None or known() is not target

    def _note(self, name: str, place: tuple[str, int], **more: str) -> None:
        line = json.dumps({"name": name, "path": place[0], "line": place[1], **more}) + "\n"
        with contextlib.suppress(OSError):
            path = os.path.join(self.folder, f"modules_{os.getpid()}.jsonl")
            with open(path, "a", encoding="utf-8") as file:
                file.write(line)


class _Outermost:
    """`Module._compiled_call_impl`: what a module is called by instead of its eager form."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture

    def __get__(self, module: Any, owner: type | None = None) -> Callable | None:
        import torch

        if module is None or torch.compiler.is_compiling():
            return None
        dynamo = sys.modules.get("torch._dynamo.eval_frame")
        if dynamo is not None and isinstance(module, dynamo.OptimizedModule):
            return None  # the program's own torch.compile
        return lambda *args, **kwargs: self.capture.module_call(module, args, kwargs)


def _why_eager(target: Any, torch: ModuleType) -> str:
    """Why a call cannot be captured; "" when it can."""
    if isinstance(target, torch.jit.ScriptModule):
        return "it is a TorchScript module"
    if torch.jit.is_tracing():
        return "torch.jit.trace was tracing it"
    if torch.fx._symbolic_trace._is_fx_tracing_flag:
        return "torch.fx was tracing it"
    if torch._C._len_torch_dispatch_stack():
        return "a dispatch mode was active"
    if torch._C._functorch.peek_interpreter_stack() is not None:
        return "a function transform of torch.func was active"
    return ""


def _is_of_dynamo(problem: Exception, torch: ModuleType) -> bool:
    """An error of Dynamo's own, and not one that the program would see without it."""
    if isinstance(problem, (torch._dynamo.exc.TorchDynamoException, RecursionError)):
        return True
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    folder = os.path.dirname(torch._dynamo.__file__) + os.sep
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(folder)


def _kind_of(target: Any, args: tuple, kwargs: dict, torch: ModuleType) -> tuple:
    """What decides on the code that a call runs, as far as it shows: the settings of the module and
    of those inside of it, however many there are of a kind, and the structure of the arguments."""
    modules = target.modules() if isinstance(target, torch.nn.Module) else ()
    try:
        parts = frozenset(
            (type(m), *((k, _sketch(v, torch)) for k, v in vars(m).items() if k[:1] != "_"))
            for m in modules
        )
        return parts, torch.is_grad_enabled(), _sketch(args, torch), _sketch(kwargs, torch)
    except Exception:  # tensors and modules of the program's own kinds may refuse anything
        return (id(target),)


def _sketch(value: Any, torch: ModuleType, depth: int = 3) -> Any:
    """A value without what seldom matters: a tensor's sizes, which number it is beyond 1."""
    kind = type(value)
    if value is None or kind in (bool, str, torch.dtype):
        return value
    if kind in (int, float):
        return kind, value if value in (-1, 0, 1) else "other"
    if isinstance(value, torch.Tensor):
        return kind, value.dtype, value.layout, value.dim(), value.requires_grad
    if not depth:
        return kind
    if kind in (list, tuple):
        return kind, tuple(_sketch(each, torch, depth - 1) for each in value[:16])
    if kind is dict:
        pairs = [*value.items()][:16]
        return kind, tuple((str(k), _sketch(v, torch, depth - 1)) for k, v in pairs)
    return kind


def _place_of(function: Any) -> tuple[str, int]:
    """The file and line of a function, of the one that it wraps where it wraps one."""
    code = getattr(_unwrapped(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)


def _unwrapped(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _mark(torch: ModuleType, phase: str) -> None:
    """What Dynamo traces from now on belongs to this phase."""
    with contextlib.suppress(Exception):  # an internal function of torch
        torch._logging.trace_structured(
            "artifact",
            lambda: {"name": PHASE, "encoding": "string"},
            payload_fn=lambda: phase,
        )


class _Entries(importlib.abc.MetaPathFinder):
    """Captures the calls of named functions too, as FILE::NAME with globs, where a module that holds
    such ones is imported."""

    def __init__(self, entries: list[str], capture: Capture) -> None:
        self.entries = [entry.rpartition("::")[::2] for entry in entries]
        self.capture = capture

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None or not spec.origin:
            return None
        names = [name for file, name in self.entries if _fits(spec.origin, file)]
        if not names or not hasattr(spec.loader, "exec_module"):
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            for name in names:
                self._wrap(module, name)

        spec.loader.exec_module = exec_module
        return spec

    def _wrap(self, module: ModuleType, pattern: str) -> None:
        for owner in (module, *(v for v in vars(module).values() if isinstance(v, type))):
            if owner is not module and owner.__module__ != module.__name__:
                continue
            prefix = "" if owner is module else owner.__qualname__ + "."
            for name, function in [*vars(owner).items()]:
                own = getattr(function, "__module__", "") == module.__name__
                if own and hasattr(function, "__code__") and fnmatch(prefix + name, pattern):
                    setattr(owner, name, self._captured(function))

    def _captured(self, function: Any) -> Callable:
        name, place = f"{function.__module__}.{function.__qualname__}", _place_of(function)

        @functools.wraps(function)
        def captured(*args: Any, **kwargs: Any) -> Any:
            import torch

            if torch.compiler.is_compiling():
                return function(*args, **kwargs)
            return self.capture.call(function, function, name, place, args, kwargs)

        return captured


def _fits(path: str, pattern: str) -> bool:
    relative = os.path.relpath(path).replace(os.sep, "/")
    return os.path.abspath(pattern) == path or any(
        fnmatch(p, pattern) for p in (path, relative, os.path.basename(path))
    )
