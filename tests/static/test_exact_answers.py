"""A check of several files is the union of the checks of each: place by place and field by field,
in any order, and for any part of them."""

from __future__ import annotations

import importlib.util
import itertools
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest
from interference import project
from programs import TORCH, write

from breakscope import limits
from breakscope.report.model import Finding
from breakscope.static import StaticOptions, analyze
from breakscope.static.answer import union
from breakscope.static.machine.world import World
from breakscope.static.project.files import python_files

ROOT = Path(__file__).resolve().parents[2]


PROJECTS = 300  # generated ones

CIRCLE = """\
import torch
import {following}


def shifted(x):
    return x + 1


shift = {following}.shifted


class Model(torch.nn.Module):
    def forward(self, x):
        if {following}.shift(x).sum() > 0:
            return x
        return -x
"""


def check(files: list[str], **options) -> tuple[Finding, ...]:
    result = analyze(files, StaticOptions(torch=TORCH, **options))
    assert not any(error.path for error in result.errors)
    return result.findings


def shown(findings: tuple[Finding, ...]) -> list[str]:
    return [msgspec.json.encode(finding).decode() for finding in findings]


def assert_exact(paths: list[str | Path], seed: int, *, most: int = 0, **options) -> int:
    """Compare the check of all files (of `most` ones, chosen at random) with those of parts of
    them; returns how many findings there are."""
    chance = random.Random(seed)
    files = list(python_files(paths))
    if most and len(files) > most:
        files = sorted(chance.sample(files, most))
    whole = shown(check(files, **options))
    singles = {file: check([file], **options) for file in files}
    assert shown(union(singles.values())) == whole, "file by file"
    shuffled = chance.sample(files, len(files))
    assert shown(check(shuffled, **options)) == whole, f"in the order {shuffled}"
    part = chance.sample(files, chance.randint(1, len(files)))
    expected = shown(union(singles[file] for file in part))
    assert shown(check(part, **options)) == expected, f"the part {part}"
    return len(whole)


def test_the_seed_of_hashes_does_not_matter():
    """Sets have another order in each process."""
    answers = set()
    for seed in ("1", "2", "3"):
        command = [sys.executable, "-m", "breakscope", "check", "samples", "tests/static", "rules"]
        done = subprocess.run(
            [*command, "--entry", "*::bad*", "--format", "json", "--exit-zero"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "BREAKSCOPE_CACHE_DIR": os.devnull},
            capture_output=True,
            check=True,
        )
        answers.add(done.stdout)
    assert len(answers) == 1 and len(msgspec.json.decode(answers.pop())["findings"]) > 100


def test_samples():
    assert assert_exact([ROOT / "samples"], 1)


def test_tests_own_programs():
    targets = ROOT / "tests" / "dynamic" / "targets"
    assert assert_exact([targets, ROOT / "tests" / "static"], 2, most=30)


def test_rules_examples():
    """Their files share helpers and define functions of the same names."""
    assert assert_exact([ROOT / "rules"], 3, entries=("*::bad*", "*::good*"), most=40)


@pytest.mark.parametrize(
    ("package", "folders", "most"),
    [
        ("transformers", ["models/bert", "models/llama"], 0),
        ("torch", ["nn/modules", "nn/utils"], 30),
    ],
)
def test_libraries(package, folders, most):
    top = Path(importlib.util.find_spec(package).origin).parent
    assert assert_exact([top / folder for folder in folders], 4, most=most)


def test_star_import_in_a_circle(tmp_path):
    """What `*` takes from a module that is still running depends on who asked first."""
    write(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/kinds.py": "KINDS = {}\n",
            "pkg/registry.py": "from pkg.model import *\n",
            "pkg/model.py": """\
                import torch
                from pkg import kinds, registry

                KINDS = kinds.KINDS

                def register(name):
                    def note(function):
                        KINDS[name] = function
                    return note

                @registry.register("a")
                def read(x):
                    return x.tolist()

                class Model(torch.nn.Module):
                    def forward(self, x):
                        return kinds.KINDS["a"](x)
                """,
            "pkg/other.py": """\
                import torch
                from pkg import model

                class Other(torch.nn.Module):
                    def forward(self, x):
                        if model.KINDS:
                            print(x)
                """,
        },
    )
    files = list(python_files([tmp_path]))
    singles = union(check([file]) for file in files)
    assert singles
    for order in itertools.permutations(files):
        assert shown(check(list(order))) == shown(singles)


def test_global_that_changes_in_a_circle(tmp_path):
    """What a file changes in a module holds for it until its end, however often the modules of the
    circle are run again for one another."""
    write(
        tmp_path,
        {
            "pkg/m0.py": """\
                from pkg.m1 import *
                class Model0(m3.Base):
                    def forward(self, x):
                        m3.switch()
                m1.switch()
                """,
            "pkg/m1.py": """\
                import pkg.m0 as m0
                import pkg.m3 as m3
                def switch():
                    global FLAG, CONFIG
                    FLAG = not FLAG
                import pkg.m1 as m1
                try:
                    from .nowhere import FLAG
                except ImportError:
                    FLAG = m0.FLAG
                m3.Holder.flag = True
                """,
            "pkg/m2.py": """\
                import torch
                class Base(nn.Module):
                    kind = None
                import pkg.m0 as m0
                from pkg.m0 import CONFIG, FLAG
                from pkg.m3 import *
                m0.switch()
                """,
            "pkg/m3.py": """\
                from pkg.m0 import *
                import pkg.m2 as m2
                helper.mark = m2.FLAG
                m1.Holder.flag = True
                """,
            "pkg/__init__.py": "",
        },
    )
    files = list(python_files([tmp_path]))
    singles = shown(union(check([file]) for file in files))
    assert shown(check(files)) == singles
    assert shown(check(files[::-1])) == singles


