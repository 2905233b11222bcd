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
        capture = Capture(settings["folder"], settings["depth"], settings["per_module"])
        if settings["entries"]:
            sys.meta_path.insert(0, _Entries(settings["entries"], capture))
        import torch

        torch.nn.Module._compiled_call_impl = _Outermost(capture)
    except Exception as problem:  # torch would make an error of its own import of it
        print(f"breakscope: nothing is compiled in this process: {problem}", file=sys.stderr)


class Capture:
    """The calls that are captured in this process.

    `folder` receives a line of JSON for each of them, `depth` is the nesting of the module calls to
    capture (1: the outermost), `per_module` the most calls of one class.
    """

    def __init__(self, folder: str, depth: int, per_module: int) -> None:
        self.folder = folder
        self.depth = depth
        self.per_module = per_module
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

        if self._is_new(target) and len(self.known) > 1:
            torch._dynamo.reset()  # what other instances taught Dynamo is not this one's
        _mark(torch, f"capture module {name}")
        try:
            with torch._dynamo.config.patch(suppress_errors=True):
                return torch.compile(target, backend="eager")(*args, **kwargs)
        except torch._dynamo.exc.TorchDynamoException as problem:
            self._note(
                name, place, eager=f"Dynamo raised {type(problem).__name__}: {problem}"[:500]
            )
            return eager(*args, **kwargs)
        finally:
            _mark(torch, "capture program")

    def _is_new(self, target: Any) -> bool:
        known = self.known.get(id(target))
        if known is not None and known() is target:
            return False
        self.known[id(target)] = weakref.ref(target)
        return True

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
