"""Random projects and random edits of them, for the tests of the result cache."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

PLACES = [
    "model.py",
    "helper.py",
    "pkg/__init__.py",
    "pkg/model.py",
    "pkg/base.py",
    "pkg/inner/__init__.py",
    "pkg/inner/parts.py",
    "src/tools.py",
    "site-packages/layers/__init__.py",
    "site-packages/layers/core.py",
    "site-packages/single.py",
]
MODULES = ["helper", "pkg", "pkg.model", "pkg.base", "pkg.inner", "pkg.inner.parts", "tools"]
MODULES += ["layers", "layers.core", "single", "model"]
NAMES = ["read", "Base", "Model", "FLAG"]
IMPORTS = [
    "from {module} import {name}",
    "from {module} import *",
    "import {module} as other; {name} = other.{name}",
    "from . import {last}",
    "from .{last} import {name}",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {module} import *",
]
PARTS = [
    "FLAG = {number}",
    "def read(x):\n    return x{use}",
    "class Base(torch.nn.Module):\n    def forward(self, x):\n        return self.step(x)\n"
    "    def step(self, x):\n        return x{use}",
    "class Model({name} if False else torch.nn.Module):\n    def forward(self, x):\n"
    "        if FLAG:\n            x = read(x)\n        return x{use}",
    "class Model(Base):\n    def step(self, x):\n        return read(x){use}",
    "@torch.compile\ndef step(x):\n    {name}(x)\n    return read(x){use}",
]
USES = [".item()", " + 1.0 ", ".cpu()", ".tolist()"]
SWAPS = [
    (b".item()", b" + 1.0 "),
    (b" + 1.0 ", b".item()"),
    (b"FLAG = 0", b"FLAG = 1"),
    (b"FLAG = 1", b"FLAG = 0"),
    (b"import Base", b"import read"),
    (b"def step", b"def stop"),
]


def source(chance: random.Random) -> str:
    """A module of imports and definitions."""

    def filled(text: str) -> str:
        module = chance.choice(MODULES)
        return text.format(
            module=module,
            last=module.rpartition(".")[2],
            name=chance.choice(NAMES),
            use=chance.choice(USES),
            number=chance.randint(0, 1),
        )

    imports = chance.choices(IMPORTS, k=chance.randint(0, 3))
    parts = chance.choices(PARTS, k=chance.randint(1, 4))
    return "\n".join(map(filled, ["import torch", *imports, *parts])) + "\n"


def project(folder: Path, chance: random.Random) -> None:
    """A project with a package, a source folder and an environment of its own."""
    for place in PLACES:
        if chance.random() < 0.8:
            put(folder / place, source(chance))
    put(folder / "site-packages" / "layers-1.dist-info" / "METADATA", "")


def put(path: Path, text: str) -> None:
    """Write a file in place of whatever is there: to write to a FIFO would wait."""
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def edit(folder: Path, chance: random.Random) -> str:
    """Change something; returns what."""
    kind = chance.choice([rewrite, rewrite, swap, swap, add, remove, rename, mark, spoil, beside])
    path = folder / chance.choice(PLACES)
    kind(path, chance)
    return f"{kind.__name__} {path.relative_to(folder)}"


def rewrite(path: Path, chance: random.Random) -> None:
    put(path, source(chance))


def swap(path: Path, chance: random.Random) -> None:
    """An edit that keeps size, inode and time stamps."""
    if not path.is_file():
        return
    found, text = path.stat(), path.read_bytes()
    old, new = chance.choice(SWAPS)
    path.write_bytes(text.replace(old, new))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert path.stat().st_size == found.st_size


def add(path: Path, chance: random.Random) -> None:
    if not path.exists():
        put(path, source(chance))


def remove(path: Path, chance: random.Random | None = None) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def rename(path: Path, chance: random.Random) -> None:
    other = path.with_name(chance.choice(["model.py", "base.py", "parts.py", "other.py"]))
    if path.is_file() and other != path:
        remove(other)
        path.rename(other)


def mark(path: Path, chance: random.Random) -> None:
    """Something by which files are found comes or goes."""
    name = chance.choice([".gitignore", "pyproject.toml", "__init__.py", "x-1.dist-info"])
    other = path.with_name(name)
    if not path.parent.is_dir():
        return
    if other.exists():
        remove(other)
    elif name == ".gitignore":
        other.write_text(chance.choice(PLACES).rpartition("/")[2] + "\n")
    else:
        other.write_text("")


def spoil(path: Path, chance: random.Random) -> None:
    """The file is none that can be read as Python."""
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    how = chance.randint(0, 4)
    if how == 0:
        path.write_text("def")
    elif how == 1:
        path.write_bytes(b"\xff\xfe\x00")
    elif how == 2:
        os.mkfifo(path)
    elif how == 3:
        path.symlink_to(chance.choice(["model.py", "nowhere.py"]))
    else:
        path.mkdir()


def beside(path: Path, chance: random.Random) -> None:
    """Another file of the folder derives classes from this one's."""
    stem = path.stem if path.stem != "__init__" else path.parent.name
    put(
        path.with_name(f"derived{chance.randint(0, 1)}.py"),
        f"import torch\nfrom {chance.choice(['', '.'])}{stem} import Base, Model\n"
        f"class Derived({chance.choice(['Base', 'Model'])}):\n    def step(self, x):\n"
        f"        return x{chance.choice(USES)}\n",
    )
