"""Packages only; everything else stands in pyproject.toml. The folder `rules` is installed as `breakscope.rules`."""

from setuptools import find_namespace_packages, setup

setup(
    packages=[
        *find_namespace_packages(include=["breakscope", "breakscope.*"], exclude=["*.__pycache__"]),
        "breakscope.rules",
    ],
    package_dir={"breakscope": "breakscope", "breakscope.rules": "rules"},
)
