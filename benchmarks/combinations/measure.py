"""Runs programs under Dynamo and prints, as JSON, what it did with each: paths come in as JSON. Of a file
with classes `M_...` each class is called once; any other file is run as a program."""

import importlib.util
import inspect
import json
import logging
import os
import re
import runpy
import sys
from functools import partial

import torch
import torch._dynamo
import torch._logging

PLACE = re.compile(r"user code at (\S+):(\d+)")
GIVEN = {"x": torch.ones(4, 4), "L": torch.tensor([1, 2])}
messages: list[str] = []


class Kept(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        messages.append(record.getMessage())


def listen() -> None:
    torch._logging.set_logs(graph_breaks=True, recompiles=True)
    for name in list(logging.root.manager.loggerDict):
        if name.rpartition(".")[2] in ("__graph_breaks", "__recompiles"):
            logger = logging.getLogger(name)
            logger.handlers[:] = [Kept()]
            logger.propagate = False
            logger.setLevel(logging.DEBUG)


def run(call) -> dict:
    """What Dynamo says while `call` runs, from a state as at the start."""
    torch._dynamo.reset()
    messages.clear()
    error = ""
    try:
        call()
    except Exception as problem:
        error = repr(problem)[:200]
    finally:
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.set_autocast_enabled("cpu", False)
    places = [place for message in messages for place in PLACE.findall(message)]
    return {
        "error": error,
        "recompiles": sum("Recompiling function" in message for message in messages),
        "places": places,
    }


def classes_of(path: str) -> dict[str, type]:
    name = "combined_" + os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {n: c for n, c in vars(module).items() if n.startswith("M_")}


def call_of(cls: type):
    names = [n for n in inspect.signature(cls.forward).parameters if n in GIVEN]
    return lambda: torch.compile(cls(), backend="eager")(*(GIVEN[n] for n in names))


def eager_backends() -> None:
    """Programs compile with the backend that they name; here it is eager."""
    compile_, in_place = torch.compile, torch.nn.Module.compile

    def compiled(model=None, **options):
        options["backend"] = "eager"
        return compile_(model, **options) if model is not None else lambda m: compile_(m, **options)

    torch.compile = compiled
    torch.nn.Module.compile = lambda self, **options: in_place(self, backend="eager")


def main() -> None:
    found, out = {}, os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the programs print
    listen()
    for path in json.load(sys.stdin):
        with open(path) as file:
            has_classes = "\nclass M_" in file.read()
        if has_classes:
            for name, cls in classes_of(path).items():
                found[name] = run(call_of(cls))
                places = found[name].pop("places")
                found[name]["lines"] = sorted({int(n) for file, n in places if file == path})
                found[name]["elsewhere"] = any(file != path for file, _ in places)
        else:
            if torch.compile.__module__ != __name__:
                eager_backends()
            found[path] = run(partial(runpy.run_path, path, run_name="__main__"))
            found[path].pop("places")
    print(json.dumps(found), file=out)


if __name__ == "__main__":
    main()
