"""Which functions of a file the analyzer may run at all, and where the file does what the look does not follow. Both
take a walk over the whole tree, and so are asked only when something depends on them."""

from __future__ import annotations

import _ast
from _collections_abc import Container

from breakscope.plain.bindings import DEFINITIONS
from breakscope.plain.kinds import NotPlain
from breakscope.walking import children, walk

CHANGING = frozenset({"setattr", "vars"})
SHOWING = frozenset(  # they change nothing
    "print dict sorted str repr len list tuple set zip enumerate reversed sum min max any all".split()
)
READING = frozenset({"get", "items", "keys", "values"})
COMPILES = "compile"
REGULAR = frozenset({"re", "regex"})  # modules whose `compile` compiles no model


class Names:
    """What a function's own code mentions, and the functions defined in it."""

    __slots__ = ("inner", "used")

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.inner: list = []


def reached(trees: list[_ast.Module]) -> frozenset:
    """The functions that code may call which the analyzer runs: the top of each file, constructors and other special
    methods, `forward`, and by its name whatever these mention; None stands for the tops themselves."""
    known: dict = {}
    top = set().union(*[_names(tree, known).used for tree in trees])
    by_name: dict[str, list] = {}
    for node in known:
        if type(node) is not _ast.Module:
            by_name.setdefault(node.name, []).append(node)
    waiting = [name for name in by_name if name == "forward" or name.startswith("__")] + list(top)
    seen, found = set(waiting), set()
    while waiting:
        for node in by_name.get(waiting.pop(), ()):
            if node not in found:
                found.add(node)
                fresh = known[node].used - seen
                seen |= fresh
                waiting += fresh
    return frozenset({None, *found})


def _names(function, known: dict) -> Names:
    found = known[function] = Names()
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is _ast.Name:
            found.used.add(node.id)
        elif kind is _ast.Attribute:
            found.used.add(node.attr)
            waiting.append(node.value)
        elif kind is _ast.Constant:
            if type(node.value) is str:
                found.used.add(node.value)
        elif kind in DEFINITIONS:
            _names(node, known)
            waiting += [node.args, *node.decorator_list]
        else:
            waiting += children(node)
    return found


def clever(tree: _ast.Module, wraps: list[_ast.Attribute]) -> frozenset:
    """The functions that change objects by name or hang hooks on modules; None when the top of the file does. `wraps` gets
    each `torch.compile`; raises NotPlain when the file may compile anything else."""
    found: set = set()
    waiting: list = [(tree, None)]
    while waiting:
        node, function = waiting.pop()
        kind = type(node)
        if kind in DEFINITIONS:
            function = node
        elif kind is _ast.Call and _changes(node):
            found.add(function)
        elif kind is _ast.Attribute:
            if node.attr == "__dict__":
                found.add(function)
            elif node.attr == COMPILES:
                if type(node.value) is not _ast.Name:
                    raise NotPlain
                if node.value.id not in REGULAR:
                    wraps.append(node)
        elif kind is _ast.Name and node.id == COMPILES or kind is _ast.Constant and node.value == COMPILES:
            raise NotPlain
        elif kind is _ast.alias and COMPILES in (node.name.rpartition(".")[2], node.asname):
            raise NotPlain
        if kind is _ast.Call and type(node.func) is _ast.Attribute and node.func.attr == "add_argument":
            continue  # of a command line: `dest="compile"` is a name for its user
        looked = node.values if kind is _ast.Dict else [node.value] if kind is _ast.keyword else looked_at(node)
        for inner in children(node):
            if inner in looked and type(inner) is _ast.Call and _named(inner, ("vars",)):
                waiting += [(part, function) for part in inner.args]
            elif inner in looked and type(inner) is _ast.Attribute and inner.attr == "__dict__":
                waiting.append((inner.value, function))
            else:
                waiting.append((inner, function))
    return frozenset(found)


def _named(node: _ast.Call, names) -> bool:
    return type(node.func) is _ast.Name and node.func.id in names


def _changes(node: _ast.Call) -> bool:
    func = node.func
    if type(func) is _ast.Attribute:
        return func.attr.endswith("_hook") or func.attr == "__setattr__"
    return type(func) is _ast.Name and (func.id in CHANGING or func.id.endswith("_hook"))


def named(node, attributes: bool = True) -> list[str]:
    """The names in a node, and those of attributes."""
    found = []
    for inner in walk(node):
        if type(inner) is _ast.Name:
            found.append(inner.id)
        elif type(inner) is _ast.Attribute and attributes:
            found.append(inner.attr)
    return found


def looked_at(node) -> list:
    """The parts of a node that are containers, if they are any, of which it only looks something up or shows all."""
    kind = type(node)
    if kind is _ast.Subscript:
        return [node.value] if type(node.ctx) is _ast.Load else []
    if kind is _ast.Attribute:
        return [node.value] if node.attr in READING else []
    if kind is _ast.For or kind is _ast.comprehension:
        return [node.iter]
    if kind is _ast.Compare:
        return node.comparators if all(type(op) in (_ast.In, _ast.NotIn) for op in node.ops) else []
    if kind is _ast.Call:
        return node.args if _named(node, SHOWING) else []
    return [node.value] if kind is _ast.keyword and node.arg is None else []


def only_read(tree: _ast.Module, unread: Container) -> frozenset[str]:
    """The names whose containers the file does no more with than to look things up: `NAME[key]`, `NAME.items()`,
    `key in NAME`, `for key in NAME`, `len(NAME)`; ".NAME" for attributes of that name. The functions in `unread` do not
    count."""
    looked: set = set()  # the nodes of such uses
    names: list[tuple[str, _ast.expr]] = []
    waiting: list = [tree]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is _ast.Name:
            names.append((node.id, node))
        else:
            looked.update(looked_at(node))
        if kind is _ast.Attribute:
            names.append((f".{node.attr}", node))
        waiting += children(node) if node not in unread else []
    stored = {name for name, node in names if type(node.ctx) is _ast.Load and node not in looked}
    return frozenset(name for name, _ in names if name not in stored)
