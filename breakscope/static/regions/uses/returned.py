"""Numbers and texts that a function only gives back, which no guard is on: see LazyConstantVariable in
torch/_dynamo/variables/lazy.py."""

from __future__ import annotations

import ast

from breakscope.rulekit.walking import children, walk

WHOLE = ""  # the path of a parameter's own value
CONTAINERS = ast.Tuple | ast.List | ast.Dict


class Returned:
    """Which parameters, and which of their items, a function does no more with than to give them back."""

    def __init__(self, node: ast.AST, tensors: frozenset[str]) -> None:
        self.tensors = tensors  # the parameters that are some
        self.parents: dict[int, ast.AST] = {}
        self.loads: dict[str, list[ast.Name]] = {}
        self.bound: dict[str, int] = {}  # how often a name is assigned
        self.made: dict[str, ast.expr] = {}  # the last of what it is
        body = node.body if isinstance(node.body, list) else []
        for part in (p for statement in body for p in walk(statement)):
            for child in children(part):
                self.parents[id(child)] = part
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                self.loads.setdefault(part.id, []).append(part)
            elif isinstance(part, ast.Assign) and type(part.targets[0]) is ast.Name:
                self.made[part.targets[0].id] = part.value
            elif isinstance(part, ast.Name):
                self.bound[part.id] = self.bound.get(part.id, 0) + 1

    def is_untouched(self, name: str, path: str) -> bool:
        """True where nothing looks at the value of a parameter, or at that of its item or attribute."""
        is_nested = path.count("[") + path.count(".") > 1
        if is_nested or name in self.bound or name not in self.loads:
            return False
        read = [self._part_of(load, path) for load in self.loads[name]]
        return all(part is None or self._goes_out(part, 2) for part in read)

    def _part_of(self, load: ast.Name, path: str) -> ast.expr | None:
        """The expression that has the value, where the parameter is read; None where another part of it is."""
        parent = self.parents.get(id(load))
        if path == WHOLE or self._is_given_back(load):
            return load
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
            return parent if f"[{parent.slice.value!r}]" == path else None
        call = self.parents.get(id(parent))
        if isinstance(parent, ast.Attribute) and path.startswith("."):
            is_method = isinstance(call, ast.Call) and call.func is parent
            return parent if is_method or f".{parent.attr}" == path else None
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "len":
            return None
        if getattr(parent, "attr", "") == "get" and isinstance(call, ast.Call):
            key = call.args[0] if call.args else None
            if isinstance(key, ast.Constant):
                return call if f"[{key.value!r}]" == path else None
        return load  # as a whole, to something else

    def _goes_out(self, value: ast.expr, depth: int) -> bool:
        """True for a value that is given back, if need be by a name of its own."""
        parent = self.parents.get(id(value))
        if not isinstance(parent, ast.Assign) or depth == 0:
            return self._is_given_back(value)
        target = parent.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return self._is_result(target.value.id)
        if len(parent.targets) > 1 or type(target) is not ast.Name or self.bound[target.id] > 1:
            return False
        return all(self._goes_out(load, depth - 1) for load in self.loads.get(target.id, ()))

    def _is_result(self, name: str) -> bool:
        """True for a dict, made with something computed in front, that is filled and given back."""
        made = self.made.get(name)
        is_dict = isinstance(made, ast.Dict) and made.values and self._is_computed(made.values[0])
        parents = (self.parents.get(id(load)) for load in self.loads.get(name, ()))
        return bool(is_dict) and all(
            isinstance(parent, ast.Return)
            or (isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store))
            for parent in parents
        )

    def _is_given_back(self, value: ast.expr) -> bool:
        """True for an item of what is returned, behind a computed one: Dynamo asks of a container whether it is a
        constant, until it comes to a tensor."""
        parent = self.parents.get(id(value))
        if not isinstance(parent, CONTAINERS):
            return False
        items = parent.values if isinstance(parent, ast.Dict) else parent.elts
        if not any(item is value for item in items):
            return False  # a key
        before = items[: next(i for i, item in enumerate(items) if item is value)]
        while isinstance(parent, CONTAINERS):
            parent = self.parents.get(id(parent))
        return isinstance(parent, ast.Return) and any(map(self._is_computed, before))

    def _is_computed(self, item: ast.expr) -> bool:
        if isinstance(item, ast.Name):
            return item.id in self.bound or item.id in self.tensors
        return isinstance(item, ast.BinOp | ast.UnaryOp | ast.Call)
