"""Makes the modules of a package from small numbers that the names of their parameters suggest, and calls them.

    build.py find SECONDS_EACH SECONDS FILE PACKAGE ...   which modules of these packages can be made and called, and
                                                          with what; writes FILE
    build.py call SECONDS_EACH SECONDS FILE               makes them again, and calls them in training, with a backward
                                                          pass, and in evaluation

What is found is tried in eager mode, so that `call` under `breakscope trace --compile` shows of each module what it
does with arguments that it takes. Modules of tests, examples and command lines are left out, and what needs a text, a
file, or a configuration that has no defaults. Random numbers begin anew for each module. Runs in the package's
environment, and needs nothing there but torch.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import pkgutil
import random
import re
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

sys.path.append(str(Path(__file__).resolve().parent))

from drive import TooLong, define_operators, limit_of, limited

APART = re.compile(
    r"(?:^|\.|_)(?:tests?|testing|examples?|scripts?|cli|__main__|setup|main|demos?|train\w*)(?:\.|_|$)"
)
MOST_WEIGHTS = 30_000_000
MOST_TRIES = 90  # calls with other inputs for one module
MOST_NESTED = 2  # configurations in configurations


class Sizes(NamedTuple):
    """Numbers that go together."""

    width: int
    channels: int
    length: int


SIZES = (Sizes(8, 8, 4), Sizes(8, 3, 4), Sizes(16, 3, 8), Sizes(32, 1, 16))
# what a number is by its parameter's name, the first that fits; a text is a field of Sizes
NUMBERS: tuple[tuple[str, int | float | str], ...] = (
    (r"head|group", 2),
    (r"layer|depth|block|flows|num_res|stages|iters|steps|hops|order", 2),
    (r"kernel|^k$|window", 3),
    (
        r"drop|prob|rate|^p$|alpha|beta|gamma|momentum|eps|lambda|weight|temperature|tau|scale|sigma|^lr",
        0.5,
    ),
    (r"stride|dilation|ratio|factor|mult|expansion|padding", 1),
    (r"class|out_features|output|out_dim|out_ch", "width"),
    (r"vocab|num_embed|num_tok|n_tok|n_sym|num_users|num_items|num_nodes", 32),
    (r"len|seq|time|horizon|lookback|max_pos|context", "length"),
    (r"img|image|resolution|height$", 32),
    (r"in_ch|in_c$|input_ch|n_channels|in_chans", "channels"),
)
FLAGS = re.compile(r"(?:use|is|has|with)_|bias$|causal|affine|learnable")
LISTS = re.compile(r"[Ll]ist|[Tt]uple|Sequence")
SEVERAL = re.compile(
    r"(?:sizes|dims|channels_list|hidden_layers|layers|features|widths|units|filters)$"
)
PARTS = re.compile(
    r"Module|model$|backbone|encoder$|decoder$|^net|network|^fn$|^module|layer$|block$"
)
CHOICES = re.compile(r"Callable|activation|^act|norm_layer|nonlin")
TEXTS = re.compile(r"name|path|mode|type|kind|device|method$")
LARGE = re.compile(r"dim|hidden|channel|embed|size|width|model|feat|ch$")


class Unknown(Exception):
    """Nothing says what to hand over."""


def number_of(name: str, sizes: Sizes) -> int | float:
    known = next((n for words, n in NUMBERS if re.search(words, name.lower())), "width")
    return getattr(sizes, known) if isinstance(known, str) else known


def argument_of(name: str, hint: Any, sizes: Sizes) -> Any:
    """What a parameter of a constructor is given, as JSON has it (see `real`). Raises Unknown for texts."""
    said = str(getattr(hint, "__name__", hint)) if hint is not inspect.Parameter.empty else ""
    if said == "bool" or FLAGS.match(name):
        return False
    if LISTS.search(str(hint)) and "Tensor" not in str(hint):
        if "str" in str(hint):
            raise Unknown(name)
        return [number_of(name, sizes)] * 2
    if SEVERAL.search(name) and said != "int" and not re.match(r"n_|num_|in_|out_", name):
        return [sizes.width] * 2
    if "Tensor" in str(hint):
        return {"tensor": [sizes.width]}
    if PARTS.search(f"{hint} {name}") and said not in ("int", "float"):
        return {"layer": sizes.width}
    if CHOICES.search(f"{hint} {name}"):
        return {"class": "ReLU"}
    if said == "str" or TEXTS.search(name):
        raise Unknown(name)
    return 0.5 if said == "float" else number_of(name, sizes)


def arguments_of(cls: type, sizes: Sizes, tops: list[str], depth: int = 0) -> dict[str, Any]:
    """What a constructor is given: what it needs, and small numbers in place of large defaults."""
    try:
        hints = typing.get_type_hints(cls.__init__)
    except Exception:
        hints = {}
    given = {}
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        name, default = parameter.name, parameter.default
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = hints.get(name, parameter.annotation)
        if default is not parameter.empty:
            if type(default) is int and (
                (default >= 64 and LARGE.search(name))
                or (default > 4 and re.search(r"layer|depth|block", name))
            ):
                given[name] = number_of(name, sizes)
        elif inspect.isclass(hint) and hint.__module__.partition(".")[0] in tops:
            if depth == MOST_NESTED:
                raise Unknown(name)
            own = arguments_of(hint, sizes, tops, depth + 1)
            given[name] = {"made": f"{hint.__module__}:{hint.__qualname__}", "with": own}
        else:
            given[name] = argument_of(name, hint, sizes)
    return given


def inputs_of(forward: Callable, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    """Arguments for a call, those first that most modules take. Raises Unknown for a module that needs a text."""
    width, channels, length = sizes
    shapes = [
        [2, width],
        [2, length, width],
        [2, width, length],
        [2, channels, 32, 32],
        [2, width, 16, 16],
    ]
    shapes += [
        [2, 1, 32, 32],
        [2, length],
        [2, 3, 64, 64],
        [2, 1, 1024],
        [6, width],
        [2, width, 8, 8, 8],
    ]
    shapes += [
        [2, length, 3, 32, 32],
        [2, 1024],
        [2, 1, 16, 16, 16],
        [length, 2, width],
        [2, 8, 3],
        [2, 3, 8],
    ]
    first = [{"tensor": shape} for shape in shapes]
    first[5:5] = [{"tensor": [2, length], "below": 32}, {"tensor": [2], "below": 32}]
    needed = [
        p
        for p in inspect.signature(forward).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    for main in first:
        each = [others_of(p, main, sizes) for p in needed[1:]]
        yield from itertools.islice(itertools.product([main], *each), 8)


def others_of(parameter: inspect.Parameter, main: Any, sizes: Sizes) -> list[Any]:
    """What else may be handed over beside the first argument."""
    width, _, length = sizes
    name, said = parameter.name.lower(), str(parameter.annotation)
    if "str" in said and "Tensor" not in said:
        raise Unknown(name)
    if "'int'" in said or re.fullmatch(r"h|w|height|width|num_.*|n_.*", name):
        return [2, 4]
    if "bool" in said:
        return [True]
    if name in ("edge_index", "edges"):
        return [{"tensor": [2, 12], "below": 6}]
    if re.search("edge_(attr|feat|weight)", name):
        return [{"tensor": [12, width]}, {"tensor": [12]}]
    if "mask" in name:
        return [{"tensor": [2, length], "below": 1}, None]
    if "len" in name:
        return [{"tensor": [2], "filled": length}]
    if re.fullmatch(r"t|times?|timesteps?|steps?|sigma|noise_level", name):
        return [{"tensor": [2], "below": 8}, {"tensor": [2]}, {"tensor": [2, 1]}]
    if re.search(r"ids|token|index|idx|label|target|class|^y$|^tgt$", name):
        return [{"tensor": [2, length], "below": 8}, {"tensor": [2], "below": 2}, main]
    if name == "batch":
        return [{"tensor": [6], "below": 1}]
    rest = [{"tensor": [2, width]}, {"tensor": [2, length, width]}]
    return (
        [main, None, *rest]
        if re.fullmatch(r"h|c|z|hx|hidden|state|context|memory|cond\w*", name)
        else [main, *rest]
    )


def real(said: Any) -> Any:
    """The value that a plan describes."""
    if isinstance(said, list):
        return [real(part) for part in said]
    if not isinstance(said, dict):
        return said
    if "layer" in said:
        return nn.Linear(said["layer"], said["layer"])
    if "class" in said:
        return getattr(nn, said["class"])
    if "made" in said:
        return made(said)
    if "below" in said:
        drawn = torch.randint(0, said["below"], said["tensor"])
        return drawn == 0 if said["below"] == 1 and len(said["tensor"]) == 2 else drawn
    return (
        torch.full(said["tensor"], said["filled"])
        if "filled" in said
        else torch.randn(said["tensor"])
    )


def made(plan: dict[str, Any]) -> Any:
    module, _, names = plan["made"].partition(":")
    found = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found(**{name: real(value) for name, value in plan["with"].items()})


def classes_of(top: str, each: float, is_over: Callable[[], bool]) -> list[type]:
    """The module classes of a package that have a forward of their own."""
    found: dict[type, None] = {}
    package = importlib.import_module(top)
    below = pkgutil.walk_packages(
        getattr(package, "__path__", ()), f"{top}.", onerror=lambda name: None
    )
    for name in (top, *(info.name for info in below if not APART.search(info.name))):
        if is_over():
            break
        try:
            with limited(each):
                module = importlib.import_module(name)
        except (Exception, SystemExit, TooLong):
            continue
        for value in vars(module).values():
            if (
                inspect.isclass(value)
                and issubclass(value, nn.Module)
                and value.__module__.partition(".")[0] == top
                and value.forward is not nn.Module.forward
            ):
                found[value] = None
    return list(found)


def plan_of(cls: type, tops: list[str], each: float) -> dict[str, Any] | None:
    """How the class can be made, and called in either mode; None where nothing was found."""
    for sizes in SIZES:
        try:
            plan = {
                "made": f"{cls.__module__}:{cls.__qualname__}",
                "with": arguments_of(cls, sizes, tops),
            }
            with limited(each):
                torch.manual_seed(0)
                module = made(plan)
                calls = calls_of(module, sizes)
        except (Exception, TooLong):
            continue
        if calls:
            return {**plan, "calls": calls}
    return None


def calls_of(module: nn.Module, sizes: Sizes) -> list[Any]:
    if sum(p.numel() for p in module.parameters() if type(p) is nn.Parameter) > MOST_WEIGHTS:
        return []
    for inputs in itertools.islice(inputs_of(module.forward, sizes), MOST_TRIES):
        calls = []
        for training in (True, False):
            try:
                module.train(training)
                torch.manual_seed(0)
                with torch.no_grad():
                    module(*[real(value) for value in inputs])
            except Exception:
                continue
            calls.append([training, inputs])
        if calls:
            return calls
    return []


def call(plan: dict[str, Any]) -> None:
    torch.manual_seed(0)
    module = made(plan)
    for training, inputs in plan["calls"]:
        module.train(training)
        torch.manual_seed(0)
        result = module(*[real(value) for value in inputs])
        leaves = [t for t in tensors_in(result) if t.requires_grad and t.is_floating_point()]
        if training and leaves:
            sum(leaf.sum() for leaf in leaves).backward()


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(part)


def find_plans(each: float, seconds: float, file: Path, tops: list[str]) -> None:
    is_over, plans = limit_of(seconds), []
    classes = [cls for top in tops for cls in classes_of(top, each, is_over)]
    random.Random(0).shuffle(classes)
    for cls in classes:
        if is_over():
            break
        if (plan := plan_of(cls, tops, each)) is not None:
            plans.append(plan)
    file.write_text(json.dumps(plans), encoding="utf-8")
    print(f"{len(plans)} of {len(classes)} modules can be made and called")


def call_plans(each: float, seconds: float, file: Path) -> None:
    is_over, failed = limit_of(seconds), 0
    plans = json.loads(file.read_text(encoding="utf-8"))
    for plan in plans:
        if is_over():
            break
        try:
            with limited(each):
                call(plan)
        except (Exception, TooLong) as problem:
            failed += 1
            print(f"{plan['made']}: {type(problem).__name__}: {problem}"[:200].replace("\n", " "))
    print(f"{len(plans)} modules, {failed} failed")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    define_operators()
    what, each, seconds, file, *tops = sys.argv[1:]
    if what == "find":
        find_plans(float(each), float(seconds), Path(file), tops)
    else:
        call_plans(float(each), float(seconds), Path(file))
