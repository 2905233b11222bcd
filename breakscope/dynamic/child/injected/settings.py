"""Sets switches of Dynamo in a program that is run once more to see what they do.

Copied and called as outermost.py is, which says how; it never raises, and what fails is written
beside the traces.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
from typing import Any

SETTINGS = "BREAKSCOPE_SETTINGS"  # the variable that holds them, as JSON


def install() -> None:
    """Set what is to be tried; does nothing in a process that was not started by `trace --prove`."""
    wanted = json.loads(os.environ.get(SETTINGS) or "{}")
    try:
        for setting in wanted.get("settings", ()):
            _set(setting)
    except Exception as problem:
        with open(wanted["problem"], "w", encoding="utf-8") as file:
            file.write(str(problem))


def _set(setting: dict) -> None:
    import torch
    import torch._dynamo.config as config

    # what `torch.compile(dynamic=True)` does for one function
    name = "assume_static_by_default" if setting["dynamic"] else setting["switch"] or setting["collection"]  # fmt: skip
    entry = getattr(config, "_config", {}).get(name)
    if entry is None or not hasattr(entry, "default"):
        raise AttributeError(f"torch {torch.__version__} has no torch._dynamo.config.{name}")
    # the default holds in every thread, a value that is set in one thread alone
    if setting["collection"]:
        entry.default.add(_named(setting["member"]))
    else:
        entry.default = not setting["dynamic"]


def _named(name: str) -> Any:
    module, *rest = name.split(".")
    thing: Any = importlib.import_module(module) if rest else builtins
    for part in rest or [module]:
        thing = getattr(thing, part)
    return thing
