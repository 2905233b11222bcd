"""What a wrapper in an installed package takes as `*args` and `**kwargs`, in its caller's words: a
reader knows the argument that was passed, not the wrapper's name for all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.observations.guards.mode_switches import ENTRY
from breakscope.dynamic.observations.guards.origins import function_of
from breakscope.dynamic.observations.ownership import OF_DYNAMO, Places, library_of, torchs_file
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame
from breakscope.rulekit.walking import positional_parameters

# of the module behind Dynamo's wrapper, which has no name there
OWN_MODULE = re.compile(r"fn\b(?=[.\[])")
COUNTED = {"*": "positional arguments", "**": "keyword arguments"}
ITEM = re.compile(r"\[(\d+)\](?P<fact>(?:\.(?:size|stride|storage_offset)(?:\(\))?(?:\[\d+\])?)?)")
ARGUMENT = re.compile(r"argument (?P<number>\d+)")  # a positional one, counted from 1


def passed_name(name: str, frame: FrameCompile) -> str:
    """`kwargs['mask'].data` is `mask.data`, and `args[0]` is "argument 1"; what the user's own
    functions take keeps the name that is written there."""
    if frame.resumed_at or not library_of(frame.path):
        return name
    if OF_DYNAMO.search(frame.path) and (inside := OWN_MODULE.match(name)):
        return f"module{name[inside.end() :]}"
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
        return f"argument {len(_positional(frame)) + int(index[1]) + 1}{index['fact']}"
    return name


def calls_it(frame: FrameCompile, places: Places) -> bool:
    """True when the user's own code, or a run of ours for it, calls the compiled function: it has
    the arguments at hand. Torch's frames between them do not count."""
    outside = _callers(frame)
    return not outside or not library_of(outside[-1].path) or places.is_own(outside[-1].path)


def is_compiled_alone(
    frame: FrameCompile, compiles: Iterable[FrameCompile], places: Places
) -> bool:
    """True where the same line of the user's entered another function of the user's first, which is
    skipped: what calls this one is meant to be traced, and there nothing can be marked."""
    entry = _entry(frame)
    first = next((c for c in compiles if entry and _entry(c) == entry), frame)
    return places.is_user(first.path) and (first.path, first.line) != (frame.path, frame.line)


def _entry(frame: FrameCompile) -> tuple[Frame, ...]:
    """The frames outside of what the user compiled."""
    inner = max((i for i, f in enumerate(frame.stack) if ENTRY.search(f.path)), default=-1)
    return frame.stack[: inner + 1]


def written_by_caller(name: str, frame: FrameCompile) -> str:
    """The variable that the user's line passes for an argument of a package's function; "" where
    it passes none, or several calls of the line could be meant."""
    callers = _callers(frame)
    if not library_of(frame.path) or not callers or library_of(callers[-1].path):
        return ""
    number = ARGUMENT.fullmatch(name)
    at = int(number["number"]) - 1 if number else _position(name, frame)
    line, tree = callers[-1].line, SourceFile.read(callers[-1].path).tree
    imported = _imported(tree)
    found = set()
    for call in ast.walk(tree) if tree is not None else ():
        if not isinstance(call, ast.Call) or not call.lineno <= line <= (call.end_lineno or 0):
            continue
        if ast.unparse(call.func).partition(".")[0] in imported:
            continue  # what is compiled is a value of the program's own
        given = next((k.value for k in call.keywords if k.arg == name), None)
        if given is None and at is not None and at < len(call.args):
            given = call.args[at]
        if given is not None:
            found.add(given.id if isinstance(given, ast.Name) else "")
    return found.pop() if len(found) == 1 else ""


def _imported(tree: ast.Module | None) -> set[str]:
    return {
        (name.asname or name.name).partition(".")[0]
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in node.names
    }


def _position(name: str, frame: FrameCompile) -> int | None:
    """Of a parameter, among what a caller gives."""
    names = _positional(frame)
    return names.index(name) if name in names else None


def _positional(frame: FrameCompile) -> list[str]:
    """The named parameters that a caller gives by position."""
    function = function_of(SourceFile.read(frame.path), frame)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return []
    names = [a.arg for a in positional_parameters(function)]
    return names[1:] if names[:1] == ["self"] else names


def _callers(frame: FrameCompile) -> list[Frame]:
    """The frames around the compiled function that are not torch's, outermost first."""
    outside = [f for f in frame.stack if not torchs_file(f.path)]
    if outside and (outside[-1].path, outside[-1].function) == (frame.path, frame.function):
        outside.pop()
    return outside


def _starred(frame: FrameCompile) -> dict[str, str]:
    function = function_of(SourceFile.read(frame.path), frame)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    pairs = ((function.args.vararg, "*"), (function.args.kwarg, "**"))
    return {argument.arg: kind for argument, kind in pairs if argument is not None}
