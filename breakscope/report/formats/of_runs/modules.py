"""What `trace --compile` captured: a line for each class of modules, those with breaks first."""

from __future__ import annotations

from breakscope import limits
from breakscope.report.formats._layout import EMPTY, Line, hanging
from breakscope.report.model import Report
from breakscope.report.run_modes import ModuleCalls
from breakscope.report.summary import count


def module_lines(report: Report, width: int | None) -> list[Line]:
    """The block of captured module calls; nothing when none was asked for."""
    modules = () if report.run is None else report.run.modules or ()
    if not modules:
        return []
    calls = count(sum(module.calls for module in modules), "call")
    head = f"{calls} of {count(len(modules), 'class', 'classes')} captured"
    lines = hanging([("modules:", "bold")], head, width)
    for module in modules[: limits.MOST_MODULES_SHOWN]:
        style = "bold red" if module.breaks else "bold yellow" if module.recompiles else "green"
        lines += hanging([(f"  {module.name}:", style)], _text(module), width, indent="      ")
    if len(modules) > limits.MOST_MODULES_SHOWN:
        more = modules[limits.MOST_MODULES_SHOWN :]
        broken = sum(module.breaks > 0 for module in more)
        lines += hanging(
            [("  ", "")], f"and {len(more)} more, of which {broken} have breaks", width
        )
    return [*lines, EMPTY]


def _text(module: ModuleCalls) -> str:
    parts = [
        count(module.calls, "call"),
        count(module.graphs, "graph"),
        count(module.breaks, "break"),
    ]
    if module.recompiles:
        parts.append(count(module.recompiles, "recompile"))
    text = ", ".join(parts)
    return text + "".join(f"; left eager: {reason}" for reason in module.eager)
