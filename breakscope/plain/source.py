"""What a file defines: imports, constants, functions, classes; and what makes it too clever for the look."""

from __future__ import annotations

import _ast
import sys

from breakscope.plain.bindings import BLOCKS, DEFINITIONS, bound_by, decorator_of, side_by_side
from breakscope.plain.classes import Class
from breakscope.plain.files import Files
from breakscope.plain.kinds import NotPlain
from breakscope.plain.names import SPOKEN_OF
from breakscope.plain.reach import clever, named, only_read
from breakscope.plain.registries import registry_of

MODULE = "torch.nn.Module"
ALIASES = {"torch.nn.modules.module.Module": MODULE, "torch.nn.modules.Module": MODULE,
           "torch.nn.parameter.Parameter": "torch.nn.Parameter"}
BASES = frozenset(  # beside nn.Module and layers: they have no forward that is a region, and nobody calls their objects
    """
    object abc.ABC typing.Generic typing.Protocol typing.NamedTuple enum.Enum enum.IntEnum torch.utils.data.Dataset
    torch.autograd.Function torch.autograd.function.Function Exception ValueError RuntimeError KeyError TypeError
    """.split()
)
RECURRENT = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN", "torch.nn.RNNBase"})
CLASS_DECORATORS = frozenset({"dataclasses.dataclass", "typing.final"})
PLAIN_SPECIAL = frozenset(  # every other special method changes what operators do
    {"__init__", "__repr__", "__str__", "__constants__", "__slots__", "__doc__", "__version__"}
)
MARKERS = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol"})
DISPLAYS = frozenset({_ast.Dict, _ast.List, _ast.Set, _ast.Tuple})


