"""Which findings a report shows: codes selected and ignored, and how sure a finding must be."""

from __future__ import annotations

import fnmatch
import os
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from breakscope.errors import UserError
from breakscope.report.combining.repeats import grouped
from breakscope.report.model import Elsewhere, Finding
from breakscope.texts import nearest


class Selection(Struct, frozen=True):
    """Codes are whole (`BRK203`) or prefixes (`BRK2`); an empty `select` means every code.

    The longest prefix that fits a code decides; between equals, `ignore` wins. `per_file_ignores`
    pairs a glob over paths with the codes that are ignored there; a relative glob is matched
    against the path relative to `root`, and against the file's name alone.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    root: str = ""
    show_possible: bool = False
    show_refuted: bool = False

    def split(self, findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], int]:
        """The findings to show, and the number of those left out."""
        findings = tuple(findings)
        shown = tuple(f for f in findings if self.shows(f))
        return shown, len(findings) - len(shown)

    def shows(self, finding: Finding) -> bool:
        if finding.evidence == "refuted":
            return self.show_refuted and self.selects(finding.code, finding.path)
        if (
            finding.confidence == "possible"
            and finding.evidence == "predicted"
            and not self.show_possible
        ):
            return False
        return self.selects(finding.code, finding.path)

    def selects(self, code: str, path: str) -> bool:
        wanted = max(
            (len(p) for p in (*self.select, *self.extend_select) if code.startswith(p)), default=-1
        )
        if not self.select:
            wanted = max(wanted, 0)
        unwanted = max((len(p) for p in self.ignore if code.startswith(p)), default=-1)
        return wanted > unwanted and not self._ignored_in_file(code, path)

    def _ignored_in_file(self, code: str, path: str) -> bool:
        return any(
            code.startswith(codes) and self._fits(glob, path)
            for glob, codes in self.per_file_ignores
        )

    def _fits(self, glob: str, path: str) -> bool:
        beside_root = os.path.relpath(path, self.root or os.curdir).replace(os.sep, "/")
        return fnmatch.fnmatch(beside_root, glob) or fnmatch.fnmatch(os.path.basename(path), glob)


def by_file(
    findings: Iterable[Finding], asked: frozenset[str] | None
) -> tuple[tuple[Finding, ...], tuple[Elsewhere, ...]]:
    """The findings in the files `asked` for (None: in any) and those that a run saw; and how many of
    the others stand in which file, most first."""
    findings = tuple(findings)
    if asked is None:
        return findings, ()
    shown = tuple(f for f in findings if f.path in asked or f.evidence != "predicted")
    others = Counter(f.path for f in grouped(set(findings).difference(shown)))
    ordered = sorted(others.items(), key=lambda item: (-item[1], item[0]))
    return shown, tuple(Elsewhere(path=path, findings=count) for path, count in ordered)


def check_codes(codes: Iterable[str], known: Mapping[str, str], where: str) -> None:
    """Raise UserError for a code that is neither a known code nor the beginning of one.

    `known` has the name of each code's rule; `where` names the option or the key that holds the
    codes.
    """
    for code in codes:
        if code and any(k.startswith(code) for k in known):
            continue
        raise UserError(f"{where}: no rule has the code {code!r}{_hint(code, known)}")


def _hint(code: str, known: Mapping[str, str]) -> str:
    by_name = {name: number for number, name in known.items()}
    if code[:3].upper() == "BRK":
        near = nearest(code, known)
    else:
        near = [f"{by_name[name]} ({name})" for name in nearest(code, by_name)]
    hint = f"did you mean {' or '.join(near)}?" if near else "`breakscope rule` lists the codes"
    return f"; {hint}"
