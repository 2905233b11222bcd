"""torch's own version, which is the one that a check is for, and what programs make of it to compare it."""

from __future__ import annotations

import re

from breakscope.knowledge.versions import numbers_of, target_version
from breakscope.rulekit.values import Const, Sequence, Value
from breakscope.static.project.modules import ClassInfo, FunctionInfo

OF_TORCH = frozenset(
    {"torch.__version__", "torch.version.__version__", "torch.torch_version.__version__"}
)
# called with a text, each makes a version of it
MAKERS = frozenset(
    """
    packaging.version.parse packaging.version.Version pkg_resources.parse_version torch.torch_version.TorchVersion
    pkg_resources.packaging.version.parse pkg_resources.extern.packaging.version.parse
    distutils.version.LooseVersion distutils.version.StrictVersion looseversion.LooseVersion
    looseversion.looseversion.LooseVersion
    """.split()
)  # fmt: skip
# what functions of packages that are not at hand are called when they do
SPEAKS_OF_ONE = re.compile(r"(?:(?:parse|digit|as|to|make)_)?version|[A-Z]?\w*Version")
# called with the name of a package, each gives the text of its version
INSTALLED = frozenset({"importlib.metadata.version", "importlib_metadata.version"})
NAMES = frozenset(name.rpartition(".")[2] for name in MAKERS | INSTALLED)
TEXT = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|c|rc|alpha|beta|pre|dev)[-_.]?\d*)?(?:[+.].*)?$")


class Version:
    """A version as programs compare it: numbers, and whether it is a final one. It compares with other versions,
    texts and tuples of numbers."""

    def __init__(self, text: str) -> None:
        found = TEXT.match(text.strip())
        if found is None:
            raise ValueError(text)
        self.numbers = tuple(int(part) for part in found[1].split("."))
        self.is_final = found[2] is None

    def _key(self) -> tuple[tuple[int, ...], bool]:
        numbers = self.numbers
        while numbers and numbers[-1] == 0:
            numbers = numbers[:-1]
        return numbers, self.is_final

    def __eq__(self, other: object) -> bool:
        try:
            return self._key() == _version(other)._key()
        except TypeError:
            return False

    def __lt__(self, other: object) -> bool:
        return self._key() < _version(other)._key()

    def __le__(self, other: object) -> bool:
        return self._key() <= _version(other)._key()

    def __gt__(self, other: object) -> bool:
        return self._key() > _version(other)._key()

    def __ge__(self, other: object) -> bool:
        return self._key() >= _version(other)._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<Version {'.'.join(map(str, self.numbers))}>"


class VersionText(Version, str):
    """The text of a version that compares as one: `torch.__version__`."""

    __hash__ = str.__hash__
    __repr__ = str.__repr__


def _version(other: object) -> Version:
    if isinstance(other, Version):
        return other
    if isinstance(other, tuple):
        other = ".".join(map(str, other))
    try:
        return Version(str(other) if isinstance(other, str) else "")
    except ValueError:
        raise TypeError(other) from None


def version_of_torch() -> Const:
    """The target version, as `torch.__version__` has it."""
    numbers = [*numbers_of(target_version()), 0, 0][:3]
    return Const(VersionText(".".join(map(str, numbers))))


def known_version(name: str, args: list[Value]) -> Value | None:
    """What a function of `MAKERS` or `INSTALLED`, or of their names, gives, None where that is not known."""
    given = args[0].value if len(args) == 1 and args[0].is_const else None
    if not isinstance(given, str | Version):
        return None
    if name in INSTALLED:
        return Const(str(version_of_torch().value)) if given == "torch" else None
    if name not in MAKERS and SPEAKS_OF_ONE.fullmatch(name.rpartition(".")[2]) is None:
        return None
    try:
        return Const(Version(str(given)) if isinstance(given, str) else given)
    except ValueError:
        return None


def version_made_by(info: FunctionInfo | ClassInfo, args: list[Value]) -> Value | None:
    """The same of a function or class of an installed package."""
    is_maker = info.name in NAMES and info.module.library
    return known_version(f"{info.module.name}.{info.name}", args) if is_maker else None


def attribute_of_version(version: Version, name: str) -> Value | None:
    """`version.major` and the like."""
    numbers = version.numbers
    padded = (*numbers, 0, 0)
    found = {
        "release": numbers,
        "major": padded[0],
        "minor": padded[1],
        "micro": padded[2],
        "base_version": ".".join(map(str, numbers)),
        "is_prerelease": not version.is_final,
    }
    return Const(found[name]) if name in found else None


def plain_tuple(value: Value) -> Version | tuple | None:
    """The version, or the tuple of constants, that a value is; None for another value."""
    if value.is_const:
        return value.value if isinstance(value.value, Version | tuple) else None
    is_tuple = type(value) is Sequence and value.type == "tuple" and value.items is not None
    if not is_tuple or not all(item.is_const for item in value.items):
        return None
    return tuple(item.value for item in value.items)
