"""Asking the file system ends the graph.

`os.path.exists`, `Path.is_file()`, `os.listdir`, `os.makedirs` end in system calls that Dynamo does
not trace. What only works on text is traced: `os.path.join`, `basename`, `splitext`, `Path(...) /
"a"`, and so is reading `os.environ`.

Ask once, in `__init__` or at the module's top, and keep the answer as a constant: Dynamo then
follows only the path that is taken.
"""

import os

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK407",
    "file-system",
    dynamo=(
        r"GB0007: builtin `(posix|nt)\.(l?stat|listdir|scandir|mkdir|getcwd|chdir|access|unlink|remove|rename|_path)",
        r"GB0007: builtin `sys\.audit",
    ),
)

ASKING = {
    f"os.path.{name}"
    for name in (
        "exists",
        "lexists",
        "isfile",
        "isdir",
        "islink",
        "ismount",
        "getsize",
        "getmtime",
        "getatime",
        "getctime",
        "samefile",
        "abspath",
        "realpath",
        "normpath",
        "relpath",
    )
}
SYSTEM = {
    f"os.{name}"
    for name in (
        "stat",
        "lstat",
        "listdir",
        "scandir",
        "walk",
        "mkdir",
        "makedirs",
        "remove",
        "unlink",
        "rename",
        "replace",
        "rmdir",
        "getcwd",
        "chdir",
        "access",
    )
}
PATHS = {
    f"pathlib.{owner}.{name}"
    for owner in ("Path", "PosixPath")
    for name in (
        "exists",
        "is_file",
        "is_dir",
        "is_symlink",
        "stat",
        "resolve",
        "absolute",
        "mkdir",
        "unlink",
        "rename",
        "touch",
        "cwd",
        "samefile",
    )
}
MORE = {"glob.glob", "shutil.copy", "shutil.copyfile", "shutil.move", "shutil.rmtree"}


@rule.on(Call, ASKING, SYSTEM, PATHS, MORE)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` reads the file system",
        help="do it once in `__init__` and keep the result as an attribute",
    )


@rule.example(lambda: (torch.ones(4),))
def bad(x):
    y = x + 1
    if os.path.exists(os.devnull):  # BRK407
        y = y * 2
    return y


FOUND = os.path.exists(os.devnull)


@rule.becomes
def good(x):
    y = x + 1
    if FOUND:
        y = y * 2
    return y
