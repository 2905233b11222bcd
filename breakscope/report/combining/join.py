"""One report of both analyzers: what the source predicts and what a run observed.

A prediction and an observation of the same kind on the same statement are one finding, `confirmed`:
it keeps the prediction's code, range, words and fix, and gains the run's count, reason, chain, ids,
guard and cost. A prediction inside an installed library, which stands at the line that enters it,
is compared by its place inside; confirmed, it moves to where Dynamo names it. An observation that
nothing predicted stays `observed`. A predicted break on a line that Dynamo traced without breaking
there is `refuted`. Everything else stays `predicted`: the run did not come there.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import msgspec

from breakscope.report.combining.statements import Span, Statements
from breakscope.report.model import Cost, Finding, SkippedFrame, in_order


class JoinResult(msgspec.Struct, frozen=True):
    """`missed` counts the statements where a run saw a break and nothing was predicted; `refuted`
    the false alarms."""

    findings: tuple[Finding, ...]
    missed: int
    refuted: int


def join_findings(
    static_findings: Iterable[Finding],
    observed_findings: Iterable[Finding],
    traced: Mapping[str, Collection[int]],
    lost_frames: Iterable[SkippedFrame] = (),
) -> JoinResult:
    """Join the findings of both analyzers.

    `traced` maps a path to the lines that Dynamo traced in any frame; `lost_frames` are the frames
    that it skipped. Paths of all arguments are relative to the working directory, or absolute.
    """
    places = _Places()
    predicted, observations = list(static_findings), list(observed_findings)
    predictions = [at_its_place(prediction) for prediction in predicted]
    pairs, folded, alone = _pair(predictions, observations, places)
    lines = {_key(path): frozenset(numbers) for path, numbers in traced.items()}
    skipped = [(_key(frame.path), _last_name(frame.function), frame.line) for frame in lost_frames]

    findings: list[Finding] = []
    refuted = 0
    broken = {
        (_key(o.path), span) for o in observations if o.kind == "break" for span in places.of(o)
    }
    for index, prediction in enumerate(predictions):
        if index in pairs:
            findings.append(
                _confirm(prediction, [observations[i] for i in (pairs[index], *folded[index])])
            )
        elif (
            _was_traced(prediction, lines)
            and not _breaks_there(prediction, broken, places)
            and not _skipped_before(prediction, skipped)
        ):
            findings.append(msgspec.structs.replace(predicted[index], evidence="refuted"))
            refuted += 1
        else:
            findings.append(predicted[index])

    foreseen = {
        (_key(p.path), span) for p in predictions if p.kind == "break" for span in places.of(p)
    }
    unforeseen = [observations[i] for i in alone]
    missed = {
        (_key(o.path), places.first(o))
        for o in unforeseen
        if o.kind == "break"
        and o.library != "torch"  # which source analysis does not enter
        and o.source  # nor what has no source, as code that the program generates
        and not any((_key(o.path), span) in foreseen for span in places.of(o))
    }
    findings += [msgspec.structs.replace(o, evidence="observed") for o in unforeseen]
    return JoinResult(tuple(sorted(findings, key=Finding.place)), len(missed), refuted)


def at_its_place(finding: Finding) -> Finding:
    """A prediction inside an installed library at its place in there, with the words that fit; any
    other finding as it is."""
    if finding.inside is None:
        return finding
    *before, site = finding.chain
    return msgspec.structs.replace(
        finding,
        path=site.path,
        line=site.line,
        end_line=site.line,
        function=site.function,
        message=finding.inside.message,
        brief=finding.inside.brief,
        chain=tuple(before),
        inside=None,
        source=(),
    )


class _Places:
    """The statements that findings touch; every file is parsed once."""

    def __init__(self) -> None:
        self.files: dict[str, Statements] = {}

    def of(self, finding: Finding) -> frozenset[Span]:
        return self._file(finding).touched(finding.line, max(finding.line, finding.end_line))

    def first(self, finding: Finding) -> Span:
        return self._file(finding).around(finding.line)

    def _file(self, finding: Finding) -> Statements:
        if finding.path not in self.files:
            self.files[finding.path] = Statements.of_file(finding.path)
        return self.files[finding.path]


def _pair(predictions: list[Finding], observations: list[Finding], places: _Places):
    """Match the closest first, one to one.

    Returns {prediction: observation}, {prediction: further observations of the same problem}, and
    the observations that belong to no prediction; all by index.
    """
    by_path: dict[str, list[int]] = defaultdict(list)
    for i, prediction in enumerate(predictions):
        by_path[_key(prediction.path)].append(i)
    candidates = []
    for j, observation in enumerate(observations):
        for i in {i for path in _paths(observation) for i in by_path[path]}:
            distance = _distance(predictions[i], observation, places)
            if distance is not None:
                candidates.append((distance, i, j))
    candidates.sort()
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in candidates:
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    folded: dict[int, list[int]] = defaultdict(list)
    for distance, i, j in candidates:
        if j not in taken and i in pairs and not distance[0]:
            folded[i].append(j)
            taken.add(j)
    return pairs, folded, [j for j in range(len(observations)) if j not in taken]


def _paths(observation: Finding) -> set[str]:
    """The files that a prediction of it may stand in."""
    return {
        _key(observation.path),
        *(_key(link.path) for link in observation.chain[-1:] if observation.kind == "recompile"),
    }


def _functions(observation: Finding) -> tuple[str, ...]:
    compiled = observation.chain[-1:] if observation.kind == "recompile" else ()
    return (observation.function, *(link.function for link in compiled))


def _distance(prediction: Finding, observation: Finding, places: _Places) -> tuple | None:
    """How far a prediction is from an observation, smallest first; None when they cannot be the
    same problem.

    The first element is False when both name the same problem.
    """
    if prediction.kind != observation.kind:
        return None
    same_problem = prediction.code == observation.code or bool(
        set(prediction.dynamo) & set(observation.dynamo)
    )
    if not places.of(prediction) & places.of(observation):
        same_function = _last_name(prediction.function) in {
            _last_name(name) for name in _functions(observation)
        }
        about_same = (
            prediction.kind == "recompile"
            and same_problem
            and _guards_subject(prediction, observation)
        )
        if not (same_function and about_same):
            # a guard may fail in another line of the function than the one that makes it fail
            return None
    inside = prediction.line <= observation.line <= max(prediction.line, prediction.end_line)
    return (
        not same_problem,
        not inside,
        abs(prediction.line - observation.line),
        prediction.column,
    )


def _guards_subject(prediction: Finding, observation: Finding) -> bool:
    """The guard that failed is on something that the prediction names. What a layer calls
    `self.cached` is `self._modules['blocks']._modules['0'].cached` for the model's guards."""
    names = prediction.names
    inside = [re.escape(name.removeprefix("self.")) for name in names if name.startswith("self.")]
    patterns = [rf"(?<![\w.]){re.escape(name)}(?!\w)" for name in names]
    patterns += [rf"(?<![\w.])self(?:\._modules\['\w+'\])+\.{name}(?![\w\[])" for name in inside]
    return not observation.guard or any(
        re.search(pattern, observation.guard) for pattern in patterns
    )


