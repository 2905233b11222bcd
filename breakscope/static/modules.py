"""Modules, classes and functions of the program under check, and what their names stand for."""

from __future__ import annotations

import ast

from msgspec import Struct

from breakscope.static.source import split_lines
from breakscope.values import Value


class FunctionInfo(Struct, eq=False):
    """A `def` or lambda of the checked source."""

    name: str
    qualname: str
    node: ast.AST
    module: ModuleInfo
    owner: ClassInfo | None = None
    defaults: dict[str, Value] | None = None
    generator: bool | None = None
    comments: dict[str, ast.expr] | None = None  # annotations from a type comment
    wraps: str | None = None  # the closure's name that a wrapper hands its arguments on to, "" for none
    entered: int = 0  # the turn in which its body was run last
    steps: tuple[str, ...] | None = None  # see templates.py
    handed_back: str | None = None  # the parameter that a long function returns unchanged, "" for none
    mentions_torch: bool | None = None  # its body names something of torch or numpy
    marks: frozenset[str] = frozenset()  # "staticmethod", "property", "contextmanager", "disabled", "opaque", ...

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


class ClassInfo(Struct, eq=False):
    """A `class` of the checked source. `bases` and `members` are filled in by the interpreter when first asked for."""

    name: str
    qualname: str
    node: ast.ClassDef
    module: ModuleInfo
    scope: object = None
    bases: list[Value] | None = None
    mro: list[ClassInfo] | None = None
    external_bases: tuple[str, ...] | None = None
    members: dict[str, object] | None = None  # name -> list of statements that define it, last wins
    fields: list | None = None  # of a dataclass or NamedTuple
    annotations: dict[str, ast.expr] | None = None  # of the class body
    values: dict[str, Value] = {}
    is_module: bool | None = None  # derives from torch.nn.Module, as far as the source shows
    stores: int = 0  # attributes that code outside of the body set, such as a decorator
    decorators: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<class {self.qualname}>"


class Namespace(Value, eq=False):
    """A module of the checked source, as a value."""

    info: ModuleInfo

    def describe(self) -> str:
        return f"the module `{self.info.name}`"


class Import(Value, eq=False):
    """A name bound by an import, resolved when it is used: `module` and, for `from module import member`, `member`.

    `found` is what it was resolved to, when that lies outside of the source and so stays the same; `known` is the same for
    a value of the source, valid while the program is in the state `when`.
    """

    module: str
    member: str
    importer: ModuleInfo
    found: Value | None = None
    known: Value | None = None
    when: int = -1


class ModuleInfo(Struct, eq=False):
    """One source file, parsed. `names` is its namespace once the interpreter has executed its top level."""

    path: str
    name: str
    root: str
    is_package: bool
    text: bytes  # in UTF-8: one emoji in a str would take four bytes for every character
    tree: ast.Module
    library: str = ""  # the installed package that it belongs to, when that is not under check
    names: dict[str, Value] | None = None
    executing: bool = False
    functions: dict[int, FunctionInfo] = {}
    classes: dict[int, ClassInfo] = {}
    lines: list[str] | None = None
    yields: frozenset[int] | None = None  # the lines with the word "yield"
    type_comments: bool | None = None  # some function tells its types in a comment
    size: int = 0  # bytes of the text whose trees are in memory
    aliases: dict[str, ast.expr] | None = None  # names of types, see annotations.py
    has_stars: bool = False  # type checkers are told of `from ... import *`, see stars.py
    asks: set[ModuleInfo] = set()  # modules that it imports something from

    def __repr__(self) -> str:
        return f"<module {self.name}>"

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

    def yield_lines(self) -> frozenset[int]:
        if self.yields is None:
            found = enumerate(self.source_lines(), 1) if b"yield" in self.text else ()
            self.yields = frozenset([number for number, line in found if "yield" in line])
        return self.yields


def hollow_out(module: ModuleInfo) -> None:
    """Free the trees of a module whose functions and classes may still be known to a registry elsewhere."""
    for function in module.functions.values():
        function.node, function.owner, function.defaults = _EMPTY, None, {}
    for cls in module.classes.values():
        cls.node, cls.scope, cls.bases, cls.mro, cls.external_bases = _EMPTY_CLASS, None, [], [cls], ()
        cls.members, cls.fields, cls.annotations, cls.is_module = {}, [], {}, None
        cls.values.clear()
    module.functions, module.classes, module.names = {}, {}, {}
    module.text, module.lines, module.tree, module.aliases = b"", [], ast.Module([], []), None
    module.asks.clear()


def is_hollow(info: FunctionInfo | ClassInfo) -> bool:
    """True for a function or class of a module that is gone."""
    return info.node is None or info.node is _EMPTY or info.node is _EMPTY_CLASS


_EMPTY = ast.parse("def gone(*args, **kwargs):\n    return gone").body[0]
_EMPTY_CLASS = ast.parse("class Gone: ...").body[0]


def function_info(module: ModuleInfo, node: ast.AST, prefix: str, owner: ClassInfo | None = None) -> FunctionInfo:
    """The one FunctionInfo of a def or lambda node."""
    info = module.functions.get(id(node))
    if info is None:
        name = getattr(node, "name", "<lambda>")
        info = FunctionInfo(name, f"{prefix}.{name}" if prefix else name, node, module, owner)
        module.functions[id(node)] = info
    return info
