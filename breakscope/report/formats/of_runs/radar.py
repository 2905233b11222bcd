"""What --radar varied and what came of it: one line for each variation, and under it what is
compiled again."""

from __future__ import annotations

from breakscope import limits
from breakscope.report import frames
from breakscope.report.formats._layout import EMPTY, Line, fact_lines, hanging
from breakscope.report.model import Report
from breakscope.report.run_modes import Hazard, Radar, Variation
from breakscope.report.summary import count, duration
from breakscope.texts import shortened

STYLES = {
    "none": "green",
    "settles": "yellow",
    "each time": "bold red",
    "limit": "bold red",
    "left out": "dim",
}


def radar_lines(report: Report, width: int | None) -> list[Line]:
    """The radar's block; nothing when none was asked for."""
    if report.run is None or report.run.radar is None:
        return []
    radar = report.run.radar
    lines = hanging([("radar:", "bold")], _head(radar), width)
    for variation in radar.variations:
        lines += _variation(variation, width)
    return [*lines, EMPTY]


def _head(radar: Radar) -> str:
    if not radar.variations:
        return radar.note or "nothing was varied"
    dimensions = [
        f"{name} is {text}" if text else f"no {name} was found"
        for name, text in (("batch", radar.batch), (radar.sequence_is, radar.sequence))
    ]
    text = "what is compiled again when calls vary, each from a fresh Dynamo on; " + ", ".join(
        dimensions
    )
    return f"{text}; {radar.note}" if radar.note else text


def _variation(variation: Variation, width: int | None) -> list[Line]:
    lines = hanging(
        [(f"  {variation.name}:", STYLES[variation.outcome])],
        _outcome(variation),
        width,
        indent="      ",
    )
    groups = _alike(variation)
    for number, group in enumerate(groups[: limits.MOST_SHOWN_HAZARDS], 1):
        first = group[0]
        text = f"`{first.function}`: {first.message}" + (
            _share(group) if len(groups) > 1 or len(group) > 1 else ""
        )
        lines += hanging(
            [("     ", ""), (f"{first.path}:{first.line}:", "bold")], text, width, indent="      "
        )
        if (
            number == min(len(groups), limits.MOST_SHOWN_HAZARDS)
            or groups[number][0].help != first.help
        ):
            lines += [
                [("   ", ""), *line]
                for line in fact_lines("help", first.help, None if width is None else width - 3)
            ]
    if len(groups) > limits.MOST_SHOWN_HAZARDS:
        lines += [
            [(f"      and {count(len(groups) - limits.MOST_SHOWN_HAZARDS, 'other guard')}", "dim")]
        ]
    return lines


def _alike(variation: Variation) -> list[list[Hazard]]:
    """The hazards, those of one message together: a frame that breaks split fails the same guard in
    each part."""
    groups: dict[str, list[Hazard]] = {}
    for hazard in variation.hazards:
        groups.setdefault(hazard.message, []).append(hazard)
    return list(groups.values())


def _share(group: list[Hazard]) -> str:
    number = sum(hazard.recompiles for hazard in group)
    seconds = sum(hazard.compile_seconds for hazard in group)
    also = "" if len(group) == 1 else f"; also {_lines(group)}"
    return f" ({_cost(number, seconds)}{also})"


def _lines(group: list[Hazard]) -> str:
    """Where else the same guard failed: "line 39", "lines 39 and 41", "6 other places"."""
    lines = sorted({hazard.line for hazard in group[1:] if hazard.path == group[0].path})
    if len(lines) > 2 or not lines or any(hazard.path != group[0].path for hazard in group):
        return count(len(group) - 1, "other place")
    return f"{'line' if len(lines) == 1 else 'lines'} {' and '.join(map(str, lines))}"


def _outcome(variation: Variation) -> str:
    reason = shortened(variation.reason, limits.LONGEST_RADAR_REASON)
    if variation.outcome == "left out":
        return f"left out, {reason}" if reason else "left out"
    cost = _cost(variation.recompiles, variation.compile_seconds)
    texts = [
        _steps(variation),
        {
            "none": "nothing is compiled again",
            "settles": f"{cost}, then it settles",
            "each time": f"{cost}, and it does not settle",
            "limit": f"{cost}, until the recompile limit: `{variation.given_up}` is {frames.REST}",
        }[variation.outcome],
    ]
    return ": ".join(text for text in texts if text) + (f"; left out, {reason}" if reason else "")


def _steps(variation: Variation) -> str:
    if set(variation.steps) == {variation.base}:
        return count(len(variation.steps) + 1, "time", "times")
    shown = [variation.base, *variation.steps]
    return " -> ".join(
        shown
        if len(shown) <= limits.MOST_SHOWN_STEPS
        else [*shown[: limits.MOST_SHOWN_STEPS], "..."]
    )


def _cost(recompiles: int, seconds: float) -> str:
    """With what it took, where that is known: not of a fake run."""
    return ", ".join([count(recompiles, "recompile"), *([duration(seconds)] if seconds else [])])
