"""msgspec without what it imports for values that breakscope has none of: UUIDs, decimals, JSON schemas' indented texts,
dates written in Python.

They are half of its import's time, a twelfth of a check of one file. For processes that end behind the check: whoever
makes a schema there, or hands a UUID or a decimal to msgspec, would find the stand-ins.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Nothing:
    """Stands in for a class of which there is no instance."""

    unknown = None  # uuid.SafeUUID.unknown


STAND_INS = {"uuid": ("UUID", "SafeUUID"), "decimal": ("Decimal",), "textwrap": ()}


def import_msgspec() -> None:
    """Import msgspec with stand-ins for the modules that it takes along and that nothing else has imported. They are gone
    afterwards: who imports one then gets the real one."""
    absent: dict[str, ModuleType | None] = {name: _stand_in(name, classes) for name, classes in STAND_INS.items()}
    absent["typing_extensions"] = None  # takes the place of `typing` in msgspec, where it can be imported
    absent |= _dates()
    absent = {name: module for name, module in absent.items() if name not in sys.modules}
    sys.modules.update(absent)
    try:
        import msgspec  # noqa: F401
    except Exception:
        pass  # it needs more of them than is known here, and is imported as a whole where it is asked for next
    finally:
        for name in absent:
            del sys.modules[name]


def _dates() -> dict[str, ModuleType]:
    """The classes of `datetime` as they are in C; before Python 3.12 it defines each of them in Python first."""
    try:
        import _datetime
    except ImportError:
        return {}
    return {"datetime": _datetime}


def _stand_in(name: str, classes: tuple[str, ...]) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(dict.fromkeys(classes, _Nothing))
    return module
