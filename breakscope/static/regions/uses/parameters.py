"""How a function uses its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakscope.rulekit.walking import begin_of, names_in, walk
from breakscope.static.variables.effects.size_reads import RANKS

SIZES = frozenset({"shape", "size", "numel"})


class Uses:
    """How a function uses its parameters: the first use of each, and whether a size decides a
    branch or becomes text."""

    def __init__(self, node: ast.AST) -> None:
        self.first: dict[str, ast.Name] = {}
        self.given: dict[str, ast.Name] = {}  # the first use that is no question whether it is None
        self.attributes = {part.attr for part in walk(node) if isinstance(part, ast.Attribute)}
        self.parts: dict[str, ast.Attribute] = {}  # by "name.attribute": where it is read first
        self.gone_over: set[str] = set()  # what is gone over, or a view of it
        self.tests: list[ast.expr] = []
        self.texts: list[ast.expr] = []
        # by name: "[0]", "['key']" where it is only read like this
        self.items: dict[str, set[str]] = {}
        self.whole: set[str] = set()  # names that are read in other ways
        self.counted: set[str] = set()  # names whose length is read
        self.keys: set[str] = set()  # that some subscript, or `get` of a dict, is for
        self.derived: dict[str, set[str]] = {}  # name -> names that its value was computed from
        owners: set[int] = set()  # ids of names of which one item is read
        asked: set[int] = set()  # ids of names that are compared with None
        body = node.body if isinstance(node.body, list) else [node.body]
        of_errors = {id(part) for statement in body for part in _in_errors(statement)}
        for part in (p for statement in body for p in walk(statement)):
            self._note_key(part)
            if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
                if isinstance(part.slice, ast.Constant):
                    self.items.setdefault(part.value.id, set()).add(f"[{part.slice.value!r}]")
                    owners.add(id(part.value))
            self._note_lookup(part, owners)
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                _keep_first(self.parts, part, f"{part.value.id}.{part.attr}")
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Is | ast.IsNot):
                asked.add(id(part.left))
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                if id(part) not in owners | asked:
                    self.whole.add(part.id)
                _keep_first(self.first, part, part.id)
                if id(part) not in asked:
                    _keep_first(self.given, part, part.id)
            elif isinstance(part, ast.If | ast.While | ast.IfExp):
                self.tests.append(part.test)
            elif isinstance(part, ast.For | ast.comprehension) and isinstance(part.iter, ast.Name):
                self.gone_over.add(part.iter.id)
            elif isinstance(part, ast.Attribute) and part.attr in ("keys", "values", "items"):
                self.gone_over |= names_in(part.value)
            elif isinstance(part, ast.JoinedStr) and id(part) not in of_errors:
                self.texts.append(part)
            elif isinstance(part, ast.Assign):
                sizes = _names_of_sizes(part.value) | {
                    n for n in names_in(part.value) if n in self.derived
                }
                for target in part.targets:
                    for name in names_in(target):
                        self.derived.setdefault(name, set()).update(sizes)

    def _note_lookup(self, node: ast.AST, owners: set[int]) -> None:
        """`options.get("bias")`, `"bias" in options` and `len(names)`: only so much is read of what has the name."""
        key = owner = None
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get" and node.args:
            key, owner = node.args[0], node.func.value
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            key, owner = node.left, node.comparators[0]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len" and node.args:
            owner = node.args[0]
            self.counted |= {owner.id} if isinstance(owner, ast.Name) else set()
        if not isinstance(owner, ast.Name):
            return
        if isinstance(key, ast.Constant):
            self.items.setdefault(owner.id, set()).add(f"[{key.value!r}]")
        if key is None or isinstance(key, ast.Constant):
            owners.add(id(owner))

    def _note_key(self, node: ast.AST) -> None:
        key = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("get", "pop"):
            key = node.args[0] if node.args else None
        if isinstance(key, ast.Constant):
            self.keys.add(f"[{key.value!r}]")

    def reads_item(self, name: str, path: str) -> bool:
        """False for an item that no subscript of the name is for, where it has only these; and for what a dict in it
        has under a key that the function does not look up."""
        first, *inner = (f"{part}]" for part in path.split("]")[:-1])
        is_read = name in self.whole or first in self.items.get(name, ())
        return is_read and all(part in self.keys or part[1:-1].isdigit() for part in inner)

    def of(self, name: str, by_size: bool, by_rank: bool = False) -> str:
        """ "branch", "format" or "other"; how many dimensions it has counts with `by_rank`."""
        for kind, places in (("branch", self.tests), ("format", self.texts)):
            for place in places:
                seen = _names_of_sizes(place, by_rank) if by_size else names_in(place)
                if name in seen or any(name in self.derived.get(n, ()) for n in names_in(place)):
                    return kind
        return "other"


def _keep_first(first: dict[str, ast.expr], node: ast.expr, name: str) -> None:
    known = first.get(name)
    if known is None or begin_of(node) < begin_of(known):
        first[name] = node


def _in_errors(statement: ast.stmt) -> Iterator[ast.AST]:
    """All that stands in the messages of errors, which are made where the program ends."""
    for part in walk(statement):
        message = part.msg if isinstance(part, ast.Assert) else part
        if message is not None and isinstance(part, ast.Assert | ast.Raise):
            yield from walk(message)


def _names_of_sizes(node: ast.AST, by_rank: bool = True) -> set[str]:
    """Names whose size is read: x.shape, x.size(), len(x); with `by_rank` also x.dim() and len(x.shape)."""
    found, of_ranks = set(), set()
    for part in walk(node):
        is_length = isinstance(part, ast.Call) and getattr(part.func, "id", "") == "len"
        if is_length and part.args:
            sized = part.args[0]
            shape = sized.func if isinstance(sized, ast.Call) else sized
            if getattr(shape, "attr", "") in ("shape", "size"):
                of_ranks.add(id(shape))
            else:
                found |= names_in(sized)
    names = SIZES | RANKS if by_rank else SIZES
    for part in walk(node):
        is_read = isinstance(part, ast.Attribute) and part.attr in names
        if is_read and isinstance(part.value, ast.Name) and (by_rank or id(part) not in of_ranks):
            found.add(part.value.id)
    return found
