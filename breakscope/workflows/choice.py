"""What the user wants to see of a report: the command line's words over those of the configuration."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from breakscope.config import Config
from breakscope.report.combining.repeats import grouped
from breakscope.report.model import Report
from breakscope.report.selection import Selection, by_file, check_codes
from breakscope.rulekit.loader import load_rules


class Choice(Struct, frozen=True, kw_only=True):
    """Codes or prefixes from the command line; empty where it says nothing, and then the
    configuration counts."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    show_possible: bool = False
    show_refuted: bool = False

    def selection(self, config: Config) -> Selection:
        """The selection that holds; raises UserError when a code is unknown."""
        named = {
            "--select": self.select,
            "--extend-select": self.extend_select,
            "--ignore": self.ignore,
            f"{config.path}: select": config.select,
            f"{config.path}: extend-select": config.extend_select,
            f"{config.path}: ignore": config.ignore,
            **{
                f"{config.path}: per-file-ignores {glob!r}": codes
                for glob, codes in config.per_file_ignores
            },
        }
        if any(named.values()):
            known = {rule.code: rule.name for rule in load_rules(config.rules)}
            for where, codes in named.items():
                check_codes(codes, known, where)
        return Selection(
            select=self.select or config.select,
            extend_select=(*self.extend_select, *config.extend_select),
            ignore=self.ignore or config.ignore,
            per_file_ignores=config.per_file_ignores,
            root=config.root,
            show_possible=self.show_possible,
            show_refuted=self.show_refuted,
        )


def narrow(report: Report, selection: Selection, asked: frozenset[str] | None = None) -> Report:
    """The report with the findings that were asked for, repeats as one; the others are counted:
    those that stand outside of the files `asked` for by file, all else as hidden."""
    selected, hidden = selection.split(report.findings)
    shown, elsewhere = by_file(selected, asked)
    return msgspec.structs.replace(
        report,
        findings=grouped(shown),
        hidden=report.hidden + hidden,
        elsewhere=elsewhere or report.elsewhere,
    )


class BaselineChoice(Struct, frozen=True):
    """What the command line says: the baseline's file, "" for that of the configuration, and whether
    to write it anew; `off` to leave it out."""

    file: str = ""
    write: bool = False
    off: bool = False

    def is_wanted(self, config: Config) -> bool:
        """True where there is a baseline to compare with or to write."""
        return not self.off and bool(self.file or config.baseline or self.write)
