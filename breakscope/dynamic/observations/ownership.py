"""Whose code a file is: the user's, torch's, Python's or ours."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from breakscope.dynamic.capture.compiled_modules import MODULE
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame, original_name

TORCH = re.compile(r"[/\\](?:site|dist)-packages[/\\](?:torch|functorch)[/\\]")
INSTALLED = re.compile(r".*[/\\](?:site|dist)-packages[/\\]([^/\\]+?)(?:\.py)?(?:[/\\]|\Z)")
# of another Python than ours, where a trace comes from elsewhere
LIBRARY = re.compile(r"[/\\]lib[/\\]python3\.\d+[/\\]")
# its polyfills and wrappers stand for other code
OF_DYNAMO = re.compile(r"[/\\]torch[/\\]_dynamo[/\\]")
GENERATED = "<string>"
TYPED_IN = (GENERATED, "<stdin>", "<ipython-input-")  # the user's, without a file


@dataclass(frozen=True)
class Places:
    """The folders of torch, of Python's library and of breakscope. All that lies elsewhere is the
    user's code, libraries in site-packages among it."""

    torch: str
    python: tuple[str, ...]
    own: str

    @classmethod
    def here(cls, torch_root: str) -> Places:
        paths = sysconfig.get_paths()
        own = str(Path(__file__).resolve().parents[2])
        return cls(torch_root, tuple({paths["stdlib"], paths["platstdlib"]}), own)

    def is_own(self, path: str) -> bool:
        return _inside(path, self.own) or os.path.basename(path) == f"{MODULE}.py"

    def is_user(self, path: str) -> bool:
        if (
            not path
            or self.is_own(path)
            or (path.startswith("<") and not path.startswith(TYPED_IN))
        ):
            return False
        if self.torch and (
            _inside(path, self.torch) or _inside(path, _beside(self.torch, "functorch"))
        ):
            return False
        if TORCH.search(path):
            return False
        return bool(library_of(path)) or not (
            LIBRARY.search(path) or any(_inside(path, root) for root in self.python)
        )

    def chain(self, frames: list[Frame]) -> list[Frame]:
        """The user's frames inside the compiled region, outermost first: those below the last frame
        of ours."""
        last = max((i for i, frame in enumerate(frames) if self.is_own(frame.path)), default=-1)
        users = self.written([f for f in frames[last + 1 :] if self.is_user(f.path)])
        users = [f for f in users if f.function != "<module>"]
        merged: list[Frame] = []
        for frame in users:
            if merged and _same_function(merged[-1], frame):
                merged[-1] = frame  # a resume function stands below the frame that it resumes
            else:
                merged.append(frame)
        return merged

    def entering(self, stack: Sequence[Frame]) -> Frame | None:
        """The user's innermost line that is in no installed package, below the last frame of ours:
        a module's own code too, which calls what is compiled and is in no region."""
        last = max((i for i, frame in enumerate(stack) if self.is_own(frame.path)), default=-1)
        users = [f for f in stack[last + 1 :] if self.is_user(f.path) and not library_of(f.path)]
        written = self.written(users)
        if not written:
            return None
        return replace(written[-1], function=original_name(written[-1].function))

    def written(self, users: Sequence[Frame]) -> list[Frame]:
        """Without what a library generated, such as a dataclass's `__init__`: text that a file's
        code runs, where that of `python -c` runs everything else."""
        first = next((i for i, frame in enumerate(users) if frame.path != GENERATED), len(users))
        return [*users[:first], *(frame for frame in users[first:] if frame.path != GENERATED)]


def _same_function(frame: Frame, other: Frame) -> bool:
    """By the source: one `forward` that calls the next in the same file is another function of the
    same name."""
    if (frame.path, frame.function) != (other.path, other.function):
        return False
    source = SourceFile.read(frame.path)
    return source.function_line(frame.line) == source.function_line(other.line)


def library_of(path: str) -> str:
    """The installed package that a file belongs to; "" for a file that lies elsewhere."""
    found = INSTALLED.match(path)
    return found[1] if found else ""


def torchs_file(path: str) -> str:
    """A file of torch, from its package on: "torch/optim/optimizer.py"; "" for any other file."""
    found = TORCH.search(path)
    return path[found.start() :].split(os.sep, 2)[-1].replace("\\", "/") if found else ""


def _inside(path: str, folder: str) -> bool:
    base = folder.rstrip("/\\")
    return bool(base) and (path == base or path.startswith((base + "/", base + "\\")))


def _beside(folder: str, name: str) -> str:
    return folder[: -len("torch")] + name if folder.endswith("torch") else ""
