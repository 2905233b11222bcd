"""Score `breakscope check` by the kept truth of packages, for field.py."""

from __future__ import annotations

import ast
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import field_truth
from field_suites import LeftOut, constraints, run

from breakscope import __version__
from breakscope.report.combining.statements import Statements
from breakscope.report.model import Finding, Report, from_json

ROOT = Path(__file__).resolve().parent.parent
OBSERVED_EXCEPTION = "GB0088"
REFUSED_OPERATION = "GB4315"  # an operation refused its arguments while Dynamo ran it
OWN_ERRORS = frozenset({"GB0354", "GB7312"})  # a name that is nowhere, arguments that do not fit
REQUIRES_TORCH = re.compile(r"torch(?![-_.\w])(?!.*\bextra\b)")
INSTALL = 600  # seconds for one package
Place = tuple[str, int]  # file, first line of the statement


@dataclass
class Score:
    """What a check got right and wrong of one package. A claim is judged by its most confident
    finding."""

    package: str
    version: str
    lines: int = 0
    found: dict[Place, str] = field(default_factory=dict)  # Dynamo's words
    missed: dict[Place, str] = field(default_factory=dict)
    right: dict[Place, Finding] = field(default_factory=dict)
    wrong: dict[Place, Finding] = field(default_factory=dict)
    undecided: dict[Place, Finding] = field(default_factory=dict)
    ended: dict[Place, str] = field(default_factory=dict)  # sites where the program ended


def print_score(
    folder: Path, half: str, names: list[str], with_places: bool, whole: bool = False
) -> int:
    data = field_truth.read(half)
    wanted = {n: m for n, m in data["models"].items() if not names or n in names}
    if not wanted:
        sys.exit(f"nothing was measured of {', '.join(names) or half}")
    scores, judging = [], ""
    for name, model in wanted.items():
        try:
            libraries = fetch(folder, f"{name}=={model['version']}")
        except LeftOut as problem:
            print(f"{name} {model['version']}: left out: {problem}", file=sys.stderr)
            continue
        report = check(libraries, sorted(tops(model) if whole else files(model)))
        judging = report.torch
        scores.append(scored(name, model, libraries, report))
    print_tables(half, scores, judging, data["meta"])
    if with_places:
        for score in scores:
            print_places(score, folder / "libraries" / f"{score.package}=={score.version}")
    return 0


def fetch(folder: Path, package: str) -> Path:
    """A folder of the package's files and of what it depends on, as far as that depends on torch."""
    libraries = folder / "libraries" / package
    if (libraries / ".complete").exists():
        return libraries
    pip = [sys.executable, "-m", "pip", "install", "-q", *constraints(folder)]
    try:
        plan = run([*pip, "--dry-run", "--ignore-installed", "--report", "-", package], INSTALL)
        also = on_torch(json.loads(plan)["install"])
    except LeftOut:
        also = []  # a version that fits no other of today; what it was measured with is not known
    target = ["--no-deps", "--no-compile", "--upgrade", "--target", str(libraries)]
    run([*pip, *target, *{package, *also}], INSTALL)
    (libraries / ".complete").touch()
    return libraries


def on_torch(plan: list[dict[str, Any]]) -> list[str]:
    """Those of pip's plan that require torch themselves, or have its name in theirs: some leave it to
    their users to install torch first."""
    described = [item["metadata"] for item in plan]
    return [
        f"{m['name']}=={m['version']}"
        for m in described
        if m["name"] != "torch"
        and (
            "torch" in m["name"].lower()
            or any(REQUIRES_TORCH.match(line) for line in m.get("requires_dist", ()))
        )
    ]


