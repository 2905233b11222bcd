"""Keeps the fixes that a run proves, and takes back the others, each with its reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from breakscope import limits
from breakscope.dynamic import Original, Recorded, RunOptions, recorded_original, rewritten
from breakscope.fixes.passes import Applied, Fixed, Key, Proven
from breakscope.report.fixes import Proof
from breakscope.static.project.files import relative_path

Make = Callable[[frozenset[Key]], Fixed]
Progress = Callable[[str], None]
ONLY_RAISES = "each of its calls raises, or its backward does, so there are no results to compare"
UNREACHED = "the target does not run it, so nothing proves it"


def proven(fixed: Fixed, make: Make, options: RunOptions, progress: Progress) -> Proven:
    """What of the fixes a target proves. `make` gives the files with these fixes and no others.
    Raises UserError when the target's file does not exist or torch is not installed."""
    if not fixed.new:
        return Proven(fixed)
    proving = _Proving(fixed, make, progress)
    progress(f"running {options.target} as it is")
    with recorded_original(options, fixed.old) as original:
        if problem := _unfit(original.recorded):
            problem = f"{options.target} does not run as it is: {problem}"
            return Proven(make(frozenset()), problem=problem)
        proving.prove(original, list(proving.first))
    return proving.done()


def proven_alone(fixed: Fixed, make: Make, options: RunOptions, progress: Progress) -> Proven:
    """What of the fixes each rewritten function proves by itself, with arguments that are guessed.
    Of `options` all but file and name counts."""
    proving = _Proving(fixed, make, progress)
    places: dict[tuple[str, str], list[Key]] = {}
    for key, applied in proving.first.items():
        places.setdefault((applied.path, applied.finding.function), []).append(key)
    for (path, function), keys in places.items():
        if not function:
            proving.reasons |= dict.fromkeys(keys, "it stands in no function")
            continue
        progress(f"running {function} as it is")
        file = relative_path(path)
        alone = dataclasses.replace(options, file=file, name=function, calls="", drive="")
        with recorded_original(alone, fixed.old, guess=True) as original:
            if problem := _unfit(original.recorded):
                proving.reasons |= dict.fromkeys(keys, f"no proof: {problem}")
            else:
                proving.prove(original, keys)
    return proving.done()


def _unfit(recorded: Recorded) -> str:
    """Why an original proves nothing, "" where it can."""
    only_raises = 0 < recorded.calls == recorded.raised
    return recorded.problem or (ONLY_RAISES if only_raises else "")


class _Proving:
    """Tries fixes together, and where that does not pass in halves."""

    def __init__(self, fixed: Fixed, make: Make, progress: Progress) -> None:
        self.all, self.make, self.progress = fixed, make, progress
        self.first = {applied.key: applied for applied in fixed.applied}
        self.runs = 0
        self.kept: list[Key] = []
        self.fixed: Fixed | None = None  # with what is kept
        self.proofs: dict[str, Proof] = {}  # by target
        self.reasons: dict[Key, str] = {}

    def prove(self, original: Original, keys: list[Key]) -> None:
        """Keep those of the fixes that this target proves."""
        reached = [key for key in keys if _is_run(original, self.first[key])]
        self.reasons |= {key: UNREACHED for key in keys if key not in reached}
        if reached:
            self._try(original, reached)

    def done(self) -> Proven:
        fixed = self.fixed or self.make(frozenset())
        taken_back = tuple((self.first[key], reason) for key, reason in self.reasons.items())
        return Proven(fixed, tuple(self.proofs.values()), taken_back)

    def _try(self, original: Original, keys: list[Key]) -> None:
        """Keep these fixes if they pass beside those that are kept."""
        if self.runs == limits.MOST_PROOF_RUNS:
            self.reasons |= dict.fromkeys(keys, "the limit of runs came before its proof")
            return
        chosen = frozenset((*self.kept, *keys))
        fixed = self.all if chosen == self.first.keys() else self.make(chosen)
        # without some of the others a fix may be another
        lost = chosen - {applied.key for applied in fixed.applied}
        if lost and len(keys) == 1:
            self.reasons[keys[0]] = "it needs another fix, which does not pass"
            return
        self.runs += 1
        self.progress(f"run {self.runs}: {len(chosen)} fixes")
        after = rewritten(original, fixed.new)
        reason = verdict(original.recorded, after)
        if not reason:
            self.kept += keys
            self.fixed = fixed
            self.proofs[original.options.target] = _proof(original, after)
        elif len(keys) == 1:
            self.reasons[keys[0]] = reason
        else:
            middle = len(keys) // 2
            self._try(original, keys[:middle])
            self._try(original, keys[middle:])


def _is_run(original: Original, applied: Applied) -> bool:
    """True when lines of the statement that is fixed ran in eager."""
    lines = original.recorded.lines.get(applied.path, frozenset())
    finding = applied.finding
    size = max(finding.end_line, finding.fix.end_line) - finding.line
    return not lines.isdisjoint(range(applied.line, applied.line + size + 1))


def verdict(before: Recorded, after: Recorded) -> str:
    """Why fixes do not pass, "" when they do: nothing that the program does is different, and there
    is less that breaks or is compiled again."""
    if after.problem:
        return f"the rewritten code does not run: {after.problem}"
    for compared in after.compared:
        if compared.status == "different":
            return f"{compared.what}: {compared.detail}"
    was, now = before.measured, after.measured
    if after.again > before.again and not (after.settled and now.breaks < was.breaks):
        return "calls with the same arguments compile again"
    if not (
        now.breaks < was.breaks
        or now.skipped_frames < was.skipped_frames
        or now.break_events < was.break_events
        or now.recompiles < was.recompiles
    ):
        return "the run shows as many breaks and recompiles as before"
    return ""


def _proof(original: Original, after: Recorded) -> Proof:
    before, notes = original.recorded, []
    if before.guessed:
        notes.append(f"no target was named: {before.guessed}, and that is all that was run")
    if before.raised:
        notes.append(f"{before.raised} of {before.calls} calls raise without torch.compile, too")
    if after.again > before.again:
        more = after.again - before.again
        notes.append(
            f"{more} more recompiles of calls with the same arguments, and none in the last"
        )
    return Proof(
        target=original.options.target,
        source="generated" if original.guess else "target",
        calls=before.calls,
        values=before.values,
        before=before.measured,
        after=after.measured,
        compared=after.compared,
        notes=tuple(notes),
    )
