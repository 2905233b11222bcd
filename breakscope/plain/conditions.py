"""Conditions: what the branches of an `if` may take for granted."""

from __future__ import annotations

import _ast

from breakscope.plain.classes import Class
from breakscope.plain.kinds import ANY, CALLABLE, LAYER, NONE, NUMBER, TENSOR


class Conditions:
    """What a test says of the names in it; None for a branch that is never taken."""

    def branches(self, test, frame) -> tuple[dict | None, dict | None]:
        """The names where the test holds and where it does not."""
        kind, names = type(test), frame.names
        if kind is _ast.UnaryOp and type(test.op) is _ast.Not:
            yes, no = self.branches(test.operand, frame)
            return no, yes
        if kind is _ast.BoolOp:
            return self.of_several(test, frame)
        if kind is _ast.Compare and len(test.ops) == 1 and type(test.left) is _ast.Name:
            return self.of_none(test, names, names)
        if kind is _ast.Call and type(test.func) is _ast.Name and test.args and not test.keywords:
            if test.func.id in self.source.bound:
                return self.of_asking(test, names)
            if test.func.id == "isinstance" and len(test.args) == 2 and type(test.args[0]) is _ast.Name:
                return self.of_type(test.args[0].id, test.args[1], names)
            if test.func.id == "callable" and type(test.args[0]) is _ast.Name:
                found = names.get(test.args[0].id)
                if type(found) in CALLABLE and not (type(found) is frozenset and ANY in found):
                    return names, None
        if kind is _ast.Call and len(test.args) == 1 and type(test.args[0]) is _ast.Name:
            if self.library_name(test.func, frame) == "torch.is_tensor" and names.get(test.args[0].id) == NUMBER:
                return {**names, test.args[0].id: TENSOR}, names
        return names, names

    def of_asking(self, test, names: dict) -> tuple[dict | None, dict | None]:
        """`exists(name)`, a function of the file that only compares its argument with None."""
        function = self.source.functions.get(test.func.id) if test.func.id not in names else None
        body = function.body[-1] if function is not None and len(function.body) == 1 else None
        if body is None or function.decorator_list or test.func.id in self.source.twice:
            return names, names
        if type(body) is not _ast.Return or type(body.value) is not _ast.Compare or type(test.args[0]) is not _ast.Name:
            return names, names
        if type(body.value.left) is not _ast.Name or [p.arg for p in function.args.args] != [body.value.left.id]:
            return names, names
        return self.of_none(body.value, {**names, body.value.left.id: names.get(test.args[0].id)}, names)

    def of_several(self, test, frame) -> tuple[dict | None, dict | None]:
        before, is_and = frame.names, type(test.op) is _ast.And
        for part in test.values:
            held = self.branches(part, frame)[0 if is_and else 1]
            if held is None:
                frame.names = before
                return (None, before) if is_and else (before, None)
            frame.names = held
        held, frame.names = frame.names, before
        return (held, before) if is_and else (before, held)

    def of_none(self, test, asked: dict, names: dict) -> tuple[dict | None, dict | None]:
        """`name is None` of what is never anything else."""
        right, op = test.comparators[0], type(test.ops[0])
        if asked.get(test.left.id) != NONE or type(right) is not _ast.Constant or right.value is not None:
            return names, names
        return (names, None) if op is _ast.Is else (None, names) if op is _ast.IsNot else (names, names)

    def of_type(self, name: str, types, names: dict) -> tuple[dict | None, dict | None]:
        """`isinstance` of one of several modules."""
        options, types = names.get(name), types.elts if type(types) is _ast.Tuple else [types]
        if options == NUMBER and any(map(self.may_be_tensor, types)):
            return {**names, name: TENSOR}, names
        if type(options) is not frozenset:
            return names, names
        asked = [self.asked_type(part) for part in types]
        verdicts = {option: _is_one(option, asked) for option in options}
        yes = frozenset(option for option in options if verdicts[option] is not False)
        no = frozenset(option for option in options if verdicts[option] is not True)
        return {**names, name: yes} if yes else None, {**names, name: no} if no else None

    def may_be_tensor(self, node) -> bool:
        """True for a type that the analyzer takes what it does not know for, once a test says so."""
        name = self.source.dotted(node)
        return not name or name.startswith("torch.")

    def asked_type(self, node) -> object:
        """A class of the file, else None."""
        return self.source.class_named(node.id) if type(node) is _ast.Name else None


def _is_one(option: object, asked: list) -> bool | None:
    """Is the option an object of one of these classes? None when that is not known."""
    if type(option) is Class:
        if any(cls in option.order() for cls in asked if cls is not None):
            return True
        return None if None in asked else False
    if option == LAYER:
        return None if None in asked else False
    return None
