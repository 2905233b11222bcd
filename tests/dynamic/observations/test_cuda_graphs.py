"""CUDA graphs left out and recorded again, from text in the form in which torch 2.13 writes it. No
GPU is needed."""

import json
import logging
from pathlib import Path

from breakscope.dynamic.child.bench.cuda_graph_log import LOGGERS, listening
from breakscope.dynamic.observations.cuda_graphs import captured_cuda_graphs, reason_of
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.reader import read_records
from breakscope.dynamic.observations.traces import read_traced
from breakscope.dynamic.trace.processes import TEXT_LOG
from breakscope.dynamic.trace.records import read_trace_file
from breakscope.dynamic.trace.text_log import read_log
from breakscope.report.model import CudaGraph

PLACES = Places(torch="/site-packages/torch", python=("/stdlib",), own="/nowhere")
MUTATED = """skipping cudagraphs due to mutated inputs (1 instances). Found from :
   File "/project/model.py", line 12, in forward
    self.seen.add_(1)
  File "/site-packages/torch/nn/modules/module.py", line 1775, in _call_impl
    return forward_call(*args, **kwargs)
"""
RERECORDED = (
    "[0/0] Re-recording function=forward, mode=FORWARD, reason=static input data pointer changed.\n"
    "input name: primals_2. data pointer changed from 1 to 2."
)


def in_log(text, compile_id="0/0", artifact="cudagraphs", at=1):
    head = f"W1120 10:00:0{at}.000000 77 torch/_inductor/cudagraph_utils.py:380] [{compile_id}] [__{artifact}] "
    return "".join(f"{head}{line}\n" for line in text.splitlines())


def in_trace(reason, number=0):
    metrics = {
        "co_name": "forward",
        "co_filename": "/project/model.py",
        "co_firstlineno": 9,
        "graph_op_count": 3,
        "cudagraph_skip_reason": reason,
    }
    head = {"compilation_metrics": metrics, "frame_id": number, "frame_compile_id": 0, "attempt": 0}
    return f"V1120 10:00:00.000000 77 torch/_dynamo/utils.py:1] {json.dumps(head)}\n"


def read(folder, trace="", log=""):
    (folder / "trace.log").write_text(trace)
    (folder / "log.txt").write_text(log)
    messages = list(read_log(folder / "log.txt"))
    return read_records(
        list(read_trace_file(folder / "trace.log")), messages, PLACES, {}
    ).cuda_graphs


def test_the_reason_of_a_trace_stands_at_the_users_line(tmp_path):
    assert read(tmp_path, in_trace(MUTATED)) == (
        CudaGraph(
            kind="skipped",
            reason="mutated inputs (1 instances)",
            path="/project/model.py",
            line=12,
            function="forward",
        ),
    )


def test_without_a_stack_it_stands_where_the_function_begins(tmp_path):
    (found,) = read(
        tmp_path,
        in_trace("skipping cudagraphs due to skipping cudagraphs due to cpu device (arg0_1)"),
    )
    assert (found.reason, found.line) == ("cpu device (arg0_1)", 9)


def test_what_trace_and_log_report_counts_once_and_repeats_are_counted(tmp_path):
    again = in_log(MUTATED) + in_log(MUTATED, "1/0", at=2)
    assert [found.count for found in read(tmp_path, in_trace(MUTATED), again)] == [2]
    assert [
        found.count for found in read(tmp_path, "", in_log(MUTATED) + in_log(MUTATED, at=2))
    ] == [2]


def test_a_graph_that_is_recorded_again(tmp_path):
    (found,) = read(tmp_path, in_trace(None), in_log(RERECORDED))
    assert found.kind == "recorded again" and found.function == "forward" and found.line == 9
    assert (
        found.reason
        == "static input data pointer changed. input name: primals_2. data pointer changed"
    )


def test_a_reason_is_one_short_line():
    assert reason_of(MUTATED) == "mutated inputs (1 instances)"
    assert len(reason_of("skipping cudagraphs due to " + "x\n" * 5000)) <= 300


GOLDEN = Path(__file__).parents[1] / "golden" / "2.11.0_cuda_graphs.txt"  # written on an H100
FOUND = [
    ("skipped", "mutated inputs (1 instances)", "/project/graphs.py", 13, 1),
    ("recorded again", "9 distinct sizes", "", 0, 1),
    (
        "recorded again",
        "static input data pointer changed. input name: arg0_1. data pointer changed",
        "",
        0,
        6,
    ),
]


def reported(graphs):
    return [(g.kind, g.reason, g.path, g.line, g.count) for g in graphs]


def test_the_log_of_a_gpu(tmp_path):
    assert reported(read(tmp_path, "", GOLDEN.read_text())) == FOUND


def test_what_graphs_report_while_they_run_lies_beside_the_trace(tmp_path):
    """No compile's metrics have mutated inputs: torch sees them in the first call."""
    (tmp_path / TEXT_LOG).write_text(GOLDEN.read_text())
    (tmp_path / "of_3727.log").write_text(in_trace(None).replace(" 77 ", " 3727 "))
    (tmp_path / "of_77.log").write_text(in_trace(None))
    assert reported(read_traced(tmp_path).seen.cuda_graphs) == FOUND


def test_a_mode_captures_its_graphs():
    logger = logging.getLogger(LOGGERS[1])
    level = logger.level
    with listening() as messages:
        logger.debug(
            "[3/0] Re-recording function=%s, mode=%s, reason=%s",
            "f",
            "FORWARD",
            "x. data pointer changed from 1 to 2",
        )
        logging.getLogger(LOGGERS[0]).warning(MUTATED)
        logger.info("Recording cudagraph tree for symint key (64, 4)")
    logger.warning(MUTATED)
    assert reported(captured_cuda_graphs(messages, PLACES)) == [
        ("recorded again", "x. data pointer changed", "", 0, 1),
        ("skipped", "mutated inputs (1 instances)", "/project/model.py", 12, 1),
    ]
    assert len(messages) == 3 and logger.level == level and not logger.handlers
