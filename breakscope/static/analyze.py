"""The static analysis of some paths: files -> regions -> events -> verdicts -> findings."""

from __future__ import annotations

import ast
import gc
import os
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from breakscope.environment import import_folders
from breakscope.exports import handed_out
from breakscope.knowledge import judging_by, out_of_range, target_version
from breakscope.knowledge import load as load_knowledge
from breakscope.listeners import listeners
from breakscope.report.model import Finding, ReportError
from breakscope.rulebook import RuleError
from breakscope.static.bodies import drop_idle_bodies
from breakscope.static.files import heirs, python_files, relative_path
from breakscope.static.frames import OutOfBudget
from breakscope.static.importers import Importers
from breakscope.static.installed import Installed
from breakscope.static.interpreter import Interpreter
from breakscope.static.judge import Judge, Verdict
from breakscope.static.library import Library
from breakscope.static.modules import ModuleInfo
from breakscope.static.program import Program
from breakscope.static.regions import Region, default_regions, entry_regions, exported_regions, inherited_regions
from breakscope.static.source import SourceError, decode, refuse_what_is_no_python
from breakscope.static.stack import with_room
from breakscope.static.suspects import may_matter
from breakscope.static.usage import mentions

if TYPE_CHECKING:
    from breakscope.static.flag import Flagger

CONFIDENCES = ("certain", "likely", "possible")
LATELY = 20  # files
LARGEST_FILE = 20_000_000  # bytes


class StaticOptions(Struct, frozen=True, kw_only=True):
    """`entries` are FILE::NAME or glob patterns of both; without them every region of the files is analysed.

    `torch` is the version whose behaviour is assumed (None: the installed one, else the newest known).
    `exclude` are globs of paths to leave out, `extra_rules` folders of the user's own rules,
    `trees` are files that were parsed before: absolute path -> (the bytes that were parsed, the tree),
    `python` the Python version the code runs under (None: the running one). With `libraries`, installed packages that use
    torch are followed too. Without `possible`, findings that are only possible are counted, not made.
    """

    entries: tuple[str, ...] = ()
    torch: str | None = None
    exclude: tuple[str, ...] = ()
    extra_rules: tuple[str, ...] = ()
    trees: dict[str, tuple[bytes, ast.Module]] = {}
    python: tuple[int, int] | None = None
    libraries: bool = True
    possible: bool = True


class StaticResult(Struct, frozen=True, kw_only=True):
    """What was found. `hidden` counts findings that a comment silenced, and possible ones that were not asked for; `notes`
    say where the analysis gave up.

    `workings` is all that the analyzer knows of the program, freed with the result.
    """

    findings: tuple[Finding, ...] = ()
    errors: tuple[ReportError, ...] = ()
    files: int = 0
    regions: int = 0
    hidden: int = 0
    torch: str = ""
    notes: tuple[str, ...] = ()
    workings: object = None


class _Progress(Struct, eq=False):
    """What has been gathered so far."""

    findings: dict[tuple, Finding] = {}
    errors: list[ReportError] = []
    files: int = 0
    regions: int = 0
    places: dict[tuple, int] = {}  # place -> the sureness of its verdict
    hidden: set[tuple] = set()  # places
    notes: list[str] = []


def analyze(paths: Iterable[str | Path], options: StaticOptions = StaticOptions()) -> StaticResult:
    """Analyse files and folders; a file that cannot be read as Python gets one error entry and does not stop the rest."""
    import sys

    torch = options.torch or target_version()
    with judging_by(load_knowledge(torch).version if out_of_range(torch) else torch):
        analysis = _Analysis(torch, options, options.python or sys.version_info[:2])
        return with_room(lambda: _analyze(paths, analysis))


def _analyze(paths: Iterable[str | Path], analysis: _Analysis) -> StaticResult:
    options = analysis.options
    files = list(python_files(paths, options.exclude))
    for path in files:
        analysis.program.add_root(path)
    collecting = gc.isenabled()
    gc.disable()  # abstract values are dropped all together, see _Analysis.module
    try:
        analysis.folders(files)
        if not options.entries:
            for path in files:
                analysis.handed_out(path)
            checked = frozenset(files)
            for path in heirs([p for p in map(os.path.abspath, paths) if p in checked], checked):
                analysis.heir(path, checked)
        analysis.refuse_idle_entries()
    finally:
        if collecting:
            gc.enable()
    done = analysis.progress
    return StaticResult(
        findings=tuple(sorted(done.findings.values(), key=Finding.place)),
        errors=tuple(sorted(done.errors, key=lambda error: error.path)),
        files=done.files,
        regions=done.regions,
        hidden=len(done.hidden - done.findings.keys()),
        torch=analysis.torch,
        notes=tuple(filter(None, (out_of_range(analysis.torch), *sorted(done.notes)))),
        workings=analysis,
    )


