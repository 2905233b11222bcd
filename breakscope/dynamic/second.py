"""What the second witness, torch._dynamo.explain, adds to the trace."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from breakscope.dynamic.observations import Observations
from breakscope.report.model import Graph

STEPPED = "step_unsupported"  # what explain calls the place before a break that Dynamo cannot resume behind: no other break


def fill_graphs(graphs: Sequence[Graph], witness: dict) -> tuple[Graph, ...]:
    """Give each graph of the first call the op names that explain saw, where both count the same ops in order."""
    told = [tuple(names) for names in witness.get("graphs", []) if names]
    filled = []
    for graph in graphs:
        if told and len(told[0]) == graph.ops:
            graph = msgspec.structs.replace(graph, op_names=told.pop(0))
        filled.append(graph)
    return tuple(filled)


def compare(seen: Observations, witness: dict) -> tuple[str, ...]:
    """Notes on breaks that explain reported and the trace did not."""
    if not seen.breaks and not witness.get("breaks"):
        return ()
    lines = {(frame.path, frame.line) for found in seen.breaks for frame in found.chain}
    notes = []
    for told in witness.get("breaks", []):
        frames = [(path, line) for path, line, _ in told["frames"]]
        if frames and not lines.intersection(frames) and not str(told["reason"]).startswith(STEPPED):
            path, line = frames[-1]
            reason = " ".join(str(told["reason"]).split())[:160]
            notes.append(f"torch._dynamo.explain also reports a break at {path}:{line}: {reason}")
    return tuple(dict.fromkeys(notes))