def check(libraries: Path, names: list[str]) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-P",
            "-m",
            "breakscope",
            "check",
            "--no-cache",
            "--format",
            "json",
        ]
        command += ["--output", str(out), *[str(libraries / name) for name in names]]
        done = subprocess.run(command, capture_output=True, text=True, cwd=libraries)
        if not out.exists():
            sys.exit(f"check ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        report = from_json(out.read_bytes())
    for error in report.errors:
        print(f"not checked: {error.path}: {error.message}", file=sys.stderr)
    return report


def files(model: dict[str, Any]) -> set[str]:
    return {*model["traced"], *(at["file"] for at in model["breaks"])}


def tops(model: dict[str, Any]) -> set[str]:
    """The package's own folders and single modules."""
    return {name.partition("/")[0] for name in files(model)}


def scored(name: str, model: dict[str, Any], libraries: Path, report: Report) -> Score:
    score = Score(name, model["version"])
    claims: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.kind == "break":
            path = (libraries / finding.path).resolve()
            if path.is_relative_to(libraries):
                claims.setdefault(path.relative_to(libraries).as_posix(), []).append(finding)
    traced = {
        str(libraries / file): {n for a, b in spans for n in range(a, b + 1)}
        for file, spans in model["traced"].items()
    }
    for file in sorted(files(model)):
        path = libraries / file
        ran = traced.get(str(path), set())
        score.lines += len(ran)
        found = [at for at in model["breaks"] if at["file"] == file and has_code(at, path)]
        raised = {at["line"] for at in found if is_raised_by_the_program(at, path)}
        sites = {
            at["line"]: f"{at['gb_id']} {at['gb_type']}" for at in found if at["line"] not in raised
        }
        ends = {line for line in sites if ends_there(line, sites[line], path, ran)}
        score.ended.update({(file, line): sites.pop(line) for line in sorted(ends)})
        left_out = ends | raised  # where a claim is neither right nor wrong
        here = [
            f for f in claims.get(file, []) if left_out.isdisjoint(range(f.line, f.end_line + 1))
        ]
        reached = [f for f in here if was_reached(f, libraries, traced)]
        unreached = [f for f in here if f not in reached]
        score_file(score, file, path, sites, ran, reached, unreached)
    return score


def has_code(at: dict[str, Any], path: Path) -> bool:
    """False for a line where nothing can break: Dynamo names wrong lines of what it resumes inside of
    a `with`, beside the right ones."""
    return code(path, at["line"]).partition("#")[0] != ""


def is_raised_by_the_program(at: dict[str, Any], path: Path) -> bool:
    """True for what is no graph break to a user, since the program ends there: a `raise` or a failed
    `assert` that leaves the region, the making of what is raised, a name that is not defined, arguments
    that do not fit, and an exception without an id, which is none of Dynamo's reasons."""
    if not at["gb_id"] or at["gb_id"] in OWN_ERRORS:
        return True
    around = [
        node
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.stmt) and node.lineno <= at["line"] <= (node.end_lineno or 0)
    ]
    if at["gb_id"] == OBSERVED_EXCEPTION:
        return any(isinstance(node, ast.Raise | ast.Assert) for node in around)
    return any(
        isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
        for node in around
    )


def ends_there(line: int, words: str, path: Path, ran: set[int]) -> bool:
    """True where an exception left the function in every run: an operation refused its arguments and of
    what follows in the function nothing was traced, or a size has another number of dimensions than it
    is unpacked to. In a loop, a `try` or a `with` Dynamo skips what follows after any break, so nothing is
    known there, and no more of other exceptions, for which it always skips the function."""
    around = [
        node
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    functions = [n for n in around if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not functions:
        return False
    statement = max(around, key=lambda node: node.lineno)
    if words.startswith(OBSERVED_EXCEPTION):
        return unpacks_a_size(statement)
    blocks = (ast.For, ast.While, ast.Try, ast.With, ast.AsyncFor, ast.AsyncWith)
    if not words.startswith(REFUSED_OPERATION) or any(isinstance(n, blocks) for n in around):
        return False
    function = max(functions, key=lambda node: node.lineno)
    later = range((statement.end_lineno or line) + 1, (function.end_lineno or line) + 1)
    return len(later) > 0 and ran.isdisjoint(later)


def unpacks_a_size(statement: ast.stmt) -> bool:
    """`a, b = x.shape`"""
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Tuple)
        and isinstance(statement.value, ast.Attribute)
        and statement.value.attr == "shape"
    )


def was_reached(finding: Finding, libraries: Path, traced: dict[str, set[int]]) -> bool:
    """False where Dynamo never traced a call on the way that the claim describes: then its line ran
    for other callers, of which it says nothing."""
    for link in finding.chain:
        path = str((libraries / link.path).resolve())
        if path in traced and traced[path].isdisjoint(span_around(path, link.line)):
            return False
    return True


def span_around(path: str, line: int) -> range:
    first, last = Statements.of_file(path).around(line)
    return range(first, last + 1)


def score_file(
    score: Score,
    file: str,
    path: Path,
    sites: dict[int, str],
    ran: set[int],
    claims: list[Finding],
    unreached: Sequence[Finding] = (),
) -> None:
    """Judge the claims on one file; those of `unreached` are right or undecided, never wrong."""
    statements = Statements.of_file(str(path))
    measured: dict[tuple, str] = {}
    for line, words in sorted(sites.items()):
        measured.setdefault(statements.around(line), words)
    said: dict[tuple, list[Finding]] = {}
    for finding in (*claims, *unreached):
        for span in statements.touched(finding.line, finding.end_line):
            said.setdefault(span, []).append(finding)
    for span, words in measured.items():
        (score.found if span in said else score.missed)[file, span[0]] = words
    for span, here in said.items():
        place = file, span[0]
        best = min(here, key=lambda f: ("certain", "likely", "possible").index(f.confidence))
        if span in measured:
            score.right[place] = best
        elif not ran.isdisjoint(range(span[0], span[1] + 1)):
            judged = (f for f in here if f not in unreached)
            refuted = [f for f in judged if held(f.condition, f.line, path)]
            (score.wrong if refuted else score.undecided)[place] = refuted[0] if refuted else best


