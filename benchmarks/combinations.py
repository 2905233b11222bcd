#!/usr/bin/env python3
"""`breakscope check` beside Dynamo on programs that are put together: combinations.py [FAMILY ...]

numbers      how a number that is read of a tensor arrives, times how it is used
ways         how a region comes to code, times code that breaks
travels      where a tensor goes before it is used, times code that breaks, or does not
cascades     where a break stands, times what stands before or behind it, or is kept across it
values       what a Python expression gives, times what is done with it
kept         the same, made before the region and kept in an attribute
arrays       what a tensor or NumPy gives, times what Python does with it
differences  what differs between calls of what is compiled, times the programs that call it

Each family is a file of combinations/. A class or a program is made of each pair, Dynamo runs it with the
backend eager, and its breaks, by line, or whether it was compiled again, are compared with the findings.
Programs that end with an error are left out. Printed for each family: what was found, missed and claimed
wrongly, and each of these by its parts.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from breakscope.static import StaticOptions, analyze

PARTS = ROOT / "benchmarks" / "combinations"
HEADING = re.compile(r"^=== (\w+): (.+)\n", re.MULTILINE)
# the contexts of cascades in which more than what stands behind is looked at
ALL_PLACES = frozenset("plain callee loop tryy nograd branch submod".split())
KEPT = """\
    def __init__(self):
        super().__init__()
        x = torch.ones(4, 4)
        self.p = {value}

"""
MEASURE = ROOT / "benchmarks" / "combinations" / "measure.py"


class Program(NamedTuple):
    """One combination: the file that it stands in, its lines there, and what it was made of."""

    path: str
    first: int
    last: int
    parts: tuple[str, str]


def sections(family: str) -> dict[str, dict[str, str]]:
    """The texts of a family's file, by kind and name."""
    _, *pieces = HEADING.split((PARTS / f"{family}.txt").read_text())
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for kind, name, text in zip(pieces[::3], pieces[1::3], pieces[2::3]):
        found[kind][name] = text
    return found


def put(template: str, **texts: str) -> str:
    """The template with texts in the place of `{name}`; a text of several lines is indented as its name is."""
    for name, text in texts.items():
        place, text = f"{{{name}}}", text.strip("\n")
        for line in template.split("\n"):
            if line.strip() == place:
                indent = line.removesuffix(place)
                template = template.replace(line, textwrap.indent(text, indent), 1)
        template = template.replace(place, text)
    return template


def numbers(folder: Path) -> list[Program]:
    parts = sections("numbers")
    template = "class M_{name}(Parent):\n    def forward(self, x, L, extra=None):\n        {first}\n        {then}\n"
    return in_pairs(folder / "numbers.py", parts, template, "arrival", "use")


def travels(folder: Path) -> list[Program]:
    parts = sections("travels")
    template = (
        "class M_{name}(Parent):\n    def forward(self, x):\n        {first}\n        {then}\n"
    )
    return in_pairs(folder / "travels.py", parts, template, "travel", "code")


def in_pairs(path: Path, parts: dict, template: str, first: str, then: str) -> list[Program]:
    classes = {
        (a, b): put(template, name=f"{a}_{b}", first=before, then=behind)
        for a, before in parts[first].items()
        for b, behind in parts[then].items()
    }
    return in_one_file(path, parts["head"]["programs"], classes)


def ways(folder: Path) -> list[Program]:
    parts = sections("ways")
    classes = {}
    for way, texts in parts["way"].items():
        outside, inside, *parent = texts.split("---\n")
        for kind, code in parts["code"].items():
            name = f"{way}_{kind}"
            head = f"class M_{name}({parent[0].strip() if parent else 'nn.Module'}):\n    def forward(self, x):\n"
            text = outside + head + textwrap.indent(inside, "    ")
            classes[way, kind] = put(text, code=code, n=name)
    return in_one_file(folder / "ways.py", parts["head"]["programs"], classes)


def cascades(folder: Path) -> list[Program]:
    parts = sections("cascades")
    template = "class M_{name}(Parent):\n    def forward(self, x):\n        {body}\n"
    classes = {}
    for context, around in parts["context"].items():
        stood = {f"{kind}_behind": ("", text) for kind, text in parts["follower"].items()}
        if context in ALL_PLACES:
            stood |= {f"{kind}_before": (text, "") for kind, text in parts["follower"].items()}
            stood |= {kind: text.split("---\n") for kind, text in parts["held"].items()}
        for kind, (before, behind) in stood.items():
            body = put(around, before=before, behind=behind)
            body = "\n".join(line for line in body.split("\n") if line.strip())
            classes[context, kind] = put(template, name=f"{context}_{kind}", body=body)
    return in_one_file(folder / "cascades.py", parts["head"]["programs"], classes)


