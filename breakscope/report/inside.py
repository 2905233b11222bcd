"""How a prediction inside an installed library is told: it stands at the checked line that enters the library.

Its message says both, its chain leads on to the place inside.
"""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.report.model import Finding


def told_outside(entering: str, library: str, message: str) -> str:
    """ "`self.net(x)` enters `lib`, where ..."."""
    return f"{entering} `{library}`, where {message}"


def at_its_place(finding: Finding) -> Finding:
    """The finding at its place inside the library, with the words that fit there; one of the checked code as it is."""
    if not (finding.library and finding.chain):
        return finding
    *before, site = finding.chain
    return replace(
        finding,
        path=site.path,
        line=site.line,
        end_line=site.line,
        function=site.function,
        message=finding.message.partition(told_outside("", finding.library, ""))[2] or finding.message,
        chain=tuple(before),
        source=(),
    )