def held(condition: str, line: int, path: Path) -> bool:
    """Did the condition hold where this line was traced? Without one: yes. One that encloses the line
    in its own function did; of any other nothing is known."""
    if not condition:
        return True
    stated = normal(condition)
    return any(stated == normal(text) for text in tests_around(line, path))


def tests_around(line: int, path: Path) -> Iterator[str]:
    """The tests of the `if`s around a line, each as it is to hold for the line to run. A line that a
    conditional expression shares with its test or its other side runs either way."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, (ast.If, ast.IfExp)):
            test = ast.unparse(node.test)
            if isinstance(node, ast.IfExp) and 1 != sum(
                within(line, part) for part in (node.body, node.test, node.orelse)
            ):
                continue
            if within(line, node.body):
                yield test
            if within(line, node.orelse):
                yield f"not ({test})"


def within(line: int, part: list[ast.stmt] | ast.expr) -> bool:
    nodes = part if isinstance(part, list) else [part]
    return bool(nodes) and nodes[0].lineno <= line <= nodes[-1].end_lineno


def normal(condition: str) -> str:
    """Without what the writing of a condition may add: brackets, spaces, the form of a negation."""
    try:
        node = ast.parse(condition.strip(), mode="eval").body
    except SyntaxError:
        return condition
    while (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.Not)
        and (inner := opposite(node.operand))
    ):
        node = inner
    return ast.unparse(node)


OPPOSITES = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip


def opposite(node: ast.expr) -> ast.expr | None:
    """The negation of a test, where it is another test without `not`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITES:
        return ast.Compare(node.left, [OPPOSITES[type(node.ops[0])]()], node.comparators)
    return None


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part}/{whole})" if whole else "none"


def print_tables(half: str, scores: list[Score], judging: str, meta: dict[str, str]) -> None:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    print(
        f"`check` of breakscope {__version__} ({done.stdout.strip() or 'no checkout'}) on {time.strftime('%Y-%m-%d')}, "
        f"judging by the tables of torch {judging}, Python {platform.python_version()}; truth by torch {meta['torch']}.\n"
    )
    print(
        f"| {half} | lines traced | break sites found | breaks claimed, right | undecided | program ended |\n|---|---|---|---|---|---|"
    )
    for s in sorted(scores, key=lambda s: s.package.lower()):
        print(row(f"{s.package} {s.version}", [s]))
    print(row(f"all {len(scores)}", scores))
    print("\n| confidence | breaks claimed, right |\n|---|---|")
    right = Counter(f.confidence for s in scores for f in s.right.values())
    wrong = Counter(f.confidence for s in scores for f in s.wrong.values())
    for confidence in ("certain", "likely"):
        print(
            f"| {confidence} | {share(right[confidence], right[confidence] + wrong[confidence])} |"
        )


def row(what: str, scores: list[Score]) -> str:
    def count(name: str) -> int:
        return sum(len(getattr(score, name)) for score in scores)

    recall = share(count("found"), count("found") + count("missed"))
    precision = share(count("right"), count("right") + count("wrong"))
    lines = sum(score.lines for score in scores)
    return (
        f"| {what} | {lines} | {recall} | {precision} | {count('undecided')} | {count('ended')} |"
    )


def print_places(score: Score, libraries: Path) -> None:
    rows: list[tuple[Place, str]] = [
        *((place, f"missed: {words}") for place, words in score.missed.items()),
        *((place, said("false alarm", f)) for place, f in score.wrong.items()),
        *((place, said("undecided", f)) for place, f in score.undecided.items()),
    ]
    if rows:
        print(f"\n### {score.package} {score.version}\n")
    for (file, line), words in sorted(rows):
        print(f"- {file}:{line} {words}\n  `{code(libraries / file, line)}`")


def said(what: str, finding: Finding) -> str:
    when = f", when `{finding.condition}`" if finding.condition else ""
    return f"{what}: {finding.code} {finding.confidence}{when}: {finding.message}"


def code(path: Path, line: int) -> str:
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return text[line - 1].strip()[:160] if line <= len(text) else ""
