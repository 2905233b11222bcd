"""What torch._dynamo.explain adds to the trace."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from breakscope.dynamic.observations.facts import Observations
from breakscope.report.model import Graph

# what explain calls the place before a break that Dynamo cannot resume behind: no other break
STEPPED = "step_unsupported"


def fill_graphs(graphs: Sequence[Graph], explained: dict) -> tuple[Graph, ...]:
    """Give each graph of the first call the op names that explain saw, where both count the same
    ops in order."""
    graph_names = [tuple(names) for names in explained.get("graphs", []) if names]
    filled = []
    for graph in graphs:
        if graph_names and len(graph_names[0]) == graph.ops:
            graph = msgspec.structs.replace(graph, op_names=graph_names.pop(0))
        filled.append(graph)
    return tuple(filled)


def compare(seen: Observations, explained: dict) -> tuple[str, ...]:
    """Notes on breaks that explain reported and the trace did not."""
    if not seen.breaks and not explained.get("breaks"):
        return ()
    lines = {(frame.path, frame.line) for found in seen.breaks for frame in found.chain}
    notes = []
    for reported in explained.get("breaks", []):
        frames = [(path, line) for path, line, _ in reported["frames"]]
        if (
            frames
            and not lines.intersection(frames)
            and not str(reported["reason"]).startswith(STEPPED)
        ):
            path, line = frames[-1]
            reason = " ".join(str(reported["reason"]).split())[:160]
            notes.append(f"torch._dynamo.explain also reports a break at {path}:{line}: {reason}")
    return tuple(dict.fromkeys(notes))