class _Analysis:
    """One run of the analyzer over some files."""

    def __init__(self, torch: str, options: StaticOptions, python: tuple[int, int]) -> None:
        self.options = options
        self.python = python
        self.torch = torch
        self.program = Program(Installed(import_folders() if options.libraries else (), self.is_left_out))
        self.progress = _Progress()
        self._judge: Judge | None = None
        self._library: Library | None = None
        self._interpreter: Interpreter | None = None
        self._models_reach: frozenset[tuple[str, str]] | None = None  # what functions handed out reach does not count
        self._flaggers: dict[str, Flagger] = {}
        self._rewrites: dict[tuple, str | None] = {}
        self.fitted: set[str] = set()  # the names of entries that named something

    @property
    def judge(self) -> Judge:
        """What asks the rules, made when the first file turns out to matter."""
        if self._judge is None:
            self._judge = Judge(listeners(self.python, self.options.extra_rules))
        return self._judge

    @property
    def library(self) -> Library:
        if self._library is None:
            self._library = Library(load_knowledge(self.torch))
        return self._library

    def is_left_out(self, package: str) -> bool:
        """True for a package that Dynamo skips: calls of it are known by their names."""
        return bool(load_knowledge(self.torch).module_skipped(package))

    def folders(self, files: list[str]) -> None:
        """Analyse the files folder by folder, those first that need little which is not parsed yet."""
        waiting: dict[str, list[str]] = {}
        for path in files:
            waiting.setdefault(os.path.dirname(path), []).append(path)
        importers = Importers(files if len(waiting) > 1 else (), self.program.imported)
        while waiting:
            folder = importers.next_folder(waiting, self.program.parsed)
            for path in waiting.pop(folder):
                self.file(path)
                self.make_room()
            importers.done(folder)
            if waiting:
                self.leave_folder(importers)

    def file(self, path: str) -> None:
        """Analyse one file and gather what is found."""
        self.progress.files += 1
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size or LARGEST_FILE  # a pipe tells none
                data = file.read(min(size, LARGEST_FILE) + 1)
            if len(data) > LARGEST_FILE:
                raise SourceError(f"is larger than {LARGEST_FILE // 1_000_000} MB; exclude it")
            source = decode(data)
            if not self.matters(path, data):
                if path not in self.program.parsed:
                    refuse_what_is_no_python(source, path)  # a file that is no Python is an error, whatever it holds
                return
            module = self.program.module_at(path, source, self.tree_of(path, data))
        except OSError as problem:
            self.error(path, f"cannot be read: {problem.strerror or problem}", 0)
            return
        except SourceError as problem:
            self.error(path, str(problem), problem.line)
            return
        try:
            self.module(module)
        except RecursionError:
            self.error(path, "is nested too deeply to be analysed", 0)
        except Exception as problem:
            self.outlive(problem, path)

    def outlive(self, problem: Exception, path: str) -> None:
        """Go on after a mistake of ours, which must not cost what other files hold."""
        if "BREAKSCOPE_DEBUG" in os.environ or isinstance(problem, RuleError):
            raise problem
        self.start_afresh()
        self.progress.notes.append(
            f"{relative_path(path)} could not be followed: internal error {type(problem).__name__}: {problem}; "
            "please report it (BREAKSCOPE_DEBUG=1 shows where)"
        )

    def tree_of(self, path: str, data: bytes) -> ast.Module | None:
        """The file's tree when it was parsed before; text beyond ASCII is parsed again, as the bytes' encoding counts."""
        parsed, tree = self.options.trees.get(path, (b"", None))
        return tree if parsed == data and data.isascii() else None

    def matters(self, path: str, data: bytes) -> bool:
        """False when a look at the bytes shows that the file holds no region."""
        if self.options.entries:
            return bool(self.names_for(path))
        return may_matter(data)

    def make_room(self) -> None:
        """Drop function bodies that were not entered lately, when there are many."""
        if self.program.is_crowded and self._interpreter is not None:
            since = self._interpreter.turn - LATELY
            self.program.slim(lambda module: drop_idle_bodies(module, since))

    def leave_folder(self, importers: Importers) -> None:
        """Let go of the modules that no file to come imports from."""
        if self._interpreter is not None:
            gone = self.program.leave(importers)
            self._interpreter.leave(gone)
            for module in gone:
                self._flaggers.pop(module.path, None)

    def names_for(self, path: str) -> list[str]:
        """The NAME patterns of the entries whose FILE part fits this path."""
        names = []
        for entry in self.options.entries:
            file, _, name = entry.rpartition("::")
            if _fits(path, file):
                names.append(name)
        return names

    def module(self, module: ModuleInfo) -> None:
        interpreter = self.interpreter()
        interpreter.begin_file(module)
        regions: list[Region] = []
        try:
            if self.options.entries:
                for name in self.names_for(module.path):
                    found = entry_regions(interpreter, module, name)
                    self.fitted |= {name} if found else set()
                    regions += found
            else:
                regions = default_regions(interpreter, module)
        except OutOfBudget:
            interpreter.cut_short = True
        self.progress.regions += len(regions)
        self.gather([*regions, *self.uses(interpreter, module)])
        if interpreter.cut_short:
            self.progress.notes.append(f"{relative_path(module.path)} takes too much work to be followed to its end")

    def uses(self, interpreter: Interpreter, module: ModuleInfo) -> list[Region]:
        """What the file does with torch.compile itself."""
        if not mentions(module.source):
            return []
        from breakscope.static.usage.file import usage_region  # most files never need it

        return [usage_region(interpreter, module)]

    def handed_out(self, path: str) -> None:
        """Analyse the functions that a library hands out of a file and that no region reaches: its users' models call
        them."""
        try:
            names = handed_out(path)
            if not names:
                return
            module = self.program.module_at(path)
            interpreter = self.interpreter()
            interpreter.begin_file(module)
            if self._models_reach is None:
                self._models_reach = frozenset(self.judge.entered)
            regions = exported_regions(interpreter, module, names, self._models_reach)
            self.progress.regions += len(regions)
            self.gather(regions)
        except (OSError, SourceError, OutOfBudget, RecursionError):
            return  # told of before
        except Exception as problem:
            self.outlive(problem, path)

    def heir(self, path: str, checked: frozenset[str]) -> None:
        """Analyse a file that was not asked for: what its classes hand to the constructors that they inherit decides what
        the checked files' code reaches. Nothing is reported of the file itself."""
        try:
            module = self.program.module_at(path)
            interpreter = self.interpreter()
            interpreter.begin_file(module)
            self.gather(inherited_regions(interpreter, module, checked), checked)
        except (SourceError, OutOfBudget, RecursionError):
            return
        except Exception as problem:
            self.outlive(problem, path)

    def interpreter(self) -> Interpreter:
        """The interpreter with what it knows of functions and classes; a fresh one when that has grown too large."""
        if self._interpreter is not None and (self._interpreter.is_full or self.program.is_full):
            self.start_afresh()
        if self._interpreter is None:
            self._interpreter = Interpreter(self.program, self.library, self.judge.listeners.want, self.python)
        return self._interpreter

    def start_afresh(self) -> None:
        """Forget what is known of functions, classes and objects; what was found stays."""
        if self._interpreter is not None:
            self._interpreter.forget()
            self._interpreter = None
        self._flaggers.clear()
        self.program.forget()

    def refuse_idle_entries(self) -> None:
        """An entry that names nothing beside others that do is a mistake: silence would look like a clean file.

        When no entry names anything, there is nothing to report on, and who called says so.
        """
        if not self.fitted:
            return
        for entry in self.options.entries:
            name = entry.rpartition("::")[2]
            if name not in self.fitted and not any(e.path for e in self.progress.errors):
                self.progress.errors.append(
                    ReportError(message=f"--entry {entry} names no function, class or object that was checked")
                )

    def gather(self, regions: list[Region], only: frozenset[str] | None = None) -> None:
        """Turn what the regions' events break into findings; with `only`, those in these files."""
        verdicts: dict[str, list[Verdict]] = {}
        for verdict in self.judge.judge(regions):
            if only is None or verdict.module.path in only:
                verdicts.setdefault(verdict.module.path, []).append(verdict)
        for path, found in verdicts.items():
            wanted = []
            for verdict in filter(self.is_news, found):
                if verdict.confidence == "possible" and not self.options.possible:
                    self.progress.hidden.add(verdict.place)  # to confirm it takes libcst, whose import alone is a file's work
                else:
                    wanted.append(verdict)
            if wanted:
                flagger = self.flagger(wanted[0].module)
                for verdict, finding in flagger.findings(wanted):
                    self.progress.findings[verdict.place] = finding
                self.progress.hidden |= flagger.suppressed

    def is_news(self, verdict: Verdict) -> bool:
        """Each place is flagged once, however many regions reach it; a surer verdict takes the place of a weaker."""
        sureness = CONFIDENCES.index(verdict.confidence)
        if self.progress.places.get(verdict.place, len(CONFIDENCES)) <= sureness:
            return False
        self.progress.places[verdict.place] = sureness
        return True

    def flagger(self, module: ModuleInfo) -> Flagger:
        from breakscope.static.flag import Flagger  # clean files never need it

        flagger = self._flaggers.get(module.path)
        if flagger is None or flagger.module is not module:
            flagger = self._flaggers[module.path] = Flagger(module, self._rewrites)
        return flagger

    def error(self, path: str, message: str, line: int) -> None:
        self.progress.errors.append(ReportError(message=message, path=relative_path(path), line=line))


def _fits(path: str, pattern: str) -> bool:
    relative = os.path.relpath(path).replace(os.sep, "/")
    return os.path.abspath(pattern) == path or any(
        fnmatch(p, pattern) for p in (path, relative, os.path.basename(path))
    )
