"""check --show-files and --show-settings: what a check would look at, and with which settings."""

from __future__ import annotations

import json
import os
import sys

from breakscope.config import Config
from breakscope.environment import import_folders, python_version
from breakscope.knowledge import target_version
from breakscope.static.project.files import python_files, relative_path
from breakscope.workflows.check import CheckOptions, cache_folder, static_options


def file_list(options: CheckOptions, config: Config) -> list[str]:
    """The files that a check reads, as its findings name them."""
    asked = static_options(options, config)
    return [relative_path(path) for path in python_files(options.paths, asked.exclude)]


def settings_text(options: CheckOptions, config: Config) -> str:
    """The settings in the form of the file, the command line's over it; what is not set there in
    comments."""
    asked, selection = static_options(options, config), options.choice.selection(config)
    installed = import_folders(asked.environment)
    python = asked.python or python_version(installed) or sys.version_info[:2]
    values = {
        "select": selection.select,
        "extend-select": selection.extend_select,
        "ignore": selection.ignore,
        "exclude": asked.exclude,
        "entry": asked.entries,
        "rules": asked.extra_rules,
        "torch": asked.torch or target_version(installed),
        "libraries": asked.libraries,
        "cache": bool(cache_folder(options, config)),
    }
    lines = [f"# from {config.path or 'no file: no pyproject.toml has [tool.breakscope]'}"]
    lines += [f"{key} = {_toml(value)}" for key, value in values.items()]
    ignores = ", ".join(
        f"{_toml(glob)} = {_toml(codes)}" for glob, codes in config.per_file_ignores
    )
    lines.append(f"per-file-ignores = {{ {ignores} }}" if ignores else "per-file-ignores = {}")
    lines.append(f"# Python {'.'.join(map(str, python))}")
    lines.append(f"# environment: {os.pathsep.join(installed) or 'none'}")
    lines.append(f"# cache: {cache_folder(options, config) or 'none'}")
    lines.append(f"# working directory: {os.getcwd()}")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(_toml, value))}]"
