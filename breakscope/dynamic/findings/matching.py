"""Observations into findings: each gets the code of the rule that it matches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from breakscope import limits
from breakscope.dynamic.findings.hints import OUTSIDE, useful_hints
from breakscope.dynamic.findings.raised import wording_of
from breakscope.dynamic.findings.recompile_advice import advice_on, another_module, of_one_name
from breakscope.dynamic.findings.settling import settled
from breakscope.dynamic.findings.wording import cause, values
from breakscope.dynamic.observations.facts import Break, Observations, RecompileSeen
from breakscope.dynamic.observations.guards import mode_switches
from breakscope.dynamic.observations.guards.families import Guard
from breakscope.dynamic.observations.ownership import OF_DYNAMO, Places, library_of, torchs_file
from breakscope.dynamic.source_text import SourceFile
from breakscope.dynamic.trace.frames import Frame
from breakscope.report import frames
from breakscope.report.model import Cost, Finding, Link, SkippedFrame, code_in
from breakscope.report.paths import shown_path
from breakscope.rulekit.rule import Rule
from breakscope.texts import middle_out

UNEXPLAINED_BREAK, COMPILING_RAISES = "BRK901", "BRK904"
UNEXPLAINED_RECOMPILE, RECOMPILE_LIMIT = "BRK951", "BRK952"
EXPLICIT_BREAK = "GB0025"  # a call of `torch._dynamo.graph_break`
FENCED = "move the line out of the compiled region, or put it into a function under `torch.compiler.disable`"
NONE = Observations()
MARKED_SKIPPED = re.compile(
    r"Dynamo developers have intentionally marked that the function `(?P<name>[^`]+)` in file `(?P<path>[^`]+)`"
)
ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # differs from run to run


def make_findings(seen: Observations, rules: Iterable[Rule], folder: Path) -> tuple[Finding, ...]:
    """All findings of a run, by place. Paths are relative to `folder` where they lie below it."""
    rules = tuple(rules)
    found = _break_findings(rules, seen, folder)
    found += [_error_finding(e, rules, folder) for e in seen.errors]
    found += _recompile_findings(seen, rules, folder)
    found += [
        _limit_finding(f, rules, folder) for f in seen.skipped_frames if f.why == "recompile limit"
    ]
    return tuple(sorted(found, key=Finding.place))


def _break_findings(
    rules: tuple[Rule, ...], observations: Observations, folder: Path
) -> list[Finding]:
    """One for each break. Where a line's call breaks and torch ends the graph once more below it,
    that is the same finding: both go when the line does."""
    found: dict[object, Finding] = {}
    for seen in sorted(observations.breaks, key=_is_ended_by_torch):
        finding = _break_finding(seen, rules, observations, folder)
        line = (seen.site.path, seen.site.line)
        if not _is_ended_by_torch(seen) or line not in found:
            found[line if line not in found else id(seen)] = finding
            continue
        known = found[line]
        found[line] = msgspec.structs.replace(
            known,
            count=known.count + finding.count,
            dynamo=tuple(dict.fromkeys((*known.dynamo, *finding.dynamo))),
            lost=known.lost or finding.lost,
            lost_function=known.lost_function or finding.lost_function,
        )
    return list(found.values())


def _is_ended_by_torch(seen: Break) -> bool:
    """A call of `torch._dynamo.graph_break` in torch's own code."""
    return bool(seen.inside_torch) and seen.reason.gb_id == EXPLICIT_BREAK


