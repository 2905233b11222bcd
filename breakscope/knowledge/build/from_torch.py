"""Tables that are read out of torch's own files and registries."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import torch

from breakscope.knowledge.build.from_wheel import FAMILIES, TAGS
from breakscope.knowledge.build.results import from_schemas
from breakscope.knowledge.build.snippets import class_name

CLASSES = (
    "torch",
    "torch.nn",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.distributions",
    "torch.amp",
    "torch.cuda.amp",
    "torch.utils.data",
    "torch.autograd",
    "torch.jit",
    "torch.nn.parallel",
    "torch.ao.quantization",
    "torch.nn.utils.rnn",
    "logging",
    "pathlib",
    "threading",
    "random",
    "collections",
    "queue",
    "io",
    "datetime",
    "enum",
)


def registry() -> dict[str, str]:
    """Graph break id -> the break's type, in the words of torch's own registry."""
    path = Path(torch.__file__).parent / "_dynamo" / "graph_break_registry.json"
    return {name: versions[0]["Gb_type"] for name, versions in json.loads(path.read_text()).items()}


def skips() -> dict[str, str]:
    """Dotted module (or file of one) -> "trace" or "skip", from Dynamo's trace rules; "trace" wins
    over "skip"."""
    from torch._dynamo import trace_rules

    builtin = [module.__name__ for module in trace_rules.BUILTIN_SKIPLIST]
    found = dict.fromkeys(
        (*trace_rules.MOD_SKIPLIST, *builtin, *trace_rules.THIRDPARTY_SKIPLIST), "skip"
    )
    found |= dict.fromkeys(
        (*trace_rules.MOD_INLINELIST, *trace_rules.LEGACY_MOD_INLINELIST), "trace"
    )
    # FORCE_SKIP_FILES and check_file
    found["torch.optim.lr_scheduler"] = found["unittest"] = "skip"
    return {
        name.removesuffix(".__init__"): verdict
        for name, verdict in found.items()
        if name != "torch.__init__"
    }


def classes() -> dict[str, list[str]]:
    """Library class -> its base classes, nearest first, under the names that people write."""
    found = {}
    for module_name in CLASSES:
        module = importlib.import_module(module_name)
        for name, value in vars(module).items():
            if (
                isinstance(value, type)
                and not name.startswith("_")
                and value.__module__.partition(".")[0] == module_name.partition(".")[0]
            ):
                bases = [
                    class_name(b)
                    for b in inspect.getmro(value)[1:-1]
                    if not b.__name__.startswith("_")
                ]
                bases = [
                    b for b in bases if not b.startswith(("typing", "abc.", "collections.abc"))
                ]
                own = [class_name(value)] if class_name(value) != f"{module_name}.{name}" else []
                if own or bases:
                    found[f"{module_name}.{name}"] = own + bases
    return found


def tagged() -> dict[str, str]:
    """Name -> "shape" or "value": the operators that torch tags as data-dependent, under every
    public name."""
    found = {}
    for packet in packets():
        for overload in packet.overloads():
            tags = {TAGS[t.name] for t in getattr(packet, overload).tags if t.name in TAGS}
            for name in public_names(packet.__name__) if tags and overload != "out" else ():
                found[name] = tags.pop() if len(tags) == 1 else "value"
                tags = {found[name]}
    return found


def schemas() -> dict[str, str]:
    """Name -> what it returns, from the schemas of torch's operators."""
    found = {}
    for packet in packets():
        word = from_schemas(packet)
        for name in public_names(packet.__name__) if word else ():
            found[name] = word
    return found


def packets() -> Iterator:
    """Every aten operator."""
    names = {
        full.partition("::")[2].partition(".")[0]
        for full in torch._C._dispatch_get_all_op_names()
        if full.startswith("aten::")
    }
    for name in sorted(names):
        packet = getattr(torch.ops.aten, name, None)
        if packet is not None and hasattr(packet, "overloads"):
            yield packet


def public_names(operator: str) -> Iterator[str]:
    """The names under which people call an aten operator."""
    if operator.startswith("_"):
        return
    if hasattr(torch.Tensor, operator):
        yield f"Tensor.{operator}"
    if hasattr(torch, operator):
        yield f"torch.{operator}"
    if hasattr(torch.nn.functional, operator):
        yield f"torch.nn.functional.{operator}"
    for prefix, module in FAMILIES.items():
        name = operator.removeprefix(prefix)
        if name != operator and hasattr(importlib.import_module(module.rstrip(".")), name):
            yield module + name


def modules() -> dict[str, str]:
    """The forward of every module class of torch.nn: "tensor", unless a measurement says otherwise."""
    skip = {"Module", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Container"}
    return {
        f"torch.nn.{name}.forward": "tensor"
        for name, value in vars(torch.nn).items()
        if isinstance(value, type) and issubclass(value, torch.nn.Module) and name not in skip
    }