def values(folder: Path) -> list[Program]:
    return one_by_one(folder, "values", "        x = x * 2\n        p = {value}\n")


def arrays(folder: Path) -> list[Program]:
    return one_by_one(folder, "arrays", "        x = x * 2\n        p = {value}\n")


def kept(folder: Path) -> list[Program]:
    return one_by_one(folder, "values", "        x = x * 2\n        p = self.p\n", KEPT)


def one_by_one(folder: Path, family: str, made: str, before: str = "") -> list[Program]:
    """A file for each value, with a class for each use of it."""
    parts = sections(family)
    template = f"class M_{{name}}(Parent):\n{before}    def forward(self, x):\n{made}        {{use}}\n        return x * 3\n"
    programs = []
    for name, value in parts["value"].items():
        filled = template.replace("{value}", value.strip())
        classes = {
            (name, use): put(filled, name=f"{name}_{use}", use=text)
            for use, text in parts["use"].items()
        }
        path = folder / f"{family}_{name}.py"
        programs += in_one_file(path, parts["head"]["programs"], classes)
    return programs


def in_one_file(path: Path, head: str, classes: dict[tuple[str, str], str]) -> list[Program]:
    text, made = head, []
    for parts, source in classes.items():
        first = text.count("\n") + 1
        text += source
        made.append(Program(str(path), first, text.count("\n"), parts))
    path.write_text(text)
    return made


def differences(folder: Path) -> list[Program]:
    parts = sections("differences")
    sources = {}
    for kind, text in parts["values"].items():
        values, *uses = text.splitlines()
        for number, use in enumerate(uses):
            for program, template in parts["program"].items():
                sources[f"{kind} {number}", program] = put(template, values=values, use=use)
    for kind, text in parts["state"].items():
        init, forward, drive = text.split("---\n")
        for loop, template in parts["loop"].items():
            sources[kind, loop] = put(template, init=init, forward=forward, drive=drive)
    made = []
    for number, (names, source) in enumerate(sources.items()):
        path = folder / f"p_{number}.py"
        path.write_text(parts["head"]["programs"] + source)
        made.append(Program(str(path), 1, source.count("\n") + 100, names))
    return made


def measured(paths: list[str]) -> dict[str, dict]:
    """What Dynamo did with each class or file, by name: measured in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(MEASURE)], input=json.dumps(paths), capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def judge(family: str, programs: list[Program]) -> tuple[int, list[str], list[str]]:
    """How many breaks, or programs that are compiled again, were found; those missed; wrong claims."""
    paths = sorted({program.path for program in programs})
    truth = measured(paths)
    kind = "recompile" if family == "differences" else "break"
    claimed = defaultdict(set)
    for finding in analyze(paths, StaticOptions()).findings:
        if finding.kind == kind and finding.confidence != "possible":
            claimed[finding.path] |= set(range(finding.line, finding.end_line + 1))
    found, missed, wrong = 0, [], []
    for program in programs:
        name = program.path if kind == "recompile" else f"M_{'_'.join(program.parts)}"
        seen, own = truth[name], range(program.first, program.last + 1)
        if seen["error"]:
            continue
        claims = {line for line in claimed[program.path] if line in own}
        shown = " x ".join(program.parts)
        if kind == "recompile":
            found += bool(seen["recompiles"] and claims)
            missed += [shown] if seen["recompiles"] and not claims else []
            wrong += [shown] if claims and not seen["recompiles"] else []
            continue
        lines = {line for line in seen["lines"] if line in own}
        found += len(lines & claims)
        missed += [f"{shown}: line {line - program.first}" for line in sorted(lines - claims)]
        # where Dynamo names a line of a library, the call of it is right
        others = [] if seen["elsewhere"] else sorted(claims - lines)
        wrong += [f"{shown}: line {line - program.first}" for line in others]
    return found, missed, wrong


FAMILIES = {
    "numbers": numbers,
    "ways": ways,
    "travels": travels,
    "cascades": cascades,
    "values": values,
    "kept": kept,
    "arrays": arrays,
    "differences": differences,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], metavar="FAMILY")
    for family in parser.parse_args().families or FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            programs = FAMILIES[family](Path(folder))
            found, missed, wrong = judge(family, programs)
        print(
            f"{family}: {len(programs)} programs; found {found} of {found + len(missed)}, wrong {len(wrong)}"
        )
        for title, places in (("missed", missed), ("wrong", wrong)):
            for place in places:
                print(f"  {title}: {place}")


if __name__ == "__main__":
    main()
