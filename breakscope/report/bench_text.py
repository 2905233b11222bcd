"""A benchmark for people: a table of the modes, what compiling took, what breaks cost, and the
verdict."""

from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table
from rich.text import Text

from breakscope import limits
from breakscope.report.bench import Agreement, Bench, Mode, Saving
from breakscope.report.escaping import visible, visible_line
from breakscope.report.formats._blocks import cuda_graph_text
from breakscope.report.formats._layout import expand, wrap

NONE = "-"
STYLES = {"faster": "green", "slower": "red"}
CLOCKS = {
    "cpu": "; steps in CPU time",
    "wall": "; steps in wall time",
    "device": "; steps in the device's time",
}


def render(bench: Bench, width: int | None, color: bool) -> str:
    """The whole text; `width` in columns, None where there is no terminal."""
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        legacy_windows=False,
        width=max(width or limits.BENCH_WIDTH, 60),
        highlight=False,
        markup=False,
    )
    for error in bench.errors:
        place = f"{error.path}:{error.line or 1}: " if error.path else ""
        _paragraph(console, f"{place}error: {error.message}", "bold red")
        for line in error.detail.splitlines():
            console.print(Text(visible_line("    " + expand(line)), style="dim"), soft_wrap=True)
    if any(mode.steps or mode.problem for mode in bench.modes):
        _paragraph(console, _head(bench), "bold")
        console.print(_table(bench, console.width))
        console.print()
    for paragraph in (
        *_noise(bench),
        *_compiling(bench),
        *_busy(bench),
        *_agreements(bench),
        *_coverage(bench),
        *_saving(bench.saving),
    ):
        _paragraph(console, paragraph)
    for mode in bench.modes:
        for text in (
            _meaning(mode),
            mode.problem
            and mode.status != "failed"
            and f"{mode.name}: {mode.status}: {mode.problem}",
            *_cuda_graphs(mode),
            *mode.notes,
        ):
            if text:
                _paragraph(console, f"note: {text}")
    for note in bench.notes:
        _paragraph(console, f"note: {note}")
    _paragraph(console, bench.verdict, "bold")
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _head(bench: Bench) -> str:
    what = "forward and backward" if bench.backward else "forward"
    threads = (
        f", {bench.threads} thread{'s' if bench.threads != 1 else ''}"
        if bench.device == "cpu"
        else ""
    )
    clock = CLOCKS.get(bench.clock, "")
    return f"{bench.target}: {what}, {bench.device}{threads}, torch {bench.torch}, backend {bench.backend}{clock}"


def _table(bench: Bench, width: int) -> Table:
    table = Table(
        box=None, pad_edge=False, padding=(0, 4 if width >= 100 else 1, 0, 0), show_edge=False
    )
    table.add_column("mode", no_wrap=True)
    for title in ("compile", "median", "95 %", "of eager's", "memory", "pays after"):
        table.add_column(title, justify="right", no_wrap=True)
    for mode in bench.modes:
        steps = mode.steps
        style = STYLES.get(steps.verdict, "") if steps else "dim"
        table.add_row(
            visible_line(mode.name),
            _seconds(mode.compile_seconds),
            *(
                (
                    _seconds(steps.median_seconds),
                    _seconds(steps.p95_seconds),
                    Text(_ratio(mode), style=style),
                    _bytes(mode.peak_bytes),
                    f"{mode.pays_after_steps:,} steps"
                    if mode.pays_after_steps is not None
                    else NONE,
                )
                if steps
                else (NONE, NONE, visible(_ended(mode)), NONE, NONE)
            ),
        )
    return table


def _ended(mode: Mode) -> str:
    return (
        f"not ended in {mode.limit_seconds:.0f} s"
        if mode.limit_seconds is not None
        else mode.status
    )


def _ratio(mode: Mode) -> str:
    steps = mode.steps
    if steps.ratio is None or steps.ratio_interval is None:
        return NONE
    if steps.verdict == "too noisy to tell":
        return steps.verdict
    return f"{steps.ratio:.2f} ({steps.ratio_interval.low:.2f}-{steps.ratio_interval.high:.2f})"


def _noise(bench: Bench) -> list[str]:
    """How much rounds of the same step differ: what the comparisons are to be held against."""
    eager = next((m.steps for m in bench.modes if m.name == "eager" and m.steps), None)
    if eager is None or eager.noise is None:
        return []
    return [f"Noise: a round of eager steps differs from the one before by {eager.noise:.1%}."]


def _compiling(bench: Bench) -> list[str]:
    """One paragraph for each mode: its charges, the largest first, and what they leave unexplained."""
    found = []
    for mode in bench.modes:
        if mode.compile_seconds is None:
            continue
        parts = [
            f"{_charged(c.to, c.family)} {_seconds(c.seconds)}"
            + (f" ({c.compiles}x)" if c.compiles > 1 else "")
            for c in sorted(mode.charges, key=lambda c: -c.seconds)
        ]
        share = (
            f"; {mode.attributed * 100:.0f} % of it attributed"
            if mode.attributed is not None
            else ""
        )
        late = "; it was still compiling when the warm-up ended" if mode.still_compiling else ""
        found.append(
            f"{mode.name} compiled for {_seconds(mode.compile_seconds)} over {mode.warm_up_steps} warm-up steps: "
            f"{', '.join(parts)}{share}{late}."
        )
    return found