CALLS_ALL = """\
    import torch
    from torch import nn

    class Model(nn.Module):
        def forward(self, x):
            for function in {functions}:
                x = function(x)
            return x
    """


def test_modules_that_ask_for_each_other(tmp_path):
    """What a file has changed is hidden from all modules that run for it, however deep."""
    write(
        tmp_path,
        {
            "state.py": "FLAG = False\ndef enable():\n    global FLAG\n    FLAG = True\n",
            "inner.py": "import state\nFLAG = state.FLAG\n",
            "middle.py": "import inner, state\nINNER, FLAG = inner.FLAG, state.FLAG\n",
            "outer.py": "import middle, state\nMIDDLE, FLAG = middle.FLAG, state.FLAG\n",
            "changes.py": """\
                import torch
                import state

                state.enable()
                import outer

                FLAG = outer.FLAG

                class Model(torch.nn.Module):
                    def forward(self, x):
                        return x
                """,
            "reads.py": """\
                import torch
                import inner
                import middle
                import outer

                class Model(torch.nn.Module):
                    def forward(self, x):
                        if inner.FLAG:
                            print(x, 1)
                        if middle.FLAG:
                            print(x, 2)
                        if outer.FLAG:
                            print(x, 3)
                """,
        },
    )
    assert check([str(tmp_path / "changes.py"), str(tmp_path / "reads.py")]) == ()


def test_part_of_a_circle_that_saw_less(tmp_path):
    """What saw only a part of one module of a circle is nothing for those outside of it."""
    write(
        tmp_path,
        {
            "listed.py": """\
                import part
                import circle

                def double(x):
                    return x * 2

                def read(x):
                    return x.item()

                FUNCTIONS = [double]
                SEEN = part.FUNCTIONS
                ROOT = circle.ROOT
                FUNCTIONS.append(read)
                """,
            "part.py": "import listed\nFUNCTIONS = [*listed.FUNCTIONS]\n",
            "outside.py": "import part\nFUNCTIONS = part.FUNCTIONS\n",
            "circle.py": """\
                import listed
                import outside

                ROOT = 1
                LISTED = listed.FUNCTIONS
                FUNCTIONS = outside.FUNCTIONS
                """,
            "one.py": "import circle\n"
            + textwrap.dedent(CALLS_ALL).format(functions="circle.FUNCTIONS"),
            "two.py": "import outside\n"
            + textwrap.dedent(CALLS_ALL).format(functions="outside.FUNCTIONS"),
        },
    )
    one, two = str(tmp_path / "one.py"), str(tmp_path / "two.py")
    alone = shown(check([two]))
    assert alone
    assert shown(check([one, two])) == shown(check([two, one])) == alone


def test_large_circle_is_run_once_for_all_of_it(tmp_path, monkeypatch):
    """Each of its modules as the first would be a run of all, for each."""
    runs = []
    run = World._run
    monkeypatch.setattr(
        World, "_run", lambda self, module: (runs.append(module), run(self, module))[1]
    )
    monkeypatch.setattr(limits, "LARGEST_CIRCLE", 8)
    names = [f"m{number:02}" for number in range(16)]
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        write(tmp_path, {f"{name}.py": CIRCLE.format(following=following)})
    assert assert_exact([tmp_path], 0, libraries=False) == len(names)
    runs.clear()
    check([str(tmp_path)])
    assert len(runs) <= 3 * len(names)


def test_circles_of_which_one_run_holds_for_all(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "LARGEST_CIRCLE", 1)
    for seed in range(8):
        folder = tmp_path / str(seed)
        write(folder, project(random.Random(seed)))
        assert_exact([folder], seed, libraries=False)


def test_long_chain_of_imports(tmp_path, monkeypatch):
    """How many modules an import goes through does not matter: other files may have made them."""
    monkeypatch.setattr(limits, "MOST_FRAMES", 500)
    last = 120
    for number in range(last):
        following = f"m{number + 1:03}"
        source = f"""\
            import torch
            from torch import nn
            import {following}

            FLAG = {following}.FLAG

            class Model(nn.Module):
                def forward(self, x):
                    if {following}.FLAG:
                        print(x)
            """
        write(tmp_path, {f"m{number:03}.py": source})
    write(tmp_path, {f"m{last:03}.py": "FLAG = True\n"})
    files = list(python_files([tmp_path]))[:last:40]
    assert len(check(files[:1])) == 1
    assert shown(check(files[::-1])) == shown(union(check([file]) for file in files))


@pytest.mark.parametrize(
    "first",
    [
        *range(0, PROJECTS // 3, 25),
        *(pytest.param(n, marks=pytest.mark.nightly) for n in range(PROJECTS // 3, PROJECTS, 25)),
    ],
)
def test_generated_projects(first, tmp_path):
    for seed in range(first, first + 25):
        folder = tmp_path / str(seed)
        write(folder, project(random.Random(seed)))
        assert_exact([folder], seed, libraries=False)
