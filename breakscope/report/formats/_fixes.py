"""What `fix` did: what was rewritten and what that may change, how it was proven, and why the rest
was not."""

from __future__ import annotations

from breakscope.report.escaping import visible
from breakscope.report.fixes import FileDiff, Fixes, Measured, Proof
from breakscope.report.formats._layout import EMPTY, Line, expand, fact_lines, hanging
from breakscope.report.model import Finding, Report
from breakscope.report.summary import count, duration

COLORS = {"+": "32", "-": "31", "@": "36"}  # green, red, cyan
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def fix_lines(report: Report, width: int | None, with_diff: bool) -> list[Line]:
    """The block on fixes; nothing where none were asked for."""
    fixes = report.fixes
    if fixes is None:
        return []
    lines: list[Line] = []
    if with_diff or fixes.proofs or not fixes.written:
        for file in fixes.files:
            lines += [*(_styled(line) for line in lines_of(file)), EMPTY]
    for place in fixes.fixed:
        label, verb = f"{place.path}:{place.line}:", "fixed" if fixes.written else "would be fixed"
        lines += hanging(
            [(label, "bold"), (place.code, "green")], f"{verb}: {place.message}", width
        )
        if place.safety == "unsafe":
            what = place.changes or f"what `breakscope rule {place.code}` says"
            lines += fact_lines("note", f"may change: {what}", width)
    for proof in fixes.proofs:
        lines += [EMPTY, *proof_lines(proof, width)]
    if lines and lines[-1] is not EMPTY:
        lines.append(EMPTY)
    for note in fixes.notes:
        lines += hanging([("note:", "bold")], note, width)
    return lines


def reason_lines(report: Report, finding: Finding, width: int | None) -> list[Line]:
    """Why a finding was not fixed, where fixes were asked for."""
    for place in report.fixes.not_fixed if report.fixes else ():
        if (place.path, place.line, place.code) == (finding.path, finding.line, finding.code):
            what = "taken back" if place.taken_back else "not fixed"
            return fact_lines("note", f"{what}: {place.reason}", width)
    return []


def proof_lines(proof: Proof, width: int | None) -> list[Line]:
    """What the original and the rewritten program were seen to do."""
    head = f"{proof.target}, {count(proof.calls, 'call')}"
    if proof.values:
        head += f" and {count(proof.values, 'call')} with other values"
    lines = hanging([("proof:", "bold")], f"{head}, before and after", width)
    for text in proof_texts(proof):
        lines += fact_lines("seen", text, width)
    return lines


def proof_texts(proof: Proof) -> list[str]:
    """One fact each."""
    was, now = proof.before, proof.after
    texts = [
        f"breaks {was.breaks} -> {now.breaks} ({was.break_events} -> {now.break_events} events), "
        f"recompiles {was.recompiles} -> {now.recompiles}, "
        f"skipped frames {was.skipped_frames} -> {now.skipped_frames}, "
        f"graphs {was.graphs} -> {now.graphs}"
    ]
    equal = [compared.what for compared in proof.compared if compared.status == "equal"]
    if equal:
        texts.append(f"equal to the bit: {', '.join(equal)}")
    for compared in proof.compared:
        if compared.status != "equal" and compared.detail:
            texts.append(f"{compared.what}: {compared.status}, {compared.detail}")
    return [*texts, *_times(was, now), *proof.notes]


def _times(was: Measured, now: Measured) -> list[str]:
    parts = [
        f"{duration(before)} -> {duration(after)} {what}"
        for what, before, after in (
            ("eager", was.eager_seconds, now.eager_seconds),
            ("compiled", was.compiled_seconds, now.compiled_seconds),
        )
        if before is not None and after is not None
    ]
    return [f"a step takes {', '.join(parts)}"] if parts else []


def _styled(line: str) -> Line:
    style = "bold" if line[:3] in ("---", "+++") else STYLES.get(line[:1], "")
    return [(expand(line), style)]


def diff_text(fixes: Fixes, color: bool) -> str:
    """The unified diffs, for a terminal or for `patch`: tabs and line ends are those of the files,
    all else that is not seen as itself is escaped."""
    shown = [_diff_line(line) for file in fixes.files for line in lines_of(file)]
    if not color:
        return "".join(shown)
    return "".join(_painted(line) for line in shown)


def lines_of(file: FileDiff) -> list[str]:
    """The diff's lines, which end in \\n only."""
    return file.diff.removesuffix("\n").split("\n") if file.diff else []


def _diff_line(line: str) -> str:
    end = "\r\n" if line.endswith("\r") else "\n"
    return "\t".join(map(visible, line.removesuffix("\r").split("\t"))) + end


def _painted(line: str) -> str:
    code = COLORS.get(line[:1], "")
    if line[:3] in ("---", "+++"):
        code = "1"
    text = line.rstrip("\r\n")
    return f"\033[{code}m{text}\033[0m{line[len(text) :]}" if code else line
