"""What the names of files and packages say of what stands in them: code that draws, measures or debugs models, prepares
data, or tests."""

from __future__ import annotations

import re

from breakscope.static.project.modules import ModuleInfo

# a word in the name of a file, or of the folder that it is in: of functions and of modules, of functions alone, and of
# modules alone that run beside a model, or before it on single samples
MEASURING = r"plots?|plotting|flops?|profil(?:e|er|ing)|debug|benchmarks?|monitor(?:ing)?|reporters?|downloads?"
FILES = re.compile(
    rf"(?:^|[_/])(?:{MEASURING}|visuali[sz](?:e|ation|er)s?|viz|mocks?|tensorboard|explain(?:ers?|ability)|reports?"
    r"|validation|verif(?:y|ier|ication)|diagnostics?|observers?|calibrat(?:e|ion|or)s?|serializ(?:e|ers?|ation))(?=[_./])"
)
MEASURES = re.compile(rf"(?:^|[_/])(?:{MEASURING})(?=[_./])|(?:^|/)data(?:sets?|loaders?)(?=[./])")
METRICS = re.compile(r"(?:^|[_/])(?:metrics|metric(?=[./]))(?=[_./])")
# a package of data sets, with what prepares their samples, and of what writes models for other run times
OF_DATA = re.compile(r"(?:^|\.)(?:data(?:sets?|loaders?)|exports?)\.")
# the name of a module of tests, or of a package above it; where a project lies says nothing
TESTS = re.compile(r"(?:^|\.)(?:tests?\.|(?:test_\w+|\w+_test|conftest)$)")


def file_of(module: ModuleInfo) -> str:
    """The name of a module's file, with the folder that it is in."""
    return "/".join(module.path.split("/")[-2:])


def is_file_around(module: ModuleInfo) -> bool:
    """True for a file of functions that draw, count, profile, debug, compare, measure values to quantise by, keep values in
    files, or stand in for others in tests."""
    return FILES.search(file_of(module)) is not None


def is_of_measures(module: ModuleInfo) -> bool:
    """True for a file of what judges or shows what a model gave."""
    return (
        MEASURES.search(file_of(module)) is not None or METRICS.search(file_of(module)) is not None
    )
