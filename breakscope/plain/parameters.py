"""What a function's parameters may be, from annotations and defaults."""

from __future__ import annotations

import _ast

from breakscope.plain.kinds import NONE, NUMBER, SIZES, TENSOR, TEXT, UNKNOWN, Data, join
from breakscope.plain.objects import Frame

PYTHON_TYPES = {"int": NUMBER, "float": NUMBER, "bool": NUMBER, "str": TEXT, "torch.dtype": NUMBER,
                "torch.device": NUMBER}
TENSOR_TYPES = frozenset({"torch.Tensor", "torch.LongTensor", "torch.FloatTensor", "torch.BoolTensor"})


class Parameters:
    """Declared kinds."""

    def declared(self, parameter: _ast.arg, default, is_init: bool) -> object:
        """The kind of a parameter, from its annotation or default."""
        kind = self.annotated(parameter.annotation)
        if kind is not None:
            return kind
        if default is None:
            return NUMBER if is_init else TENSOR
        found = self.eval(default, Frame({}, None, None)) if is_init else self.constant(default)
        return (NUMBER if is_init else TENSOR) if found == NONE else found

    def annotated(self, node) -> object | None:
        """The kind that an annotation promises; None when it says nothing."""
        kind = type(node)
        if kind is _ast.BinOp:
            sides = [self.annotated(side) for side in (node.left, node.right)]
            return None if None in sides else join(*sides)
        if kind is _ast.Constant:
            return NONE if node.value is None else UNKNOWN if type(node.value) is str else None
        if kind is _ast.Subscript:
            name = self.source.dotted(node.value).rpartition(".")[2]
            if name == "Optional":
                return self.annotated(node.slice)
            inner = node.slice.elts if type(node.slice) is _ast.Tuple else [node.slice]
            kinds = {self.annotated(part) for part in inner if not (type(part) is _ast.Constant and part.value is ...)}
            if name in ("Tuple", "tuple", "List", "list", "Sequence") and kinds <= {NUMBER}:
                return SIZES
            if name == "Union" and None not in kinds and len(inner) == 2:
                return join(*[self.annotated(part) for part in inner])
            return None
        if kind is _ast.Name or kind is _ast.Attribute:
            if kind is _ast.Name and node.id in self.source.classes:
                cls = self.source.classes[node.id]
                return Data(cls) if cls.is_data else frozenset({cls}) if cls.is_object else UNKNOWN
            name = self.source.dotted(node)
            return TENSOR if name in TENSOR_TYPES else PYTHON_TYPES.get(name)
        return None

    def parameters(self, node: _ast.FunctionDef, skip: int, is_init: bool) -> dict:
        """The declared kind of each parameter behind the first `skip`, in order."""
        found = self.declarations.get(node)
        if found is None:
            found = self.declarations[node] = self.read_parameters(node, skip, is_init)
        return dict(found)

    def read_parameters(self, node: _ast.FunctionDef, skip: int, is_init: bool) -> dict:
        spec = node.args
        positional = [*spec.posonlyargs, *spec.args]
        defaults = [None] * (len(positional) - len(spec.defaults)) + spec.defaults
        found = {p.arg: self.declared(p, d, is_init) for p, d in [*zip(positional, defaults)][skip:]}
        found.update({p.arg: self.declared(p, d, is_init) for p, d in zip(spec.kwonlyargs, spec.kw_defaults)})
        return found

    def defaults(self, node: _ast.FunctionDef) -> dict:
        """The kinds of the defaults that are known, by parameter."""
        found = self.given.get(node)
        if found is None:
            spec = node.args
            positional = [*spec.posonlyargs, *spec.args]
            pairs = [*zip(positional[len(positional) - len(spec.defaults) :], spec.defaults),
                     *zip(spec.kwonlyargs, spec.kw_defaults)]
            kinds = {p.arg: self.constant(default) for p, default in pairs if default is not None}
            found = self.given[node] = {name: kind for name, kind in kinds.items() if kind != UNKNOWN}
        return found
