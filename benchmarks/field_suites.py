"""Packages in environments of their own, and what there is to run of them, for field.py."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEST_FOLDERS = ("tests", "test", "testing")
TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
EXTRAS = ("test", "tests", "testing")
REQUIREMENTS = [
    form.format(name)
    for name in EXTRAS
    for form in ("requirements-{}.txt", "requirements_{}.txt", "requirements/{}.txt")
] + ["tests/requirements.txt", "test/requirements.txt"]
# pip is stopped after that many seconds: what has to be compiled for longer is left out
INSTALL, DOWNLOAD = 400, 120
# built for one torch of one kind: without them the Python of the package is what is left, and drive.py
# defines what it asks for
EXTENSIONS = ("torchvision/*.so", "torchaudio/lib/*.so")
WHAT_IS_INSTALLED = """
import sys, json, importlib.metadata as m
d = m.distribution(sys.argv[1])
tops = sorted({f.parts[0] for f in d.files or () if f.suffix == ".py" and ".." not in f.parts})
print(json.dumps({"version": d.version, "site": str(d.locate_file("")), "folders": tops,
                  "text": d.metadata.get_payload() or d.metadata.get("Description", ""),
                  "extras": d.metadata.get_all("Provides-Extra") or []}))
"""


class LeftOut(Exception):
    """Why a package cannot be measured, in one line."""


@dataclass(frozen=True)
class Installed:
    """An installed package: its interpreter, its folders and single modules in site-packages, its
    description."""

    name: str
    version: str
    python: Path
    site: Path
    folders: tuple[str, ...]
    description: str


@dataclass(frozen=True)
class Suite:
    """What is run of a package: how drive.py calls it, with which paths, in which folder."""

    kind: str  # "tests", "snippets" or "modules"
    paths: tuple[Path, ...]
    folder: Path


def base_environment(folder: Path) -> Path:
    """The environment that all packages' environments see: torch, pytest and what most suites import."""
    env = folder / "base"
    if not (env / "bin" / "python").exists():
        run([sys.executable, "-m", "venv", str(env)], INSTALL)
        python = str(env / "bin" / "python")
        more = [
            "pytest",
            "pytest-timeout",
            "hypothesis",
            "scipy",
            "setuptools<81",
            "wheel",
            "einops",
        ]
        more += [
            "hatchling",
            "poetry-core",
            "flit-core",
            "pdm-backend",
            "setuptools_scm",
            "parameterized",
        ]
        run(
            [python, "-m", "pip", "install", "-q", *constraints(folder), "torch", "numpy", *more],
            1800,
        )
    return env


def constraints(folder: Path) -> list[str]:
    """torch stays what it is; all else is the package's own affair."""
    pinned = [
        x for x in (ROOT / "constraints.txt").read_text().splitlines() if x.startswith("torch==")
    ]
    file = folder / "torch.txt"
    file.write_text("\n".join(pinned) + "\n")
    return ["-c", str(file)]


def installed(folder: Path, package: str, more: list[str]) -> Installed:
    """Install a package into an environment of its own, upon the base environment."""
    base = base_environment(folder)
    name = package.partition("==")[0]
    env = folder / "environments" / name
    if not env.exists():
        run([sys.executable, "-m", "venv", "--without-pip", str(env)], INSTALL)
        site = next((env / "lib").glob("python3*")) / "site-packages"
        (site / "base.pth").write_text(
            str(next((base / "lib").glob("python3*")) / "site-packages") + "\n"
        )
    python = env / "bin" / "python"
    pip = pip_into(folder, python)
    found = described(python, name)
    if found is None or found["site"].startswith(str(base)) or more:
        run([*pip, package, *more], INSTALL)
        found = described(python, name)
    if found is None:
        raise LeftOut("it was not installed")
    extras = [extra for extra in EXTRAS if extra in found["extras"]][:1]
    if extras and not (env / "extras").exists():
        (env / "extras").touch()
        add([f"{name}[{extras[0]}]=={found['version']}"], python, folder)
    if not found["folders"]:
        raise LeftOut("it has no source in site-packages")
    for file in (f for form in EXTENSIONS for f in Path(found["site"]).glob(form)):
        file.unlink()
    return Installed(
        name, found["version"], python, Path(found["site"]), tuple(found["folders"]), found["text"]
    )


def pip_into(folder: Path, python: Path) -> list[str]:
    """The command that installs into a package's environment."""
    pip = [str(base_environment(folder) / "bin" / "python"), "-m", "pip", "--python", str(python)]
    return [*pip, "install", "-q", "--no-compile", *constraints(folder)]


