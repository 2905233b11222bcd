"""Whatever stands in a report, no format passes on what a terminal, a reader or a CI runner could
take for something else than text."""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from facts import FULL
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, FormatChecker

from breakscope.report import escaping, formats
from breakscope.report.bench import Bench, Mode, bench_from_json, bench_to_json
from breakscope.report.bench_text import render as render_bench
from breakscope.report.formats import RenderOptions, RuleText
from breakscope.report.model import CudaGraph, Gap, HostSync, Link, Report, ReportError, from_json
from breakscope.report.run_modes import Hazard, ModuleCalls, Peeled, Radar, Variation

SARIF = Draft7Validator(
    json.loads(
        (Path(__file__).parent / "formats" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8")
    ),
    format_checker=FormatChecker(),
)
URI = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
HOSTILE = {
    "line break": "a\nb",
    "carriage return": "a\r\x1b[2Kb",
    "escape": "\x1b]0;title\x07\x1b[31m",
    "C1": "\x9b31m\x85",
    "NUL": "a\0b",
    "delete": "a\x7fb",
    "right to left": "\u202egpj.exe\u202c \u2066x\u2069 \u200f",
    "line separator": "a\u2028b\u2029c",
    "zero width": "a\u200bb\u200d\ufeff\u2060",
    "filler": "\u3164\uffa0\u115f\u034f",
    "tag": "\U000e0041\U000e0101",
    "workflow command": "::error file=x::y",
    "workflow command in a line below": "x\n  ::set-output name=a::b",
    "command of old": "##[add-path]/tmp",
    "command of Azure": "x ##vso[task.setvariable variable=a]b",
    "command of TeamCity": "##teamcity[buildStop]",
    "no UTF-8": b"caf\xe9.py".decode("utf-8", "surrogateescape"),
    "half a pair": "\ud800",
    "Windows drive": "e:1.py",
    "Windows path": "C:\\models\\a b.py",
    "Windows share": "\\\\host\\share\\x.py",
    "URL": "https://example.org/?q=#f",
    "share": "//host/x.py",
    "percent": "100%41%",
    "markup": "[bold]x[/] <script> `x` ](javascript:x)",
    "braces": "{x} %s ${{ secrets.TOKEN }}",
    "empty": "",
}
WHOLE = msgspec.structs.replace(
    FULL,
    notes=("a limit was reached",),
    gaps=(Gap(path="a.py", line=2, function="f", message="too deep"),),
    errors=(*FULL.errors, ReportError(message="x", path="y.py", line=3, detail="one\n  two")),
    findings=tuple(
        msgspec.structs.replace(
            f, behind=(Link(path="a.py", line=1, function="f"),), values=("1", "2")
        )
        for f in FULL.findings
    ),
    run=msgspec.structs.replace(
        FULL.run,
        notes=("a note",),
        modules=(
            ModuleCalls(name="m.Net", path="m.py", line=1, calls=1, breaks=1, eager=("traced",)),
        ),
        cuda_graphs=(CudaGraph(kind="skipped", reason="mutation", path="m.py", line=2),),
        host_syncs=(HostSync(path="m.py", line=3, code="x.item()"),),
        peeled=Peeled(complete=True, rounds=1, hidden=1, neutralised=1, stubborn=(Link(path="m.py", line=1, function="f"),)
        ),
        radar=Radar(batch="0 of x", sequence="1 of x",
            variations=(
                Variation(
                    name="batch",
                    base="1",
                    outcome="settles",
                    hazards=(
                        Hazard(
                            path="m.py", line=4, function="f", family="size", guard="g",
                            message="size", help="mark it",
                        ),
                    ),
                ),
            )
        ),
    ),
)  # fmt: skip
RULES = {"BRK203": RuleText("BRK203", "scalar-cast", "error", "A cast.", "A cast.\n\nWhy.")}
PLAIN = RenderOptions(fixes=True, rules=RULES)
NARROW = RenderOptions(fixes=True, width=60, rules=RULES)
BENCH = Bench(
    version="0.1.0",
    torch="2.13.0",
    python="3.11.7",
    target="model.py::make",
    device="cpu",
    backend="inductor",
    backward=True,
    threads=2,
    modes=(Mode(name="default", meaning="m", status="failed", problem="x", notes=("y",)),),
    verdict="z",
    errors=(ReportError(message="x", path="y.py", line=3, detail="one\n  two"),),
    notes=("n",),
)
TEXTS = [name for name in formats.names() if name not in ("json", "sarif")]


def with_text(struct: msgspec.Struct, text: str) -> msgspec.Struct:
    """The struct with `text` at the end of each text in it that may be any; alone where a path
    is."""
    changes = {}
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        if field.type is str and field.name not in ("schema", "use"):
            changes[field.name] = text if field.name == "path" else value + text
        elif isinstance(value, msgspec.Struct):
            changes[field.name] = with_text(value, text)
        elif isinstance(value, tuple):
            changes[field.name] = tuple(
                with_text(v, text) if isinstance(v, msgspec.Struct) else v + text for v in value
            )
    return msgspec.structs.replace(struct, **changes)


def unseen(text: str) -> list[str]:
    return [
        c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]


def assert_safe(text: str) -> None:
    assert unseen(text) == []
    assert not re.search(r"##\w*\[", text)
    assert not [line for line in text.split("\n") if line.lstrip().startswith("::")]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("options", [PLAIN, NARROW], ids=["file", "narrow"])
@pytest.mark.parametrize("name", [name for name in TEXTS if name != "github"])
def test_text(name, options, text):
    assert_safe(formats.render(with_text(WHOLE, text), name, options))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_colours_are_the_only_escapes(text):
    shown = formats.render(with_text(WHOLE, text), "text", RenderOptions(color=True, width=100))
    assert_safe(re.sub(r"\x1b\[[0-9;]*m", "", shown))
    assert "\x1b[31m" not in shown or text != HOSTILE["escape"] or "\\x1b[31m" in shown


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_github_has_its_own_commands_only(text):
    report = with_text(WHOLE, text)
    lines = formats.render(report, "github", PLAIN).splitlines()
    assert len(lines) == len(report.findings) + len(report.errors) + len(report.gaps)
    for line in lines:
        assert re.match(r"::(?:error|warning|notice) [^:]*::", line)
        assert_safe(line[2:])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_json_is_read_again(text):
    report = with_text(WHOLE, text)
    written = formats.render(report, "json", PLAIN)
    assert_safe(written)
    read = from_json(written.encode("utf-8"))
    assert len(read.findings) == len(report.findings)
    if not re.search("[\ud800-\udfff]", text):
        assert read == report


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_sarif_is_valid(text):
    written = formats.render(with_text(WHOLE, text), "sarif", PLAIN)
    assert_safe(written)
    document = json.loads(written.encode("utf-8"))
    assert [error.message for error in SARIF.iter_errors(document)] == []
    for found in _uris(document):
        assert URI.fullmatch(found)
        assert not SCHEME.match(found) or found.startswith("file:///")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_measurements(text):
    bench = with_text(BENCH, text)
    assert_safe(render_bench(bench, None, False))
    written = bench_to_json(bench).decode("utf-8")
    assert_safe(written)
    assert bench_from_json(written.encode()).device == escaping.readable(bench.device)


@given(st.text(st.characters(codec=None), max_size=30), st.sampled_from(formats.names()))
def test_any_text(text, name):
    written = formats.render(with_text(WHOLE, text), name, NARROW)
    written.encode("utf-8")
    assert unseen(written) == []
    if name in ("json", "sarif"):
        json.loads(written)


@given(st.binary(max_size=20))
def test_any_file_name(name):
    path = name.decode("utf-8", "surrogateescape")
    found = escaping.uri(path)
    assert URI.fullmatch(found)
    assert not SCHEME.match(found) or found.startswith("file:///")


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("models/a b.py", "models/a%20b.py"),
        ("caf\udce9.py", "caf%E9.py"),
        ("e:1.py", "e%3A1.py"),
        ("C:\\a b.py", "file:///C:/a%20b.py"),
        ("/tmp/ä.py", "file:///tmp/%C3%A4.py"),
        ("../x.py", "../x.py"),
    ],
)
def test_uri(path, uri):
    assert escaping.uri(path) == uri


def test_what_is_seen_stays():
    text = "größe = `模型`\u3000[0] # ♥️ ## note: x::y"
    assert escaping.visible(text) == text.replace("\u3000", " ")


def test_escapes_are_those_of_python():
    text = "a\x1b[0m\u202e\udce9\n##[x]"
    assert escaping.visible(text) == "a\\x1b[0m\\u202e\\xe9\\n#\\x23[x]"
    assert escaping.visible_line("  ::error::x") == "  \\x3a:error::x"


def test_lines_that_no_file_has_do_not_make_sarif_invalid():
    wrong = msgspec.structs.replace(
        FULL.findings[0], line=-3, end_line=0, column=0, end_column=-1, source=(), fix=None
    )
    report = Report(version="0.1.0", torch="2.13.0", findings=(wrong,))
    document = json.loads(formats.render(report, "sarif", PLAIN))
    assert [error.message for error in SARIF.iter_errors(document)] == []


def _uris(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "uri" in value:
            yield value["uri"]
        for inner in value.values():
            yield from _uris(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _uris(inner)
