"""Classes of the checked file and of those that it imports from."""

from __future__ import annotations

import _ast

from breakscope.plain.kinds import NotPlain


class Class:
    """A class at the top of the file. `bases` are library names, `parents` classes of the file, both in order."""

    def __init__(self, node: _ast.ClassDef, source: object) -> None:
        self.node = node
        self.source = source
        self.name = node.name
        self.bases: list[str] = []
        self.parents: list[Class] = []
        self.methods: dict[str, _ast.FunctionDef] = {}
        self.values: dict[str, _ast.expr] = {}
        self.fields: dict[str, _ast.expr] = {}  # annotated names of the body
        self.is_module = False
        self.is_data = False
        self.is_enum = False
        self.is_object = False  # one whose attributes its constructor tells
        self.ordered: list[Class] | None = None

    def order(self) -> list[Class]:
        """The class and those that it derives from, in the order in which Python looks for a member."""
        if self.ordered is None:
            self.ordered = [self, *_merged([*(list(p.order()) for p in self.parents), list(self.parents)])]
        return self.ordered

    def method(self, name: str) -> tuple[Class, _ast.FunctionDef] | None:
        """The method, and the class that has it."""
        for cls in self.order():
            if name in cls.methods:
                return cls, cls.methods[name]
        return None


def _merged(rows: list[list[Class]]) -> list[Class]:
    """Python's linearization of bases."""
    found: list[Class] = []
    while rows := [row for row in rows if row]:
        heads = [row[0] for row in rows if not any(row[0] in other[1:] for other in rows)]
        if not heads:
            raise NotPlain
        found.append(heads[0])
        rows = [[cls for cls in row if cls is not heads[0]] for row in rows]
    return found
