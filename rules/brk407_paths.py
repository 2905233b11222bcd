"""Asking the file system ends the graph.

`os.path.exists`, `Path.is_file()`, `os.listdir`, `os.makedirs` end in system calls that Dynamo does
not trace. What only works on text is traced: `os.path.join`, `basename`, `splitext`, `Path(...) /
"a"`, and so is reading `os.environ`.

Ask once, in `__init__` or at the module's top, and keep the answer as a constant: Dynamo then
follows only the path that is taken.

The rewrite computes the answer at the end of `__init__`, or below the imports where nothing but
constants is asked for. It is unsafe, since a file that appears later is not seen.
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
    fix="unsafe",
)

ASKING = {
    f"os.path.{name}"
    for name in """
        exists lexists isfile isdir islink ismount getsize getmtime getatime getctime samefile
        abspath realpath normpath relpath
        """.split()
}
SYSTEM = {
    f"os.{name}"
    for name in """
        stat lstat listdir scandir walk mkdir makedirs remove unlink rename replace rmdir getcwd
        chdir access
        """.split()
}
PATHS = {
    f"pathlib.{owner}.{name}"
    for owner in ("Path", "PosixPath")
    for name in """
        exists is_file is_dir is_symlink stat resolve absolute mkdir unlink rename touch cwd
        samefile
        """.split()
}
MORE = {"glob.glob", "shutil.copy", "shutil.copyfile", "shutil.move", "shutil.rmtree"}


@rule.on(Call, ASKING, SYSTEM, PATHS, MORE)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` reads the file system",
        help="do it once in `__init__` and keep the result as an attribute",
    )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.rewrites.hoisting import asked_once

    found = rw.find(node, problem)
    if not isinstance(found, cst.Call) or rw.dotted(found.func) not in (*ASKING, "os.getcwd"):
        return None
    given = found.args[0].value if found.args else None
    about = f"{given.attr.value}_" if isinstance(given, cst.Attribute) else ""
    return asked_once(node, found, place, f"{about}{rw.called(found)}")


@rule.example(lambda: (torch.ones(4),), module=True)
def bad():
    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.path = os.devnull

        def forward(self, x):
            y = x + 1
            if os.path.exists(self.path):  # BRK407
                y = y * 2
            return y

    return Cached()


@rule.becomes
def good():
    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.path = os.devnull
            self.path_exists = os.path.exists(self.path)

        def forward(self, x):
            y = x + 1
            if self.path_exists:
                y = y * 2
            return y

    return Cached()
