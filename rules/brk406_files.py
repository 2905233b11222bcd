"""Opening, reading or writing a file ends the graph.

`open`, `torch.save`, `torch.load`, `numpy.save` and their kin work on the host, so Dynamo stops the
graph and calls them. `with open(...)` costs two breaks, because the file object is a context
manager that Dynamo cannot enter, and the block is skipped.

Read in `__init__`, and return what should be written, so that the caller writes it after the
compiled call. A dump for debugging belongs under `if not torch.compiler.is_compiling():`.

The rewrite puts a line that saves, or a `with open(...)` whose block does nothing but write, under
that guard. It is unsafe: the compiled model no longer writes the file.
"""

import os

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK406",
    "file",
    dynamo=(
        "GB0059: operator `open`",
        "GB0142: TextIOWrapper|BufferedWriter|BufferedReader",
        "GB0007: function `(save|load)` in file",
        "GB0294: function (save|load)",
    ),
    fix="unsafe",
)

OPENS = frozenset("open io.open os.open os.fdopen gzip.open bz2.open lzma.open codecs.open".split())
TORCH = {"torch.save", "torch.load", "torch.serialization.save", "torch.serialization.load"}
NUMPY = {
    f"numpy.{name}"
    for name in "save savez savez_compressed savetxt load loadtxt genfromtxt fromfile memmap".split()
}
PATHS = {
    f"pathlib.{owner}.{name}"
    for owner in ("Path", "PosixPath")
    for name in ("open", "read_text", "read_bytes", "write_text", "write_bytes")
}


@rule.on(Call, OPENS, TORCH, NUMPY, PATHS)
def check(event):
    yield event.graph_break(
        f"`{event.shown}` reads or writes a file",
        help="read files in `__init__`; return what should be written and write it outside the compiled region",
    )


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit.guarding import guarded, only_writes_to, skip_while_compiling

    if isinstance(node, cst.With):
        return guarded(node) if only_writes_to(node, problem) else None
    name = getattr(problem.node.func, "attr", "")
    if name.startswith(("save", "write_")):
        return skip_while_compiling(node, problem)
    return None


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059", "GB0142"))
def bad(x):
    y = x * 2
    with open(os.devnull, "w"):  # BRK406
        y = y + 1
    return y


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    y = x * 2
    torch.save(y, os.devnull)  # BRK406
    return y + 1