def _break_finding(
    seen: Break, rules: tuple[Rule, ...], observations: Observations, folder: Path
) -> Finding:
    rule = _rule_of(seen, rules)
    snippet = _snippet(seen.site)
    # whose source is not here
    where = f"at `{snippet}`" if snippet else f"in `{seen.site.function}`"
    message = f"the graph ends {where}: {_explanation(seen)}"
    if rule.seen and snippet:
        message = f"{rule.seen.format(f'`{snippet}`')}, so the graph ends here"
    help = rule.help_outside if seen.entered and rule.help_outside else rule.help
    skipped, lost = _skipped_function(seen, observations)
    hints = (help,) if help else useful_hints(seen, snippet, observations.switches)
    if not hints and seen.inside_torch:
        hints = (OUTSIDE.format(library="torch"),)
    seconds = sum(
        observations.resume_seconds.get((frame.path, frame.line), 0.0) for frame in seen.chain
    )
    return Finding(
        **_place(seen.site, folder),
        **_identity(rule),
        evidence="observed",
        confidence="certain",
        kind="break",
        message=message,
        names=code_in(message),
        help=_one_line(hints[0]) if hints else _advice_of(rule),
        reason=seen.reason.text,
        dynamo=(seen.reason.gb_id,) if seen.reason.gb_id else (),
        chain=_links(seen.chain, folder),
        lost=lost,
        lost_function=skipped,
        backward=seen.backward,
        count=seen.count,
        cost=Cost(compile_seconds=round(seconds, 6)) if seconds else None,
    )


def _advice_of(rule: Rule) -> str:
    if rule.code == UNEXPLAINED_BREAK:
        return FENCED
    return f"`breakscope rule {rule.code}` shows what to write instead"


def _rule_of(seen: Break, rules: tuple[Rule, ...]) -> Rule:
    """The rule that names most of what Dynamo says of a break, of where in torch it is and of the
    code that it marks."""
    words = f"{seen.reason.words(seen.inside_torch)} at `{_snippet(seen.site)}`"
    named = [(r.explains(seen.reason.gb_id, words), r) for r in rules if r.kind == "break"]
    most, rule = max(named, key=lambda pair: pair[0], default=(0, None))
    return rule if most else _catch_all(rules, UNEXPLAINED_BREAK)


def _explanation(seen: Break) -> str:
    if _is_ended_by_torch(seen):
        return f"torch itself ends it, in `{seen.inside_torch}`"
    if marked := MARKED_SKIPPED.match(seen.reason.explanation):
        if seen.inside_torch:
            return f"below it, in {seen.inside_torch}, Dynamo does not trace `{marked['name']}`"
        return f"Dynamo does not trace `{marked['name']}` (in {torchs_file(marked['path']) or shown_path(marked['path'], Path.cwd())})"
    return _sentence(seen.reason.explanation) or seen.reason.type


def _error_finding(seen: Break, rules: tuple[Rule, ...], folder: Path) -> Finding:
    words = wording_of(seen, _snippet(seen.site))
    return Finding(
        **_place(seen.site, folder),
        **_identity(_catch_all(rules, COMPILING_RAISES)),
        evidence="observed",
        confidence="certain",
        kind="error",
        message=words.message,
        names=code_in(words.message),
        help=words.help,
        reason=" ".join(seen.raised.split()),
        dynamo=(seen.reason.gb_id,) if seen.reason.gb_id else (),
        chain=_links(seen.chain, folder),
        backward=seen.backward,
        count=seen.count,
    )


def _skipped_function(seen: Break, observations: Observations) -> tuple[str, str]:
    """The function whose frame is skipped because of the break, where it is not the one that holds
    it, which is compiled by itself then; and why, as `Finding.lost`."""
    named = {(frame.path, frame.function) for frame in observations.skipped_frames}
    placed = {
        (f.path, SourceFile.read(f.path).function_line(f.line) or f.line)
        for f in observations.skipped_frames
        if not f.function.startswith("<")
    }

    # by the line where its function begins: one file has several `forward`
    def is_skipped(frame: Frame) -> bool:
        begins = SourceFile.read(frame.path).function_line(frame.line)
        if not begins or frame.function.startswith("<"):
            return (frame.path, frame.function) in named
        return (frame.path, begins) in placed

    *callers, site = seen.chain
    if not seen.skipped:
        return "", ""
    outer = next((f for f in callers if is_skipped(f)), None)
    own = SourceFile.read(site.path).qualified_name(site.line)
    if outer is None or (is_skipped(site) and not site.function.startswith("<")):
        is_inner = is_skipped(site) and own and site.function.startswith("<")
        return f"{own}.{site.function}" if is_inner else "", seen.skipped
    # where a comprehension and its function both are, the function says more
    name = SourceFile.read(outer.path).qualified_name(outer.line) or outer.function
    whys = [
        frame.why
        for frame in observations.skipped_frames
        if (frame.path, frame.function) == (outer.path, outer.function)
    ]
    return name, whys[0] if is_skipped(site) and len(whys) == 1 else seen.skipped