def _confirm(prediction: Finding, seen: list[Finding]) -> Finding:
    """The prediction with what the run adds; where Dynamo names a line outside of the predicted
    range, that line stands."""
    first = seen[0]
    # the function that a reader knows, before a comprehension in it that is skipped too
    skipped = next((o for o in seen if o.lost and not _is_unnamed(o)), first)
    if _key(first.path) != _key(prediction.path):  # at a caller in another file
        prediction = msgspec.structs.replace(
            prediction, path=first.path, line=0, end_line=0, function=first.function, fix=None
        )
    if prediction.library or not prediction.line <= first.line <= prediction.end_line:
        prediction = msgspec.structs.replace(
            prediction,
            **{
                name: getattr(first, name)
                for name in (
                    "line",
                    "column",
                    "end_line",
                    "end_column",
                    "first_source_line",
                    "source",
                )
            },
        )
    return msgspec.structs.replace(
        prediction,
        evidence="confirmed",
        confidence="certain",
        reason=first.reason,
        dynamo=tuple(dict.fromkeys(id for o in seen for id in o.dynamo)) or prediction.dynamo,
        guard=first.guard,
        cause=first.cause,
        other_causes=tuple(dict.fromkeys((*_of_other_families(seen), *_others(seen)))),
        settled=first.settled,
        help=_help(prediction, seen),
        values=in_order(dict.fromkeys(value for o in seen for value in o.values)),
        chain=first.chain or (() if first.kind == "recompile" else prediction.chain),
        lost=skipped.lost,
        lost_function=skipped.lost_function,
        backward=all(o.backward for o in seen),
        behind=first.behind if all(o.behind for o in seen) else (),
        export=next((o.export for o in seen if o.export), ""),
        under=first.under if all(o.under for o in seen) else (),
        cost=_sum_costs([o.cost for o in seen]),
        host_syncs=max(o.host_syncs for o in seen),
        count=sum(o.count for o in seen),
    )


