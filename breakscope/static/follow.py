"""A file that may hold a region: its regions -> events -> verdicts -> findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from breakscope.knowledge import load as load_knowledge
from breakscope.report.model import CONFIDENCES, Finding
from breakscope.rulekit.loader import RuleError, load_rules
from breakscope.static.answer import Answer, Place, Settings
from breakscope.static.definitions.names import starts_program
from breakscope.static.findings.listeners import Listeners
from breakscope.static.findings.match import Matcher
from breakscope.static.findings.suppress import Mark
from breakscope.static.findings.unused import Judged, has_marks, place_of, unused
from breakscope.static.findings.verdicts import Verdict
from breakscope.static.interpreter.tables import TABLES
from breakscope.static.machine.gaps import Gaps, why
from breakscope.static.machine.library import Library
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.packages import GIVEN_UP, KNOWN_BY_NAME
from breakscope.static.machine.world import World
from breakscope.static.project.exports import handed_out
from breakscope.static.project.installed import Installed
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.program import Program, Sources
from breakscope.static.project.reads import Reads
from breakscope.static.regions.discovery.discover import default_regions
from breakscope.static.regions.discovery.entries import entry_regions
from breakscope.static.regions.discovery.unentered import unentered_regions
from breakscope.static.regions.region import Region
from breakscope.static.usage import mentions

if TYPE_CHECKING:
    from breakscope.static.findings.flag import Flagger


class Follower:
    """Interprets files one by one. Parsed sources, the modules behind the files and the rules are kept
    from one to the next, which saves work and decides nothing."""

    def __init__(self, settings: Settings, reads: Reads) -> None:
        self.settings = settings
        self.reads = reads
        self.sources = Sources(reads)
        self.library = Library(load_knowledge(settings.torch))
        self.matcher = Matcher(Listeners(load_rules(settings.extra_rules), settings.python))
        self._worlds: dict[tuple[str, str], World] = {}
        self._flaggers: dict[str, Flagger] = {}

    @property
    def is_full(self) -> bool:
        """True when the parsed sources take so much room that all of them should be let go."""
        return self.sources.is_full

    def forget(self) -> None:
        """Let go of the modules behind the files."""
        self._worlds.clear()
        self._flaggers.clear()
        self.sources.forget()

    def answer(
        self, path: str, source: str, names: list[str], is_only_script: bool = False
    ) -> Answer:
        """The answer for a file (absolute path) of this source: what its own regions reach. Where the
        settings have entries, its regions are those that `names` (patterns) name. Of what `is_only_script`
        nothing is followed that leads to no file that compiles."""
        self.sources.turn += 1
        self.sources.make_room()
        self.matcher.begin()
        world = self._world(path)
        module = world.program.module_at(path, source)
        module.library = ""
        found = _Found(self, path)
        with _machine(self, world, module) as machine, found.confined():
            if is_only_script and not starts_program(machine, module):
                return Answer()
            regions: list[Region] = []
            with found.confined():
                if self.settings.entries:
                    for name in names:
                        named = entry_regions(machine, module, name)
                        found.fitted |= {name} if named else set()
                        regions += named
                else:
                    regions = default_regions(machine, module)
            with found.confined():
                found.regions += len(regions)
                found.gather([*regions, *_uses(machine, module)])
            if not self.settings.entries:
                names = handed_out(path, self.reads)
                with found.confined():
                    reached = frozenset(self.matcher.entered)
                    regions = unentered_regions(machine, module, names, reached)
                    found.regions += len(regions)
                    found.gather(regions)
                with found.confined():
                    found.judge_comments(module)
        found.gaps.include(machine.file.gaps.all())
        found.gaps.include(self.matcher.gaps.all())
        return found.answer()

    def _world(self, path: str) -> World:
        """The modules as the files of this file's package see them: packages beside it that are
        installed are libraries to it."""
        name, root = self._place(path)
        installed = Installed(self.reads, self.settings.import_folders, self._is_left_out)
        package = name.partition(".")[0] if installed.is_installation(root) else ""
        key = (root if package else "", package)
        world = self._worlds.get(key)
        if world is None:
            installed.check(*key)
            program = Program(self.sources, installed, self.settings.environment)
            world = self._worlds[key] = World(program, self.machine_of)
        return world

    def _place(self, path: str) -> tuple[str, str]:
        """(dotted module name, import root) of a file's package: a folder without `__init__.py` inside of
        a package is a part of it."""
        name, root = self.sources.place(path)
        above = os.path.join(os.path.dirname(root), "__init__.py")
        # of the folder above only that file is asked first: the names in it come and go
        is_part = os.path.basename(root) and self.reads.is_file(above)
        if is_part and self.reads.is_package(os.path.dirname(root)):
            return self._place(above)
        return name, root

    def machine_of(self, world: World, home: ModuleInfo) -> Machine:
        wanted = self.matcher.listeners.want
        return Machine(world, self.library, wanted, self.settings.python, TABLES, home)

    def _is_left_out(self, package: str) -> bool:
        """True for a package that Dynamo skips, or gives up inside: calls of it are known by their names."""
        return package in GIVEN_UP | KNOWN_BY_NAME or bool(
            load_knowledge(self.settings.torch).module_skipped(package)
        )

    def flagger(self, module: ModuleInfo) -> Flagger:
        """What makes the findings of a module's file."""
        from breakscope.static.findings.flag import Flagger  # clean files never need it

        flagger = self._flaggers.get(module.path)
        if flagger is None or flagger.module.tree is not module.tree:
            flagger = self._flaggers[module.path] = Flagger(module)
        return flagger


