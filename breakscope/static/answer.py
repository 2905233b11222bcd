"""What a check found out about one file, and how the answers of several files become one."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from breakscope.report.escaping import encoded
from breakscope.report.model import CONFIDENCES, Finding, Gap, ReportError

# path, range and kind, and the same of the place inside of an installed library
Place = tuple[str | int, ...]


class Settings(Struct, frozen=True, kw_only=True):
    """What holds for all files of a check; see StaticOptions. `target` is the version of the tables
    that `torch` is taken for."""

    torch: str
    target: str
    python: tuple[int, int]
    entries: tuple[str, ...] = ()
    extra_rules: tuple[str, ...] = ()
    import_folders: tuple[str, ...] = ()  # of installed packages that are followed
    environment: tuple[str, ...] = ()  # of all that is installed; empty where that is not known
    possible: bool = True
    silence: bool = True


class Answer(Struct, frozen=True, omit_defaults=True):
    """What one checked file contributes; it follows from the file, what was read for it, the
    configuration, the tables and the versions, and from nothing else.

    `findings` stand in any file. `hidden` are places whose finding a comment silenced, or that is
    possible where possible ones were not asked for. `used` are the places of comments that do, of
    which another file's answer may say that they silence nothing. `gaps` may be in any file, too.
    `fitted` are the entries that named something.
    """

    findings: tuple[tuple[Place, Finding], ...] = ()
    hidden: tuple[Place, ...] = ()
    used: tuple[Place, ...] = ()
    regions: int = 0
    errors: tuple[ReportError, ...] = ()
    gaps: tuple[Gap, ...] = ()
    fitted: tuple[str, ...] = ()


class Together:
    """The answers of all files of a check: in whatever order they come, the same."""

    def __init__(self) -> None:
        self.files = self.regions = 0
        self.errors: list[ReportError] = []
        self._gaps: set[Gap] = set()
        self.fitted: set[str] = set()
        self._findings: dict[Place, Finding] = {}
        self._hidden: set[Place] = set()
        self._used: set[Place] = set()

    def add(self, answer: Answer) -> None:
        """Add a file's answer. Of several findings for one place the surest stays, of equally sure
        ones that with the shortest chain."""
        self.files += 1
        self.regions += answer.regions
        self.errors += answer.errors
        self._gaps.update(answer.gaps)
        self.fitted.update(answer.fitted)
        self._hidden.update(answer.hidden)
        self._used.update(answer.used)
        for place, finding in answer.findings:
            known = self._findings.get(place)
            if known is None or is_surer(finding, known):
                self._findings[place] = finding

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, by place."""
        found = (f for place, f in self._findings.items() if place not in self._used)
        return tuple(sorted(found, key=_sorted))

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """All gaps, by place."""
        return tuple(sorted(self._gaps, key=lambda gap: (gap.path, gap.line, gap.message)))

    @property
    def hidden(self) -> int:
        """How many places have a finding that is not shown."""
        return len(self._hidden - self._findings.keys() - self._used)


def union(parts: Iterable[Iterable[Finding]]) -> tuple[Finding, ...]:
    """The findings of several checks as one check of all their files has them."""
    found: dict[tuple, Finding] = {}
    for finding in (finding for part in parts for finding in part):
        key = _stand(finding)
        if key not in found or is_surer(finding, found[key]):
            found[key] = finding
    return tuple(sorted(found.values(), key=_sorted))


def is_surer(finding: Finding, known: Finding) -> bool:
    """True when a finding takes the place of another one at the same place."""
    return _order(finding) < _order(known)


def _stand(finding: Finding) -> tuple:
    """What a finding stands for, as far as it says itself."""
    inside = finding.chain[-1] if finding.library and finding.chain else None
    return (
        finding.path,
        finding.line,
        finding.column,
        finding.end_line,
        finding.end_column,
        finding.kind,
        # a line of a library may break in several of its calls
        inside and (inside.path, inside.line, finding.code, finding.names),
    )


def _order(finding: Finding) -> tuple:
    return (
        CONFIDENCES.index(finding.confidence),
        len(finding.chain),
        encoded(finding),
    )


def _sorted(finding: Finding) -> tuple:
    return (*finding.place(), finding.end_line, finding.end_column, _order(finding))
