"""The analysis of one file, which is followed only where a look at its bytes cannot tell that it
holds no region."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from breakscope.reading import Unreadable
from breakscope.report.model import Gap, ReportError
from breakscope.rulekit.loader import RuleError
from breakscope.static.answer import Answer, Settings, is_surer
from breakscope.static.project.entries import fits
from breakscope.static.project.exports import handed_out
from breakscope.static.project.files import NOTEBOOK, is_notebook, relative_path
from breakscope.static.project.prefilter import may_matter, may_start
from breakscope.static.project.reads import NO_SOURCES, UNSTEADY, Kept, Reads
from breakscope.static.project.source import SourceError, decode, refuse_what_is_no_python
from breakscope.static.project.subclasses import files_with_subclasses

if TYPE_CHECKING:
    from breakscope.static.follow import Follower

READ_TYPES = ("", ".py", ".pyi", ".pyw", NOTEBOOK)  # a script has no suffix


class Analyzer:
    """Analyses files one by one. What it keeps from one to the next saves work and decides
    nothing: answers, and what the follower keeps. `reads` records what an answer was made from."""

    def __init__(self, settings: Settings, sources: Mapping[str, bytes] = NO_SOURCES) -> None:
        """`sources` is what files hold that differ from what lies on disk."""
        self.settings = settings
        self.reads = Reads(sources)
        self._own: Kept[Answer] = Kept(self.reads)

    @cached_property
    def follower(self) -> Follower:
        """What interprets the files: most of the analyzer is imported with it, and many files of a
        project hold no region."""
        from breakscope.static.follow import Follower

        return Follower(self.settings, self.reads)

    def analyze(self, path: str) -> Answer:
        """The answer for one file (absolute path): what its own regions reach, and what those of
        files beside it reach through its classes, which they derive theirs from. What such classes
        hand to the constructors that they inherit decides what the checked code does."""
        own = self._answer(path)
        if self.settings.entries:
            return own
        shown = relative_path(path)
        found, used = dict(own.findings), set(own.used)
        for other in files_with_subclasses(path, self.reads):
            theirs = relative_path(other)
            for place, finding in self._answer(other).findings:
                through = shown in (finding.path, *(link.path for link in finding.chain))
                known = found.get(place)
                if (
                    through
                    and finding.path != theirs
                    and (known is None or is_surer(finding, known))
                ):
                    found[place] = finding
            used |= {place for place in self._answer(other).used if place[0] == path}
        return replace(own, findings=tuple(found.items()), used=tuple(sorted(used, key=repr)))

    def _answer(self, path: str) -> Answer:
        """What a file's own regions reach."""
        return self._own.get(path, lambda: self._analyzed(path))

    def _analyzed(self, path: str) -> Answer:
        answer = self._analyzed_or_error(path)
        if answer.errors or answer.gaps:
            self.reads.note(UNSTEADY)  # what failed once is tried again
        return answer

    def _analyzed_or_error(self, path: str) -> Answer:
        if os.path.splitext(path)[1] not in READ_TYPES:
            return self._error(
                path,
                "is not read: only Python source and notebooks are, by the names .py and .ipynb",
            )
        try:
            data = self.reads.file(path)
            source = _program_of(data) if is_notebook(path) else None
            data = data if source is None else source.encode(errors="surrogatepass")
            names = self._names_for(path)
            matters = self._matters(path, data, names)
            if not matters and not (may_start(data) and not self.settings.entries):
                refuse_what_is_no_python(decode(data) if source is None else source, path)
                return Answer()
            if self.follower.is_full:
                self._start_afresh()
            text = decode(data) if source is None else source
            return self.follower.answer(path, text, names, is_only_script=not matters)
        except Unreadable as problem:
            return self._error(path, str(problem))
        except SourceError as problem:
            return self._error(path, str(problem), problem.line)
        except RuleError:
            raise
        except Exception as problem:
            from breakscope.static.machine.gaps import why  # what no file should bring about

            self._start_afresh()
            return Answer(gaps=(Gap(message=why(problem), path=relative_path(path)),))

    def _matters(self, path: str, data: bytes, names: list[str]) -> bool:
        """False when a look at the bytes shows that the file holds no region."""
        if self.settings.entries:
            return bool(names)
        return may_matter(data) or bool(handed_out(path, self.reads))

    def _names_for(self, path: str) -> list[str]:
        """The NAME patterns of the entries whose FILE part fits this path."""
        entries = (entry.rpartition("::") for entry in self.settings.entries)
        return [name for file, _, name in entries if fits(path, file)]

    def _start_afresh(self) -> None:
        """Let go of the modules behind the files, and of the answers of those that came before."""
        self.follower.forget()
        self._own = Kept(self.reads)
        gc.collect()  # modules, their trees and their scopes hold each other

    def _error(self, path: str, message: str, line: int = 0) -> Answer:
        return Answer(errors=(ReportError(message=message, path=relative_path(path), line=line),))


def _program_of(notebook: bytes) -> str:
    from breakscope.static.project.notebook import Notebook  # few files are notebooks

    return Notebook.of(notebook).program
