"""Files that are imported with other contents than they have on disk."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import linecache
import os
from pathlib import Path


def install(sources: dict[str, str]) -> None:
    """From now on the files (absolute paths) are imported from what the files beside their names
    hold; tracebacks and `inspect` show that, too."""
    contents = {os.path.realpath(path): Path(file).read_bytes() for path, file in sources.items()}
    if not contents:
        return
    loader = importlib.machinery.SourceFileLoader
    read_code, read_data = loader.get_code, loader.get_data

    def get_code(self, name: str):
        path = self.get_filename(name)
        data = contents.get(os.path.realpath(path))
        if data is None:
            return read_code(self, name)
        return compile(
            data, path, "exec", dont_inherit=True
        )  # as the file's bytes: it may have a coding line

    def get_data(self, path: str) -> bytes:
        data = contents.get(os.path.realpath(path))
        return read_data(self, path) if data is None else data

    loader.get_code, loader.get_data = get_code, get_data
    for path, data in contents.items():
        lines = importlib.util.decode_source(data).splitlines(keepends=True)
        linecache.cache[path] = (len(data), None, lines, path)
