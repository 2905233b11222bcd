"""Runs one function under Dynamo and says which graph breaks were reported."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

import torch

LINK = re.compile(r"/gb/gb(\d+)\.html")


@dataclass(frozen=True)
class Verdict:
    """What Dynamo did with one function: the ids of its graph breaks in order of appearance, how
    many graphs it made, the exception of the compiled call ("" when there was none), the first
    break's reason in one line, and whether the function's own frame was skipped (`lost`: nothing
    of it is compiled, not even what stands before the break)."""

    breaks: tuple[str, ...]
    graphs: int
    error: str
    reason: str
    lost: bool = False


class _Breaks(logging.Handler):
    """Collects the break artifacts of torch's structured trace."""

    def __init__(self) -> None:
        super().__init__()
        self.payloads: list[str] = []
        self.failures: list[dict] = []

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", {})
        if metadata.get("artifact", {}).get("name") == "dynamo_graph_break_reason":
            self.payloads.append(str(record.payload))
        elif "compilation_metrics" in metadata and metadata["compilation_metrics"].get(
            "fail_reason"
        ):
            self.failures.append(metadata["compilation_metrics"])


def run(function: Callable, arguments: tuple) -> Verdict:
    """Compile `function` with the eager backend, call it once and report. Restores nothing but
    Dynamo's own state."""
    graphs = []

    def backend(graph: torch.fx.GraphModule, _inputs: list) -> Callable:
        graphs.append(graph)
        return graph.forward

    log, handler = logging.getLogger("torch.__trace"), _Breaks()
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    torch._dynamo.reset()
    error = ""
    try:
        torch.compile(function, backend=backend)(*arguments)
    except (Exception, SystemExit) as problem:
        error = f"{type(problem).__name__}: {str(problem).strip().partition(chr(10))[0][:120]}"
    finally:
        log.removeHandler(handler)
    texts = handler.payloads + [failure["fail_reason"] for failure in handler.failures]
    lost = any(failure["co_name"] == function.__name__ for failure in handler.failures)
    ids = dict.fromkeys("GB" + number for text in texts for number in LINK.findall(text))
    return Verdict(tuple(ids), len(graphs), error, _reason(texts[0]) if texts else "", lost)


def trace(function: Callable, arguments: tuple) -> Verdict:
    """Trace `function` as one graph and stop at the first break; what breaks the graph is never
    run."""
    torch._dynamo.reset()
    try:
        torch.compile(function, backend=lambda graph, _inputs: graph.forward, fullgraph=True)(
            *arguments
        )
    except torch._dynamo.exc.Unsupported as problem:
        return Verdict(
            tuple("GB" + n for n in LINK.findall(str(problem))),
            0,
            "",
            str(problem).partition("\n")[0],
        )
    except Exception as problem:
        return Verdict((), 0, type(problem).__name__, str(problem).partition("\n")[0])
    return Verdict((), 1, "", "")


def _reason(text: str) -> str:
    """Dynamo's one-line explanation of a break."""
    found = re.search(r"Explanation: (.*)", text)
    return found.group(1).strip() if found else text.strip().partition("\n")[0]
