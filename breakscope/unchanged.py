"""Files that were found clean before and are the same as then, with everything that the check read.

While a check runs, an audit hook (PEP 578) notes the files that it opens and the folders that it lists, so that nothing which
its answer depends on can be forgotten. When it has nothing to say, their states are kept in the user's cache, and the same
command is answered from there until one of them changes. `BREAKSCOPE_NO_CACHE=1` turns that off.

Imports next to nothing, because every check of a few files asks here first.
"""

from __future__ import annotations

import marshal
import os
import sys
import time

from breakscope import __version__

SWITCHES = ("BREAKSCOPE_NO_CACHE", "BREAKSCOPE_DEBUG")
ENVIRONMENT = ("VIRTUAL_ENV", "CONDA_PREFIX")  # where packages are found, see environment.py
SLOTS = 509  # checks that are kept at most: a new one takes the place of an old one
MOST_BYTES = 400_000  # of the checked files
SETTLED = 2 * 10**9  # nanoseconds: what changed less long ago may change again without another time stamp
WRITING, LISTING = os.O_WRONLY | os.O_RDWR, ("os.listdir", "os.scandir")


class Reads:
    """The files and folders that this process has read since `start`."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.began = time.time_ns()

    @classmethod
    def start(cls) -> Reads:
        reads = cls()
        sys.addaudithook(reads.note)  # for good: for a process that ends behind its one check
        return reads

    def note(self, event: str, arguments: tuple) -> None:
        """The audit hook. Compiled modules do not count: what they were compiled from is asked for, see `keep`."""
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & WRITING) or event in LISTING:
            path = os.curdir if arguments[0] is None else arguments[0]
            if not isinstance(path, int) and not (path := os.fsdecode(path)).endswith(".pyc"):
                self.paths.add(path)


def is_unchanged(paths: tuple[str, ...]) -> bool:
    """True when these files were found clean and nothing that the check read has changed since."""
    if any(map(os.environ.get, SWITCHES)):
        return False
    key = _key(paths)
    try:
        with open(_slot(key), "rb") as file:
            kept, checked, states = marshal.load(file)
        return kept == key and all(_bytes(p) == b for p, b in checked.items()) and all(_state(p) == s for p, s in states.items())
    except (OSError, EOFError, ValueError, TypeError):  # there is none, it is damaged, or a file is gone
        return False


def keep(paths: tuple[str, ...], reads: Reads) -> None:
    """Remember that the files were found clean; beside what was read, what this tool is made of decided it."""
    if any(map(os.environ.get, SWITCHES)) or not all(map(os.path.isfile, paths)):
        return
    key = _key(paths)
    checked = {path: _bytes(path) for path in paths}
    others = {*map(os.path.abspath, reads.paths)} - {*map(os.path.abspath, paths)}
    others = {path for path in others if not path.startswith(cache_folder())}  # made of the rules, see listeners.py
    ours = [m.__file__ for name, m in [*sys.modules.items()] if name.partition(".")[0] == "breakscope"]
    states = {path: _state(path) for path in (*others, *filter(None, ours), *_rules())}
    latest = max((state[0] for state in states.values() if state), default=0)
    if sum(map(len, checked.values())) > MOST_BYTES or latest > reads.began - SETTLED:
        return
    file = _slot(key)
    unfinished = f"{file}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(unfinished, "wb") as new:
            marshal.dump((key, checked, states), new)
        os.replace(unfinished, file)
    except OSError:
        pass  # a cache is no duty


def cache_folder() -> str:
    """The folder of ours where the system keeps what can be made again."""
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        cache = os.path.expanduser("~/Library/Caches")
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "breakscope")


def _key(paths: tuple[str, ...]) -> tuple:
    """All that the answer depends on beside files."""
    return (paths, os.getcwd(), __file__, __version__, sys.version, tuple(sys.path), tuple(map(os.environ.get, ENVIRONMENT)))


def _rules() -> list[str]:
    from breakscope.rulebook import rule_files, rules_folder

    folder = str(rules_folder())
    return [os.path.join(folder, name) for name in rule_files(folder)]


def _slot(key: tuple) -> str:
    return os.path.join(cache_folder(), "clean", f"{int.from_bytes(marshal.dumps(key), 'little') % SLOTS}")


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