def _charged(to: str, family: str) -> str:
    if to == "recompile":
        return f"recompiles by {family.replace('_', ' ')}"
    return "skipped frames" if to == "given up" else to


def _agreements(bench: Bench) -> list[str]:
    """One sentence for all modes with the same agreement."""
    by_text: dict[str, list[str]] = {}
    for mode in bench.modes:
        parts: dict[str, list[str]] = {}
        for name, agreement in (("outputs", mode.outputs), ("gradients", mode.gradients)):
            if agreement:
                parts.setdefault(_agreement(agreement), []).append(name)
        if parts:
            text = "; ".join(f"{' and '.join(names)} {text}" for text, names in parts.items())
            by_text.setdefault(text, []).append(mode.name)
    return [f"{' and '.join(names)} against eager: {text}." for text, names in by_text.items()]


def _agreement(a: Agreement) -> str:
    if a.status == "random":
        return f"not compared, {a.detail}"
    if a.status == "not compared":
        return f"not compared ({a.detail})"
    difference = (
        "by more than a number"
        if a.max_relative is None
        else f"{a.max_absolute:.1e} absolute, {a.max_relative:.1e} relative"
    )
    if a.status == "equal" and not a.max_absolute:
        return "identical"
    if a.status == "equal":
        return f"equal within {a.tolerance or 0:.0e} ({difference})"
    return f"DIFFER at `{a.detail}` ({difference}; tolerance {a.tolerance or 0:.0e})"


def _coverage(bench: Bench) -> list[str]:
    coverage = bench.coverage
    if coverage is None:
        return []
    text = (
        f"{coverage.share * 100:.0f} % of op time (in eager) lies inside compiled graphs, "
        f"{coverage.ops_share * 100:.0f} % of the ops"
    )
    return [text + (f"; outside: {', '.join(coverage.eager_top)}." if coverage.eager_top else ".")]


def _saving(saving: Saving | None) -> list[str]:
    if saving is None:
        return []
    shown = [
        f"{s.path}:{s.line}" + (" (frame skipped)" if s.lost else "")
        for s in saving.sites[: limits.MOST_SHOWN_SITES]
    ]
    more = (
        f" and {len(saving.sites) - limits.MOST_SHOWN_SITES} more"
        if len(saving.sites) > limits.MOST_SHOWN_SITES
        else ""
    )
    text = f"{len(saving.sites)} break{'s' if len(saving.sites) != 1 else ''} ({', '.join(shown)}{more}): "
    if saving.seconds is None:
        return [
            f"{text}what removing {'them' if len(saving.sites) != 1 else 'it'} saves was not measured: {saving.problem}."
        ]
    low, high = saving.interval.low, saving.interval.high
    verb = "would save about" if saving.seconds > 0 else "would cost about"
    ends = sorted((abs(low), abs(high)))
    each = (
        f", on average {_seconds(abs(saving.seconds) / len(saving.sites))} each"
        if len(saving.sites) > 1
        else ""
    )
    return [
        (
            f"{text}the same step as one graph {verb} {_seconds(abs(saving.seconds))} per step "
            f"({_seconds(ends[0])} to {_seconds(ends[1])}){each}."
        )
    ]


def _paragraph(console: Console, text: str, style: str = "") -> None:
    for number, line in enumerate(wrap(text, console.width, console.width - 4)):
        shown = visible_line(("    " if number else "") + line)
        console.print(Text(shown, style=style), soft_wrap=True)


def _meaning(mode: Mode) -> str:
    return (
        f"{mode.name}: {mode.meaning}"
        if mode.steps and mode.name not in ("eager", "default")
        else ""
    )


def _cuda_graphs(mode: Mode) -> list[str]:
    """The CUDA graphs of a mode that were left out or recorded again, those of one reason once."""
    texts = [
        f"{mode.name}: {cuda_graph_text('CUDA graph', found)}"
        + (f", at {found.path}:{found.line}" if found.path else "")
        for found in mode.cuda_graphs[: limits.MOST_SHOWN_CUDA_GRAPHS]
    ]
    more = len(mode.cuda_graphs) - limits.MOST_SHOWN_CUDA_GRAPHS
    return texts + ([f"{mode.name}: {more} more of such graphs"] if more > 0 else [])


def _busy(bench: Bench) -> list[str]:
    """One sentence for all modes; what is left of a step the GPU waits for the CPU."""
    shares = [
        f"{mode.gpu_busy * 100:.0f} % of a step in mode {mode.name}"
        for mode in bench.modes
        if mode.gpu_busy is not None
    ]
    return [f"The GPU is busy for {', '.join(shares)}."] if shares else []


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return NONE
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return (
                f"{seconds / size:.3g} {unit}"
                if seconds / size < 1000
                else f"{seconds / size:.0f} {unit}"
            )
    return f"{seconds * 1e6:.3g} us"


def _bytes(number: int | None) -> str:
    if number is None:
        return NONE
    return f"{number / 2**30:.1f} GiB" if number >= 2**30 else f"{number / 2**20:.0f} MiB"
