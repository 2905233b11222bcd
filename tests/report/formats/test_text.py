"""The format for people."""

import re
import subprocess
import sys

import msgspec
import pytest
from facts import (
    BASE,
    BROKEN_FILE,
    CONFIRMED,
    FAILED_RUN,
    FULL,
    ODD_PATH,
    RECOMPILE,
    RUN,
    finding,
    report,
)
from rich.cells import cell_len

from breakscope.report import frames
from breakscope.report.formats import RenderOptions, render
from breakscope.report.model import (
    Cost,
    CudaGraph,
    Fix,
    Inside,
    Interval,
    Link,
    SkippedFrame,
)
from breakscope.report.run_modes import Divergence, RankEvent

LONG = finding(
    path="src/package_name/models/modeling_long_name.py",
    message="`cap = int((counts.max() * self.capacity_factor).ceil())` reads a tensor's value, so the graph ends here",
    brief="`cap = int((counts.max() * self.capacity_factor).ceil())` reads a tensor's value",
    help="write `cap = counts.max()` and mask by it, or fix the capacity in __init__ and drop what is too much",
    evidence="confirmed",
    dynamo=("GB0124",),
    count=12,
    cost=Cost(step_seconds=0.0018, compile_seconds=3.2),
    lost="loop",
    chain=tuple(
        Link(
            path="src/package_name/models/modeling_long_name.py",
            line=n,
            function=f"Block{n}.forward",
        )
        for n in (10, 20, 30, 40)
    ),
    fix=CONFIRMED.fix,
    source=(
        "        counts = torch.bincount(expert_ids, minlength=self.n)",
        "        cap = int((counts.max() * self.capacity_factor).ceil())",
    ),
)


def shown(*findings, width=None, color=False, **more):
    return render(report(*findings, **more), "text", RenderOptions(color=color, width=width))


def block(item, width=None):
    """The lines of a finding, without the summary."""
    return shown(item, width=width).split("\n\n")[0].splitlines()


def test_nothing_to_show_says_what_was_looked_at_and_imports_no_rich():
    code = (
        "import sys; from breakscope.report.formats import render, RenderOptions\n"
        "from breakscope.report.model import Report\n"
        "out = render(Report(version='0', torch='2', hidden=3, files=9), 'text', RenderOptions())\n"
        "print(repr(out), 'rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout
        == "'no compiled code in the source of 9 files; name what you compile with `--entry FILE::NAME`, or run it: `breakscope trace -- python FILE`. 3 hidden (only possible, silenced or not selected).\\n' False\n"
    )


def test_a_finding_looks_as_designed():
    assert block(CONFIRMED) == [
        "models/moe.py:41:15: BRK203 `int(counts.max())` reads a tensor's value, so the graph ends here",
        "   40 |         counts = torch.bincount(expert_ids, minlength=self.n)",
        "   41 |         cap = int(counts.max())",
        "      |               ^^^^^^^^^^^^^^^^^",
        "   = help: write `cap = counts.max()` and mask by it, or fix the capacity in __init__ (unsafe fix)",
        "   = seen: confirmed (GB0124), 3 events, 1.8 ms per step",
        "   = from: MoE.forward:28 -> route:41",
    ]


@pytest.mark.parametrize("width", [80, 100, 140, None])
@pytest.mark.parametrize(
    "item",
    [CONFIRMED, RECOMPILE, ODD_PATH, LONG],
    ids=["confirmed", "recompile", "odd path", "long"],
)
def test_at_most_eight_lines_on_a_usual_terminal(item, width):
    assert len(block(item, width)) <= 8


@pytest.mark.parametrize("width", [30, 40, 80, 140])
@pytest.mark.parametrize(
    "item", [CONFIRMED, RECOMPILE, LONG], ids=["confirmed", "recompile", "long"]
)
def test_no_line_is_wider_than_the_terminal_but_the_place_is_whole(item, width):
    first, *rest = block(item, width)
    place = f"{item.path}:{item.line}:{item.column}:"
    assert first.startswith(place)
    # below an indent at least twenty columns are used
    assert all(cell_len(line) <= max(width, 20 + len("   = help: ")) for line in rest)
    assert cell_len(first) <= max(width, len(place))


@pytest.mark.parametrize("width", [40, 80, 140, None])
def test_no_word_of_message_and_help_is_left_out(width):
    squeezed = " ".join(" ".join(block(LONG, width)).split())
    message = LONG.message
    if width == 80:  # in brief, and code that the source frame shows is cut once, in its middle
        message = "`cap = int((counts.max() ...ctor).ceil())` reads a tensor's value"
    elif width == 140:
        message = LONG.brief
    assert message in squeezed and LONG.help in squeezed and "(unsafe fix)" in squeezed


