"""At run time: files are changed as they are imported, and their sites' values are computed."""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import importlib.util
import itertools
import os
import sys
from collections.abc import Callable
from types import CodeType

import torch
from torch._dynamo import utils, variables
from torch._dynamo.eval_frame import skip_code
from torch._dynamo.exc import TorchDynamoException
from torch._dynamo.variables import functions
from torch.utils import _pytree as pytree

from breakscope import limits
from breakscope.dynamic.child.neutral.rewrite import COMPILING, NOTHING, REAL, rewrite
from breakscope.dynamic.child.neutral.sites import Site
from breakscope.dynamic.child.written.progress_log import Progress
from breakscope.texts import exception_text


class Changes:
    """Which sites are changed in files that are imported from now on, and what is computed at them."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.files: dict[str, list[Site]] = {}
        self.templates: dict[int, tuple[str, object]] = {}
        self.ways: dict[int, str] = {}
        self.ready: dict[int, Callable] = {}

    def want(self, wanted: list[dict]) -> None:
        """These sites, and no other; what was done at each is noted."""
        self.files = {}
        for site in wanted:
            site = dict(site)
            self.files.setdefault(os.path.realpath(site.pop("path")), []).append(Site(**site))

    def code_of(self, path: str, name: str, text: str) -> CodeType | None:
        """The changed code of a file, None when nothing in it is wanted."""
        sites = self.files.get(os.path.realpath(path))
        if not sites:
            return None
        done = rewrite(text, sites)
        self.templates.update(
            (number, (name, compile(template, path, "eval", dont_inherit=True)))
            for number, template in done.templates.items()
        )
        self.ways.update(done.ways)
        for number, way in done.ways.items():
            self.progress.note("neutralised", number=number, way=way)
        return compile(done.tree, path, "exec", dont_inherit=True)

    def bind(self) -> None:
        """What is computed at the sites belongs to the modules that are imported now, whatever
        takes their names later."""
        for number in self.templates:
            self.computed(number)

    def computed(self, number: int) -> Callable:
        if number not in self.ready:
            module, code = self.templates[number]
            self.ready[number] = _without_dynamo(eval(code, sys.modules[module].__dict__))
        return self.ready[number]


def install(wanted: list[dict], progress: Progress, keep: bool = False) -> Changes:
    """Change the wanted sites of files that are imported from now on. With `keep` what a site reads
    is still computed."""
    changes = Changes(progress)
    changes.want(wanted)
    read_code = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, name: str):
        path = loader.get_filename(name)
        if os.path.realpath(path) not in changes.files:
            return read_code(loader, name)
        return changes.code_of(path, name, importlib.util.decode_source(loader.get_data(path)))

    importlib.machinery.SourceFileLoader.get_code = get_code
    real = _make_real(changes, progress)
    _name_constants_uniquely(real, progress)
    _compute_on_copies()
    setattr(builtins, REAL, _keeping(real) if keep else real)
    setattr(builtins, COMPILING, torch.compiler.is_compiling)
    setattr(builtins, NOTHING, contextlib.nullcontext)
    builtins.__breakscope_list__ = lambda values: list(
        itertools.islice(values, limits.MOST_NEUTRAL_ITEMS)
    )
    for limit in ("recompile_limit", "accumulated_recompile_limit"):
        with contextlib.suppress(Exception):  # their names differ from version to version
            setattr(torch._dynamo.config, limit, limits.MOST_NEUTRAL_COMPILES)
    return changes


def _make_real(changes: Changes, progress: Progress) -> Callable:
    @torch._dynamo.assume_constant_result
    def real(number: int, *operands):
        try:
            return _detached(changes.computed(number)(*operands), operands)
        except Exception as problem:
            note_problem(progress, number, problem)
            raise

    _without_dynamo(_detached)
    return _without_dynamo(real)


class _Kept:
    """Holds the last tensors that sites read, so that their computing is not left out as dead code."""


def _keeping(real: Callable) -> Callable:
    """`real` for measuring: a program without the break still computes what it decides on. Larger operands are
    not kept, as writing them out would cost what no program pays."""
    kept = _Kept()

    def keep_and_take(number: int, *operands):
        for position, operand in enumerate(operands):
            if isinstance(operand, torch.Tensor) and operand.numel() <= limits.MOST_NEUTRAL_OPERAND:
                setattr(kept, f"operand_{number}_{position}", operand.detach())
        return real(number, *operands)

    return keep_and_take


def note_problem(progress: Progress, number: int, problem: Exception) -> None:
    progress.note("not neutral", number=number, problem=exception_text(problem))


def _name_constants_uniquely(real: Callable, progress: Progress) -> None:
    """Dynamo names a constant by the function that gave it: two of one name are one that changes,
    and so dynamic."""
    store, numbers = functions.invoke_and_store_as_constant, itertools.count()

    def invoke(tx, fn: Callable, name: str, args, kwargs):
        if fn is not real:
            return store(tx, fn, name, args, kwargs)
        name, given = f"breakscope_constant_{next(numbers)}", []

        def compute(*args, **kwargs):
            given.append(real(*args, **kwargs))
            return given[0]

        try:
            variable = store(tx, compute, name, args, kwargs)
        except TorchDynamoException:
            raise
        except Exception as problem:  # an operand that Dynamo cannot compute
            note_problem(progress, args[0].as_python_constant(), problem)
            raise
        if isinstance(given[0], torch.Tensor):  # other values have a global of that name already
            tx.output.update_co_names(name)
            tx.output.global_scope[name] = given[0]
        return variable

    functions.invoke_and_store_as_constant = invoke


def _compute_on_copies() -> None:
    """Dynamo computes real values from the frame's own tensors: what changes them in place must
    change copies."""
    compute = utils.get_real_value

    def get_real_value(node: torch.fx.Node, tracer):
        if node in tracer.real_value_cache:
            return tracer.real_value_cache[node]
        value = compute(node, tracer)
        if node.op in ("placeholder", "get_attr") and isinstance(value, torch.Tensor):
            value = (
                value.detach().clone().requires_grad_(value.requires_grad)
                if value.is_leaf
                else value.clone()
            )
            tracer.real_value_cache[node] = value
        return value

    utils.get_real_value = variables.tensor.get_real_value = get_real_value


def _without_dynamo(function: Callable) -> Callable:
    """Where a function runs eager, ours in it must not be compiled; what they call is, as before."""
    skip_code(function.__code__)
    return function


def _detached(value, operands: tuple):
    """The value, and while Dynamo traces without its history: a constant of the graph cannot have
    one."""
    if torch._guards.TracingContext.try_get() is None:
        return value
    wants = any(
        isinstance(v, torch.Tensor) and v.requires_grad for v in pytree.tree_leaves(operands)
    )

    def cut(tensor: torch.Tensor) -> torch.Tensor:
        differentiable = wants and (tensor.is_floating_point() or tensor.is_complex())
        return tensor.detach().requires_grad_(differentiable)

    return pytree.tree_map_only(torch.Tensor, cut, value)
