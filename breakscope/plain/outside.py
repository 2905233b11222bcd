"""Which packages the analyzer reads no source of: those that lie neither beside the file nor among installed ones."""

from __future__ import annotations

import os

from breakscope.environment import import_folders, names_in


class Outside:
    """Asked for packages that a file imports; looks into folders when it is first asked."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: set[str] | None = None

    def __call__(self, package: str) -> bool:
        if self._found is None:
            folder = os.path.dirname(os.path.abspath(self.path))
            while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
                folder = os.path.dirname(folder)
            self._found = {name.partition(".")[0] for one in (folder, *import_folders()) for name in names_in(one)}
        return package not in self._found