def described(python: Path, name: str) -> dict | None:
    done = subprocess.run([python, "-c", WHAT_IS_INSTALLED, name], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def suites_of(package: Installed, given: str, folder: Path) -> list[Suite]:
    """The tests of a folder that was given, or of the source distribution; then the description."""
    # no name that could be imported: with an `__init__.py` in it, it would be taken for the package
    work = folder / "suites" / f"{package.name}-{package.version}"
    found = []
    try:
        if given and work.exists() and not test_folders(work):
            shutil.rmtree(work)  # its source distribution has no tests
        if not work.exists():
            unpack(package, given, folder, work)
            add(wanted_by_tests(work), package.python, folder)
        without_package(work, package.folders)
        if paths := test_folders(work):
            found.append(Suite("tests", tuple(paths), work))
    except LeftOut as problem:
        print(f"    {problem}", flush=True)
        work.mkdir(parents=True, exist_ok=True)
    readme = work / "field_description.md"
    description = described_in(package, work)
    readme.write_text(description, encoding="utf-8")
    if "import" in description:
        found.append(Suite("snippets", (readme,), work))
    return found


def wanted_by_tests(work: Path) -> list[str]:
    """What sources say that their tests need beside the extras of the package: a dependency group or
    a file of requirements."""
    project = work / "pyproject.toml"
    groups: dict[str, list] = {}
    if project.exists():
        with contextlib.suppress(tomllib.TOMLDecodeError):
            told = tomllib.loads(project.read_text(encoding="utf-8", errors="replace"))
            poetry = told.get("tool", {}).get("poetry", {}).get("group", {})
            groups = {name: list(group.get("dependencies", ())) for name, group in poetry.items()}
            groups |= told.get("dependency-groups", {})
    for name in (*EXTRAS, "dev"):
        if wanted := [x for x in groups.get(name, ()) if isinstance(x, str)]:
            return [x for x in wanted if x != "python"]
    for name in REQUIREMENTS:
        if (work / name).is_file():
            lines = (work / name).read_text(encoding="utf-8", errors="replace").splitlines()
            # no path, address or further file: each would be read from where pip runs
            return [
                x
                for line in lines
                if re.match(r"[A-Za-z]", x := line.partition("#")[0].strip()) and "/" not in x
            ]
    return []


def add(wanted: list[str], python: Path, folder: Path) -> None:
    """Install what tests want; without it some of them may still run."""
    try:
        if wanted:
            run([*pip_into(folder, python), *wanted], INSTALL)
    except LeftOut as problem:
        print(f"    without what its tests want: {problem}", flush=True)


def described_in(package: Installed, work: Path) -> str:
    """The package's description; that of its sources where its metadata has none with code."""
    if "import" in package.description:
        return package.description
    readmes = sorted(path for path in work.glob("README*") if path.suffix in (".md", ".rst"))
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in readmes)
    return next((text for text in texts if "import" in text), "")


def unpack(package: Installed, given: str, folder: Path, work: Path) -> None:
    if given:
        shutil.copytree(given, work, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        return
    downloads = folder / "sdists" / package.name
    pip = [str(folder / "base" / "bin" / "python"), "-m", "pip", "download", "-q", "--no-deps"]
    pip += ["--no-binary", ":all:", "-d", str(downloads)]
    wanted = f"{package.name}=={package.version}"
    try:
        run([*pip, "--no-build-isolation", wanted], DOWNLOAD)
    except LeftOut:
        run([*pip, wanted], DOWNLOAD)
    for archive in downloads.glob("*.tar.gz"):
        with tarfile.open(archive) as tar:
            tar.extractall(downloads, filter="data")
        top = next(path for path in downloads.iterdir() if path.is_dir())
        shutil.move(top, work)
        return
    raise LeftOut("its source distribution is no .tar.gz")


def without_package(work: Path, folders: tuple[str, ...]) -> None:
    """Take the package itself out of its sources, so that the installed one is tested; tests that lie
    inside of it stay, beside it. Nor is the top folder one."""
    (work / "__init__.py").unlink(missing_ok=True)
    for top in (work, work / "src", work / "lib"):
        for name in folders:
            package = top / name
            if package.is_file() and not TEST_FILE.fullmatch(name):
                package.unlink()
            if name in TEST_FOLDERS or not package.is_dir():
                continue
            inside = [p for n in TEST_FOLDERS for p in package.rglob(n) if holds_tests(p)]
            for number, path in enumerate(sorted(inside, key=lambda p: len(p.parts))):
                if path.exists():
                    shutil.move(path, work / f"{name}_tests_{number}")
            shutil.rmtree(package)


def test_folders(work: Path) -> list[Path]:
    """The outermost folders that hold tests; the top folder itself where they lie in it."""
    if any(TEST_FILE.fullmatch(p.name) for p in work.glob("*.py")):
        return [work]
    depth = len(work.parts)
    folders = [p for p in work.rglob("*") if p.is_dir() and len(p.parts) - depth <= 3]
    named = [p for p in sorted(folders) if is_named_for_tests(p) and holds_tests(p)]
    return [p for p in named if not any(p != q and p.is_relative_to(q) for q in named)]


def is_named_for_tests(path: Path) -> bool:
    return path.name in TEST_FOLDERS or re.search(r"_tests(_\d+)?$", path.name) is not None


def holds_tests(path: Path) -> bool:
    return path.is_dir() and any(TEST_FILE.fullmatch(p.name) for p in path.rglob("*.py"))


def run(command: list[str], seconds: float) -> str:
    """What a command prints; at the limit its children, as of a build, end with it."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PIP_NO_INPUT": "1"}
    with subprocess.Popen(command, env=environment, start_new_session=True, **pipes) as process:
        try:
            printed, failure = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise LeftOut(f"{' '.join(command[2:4])} took more than {seconds} s") from None
    if process.returncode:
        said = [line for line in failure.splitlines() if "error" in line.lower()]
        raise LeftOut((said or failure.splitlines() or ["failed"])[-1][:200])
    return printed