def _recompile_findings(
    observations: Observations, rules: tuple[Rule, ...], folder: Path
) -> list[Finding]:
    """One finding for each (file, line, family, guarded name), with its count and the compile time
    it cost. What a recompile limit refused names values and counts for nothing."""
    groups: dict[tuple, list[RecompileSeen]] = {}
    for seen in (*observations.recompiles, *observations.refused):
        if seen.site is not None and not is_varied(seen):
            key = (seen.site.path, seen.site.line, seen.guard.family, seen.guard.name)
            groups.setdefault(key, []).append(seen)
    return [recompile_finding(group, rules, folder, observations) for group in groups.values()]


def is_varied(seen: RecompileSeen) -> bool:
    """The run itself changed the batch size, and the first change compiles again in every model: no
    finding.

    It stays in Run.recompiles; a second change that compiles again is a finding.
    """
    return seen.guard.family == "size" and seen.frame.phase.startswith("capture varied")


def recompile_finding(
    group: list[RecompileSeen],
    rules: tuple[Rule, ...],
    folder: Path,
    observations: Observations = NONE,
) -> Finding:
    """The recompiles of one guard at one place."""
    first, guards = group[0], [guard for seen in group for guard in of_one_name(seen)]
    family = guards[0].family
    rule = _about(
        [r for r in rules if r.kind == "recompile" and family in r.dynamo], family
    ) or _catch_all(rules, UNEXPLAINED_RECOMPILE)
    seconds = sum(seen.frame.seconds for seen in group)
    other = another_module(group)
    changed = other[0] if other else cause(guards, first.frame.resumed_at)
    message = f"{_compiled(first)} was compiled again because {changed}"
    return Finding(
        **_place(first.site, folder),
        **_identity(rule),
        evidence="observed",
        confidence="certain",
        kind="recompile",
        message=message,
        brief=f"compiled again: {changed}",
        cause=changed,
        names=code_in(message),
        help=other[1] if other else advice_on(group, observations.switches, observations.compiles),
        other_causes=() if other else _other_causes(group),
        settled=settled(group, observations),
        reason=guards[0].hint,
        guard=guards[0].text,
        values=values(guards),
        dynamo=(family,),
        count=sum(not seen.refused for seen in group),
        chain=_from_caller(first, folder),
        cost=Cost(compile_seconds=round(seconds, 6)) if seconds else None,
    )


def _compiled(seen: RecompileSeen) -> str:
    """The compiled function; of torch's wrapper around a module or function, what the line calls."""
    if OF_DYNAMO.search(seen.frame.path):
        return "what is called here"
    return f"`{seen.frame.function}`"


def _other_causes(group: list[RecompileSeen]) -> tuple[str, ...]:
    """What else differed in these calls, and compiles them again without the first."""
    found: dict[tuple[str, str, int], list[Guard]] = {}
    for seen in group:
        named = of_one_name(seen)
        for guard in seen.others:
            # gradients switched on or off change a tensor's dispatch keys
            if guard not in named and (guard.name or "DispatchKeySet" not in guard.text):
                key = (guard.family, guard.name, seen.frame.resumed_at)
                found.setdefault(key, []).append(guard)
    # of another kind first: sizes mostly change together
    alike = (group[0].guard.family, "stride")
    ordered = sorted(found.items(), key=lambda pair: pair[0][0] in alike)
    causes = dict.fromkeys(cause(guards, key[-1]) for key, guards in ordered)
    return tuple(causes)[: limits.MOST_SECOND_CAUSES]


