"""What a wrapper in an installed package takes as `*args` and `**kwargs`, in its caller's words: a
reader knows the argument that was passed, not the wrapper's name for all of them."""

from __future__ import annotations

import ast
import re

from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.observations.guards.origins import function_of
from breakscope.dynamic.observations.ownership import Places, library_of, torchs_file
from breakscope.dynamic.source_text import SourceFile

COUNTED = {"*": "positional arguments", "**": "keyword arguments"}
ITEM = re.compile(r"\[(\d+)\](?P<fact>(?:\.(?:size|stride|storage_offset)(?:\(\))?(?:\[\d+\])?)?)")
ARGUMENT = re.compile(r"argument (?P<number>\d+)")  # a positional one, counted from 1


def passed_name(name: str, frame: FrameCompile) -> str:
    """`kwargs['mask'].data` is `mask.data`, and `args[0]` is "argument 1"; what the user's own
    functions take keeps the name that is written there."""
    if frame.resumed_at or not library_of(frame.path):
        return name
    starred = _starred(frame)
    root = re.match(r"(?:L\[')?(\w+)(?:'\])?", name)
    if root is None or root[1] not in starred:
        return name
    kind, rest = starred[root[1]], name[root.end() :]
    if not rest:
        return COUNTED[kind]
    if kind == "**" and (key := re.match(r"\['(\w+)'\]", rest)):
        return key[1] + rest[key.end() :]
    if kind == "*" and (index := ITEM.fullmatch(rest)):
        return f"argument {int(index[1]) + 1}{index['fact']}"
    return name


def calls_it(frame: FrameCompile, places: Places) -> bool:
    """True when the user's own code, or a run of ours for it, calls the compiled function: it has
    the arguments at hand. Torch's frames between them do not count."""
    outside = [f for f in frame.stack if not torchs_file(f.path)]
    if outside and (outside[-1].path, outside[-1].function) == (frame.path, frame.function):
        outside.pop()
    return not outside or not library_of(outside[-1].path) or places.is_own(outside[-1].path)


def _starred(frame: FrameCompile) -> dict[str, str]:
    function = function_of(SourceFile.read(frame.path), frame)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    pairs = ((function.args.vararg, "*"), (function.args.kwarg, "**"))
    return {argument.arg: kind for argument, kind in pairs if argument is not None}
