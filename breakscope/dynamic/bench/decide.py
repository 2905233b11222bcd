"""The closing sentence: which mode to use and why, or that compiling does not pay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from breakscope import limits
from breakscope.report.bench import Coverage, Mode, Saving
from breakscope.report.summary import duration

TOO_NOISY = "too noisy to tell"
# "faster", "slower", "no difference measured" or "" for two modes' names
Comparison = Callable[[str, str], str]


def decide(
    modes: Sequence[Mode],
    between: Comparison,
    left_out: Sequence[str] = (),
    coverage: Coverage | None = None,
    saving: Saving | None = None,
) -> tuple[str, str]:
    """(mode to use, sentence); ("", sentence) when the measurement allows none.

    The fastest of the modes that are measurably faster than eager and agree with it; of modes that
    do not differ measurably the one that compiles in the shortest time. `between` compares two of them
    directly. `coverage` and `saving` may hold the reason why compiling does not pay.
    """
    eager = next((m for m in modes if m.name == "eager" and m.steps), None)
    tried = [m for m in modes if m.name != "eager" and m.steps and m.steps.verdict]
    if eager is None or not tried:
        return "", "No mode can be chosen: " + _nothing(modes)
    missing = [m.name for m in modes if m.status in ("timeout", "not measured")]
    noisy = [m for m in tried if m.steps.verdict == TOO_NOISY]
    if len(noisy) == len(tried):
        return "", _too_noisy(eager, noisy) + _unmeasured(missing)
    missing += [m.name for m in noisy]
    fast = [m for m in tried if m.steps.verdict == "faster"]
    wrong = [m for m in fast if _differs(m)]
    fit = [m for m in fast if not _differs(m) and not m.still_compiling]
    if not fit:
        return "eager", _not_paying(tried, fast, wrong) + _because(coverage, saving) + _unmeasured(
            missing
        )
    best = min(fit, key=lambda m: m.steps.ratio)
    equal = [m for m in fit if m is best or between(m.name, best.name) != "slower"]
    chosen = min(equal, key=lambda m: m.compile_seconds or 0.0)
    return chosen.name, _paying(chosen, equal, wrong) + _unmeasured([*missing, *left_out])


def _too_noisy(eager: Mode, noisy: Sequence[Mode]) -> str:
    """That nothing is compared, with the figures."""
    ranges = " and ".join(
        f"{m.name} takes {m.steps.ratio_interval.low:.2f} to {m.steps.ratio_interval.high:.2f} of eager's time"
        for m in noisy
    )
    differ = (
        f"rounds of the same eager step differ by {eager.steps.noise:.0%}, and "
        if eager.steps.noise is not None
        else ""
    )
    return (
        f"No mode can be chosen: the machine is too noisy to tell: {differ}{ranges}. "
        "Stop what else runs here, or give more --rounds."
    )


def _paying(mode: Mode, equal: Sequence[Mode], wrong: Sequence[Mode]) -> str:
    steps = mode.steps
    text = (
        f"Use {mode.name}: a step takes {steps.ratio:.2f} of eager's time "
        f"({steps.ratio_interval.low:.2f} to {steps.ratio_interval.high:.2f})"
    )
    if mode.pays_after_steps is not None:
        text += f", and its {mode.compile_seconds:.1f} s of compiling are paid for after {mode.pays_after_steps:,} steps"
    others = [m.name for m in equal if m is not mode]
    if others:
        text += f"; {' and '.join(others)} {'is' if len(others) == 1 else 'are'} not measurably faster and took longer to compile"
    if wrong:
        text += f"; {' and '.join(m.name for m in wrong)} gave other values than eager"
    return text + "."


def _not_paying(tried: Sequence[Mode], fast: Sequence[Mode], wrong: Sequence[Mode]) -> str:
    if fast and len(wrong) == len(fast):
        names = " and ".join(m.name for m in wrong)
        return f"Stay with eager: {names} is faster, but gives other values than eager; find out why first."
    if fast:
        names = " and ".join(m.name for m in fast if m.still_compiling)
        return f"Stay with eager: {names} was still compiling when the warm-up ended, so it never reaches a steady state."
    comparable = [m for m in tried if m.steps.verdict != TOO_NOISY]
    slower = [m for m in comparable if m.steps.verdict == "slower"]
    if len(slower) == len(comparable):
        parts = ", ".join(f"{m.name} takes {m.steps.ratio:.2f} of eager's time" for m in slower)
        return f"Compiling does not pay here: {parts}."
    return "Compiling does not pay here: no mode is measurably faster than eager."


def _because(coverage: Coverage | None, saving: Saving | None) -> str:
    """What stands in the way, as far as it was measured."""
    text = ""
    if coverage is not None and coverage.share < limits.MOSTLY_COMPILED:
        text = f" Only {coverage.share * 100:.0f} % of its op time lies inside compiled graphs."
    if saving is not None and saving.seconds is not None and saving.seconds > 0:
        number = len(saving.sites)
        breaks = "break" if number == 1 else f"{number} breaks"
        text += f" Without its {breaks} a step would take {duration(saving.seconds)} less."
    return text


def _nothing(modes: Sequence[Mode]) -> str:
    failed = [m.name for m in modes if m.status == "failed"]
    slow = [m.name for m in modes if m.status == "timeout" or m.still_compiling]
    parts = [f"{', '.join(failed)} did not run"] if failed else []
    if slow:
        parts.append(f"{', '.join(slow)} did not end compiling in time; --timeout gives more")
    return "; ".join(parts or ["too few rounds were measured"]) + "."


def _unmeasured(names: Sequence[str]) -> str:
    return f" Not measured: {', '.join(names)}." if names else ""


def _differs(mode: Mode) -> bool:
    return any(a is not None and a.status == "different" for a in (mode.outputs, mode.gradients))