@pytest.mark.parametrize("width", [80, 100, 140, None])
@pytest.mark.parametrize(
    "item", [CONFIRMED, RECOMPILE, ODD_PATH, LONG], ids=["confirmed", "recompile", "odd", "long"]
)
def test_a_header_is_never_wrapped(item, width):
    """The message stands behind its code in one line, where the place leaves no room below it."""
    lines = block(item, width)
    head = lines[: next((n for n, line in enumerate(lines) if " | " in line), len(lines))]
    head = [line for line in head if not line.startswith("   = ")]
    assert len(head) <= 2 and item.code in head[-1]
    assert len(head) == 1 or head[0] == f"{item.path}:{item.line}:{item.column}:"


def test_a_fact_is_a_line_with_its_label():
    lines = block(LONG)
    labels = [line.partition(": ")[0] for line in lines if line.startswith("   = ")]
    assert labels == ["   = help", "   = seen", "   = note", "   = from"]
    assert not any(";" in line for line in lines)


def test_code_that_was_cut_is_not_cut_again():
    item = msgspec.structs.replace(
        LONG, message=f"`{'x' * 25}...{'y' * 25}` reads a value", brief=""
    )
    (line,) = [line for line in block(item, 80) if "BRK203" in line]
    assert line == f"BRK203 `{'x' * 25}...{'y' * 25}` reads a value"


def test_what_does_not_fit_ends_in_dots_and_the_place_and_the_source_are_whole():
    words = " ".join(f"word{n}" for n in range(60))
    lines = block(msgspec.structs.replace(LONG, message=words, brief="", help=words), 80)
    assert len(lines) == 8 and all(len(line) <= 80 for line in lines)
    assert lines[0] == f"{LONG.path}:41:15:" and lines[1].startswith("BRK203 word0")
    assert [n for n, line in enumerate(lines) if line.endswith("...")] == [1, 7]
    assert lines[2] == f"   41 | {LONG.source[1]}"


def carets(item, width=None):
    """What stands above the carets."""
    lines = block(item, width)
    mark = next(i for i, line in enumerate(lines) if re.match(r" +\|[^^]*\^", line))
    start, end = lines[mark].index("^"), lines[mark].rindex("^") + 1
    columns = [c for c in lines[mark - 1] for _ in range(cell_len(c))]
    seen = columns[start:end]
    return "".join(c for i, c in enumerate(seen) if cell_len(c) == 1 or i % 2 == 0)


def test_carets_stand_under_the_range():
    assert carets(CONFIRMED) == "int(counts.max())"


def test_carets_under_tabs_and_wide_characters():
    line = "\tif x: 名前 = y.item()"
    column = line.index("y.item()") + 1
    item = finding(source=(line,), first_source_line=41, column=column, end_column=column + 8)
    assert carets(item) == "y.item()"


def test_carets_of_a_range_over_several_lines_run_to_the_end_of_the_first():
    item = finding(
        end_line=42, end_column=4, source=("        cap = int(", "  x)"), first_source_line=41
    )
    assert carets(item) == "int("


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_long_line_is_cut_around_the_range(width):
    line = "    y = " + "x + " * 60 + "scores.item()" + " + x" * 60
    column = line.index("scores") + 1
    item = finding(source=(line,), first_source_line=41, column=column, end_column=column + 13)
    assert carets(item, width) == "scores.item()"
    assert "..." in "".join(block(item, width))


def test_a_finding_without_source_still_shows_what_was_seen():
    text = "\n".join(block(RECOMPILE))
    assert (
        "= seen: observed (attribute), 2 events, 12 s of compiling" in text
        and "= note: guard: L['self'].step == 3" in text
    )


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((), "guard: L['self'].step == 3\n"),
        (("3",), "guard: L['self'].step == 3\n"),
        (("3", "4"), "guard: L['self'].step == 3 (values: 3, 4)\n"),
        (tuple("12345678"), "guard: L['self'].step == 3 (values: 1, 2, 3, 4, 5, 6, ...)\n"),
    ],
)
def test_the_values_of_a_guard_stand_beside_it(values, shown):
    item = msgspec.structs.replace(RECOMPILE, values=values)
    assert shown in render(report(findings=(item,)), "text", RenderOptions())


def test_conditions_and_skipped_frames_are_shown():
    text = "\n".join(block(ODD_PATH))
    assert "   = note: only when `self.config.cache`" in text.splitlines()
    assert text.splitlines()[0].endswith("so the graph ends here (likely)")
    assert "`route` is skipped as a whole, because the break is in a loop" in text


def test_a_hidden_break_names_those_before_it_and_comes_after_the_others():
    behind = (
        Link(path=BASE.path, line=12, function="f"),
        Link(path="other.py", line=7, function="g"),
    )
    hidden = finding(evidence="observed", lost="loop", behind=behind)
    assert "   = note: hidden behind the break at other.py:7 and 1 other" in block(hidden)
    text = shown(hidden, finding(line=99, first_source_line=99, evidence="observed", count=1))
    assert re.findall(r"^\S+:(\d+):15:", text, re.MULTILINE) == ["99", "41"]
    assert "2 breaks (1 event), 1 of them hidden behind others." in text