def _from_caller(seen: RecompileSeen, folder: Path) -> tuple[Link, ...]:
    """From the caller to the compiled function, where the recompile stands at what the caller
    switches."""
    frame, site = seen.frame, seen.site
    if library_of(site.path):
        users = [f for f in frame.stack if is_users_own(f)]
        return _links((*users[-1:], site), folder)
    if (
        seen.guard.family not in mode_switches.NAMES
        or (site.path, site.function) == (frame.path, frame.function)
        or not frame.path
        or OF_DYNAMO.search(frame.path)
    ):
        return ()
    return _links((site, Frame(frame.path, frame.line, frame.function)), folder)


def is_users_own(frame: Frame) -> bool:
    """Neither of an installed package nor of Python or breakscope."""
    return bool(frame.path and not library_of(frame.path) and Places.here("").is_user(frame.path))


def _about(rules: list[Rule], family: str) -> Rule | None:
    """Of the rules that share a family, one whose first it is."""
    return next((rule for rule in rules if rule.dynamo[0] == family), rules[0] if rules else None)


def _limit_finding(frame: SkippedFrame, rules: tuple[Rule, ...], folder: Path) -> Finding:
    rule = _catch_all(rules, RECOMPILE_LIMIT)
    message = frames.sentence(frame.function, "recompile limit", frame.resumed_at)
    return Finding(
        **_place(Frame(frame.path, frame.resumed_at or frame.line, frame.function), folder),
        **_identity(rule),
        evidence="observed",
        confidence="certain",
        kind="recompile",
        lost="recompile limit",
        reason=frame.reason,
        count=1,
        message=message,
        names=code_in(message),
        help="fix the recompiles of this function first; "
        "a higher `torch._dynamo.config.recompile_limit` only postpones this",
    )


def _catch_all(rules: tuple[Rule, ...], code: str) -> Rule:
    return next((rule for rule in rules if rule.code == code), Rule(code, "seen-by-a-run"))


def _identity(rule: Rule) -> dict:
    return {"code": rule.code, "rule": rule.name, "severity": rule.severity}


def _place(site: Frame, folder: Path) -> dict:
    """Where the finding stands: the range that Dynamo's carets mark, else the whole line."""
    source = SourceFile.read(site.path)
    first, last = _columns(site)
    start, lines = source.frame(site.line)
    return {
        "path": shown_path(site.path, folder),
        "line": site.line,
        "column": first,
        "end_line": site.line,
        "end_column": last,
        "function": source.qualified_name(site.line) or site.function,
        "first_source_line": start,
        "source": tuple(lines),
        "library": library_of(site.path),
    }


def _columns(site: Frame) -> tuple[int, int]:
    source = SourceFile.read(site.path)
    text = source.line(site.line)
    indent = len(text) - len(text.lstrip())
    if not site.column:
        return indent + 1, max(indent + 1, source.code_end(site.line))
    first = indent + site.column
    return first, max(first, source.expression_end(site.line, first, indent + site.end_column))


def _links(chain: tuple[Frame, ...], folder: Path) -> tuple[Link, ...]:
    """The call chain with the site as its last link; nothing when the break is in the entered
    function itself."""
    if len(chain) < 2:
        return ()
    return tuple(
        Link(
            path=shown_path(f.path, folder),
            line=f.line,
            function=SourceFile.read(f.path).qualified_name(f.line) or f.function,
        )
        for f in chain
    )


def _snippet(site: Frame) -> str:
    text = SourceFile.read(site.path).line(site.line)
    first, last = _columns(site)
    text = text[first - 1 : last - 1].strip() if last - first > 3 else text.strip()
    return middle_out(text, limits.LONGEST_SNIPPET)


def _sentence(text: str) -> str:
    """The first paragraph of Dynamo's explanation, in one line, without the full stop."""
    return _one_line(text.partition("\n\n")[0].partition("\n")[0]).rstrip(".")


def _one_line(text: str) -> str:
    return ADDRESS.sub("", " ".join(text.split()))