def _is_unnamed(observation: Finding) -> bool:
    return _last_name(observation.lost_function).startswith("<")


def _of_other_families(seen: list[Finding]) -> tuple[str, ...]:
    """What changed in the recompiles that the same prediction is about in another way: what was
    None grows afterwards."""
    return tuple(
        o.cause
        for o in seen[1:]
        if o.kind == "recompile" and not set(o.dynamo) & set(seen[0].dynamo)
    )


def _others(seen: list[Finding]) -> tuple[str, ...]:
    return tuple(text for o in seen for text in o.other_causes)


def _help(prediction: Finding, seen: list[Finding]) -> str:
    """Of a recompile what was seen decides which advice holds, and most of it the last time; of a break its
    source does."""
    same = [o.help for o in seen if o.kind == "recompile" and o.dynamo == seen[0].dynamo and o.help]
    return same[-1] if same else prediction.help


def _sum_costs(costs: list[Cost | None]) -> Cost | None:
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    compile_seconds = [cost.compile_seconds for cost in known if cost.compile_seconds is not None]
    step_seconds = [cost.step_seconds for cost in known if cost.step_seconds is not None]
    intervals = [cost.step_interval for cost in known if cost.step_interval is not None]
    return Cost(
        compile_seconds=sum(compile_seconds) if compile_seconds else None,
        step_seconds=sum(step_seconds) if step_seconds else None,
        step_interval=intervals[0] if len(step_seconds) == len(intervals) == 1 else None,
    )


def _was_traced(prediction: Finding, lines: dict[str, frozenset[int]]) -> bool:
    """Only breaks can be refuted by having been traced: a recompile needs calls that vary, which
    few runs make."""
    seen = lines.get(_key(prediction.path), frozenset())
    return prediction.kind == "break" and any(
        n in seen for n in range(prediction.line, max(prediction.line, prediction.end_line) + 1)
    )


def _breaks_there(prediction: Finding, broken: set, places: _Places) -> bool:
    """Another break ended the graph within the same statement, so what the rest of it would have
    done is unknown."""
    return any((_key(prediction.path), span) in broken for span in places.of(prediction))


def _skipped_before(prediction: Finding, skipped: list[tuple[str, str, int]]) -> bool:
    """Dynamo skipped the prediction's frame at or before its line."""
    name = _last_name(prediction.function)
    return any(
        path == _key(prediction.path) and function == name and line <= prediction.line
        for path, function, line in skipped
    )


def _last_name(qualified: str) -> str:
    return qualified.rpartition(".")[2]


def _key(path: str) -> str:
    return os.path.realpath(path)
