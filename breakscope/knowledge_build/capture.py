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
    """What Dynamo did with one function: the ids of its graph breaks in order of appearance, how many graphs it made,
    the exception of the compiled call ("" when there was none) and the first break's reason in one line."""

    breaks: tuple[str, ...]
    graphs: int
    error: str
    reason: str


class _Breaks(logging.Handler):
    """Collects the break artifacts of torch's structured trace."""

    def __init__(self) -> None:
        super().__init__()
        self.payloads: list[str] = []
        self.failures: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", {})
        if metadata.get("artifact", {}).get("name") == "dynamo_graph_break_reason":
            self.payloads.append(str(record.payload))
        elif "compilation_metrics" in metadata and metadata["compilation_metrics"].get("fail_reason"):
            self.failures.append(metadata["compilation_metrics"]["fail_reason"])


def run(function: Callable, arguments: tuple) -> Verdict:
    """Compile `function` with the eager backend, call it once and report. Restores nothing but Dynamo's own state."""
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
    texts = handler.payloads + handler.failures
    ids = dict.fromkeys("GB" + number for text in texts for number in LINK.findall(text))
    return Verdict(tuple(ids), len(graphs), error, _reason(texts[0]) if texts else "")


def _reason(text: str) -> str:
    """Dynamo's one-line explanation of a break."""
    found = re.search(r"Explanation: (.*)", text)
    return found.group(1).strip() if found else text.strip().partition("\n")[0]