class _Found:
    """What has been found out about a file so far."""

    def __init__(self, follower: Follower, path: str) -> None:
        self.regions = 0
        self.gaps = Gaps()
        self.fitted: set[str] = set()
        self._follower = follower
        self._path = path
        self._findings: dict[Place, Finding] = {}
        self._places: dict[Place, int] = {}  # place -> the sureness of its verdict
        self._hidden: set[Place] = set()
        self._used: dict[str, set[Mark]] = {}  # by path

    @contextmanager
    def confined(self) -> Iterator[None]:
        """Let an error of ours in one part of the work cost no other part."""
        try:
            yield
        except RuleError:
            raise
        except Exception as problem:
            self.gaps.add(why(problem), self._path, 0, "")

    def gather(self, regions: Iterable[Region]) -> None:
        """Turn what the regions' events break into findings."""
        verdicts: dict[str, list[Verdict]] = {}
        for verdict in self._follower.matcher.match(list(regions)):
            verdicts.setdefault(verdict.module.path, []).append(verdict)
        for found in verdicts.values():
            wanted = []
            for verdict in filter(self._is_news, found):
                if verdict.confidence == "possible" and not self._follower.settings.possible:
                    self._hidden.add(verdict.place)  # to confirm it takes libcst
                    if has_marks(verdict.module):
                        marks = self._follower.flagger(verdict.module).silencers(verdict)
                        self._used.setdefault(verdict.module.path, set()).update(marks)
                else:
                    wanted.append(verdict)
            if wanted:
                flagger = self._follower.flagger(wanted[0].module)
                flagged = flagger.findings(wanted, self.gaps, self._follower.settings.silence)
                self._findings.update((v.place, finding) for v, finding in flagged.findings)
                self._hidden |= flagged.silenced
                self._used.setdefault(flagger.module.path, set()).update(flagged.used)

    def judge_comments(self, checked: ModuleInfo) -> None:
        """Find the comments that silence nothing, in the file and where its regions lead."""
        matcher, settings = self._follower.matcher, self._follower.settings
        for module in {**matcher.modules, checked.path: checked}.values():
            if not has_marks(module):
                continue
            entered = {function for path, function in matcher.entered if path == module.path}
            used = self._used.get(module.path, set())
            suppressions = self._follower.flagger(module).suppressions
            judged = Judged.of(load_rules(settings.extra_rules), matcher.listeners.codes)
            is_checked = module is checked
            for place, finding in unused(module, suppressions, used, entered, is_checked, judged):
                if finding.confidence == "possible" and not settings.possible:
                    self._hidden.add(place)
                else:
                    self._findings[place] = finding

    def _is_news(self, verdict: Verdict) -> bool:
        """Each place is flagged once, however many regions reach it; a surer verdict takes the
        place of a weaker."""
        sureness = CONFIDENCES.index(verdict.confidence)
        if self._places.get(verdict.place, len(CONFIDENCES)) <= sureness:
            return False
        self._places[verdict.place] = sureness
        return True

    def answer(self) -> Answer:
        return Answer(
            findings=tuple(self._findings.items()),
            hidden=tuple(sorted(self._hidden, key=repr)),
            used=tuple(
                place_of(path, mark)
                for path, marks in self._used.items()
                for mark in sorted(marks, key=lambda mark: (mark.line, mark.column))
            ),
            regions=self.regions,
            gaps=self.gaps.all(),
            fitted=tuple(sorted(self.fitted)),
        )


class _machine:
    """A machine for one file; what it changed is taken back at the end."""

    def __init__(self, follower: Follower, world: World, module: ModuleInfo) -> None:
        self._world = world
        self._machine = follower.machine_of(world, module)

    def __enter__(self) -> Machine:
        self._world.machines.append(self._machine)
        return self._machine

    def __exit__(self, *problem: object) -> None:
        self._world.machines.remove(self._machine)
        self._machine.take_back()
        if self._machine.file.module.names:
            self._machine.file.module.names.clear()


def _uses(machine: Machine, module: ModuleInfo) -> list[Region]:
    """What the file does with torch.compile itself."""
    if not mentions(module.source):
        return []
    from breakscope.static.usage.file import usage_region  # most files never need it

    return [usage_region(machine, module)]