def test_another_files_steps_are_named_with_their_file():
    item = finding(
        chain=(
            Link(path="train.py", line=7, function="train"),
            Link(path=BASE.path, line=9, function="route"),
        )
    )
    assert block(item)[-1] == "   = from: train (train.py:7) -> route:9"


def test_most_expensive_first_then_by_place():
    expensive = finding(line=99, first_source_line=99, cost=Cost(step_seconds=1.0))
    places = re.findall(
        r"^\S+:(\d+):15:",
        shown(finding(line=50, function="second"), finding(line=7), expensive),
        re.MULTILINE,
    )
    assert places == ["99", "7", "50"]


def test_skipped_frames_of_a_run_come_before_expensive_compiles():
    skips = finding(line=50, evidence="observed", lost="loop")
    compiled = finding(line=7, evidence="observed", cost=Cost(compile_seconds=9.0))
    assert re.findall(r"^\S+:(\d+):15:", shown(compiled, skips), re.MULTILINE) == ["50", "7"]


def test_fixes_are_shown_on_request():
    text = render(report(CONFIRMED), "text", RenderOptions(fixes=True))
    assert "\n    -         cap = int(counts.max())\n    +         cap = counts.max()\n\n" in text
    longer = finding(
        fix=Fix(safety="safe", description="d", line=41, end_line=43, replacement="a\nb\n")
    )
    text = render(report(longer), "text", RenderOptions(fixes=True))
    assert (
        "    -         cap = int(counts.max())\n    - ... 2 more lines\n    + a\n    + b\n" in text
    )


def test_summary_of_source_analysis():
    text = shown(BASE, RECOMPILE, finding(kind="usage", code="BRK801"), hidden=4)
    assert (
        text.splitlines()[-1]
        == "1 region, 1 break, 1 recompile (2 events), 1 other finding. 4 hidden "
        "(only possible, silenced or not selected)."
    )


def test_summary_of_a_run():
    assert shown(CONFIRMED, run=RUN, missed=1, refuted=2).splitlines()[-1] == (
        "1 region, 4 graphs, 1 break (3 events), 1 frame skipped; 62% of op time compiled. "
        "Source analysis: 1 confirmed by the run, 1 missed, 2 refuted. 1 with a suggested rewrite (--show-fixes)."
    )


def test_a_cuda_graph_that_was_left_out_is_shown():
    from msgspec.structs import replace

    left_out = CudaGraph(
        kind="skipped",
        reason="mutated inputs (1 instances)",
        path="m.py",
        line=3,
        function="f",
        count=2,
    )
    text = shown(run=replace(RUN, cuda_graphs=(left_out,)))
    assert (
        "m.py:3: CUDA graph: the one of `f` was left out: mutated inputs (1 instances) (2 times)"
        in text
    )


def test_summary_of_what_the_breaks_cost_per_step():
    from msgspec.structs import replace

    def last_line(seconds, low, high):
        cost = Cost(step_seconds=seconds, step_interval=Interval(low=low, high=high))
        return shown(CONFIRMED, run=replace(RUN, breaks_cost=cost)).splitlines()[-1]

    assert "; the breaks cost 1.8 ms per step (1.7 ms to 1.9 ms). " in last_line(
        0.0018, 0.0017, 0.0019
    )
    assert "; as one graph a step would take 3 us more (2 us to 4 us). " in last_line(
        -3e-6, -4e-6, -2e-6
    )


def test_a_clean_run_is_one_line():
    clean = report(
        run=type(RUN)(**{**{f: getattr(RUN, f) for f in RUN.__struct_fields__}, "lost_frames": ()}),
        files=0,
    )
    text = render(clean, "text", RenderOptions())
    assert text == "1 region, 4 graphs, 0 breaks; 62% of op time compiled.\n"


def test_a_run_that_proves_nothing_has_a_note():
    from msgspec.structs import replace

    assert "so breaks may be missing below" in shown(run=replace(RUN, capture_checked=False))
    assert "note: the run reached its time limit: what follows" in shown(
        run=replace(RUN, status="timeout")
    )
    assert "note: only forward" in shown(run=replace(RUN, notes=("only forward",)))


def test_skipped_frames_come_first_unless_a_finding_explains_them():
    first = shown(BASE, run=RUN).splitlines()[0]
    assert first == (
        "m.py:9: frame: `forward` is skipped from here on, because it was compiled again too often"
    )
    from msgspec.structs import replace

    explained = replace(
        RUN, lost_frames=(SkippedFrame(function="route", path=BASE.path, line=41, why="loop"),)
    )
    assert shown(finding(lost="loop"), run=explained).startswith("models/moe.py:41:15:")


