"""Modules, classes and functions of the program under check, and what their names stand for."""

from __future__ import annotations

import ast
import re
from collections import Counter

from msgspec import Struct

from breakscope.report.model import Gap
from breakscope.rulekit.values import UNKNOWN, Const, Join, Value
from breakscope.static.project.source import split_lines

COUNTS = re.compile(rb"(\w\.\w+)(?: *(?:[-+*/]|//)=| *= *\w*\1 *[-+*/])")  # `self.n += 1`
SWITCHES = re.compile(rb"\.(\w+) *= *(True|False)\b")


class FunctionInfo(Struct, eq=False):
    """A `def` or lambda of the checked source. The facts behind `marks` follow from its text."""

    name: str
    qualname: str
    node: ast.AST
    module: ModuleInfo
    owner: ClassInfo | None = None
    defaults: dict[str, Value] | None = None
    # "staticmethod", "property", "contextmanager", "disabled", "opaque", ...
    marks: frozenset[str] = frozenset()
    comments: dict[str, ast.expr] | None = None  # annotations from a type comment
    documented: dict[str, Value] | None = None  # the tensors among the docstring's parameters
    steps: tuple[str, ...] | None = None  # see interpreter/calls/templates.py
    mentions_torch: bool | None = None  # its body names something of torch or numpy

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


class ClassInfo(Struct, eq=False):
    """A `class` of the checked source. Two are equal when they stand for the same statement: a
    file is one module to itself and another to the files that import it."""

    name: str
    qualname: str
    node: ast.ClassDef
    module: ModuleInfo
    scope: object = None
    decorators: frozenset[str] = frozenset()
    # attributes that code outside of the body set, such as a decorator
    stored: dict[str, Value] = {}

    def __eq__(self, other: object) -> bool:
        return type(other) is ClassInfo and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)

    def __repr__(self) -> str:
        return f"<class {self.qualname}>"


class Namespace(Value, eq=False):
    """A module of the checked source, as a value."""

    info: ModuleInfo

    def describe(self) -> str:
        return f"the module `{self.info.name}`"


class Import(Value, eq=False):
    """A name bound by an import, resolved when it is used: `module` and, for `from module import
    member`, `member`."""

    module: str
    member: str
    importer: ModuleInfo

    def merge(self, other: Import, join: Join, depth: int) -> Value | None:
        """The same by way of another module: `torch` of a module from which all names are imported."""
        is_same = (self.module, self.member) == (other.module, other.member)
        return self if is_same else None


class ModuleInfo(Struct, eq=False):
    """One source file, parsed. `names` is its namespace, of the checked file once its top level has
    run, of the modules behind it while that is running (see machine/world.py)."""

    path: str
    name: str
    root: str
    is_package: bool
    text: bytes  # in UTF-8: one emoji in a str would take four bytes for every character
    tree: ast.Module
    library: str = ""  # the installed package that it belongs to, when that is not under check
    names: dict[str, Value] | None = None
    executing: bool = False
    lines: list[str] | None = None
    changing: frozenset[tuple[str, bool | None]] | None = None  # see changing_attributes
    yields: frozenset[int] | None = None  # the lines with the word "yield"
    type_comments: bool | None = None  # some function gives its types in a comment
    type_variables: bool | None = None  # it has the word "TypeVar"
    marked: bool | None = None  # it has comments that silence findings, see findings/unused.py
    aliases: dict[str, ast.expr] | None = None  # names of types, see annotations.py
    # `from ... import *` that only type checkers see, see star_imports.py
    has_stars: bool = False
    gaps: tuple[Gap, ...] = ()  # where its top level, and what that leans on, could not be followed

    def __repr__(self) -> str:
        return f"<module {self.name}>"

    def first_names(self, is_imported: bool) -> dict[str, Value]:
        """The namespace that the top level begins with. Only the program that is started is called
        `__main__`, which a file that is not imported may be."""
        return {"__name__": Const(self.name) if is_imported else UNKNOWN, "__file__": UNKNOWN}

    @property
    def source(self) -> str:
        return self.text.decode(errors="surrogatepass")

    def source_lines(self) -> list[str]:
        if self.lines is None:
            self.lines = split_lines(self.source)
        return self.lines

    def has_type_comments(self) -> bool:
        if self.type_comments is None:
            self.type_comments = b"# type: (" in self.text
        return self.type_comments

    def has_type_variables(self) -> bool:
        if self.type_variables is None:
            self.type_variables = b"TypeVar" in self.text
        return self.type_variables

    def changing_attributes(self) -> frozenset[tuple[str, bool | None]]:
        """(name, None) of attributes that some line counts; (name, value) of those that one line
        sets to this bool, and only others to the other one."""
        if self.changing is None:
            set_to = Counter(SWITCHES.findall(self.text))
            switched = [
                (name.decode(), to == b"True")
                for (name, to), times in set_to.items()
                if times == 1 and (name, b"False" if to == b"True" else b"True") in set_to
            ]
            counted = [(place[2:].decode(), None) for place in COUNTS.findall(self.text)]
            self.changing = frozenset([*switched, *counted])
        return self.changing

    def yield_lines(self) -> frozenset[int]:
        if self.yields is None:
            found = enumerate(self.source_lines(), 1) if b"yield" in self.text else ()
            self.yields = frozenset([number for number, line in found if "yield" in line])
        return self.yields
