"""What the look at plain code clears, the analyzer must find clean: over samples, rules, torch and transformers."""

from importlib.metadata import files
from pathlib import Path

import pytest

from breakscope.glance import heirs, is_clever, may_be_plain
from breakscope.plain import is_plain
from breakscope.static import StaticOptions, analyze
from breakscope.static.suspects import may_matter

ROOT = Path(__file__).resolve().parents[2]


def cleared(paths) -> list[Path]:
    """Those of the files that hold a region and that the look clears."""
    found = []
    for path in paths:
        data = path.read_bytes()
        if b"forward" in data and may_matter(data) and may_be_plain(data):
            try:
                tree = compile(data, str(path), "exec", 0x400, dont_inherit=True)
            except SyntaxError:
                continue
            if is_plain(tree, is_clever(data), str(path), lambda classes: heirs(path, classes)):
                found.append(path)
    return found


def installed(package: str, part: str) -> list[Path]:
    return sorted(Path(f.locate()) for f in files(package) or () if f.suffix == ".py" and str(f).startswith(part))


def said(path: Path, torch: str | None = None) -> list:
    result = analyze([path], StaticOptions(torch=torch))
    return [f for f in result.findings if f.confidence != "possible"] + [*result.errors, *result.notes]


def test_the_clean_samples_are_cleared():
    names = {path.stem for path in cleared((ROOT / "samples").glob("*.py"))}
    assert {"detector_clean", "gpt_clean", "moe_clean", "vae_clean"} <= names


@pytest.mark.parametrize("torch", ["2.6", "2.9", "2.13", "2.15"])
def test_samples_rules_and_tests(torch):
    folders = ("samples", "rules", "tests", "benchmarks")
    paths = cleared(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    assert len(paths) > 5
    for path in paths:
        assert not said(path, torch), path


@pytest.mark.parametrize(
    "package, part",
    [("torch", "torch/nn/"), ("torch", "torch/_export/db/"), ("transformers", "transformers/generation/")],
)
def test_installed_packages(package, part):
    paths = cleared(installed(package, part))
    assert paths
    for path in paths:
        assert not said(path), path