class Source:
    """The names of a file."""

    def __init__(self, tree: _ast.Module, is_clever: bool, files: Files, path: str = "") -> None:
        """`is_clever` when the file's text has a word that only a walk over its tree can tell harmless."""
        self.tree = tree
        self.files = files
        self.is_checked = path == files.path
        self.place = files.place(path) if path else ("", "")
        self.is_package = path.endswith("__init__.py")
        files.sources[path] = self
        self.imports: dict[str, str] = {}
        self.borrowed: dict[str, tuple[str, str]] = {}  # name -> (module of the project, what is taken from it)
        self.functions: dict[str, _ast.FunctionDef] = {}
        self.classes: dict[str, Class] = {}
        self.refused: set[str] = set()  # classes of another file that the look does not understand
        self.constants: dict[str, _ast.expr] = {}
        self.bound: set[str] = set()
        self.twice: set[str] = set()
        self.read: frozenset | None = None  # names that are only read
        self.registered: dict[str, list] = {}  # registry -> the classes and functions that decorators put there
        self.registrars: dict[_ast.FunctionDef, str] = {}  # these decorators -> their registry
        self.wraps: list[_ast.Attribute] = []  # `torch.compile`, wherever it stands
        self.clever = clever(tree, self.wraps) if is_clever else frozenset()
        if self.wraps and not self.is_checked:
            raise NotPlain
        self._read(tree.body)
        if not self.twice.isdisjoint(self.classes) or "forward" in files.stored:
            raise NotPlain
        if self.clever and not self.clever.isdisjoint(files.reached()):
            raise NotPlain

    def is_silent(self, name: str) -> bool:
        """True for a name of a package that no rule and no table knows, and of which the analyzer reads no source."""
        top, _, rest = name.partition(".")
        if not top or top in SPOKEN_OF or top in sys.stdlib_module_names:
            return False
        return f"{top}.{rest.partition('.')[0]}" not in SPOKEN_OF and self.files.is_outside(top)

    def names_variable(self, annotation: _ast.expr) -> bool:
        """True when an annotation names what a call at the top of the file made: a type variable."""
        return any(type(self.constants.get(name)) is _ast.Call for name in named(annotation))

    def is_only_read(self, name: str) -> bool:
        """True for a container at the top of the file that nothing in the file can change, but for decorators that
        register something."""
        if self.read is None:
            self.read = only_read(self.tree, self.registrars) - self.filled_otherwise()
        return name in self.read and name not in self.twice

    def filled_otherwise(self) -> set[str]:
        """The registries whose decorators do more in the file than to decorate."""
        used = named(self.tree, attributes=False) if self.registrars else []
        mentioned = dict.fromkeys(self.registrars.values(), 0)
        for function, registry in self.registrars.items():
            mentioned[registry] += used.count(function.name)
        return {registry for registry, times in mentioned.items() if times != len(self.registered.get(registry, ()))}

    def taken(self, name: str) -> object:
        """What an imported name of the project stands for: (the Source that defines it, its name there), or a Source
        when it is a module; None when that is not known."""
        module, member = self.borrowed[name]
        source = self.files.module(module)
        if source is None or not member:
            return source
        if member in source.borrowed and member not in source.twice:
            return source.taken(member)
        return (source, member) if member in source.bound else self.files.module(f"{module}.{member}")

    def class_named(self, name: str) -> Class | None:
        """The class of the project that a name at the top of the file stands for."""
        if name in self.borrowed and name not in self.twice:
            found = self.taken(name)
            return found[0].class_named(found[1]) if type(found) is tuple else None
        return self.classes.get(name)

    def _read(self, body: list[_ast.stmt]) -> None:
        for node in body:
            kind = type(node)
            if kind is _ast.Import or kind is _ast.ImportFrom:
                self._import(node)
            elif kind is _ast.ClassDef:
                self._bind(node.name)
                self._define(node)
            elif kind in DEFINITIONS:
                self._bind(node.name)
                self.functions[node.name] = node
                self.files.homes[node] = self
                for registry in filter(None, map(self.registry, node.decorator_list)):
                    self.registered.setdefault(registry, []).append(node)
                self._inside(node.body, node)
            elif kind is _ast.Assign and len(node.targets) == 1 and type(node.targets[0]) is _ast.Name:
                self._bind(node.targets[0].id)
                self.constants[node.targets[0].id] = node.value
            elif kind is _ast.AnnAssign and type(node.target) is _ast.Name and type(node.value) in DISPLAYS:
                self._bind(node.target.id)
                self.constants[node.target.id] = node.value
            elif kind is _ast.Assign and (pairs := side_by_side(node)):
                for name, value in pairs:
                    self._bind(name)
                    self.constants[name] = value
            else:
                if kind is _ast.Expr and type(node.value) is _ast.Call:
                    self._patched(node.value)
                self._inside([node], None)
                for name in bound_by([node]):
                    self._bind(name)

    def _patched(self, node: _ast.Call) -> None:
        """Refuse a call at the top that hands a module class of the file to a function of another file."""
        if not self.borrowed.keys().isdisjoint(named(node.func)):
            names = {name for part in node.args for name in named(part)}
            if any(self.classes[name].is_module for name in names & self.classes.keys()):
                raise NotPlain

    def _bind(self, name: str) -> None:
        if name in self.bound:
            self.twice.add(name)
        self.bound.add(name)

    def _import(self, node: _ast.Import | _ast.ImportFrom) -> None:
        if type(node) is _ast.Import:
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                self._bind_import(name, alias.name if alias.asname else name)
            return
        for alias in node.names:
            if alias.name == "*":
                raise NotPlain
            self._bind_import(alias.asname or alias.name, f"{node.module or ''}.{alias.name}", node.level)

    def _bind_import(self, name: str, made: str, level: int | None = None) -> None:
        """`made` is what is imported, from a package `level` folders up; None for `import made`."""
        if level or self.files.is_here(made.partition(".")[0]):
            module, _, member = made.rpartition(".") if level is not None else (made, "", "")
            if level:
                parts = self.place[0].split(".") if self.place[0] else []
                parts = parts[: max(len(parts) - level + self.is_package, 0)]
                module = ".".join([*parts, *([module] if module else [])])
            if name in self.borrowed or name in self.bound:
                self.twice.add(name)
            self.bound.add(name)
            self.borrowed[name] = module or member, member if module else ""
            return
        if self.imports.get(name) != made:  # `import torch.nn as nn` and `from torch import nn` are one
            self._bind(name)
        self.imports[name] = made

    def _define(self, node: _ast.ClassDef) -> None:
        try:
            self.classes[node.name] = self._class(node)
        except NotPlain:
            if self.is_checked:
                raise
            self.refused.add(node.name)

    def _class(self, node: _ast.ClassDef) -> Class:
        cls = Class(node, self)
        if any(keyword.arg != "metaclass" for keyword in node.keywords):
            raise NotPlain
        for base in node.bases:
            base = base.value if type(base) is _ast.Subscript else base
            own = self.class_of(base)
            if own is not None:
                cls.parents.append(own)
                continue
            name = self.dotted(base)
            if not self._is_known_base(name, base):
                raise NotPlain
            cls.bases.append(name)
        if not RECURRENT.isdisjoint(cls.bases):
            raise NotPlain
        cls.is_enum = "enum.Enum" in cls.bases or "enum.IntEnum" in cls.bases
        registering = [d for d in node.decorator_list if self.registry(d)]
        decorators = {self.dotted(decorator_of(d)) for d in node.decorator_list if d not in registering}
        cls.is_data = "typing.NamedTuple" in cls.bases or "dataclasses.dataclass" in decorators
        is_own = any(b.startswith("torch.nn.") or b.endswith("Module") for b in cls.bases)
        cls.is_module = is_own or any(p.is_module for p in cls.parents)
        if not all(name in CLASS_DECORATORS or self.is_silent(name) for name in decorators):
            raise NotPlain
        for decorator in registering:
            self.registered.setdefault(self.registry(decorator), []).append(cls)
        cls.is_object = not cls.is_data and (cls.is_module or MARKERS.issuperset(cls.bases))
        for part in node.body:
            self._member(cls, part)
        for name in (*cls.methods, *cls.values):
            if name.startswith("__") and name not in PLAIN_SPECIAL or name == "forward" and name in cls.values:
                cls.is_object = False
        cls.is_object = cls.is_object and all(parent.is_object for parent in cls.parents)
        if cls.is_module and not cls.is_object or not cls.methods.keys().isdisjoint(cls.values):
            raise NotPlain
        return cls

    def registry(self, decorator: _ast.expr) -> str:
        """The registry that a decorator of the file fills with what it decorates; "" when it does anything else."""
        name = decorator_of(decorator)
        function = self.functions.get(name.id) if type(name) is _ast.Name and name.id not in self.twice else None
        found = registry_of(function, type(decorator) is _ast.Call) if type(function) is _ast.FunctionDef else ""
        if found not in self.constants:
            return ""
        self.registrars[function] = found
        return found

    def _is_known_base(self, name: str, base: _ast.expr) -> bool:
        """True for a base of which the analyzer reads no source; `name` is what the expression stands for."""
        head = name.partition(".")[0]
        if not name or name == MODULE or name in BASES:
            return bool(name)
        if name.startswith("torch.nn."):
            return name.count(".") == 2
        first = base
        while type(first) is _ast.Attribute:
            first = first.value
        return first.id not in self.bound or self.files.is_outside(head)

    def class_of(self, node: _ast.expr) -> Class | None:
        """The class of the project that an expression stands for."""
        if type(node) is _ast.Name:
            return self.class_named(node.id)
        if type(node) is _ast.Attribute and type(node.value) is _ast.Name and node.value.id in self.borrowed:
            found = self.taken(node.value.id) if node.value.id not in self.twice else None
            return found.class_named(node.attr) if type(found) is Source else None
        return None

    def _member(self, cls: Class, node: _ast.stmt) -> None:
        kind = type(node)
        if kind is _ast.FunctionDef:
            if not any(type(d) is _ast.Attribute and d.attr in ("setter", "deleter") for d in node.decorator_list):
                cls.methods[node.name] = node
            self.files.method_of[node] = cls
            self.files.homes[node] = self
            self._inside(node.body, node)
        elif kind is _ast.Assign and len(node.targets) == 1 and type(node.targets[0]) is _ast.Name:
            cls.values[node.targets[0].id] = node.value
        elif kind is _ast.AnnAssign and type(node.target) is _ast.Name:
            cls.fields[node.target.id] = node.annotation
            if node.value is not None:
                cls.values[node.target.id] = node.value
        elif kind is _ast.AsyncFunctionDef or kind is _ast.ClassDef:
            if node.name == "forward":
                raise NotPlain
            cls.values[node.name] = node
        elif not (kind is _ast.Pass or kind is _ast.Expr):
            raise NotPlain

    def _inside(self, body: list[_ast.stmt], function: _ast.FunctionDef | None) -> None:
        """Note which attributes the code of a function sets, on whatever object; refuse code that sets globals."""
        for node in body:
            kind = type(node)
            if kind is _ast.Assign:
                for target in node.targets:
                    self._target(target, function)
            elif kind is _ast.AugAssign or kind is _ast.AnnAssign:
                self._target(node.target, function)
            elif kind is _ast.Global:
                self.twice.update(node.names)
            elif kind in DEFINITIONS or kind is _ast.ClassDef:
                if function is None and kind is _ast.ClassDef and node.bases:
                    raise NotPlain
                self._inside(node.body, node if kind in DEFINITIONS else function)
            elif kind is not _ast.Return and kind is not _ast.Expr:
                for target in (getattr(node, "target", None), *(i.optional_vars for i in getattr(node, "items", ()))):
                    if target is not None:
                        self._target(target, function)
                for name in BLOCKS:
                    if inner := getattr(node, name, None):
                        self._inside(inner, function)

    def _target(self, target: _ast.expr, function: _ast.FunctionDef | None) -> None:
        kind = type(target)
        if kind is _ast.Tuple or kind is _ast.List:
            for part in target.elts:
                self._target(part, function)
        elif kind is _ast.Starred:
            self._target(target.value, function)
        elif kind is _ast.Attribute:
            functions = self.files.stored.setdefault(target.attr, set())
            cls = self.files.method_of.get(function)
            args = [*function.args.posonlyargs, *function.args.args] if cls is not None else []
            if not args or type(target.value) is not _ast.Name or target.value.id != args[0].arg:
                self.files.of_self[function, target.attr] = None
            elif function not in functions:
                self.files.of_self[function, target.attr] = cls
            functions.add(function)

    def dotted(self, node: _ast.expr) -> str:
        """The library name that an expression stands for ("torch.nn.Linear"); "" when it is none."""
        if type(node) is _ast.Attribute:
            head = self.dotted(node.value)
            name = f"{head}.{node.attr}" if head else ""
        elif type(node) is _ast.Name and node.id not in self.twice:
            name = self.imports.get(node.id, "") if node.id in self.bound else node.id
        else:
            return ""
        return ALIASES.get(name, name)
