"""Measures the snippets of the probe files in child processes; a crash or a hang costs one snippet,
not the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator

SECONDS_PER_SNIPPET = 60
OPERATORS = "operators"  # the topic whose programs are torch's own operator samples
SWEEP = "sweep"  # the topic of functions that are asked about without a probe


def topics() -> list[str]:
    from breakscope.knowledge.build import snippets

    return [*snippets.topics(), SWEEP, OPERATORS]


def measure(topic: str) -> Iterator[dict]:
    """The results of one topic, in the order of its snippets; a snippet that killed its process has
    "crash"."""
    start = 0
    environment = os.environ | {
        "PYTHONBREAKPOINT": "0",
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
    }
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    while True:
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-m",
                "breakscope.knowledge.build.measure",
                topic,
                str(start),
            ]
            child = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                text=True,
                cwd=folder,
                env=environment,
                stderr=None if os.environ.get("PROBE_STDERR") else subprocess.DEVNULL,
            )
            waiting = None
            for line in child.stdout:
                result = json.loads(line)
                if "begin" in result:
                    waiting = result
                    continue
                waiting = None
                yield result
            child.wait()
        if waiting is None:
            return
        yield waiting | {"crash": child.returncode}
        start = waiting["begin"] + 1


def _child(topic: str, start: int) -> None:
    """Measure from the snippet number `start` on, one JSON line before and one after each."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import torch

    from breakscope.knowledge.build import operators, snippets, sweep

    torch.set_num_threads(1)
    generators = {
        OPERATORS: (operators.programs, operators.measure),
        SWEEP: (sweep.programs, sweep.measure),
    }
    programs, one = generators.get(topic, (lambda: snippets.read(topic), _one))
    found = programs()
    for number, snippet in enumerate(found):
        if number < start:
            continue
        out.write(json.dumps({"begin": number, "topic": topic, "source": snippet.source}) + "\n")
        signal.alarm(SECONDS_PER_SNIPPET)
        out.write(json.dumps({"topic": topic, "source": snippet.source, **one(snippet)}) + "\n")
        signal.alarm(0)


def _one(snippet) -> dict:
    """Identify, run in plain Python, run under Dynamo."""
    from breakscope.knowledge.build import capture, inputs, results, snippets

    names = (
        tuple(dict.fromkeys(("x", *snippet.parameters)))
        if not snippet.whole
        else snippet.parameters
    )
    try:
        function = snippet.function()
        _restore()
        named = snippets.identify(snippet, inputs.make(names))
        result = {
            "table": named.table,
            "name": named.name,
            "arguments": named.arguments,
            "keywords": dict(named.keywords),
        }
        if snippet.whole:
            result["description"] = snippet.description
        if snippet.raises:
            result["raises"] = True
        _restore()
        try:
            function(*inputs.make(names).values())
            if (returned := snippets.returned(snippet, inputs.make(names))) is not None:
                result["returned"] = [results.describe(returned[0])]
        except Exception as problem:
            if not snippet.raises:
                return result | {"invalid": f"{type(problem).__name__}: {problem}"[:300]}
        _restore()
        verdict = capture.run(function, tuple(inputs.make(names).values()))
        _restore()
    except (Exception, SystemExit) as problem:
        return {"invalid": f"{type(problem).__name__}: {problem}"[:300]}
    return result | {
        "breaks": verdict.breaks,
        "graphs": verdict.graphs,
        "lost": verdict.lost,
        "reason": verdict.reason,
        "error": "" if snippet.raises else verdict.error,
    }


def _restore() -> None:
    """Undo what a snippet may have left behind in the process."""
    import torch

    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_grad_enabled(True)
    torch.use_deterministic_algorithms(False)
    torch.autograd.set_detect_anomaly(False)


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))