def test_a_break_in_a_callee_names_the_frame_that_is_skipped():
    from msgspec.structs import replace

    chain = (
        Link(path="train.py", line=9, function="Trainer.step"),
        Link(path=BASE.path, line=41, function="route"),
    )
    item = finding(lost="loop", lost_function="Trainer.step", chain=chain)
    run = replace(
        RUN, lost_frames=(SkippedFrame(function="step", path="train.py", line=5, why="loop"),)
    )
    text = shown(item, run=run)
    assert "`Trainer.step` is skipped as a whole, because" in text and "frame:" not in text


def test_ranks_of_a_run_that_was_stopped_may_have_been_on_the_way():
    from msgspec.structs import replace

    events = (
        RankEvent(rank=0, kind="nothing"),
        RankEvent(rank=1, kind="break", function="f", path="m.py", line=3, what="GB0170"),
    )
    diverged = replace(RUN, divergence=Divergence(position=2, events=events))
    words = (
        "ranks diverge: after 2 equal events\nrank 0: did nothing more\n"
        "rank 1: broke the graph in `f` at m.py:3 (GB0170)\n"
    )
    assert words in shown(run=diverged) and "waited" not in shown(run=diverged)
    waited = "note: ranks that did nothing more waited, or were stopped on the way there\n"
    assert words + waited in shown(run=replace(diverged, status="timeout"))


def test_errors_keep_the_users_traceback():
    text = shown(errors=(BROKEN_FILE, FAILED_RUN))
    assert "models/bad file.py:3: error: invalid syntax: expected ':'" in text
    assert (
        "breakscope: error: the target raised ValueError: x\n"
        "    Traceback (most recent call last):\n    ValueError: x\n" in text
    )


def test_colour_only_adds_colour():
    plain, colored = shown(CONFIRMED, LONG, width=80), shown(CONFIRMED, LONG, width=80, color=True)
    assert "\x1b[" not in plain and "\x1b[1;31mBRK203" in colored
    strip = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in strip.splitlines()] == plain.splitlines()


def test_control_characters_of_source_do_not_reach_the_terminal():
    text = shown(
        finding(
            source=("x = '\x1b[31m' + y.item()",),
            first_source_line=41,
            message="a\x1b[31m",
            column=5,
            end_column=8,
        )
    )
    assert "\x1b" not in text


def test_markup_in_messages_is_just_text():
    assert "[bold]x[/bold]" in shown(finding(message="[bold]x[/bold] ends here"))


def test_full_report_in_all_widths():
    for width in (20, 40, 80, 140, None):
        assert render(FULL, "text", RenderOptions(width=width)).strip()


@pytest.mark.parametrize("width", [80, 140])
def test_the_place_inside_a_library_is_shown(width):
    way = (
        (4, "model.py", "Net.run"),
        (9, "model.py", "Net.forward"),
        (20, "/env/site-packages/lib/a.py", "f"),
        (31, "/env/site-packages/lib/b.py", "g"),
    )
    links = tuple(Link(path=path, line=line, function=function) for line, path, function in way)
    inside = finding(
        path="model.py",
        line=9,
        function="Net.forward",
        library="lib",
        help="write something else " * 5,
        message="`self.net(x)` enters `lib`, where `if x.sum() > 0` reads a tensor's value, so the graph ends here",
        chain=links,
        inside=Inside(message="`if x.sum() > 0` reads a tensor's value", chain=links[2:]),
    )
    text = render(report(findings=(inside,)), "text", RenderOptions(width=width))
    assert "1 of them in lib" in text
    way = "Net.run:4 -> Net.forward:9 -> f (lib/a.py:20) -> g (lib/b.py:31)"
    assert f"   = from: {way}\n" in text


def test_a_break_of_the_backward_pass_says_so_once():
    text = "\n".join(block(finding(evidence="observed", count=1, backward=True)))
    assert "= note: only in the backward pass" in text and "only when" not in text


def test_a_guard_that_the_message_names_is_not_shown_again():
    item = msgspec.structs.replace(RECOMPILE, names=(RECOMPILE.guard,))
    assert "guard:" not in "\n".join(block(item))


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("", "`f` continues in a new graph"),
        ("loop", "`f` is skipped as a whole, because the break is in a loop"),
        ("call", "`f` is skipped as a whole, because Dynamo cannot resume behind the break"),
        ("rest", "`f` is skipped from here on, because Dynamo cannot resume behind the break"),
        ("recompile limit", "`f` is skipped from here on, because it was compiled again too often"),
        ("skipped", "`f` is skipped as a whole"),
    ],
)
def test_one_wording_for_all_that_becomes_of_a_frame(lost, words):
    assert frames.sentence("f", lost) == words
