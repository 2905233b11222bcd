"""What a function's parameters may be, from annotations and defaults."""

from __future__ import annotations

import _ast

from breakscope.glance import ONLY_A_TREE
from breakscope.plain.kinds import NONE, NUMBER, SIZES, STATIC, TENSOR, TEXT, UNKNOWN, Data, Many, join
from breakscope.plain.objects import Frame

PYTHON_TYPES = {"int": NUMBER, "float": NUMBER, "bool": NUMBER, "str": TEXT, "torch.dtype": NUMBER,
                "torch.device": NUMBER}
TENSOR_TYPES = frozenset(
    """
    torch.Tensor torch.FloatTensor torch.LongTensor torch.BoolTensor torch.IntTensor torch.HalfTensor torch.DoubleTensor
    torch.BFloat16Tensor torch.ByteTensor torch.ShortTensor torch.CharTensor torch.nn.Parameter torch.nn.Buffer
    torch.cuda.FloatTensor torch.cuda.LongTensor
    """.split()
)
SEQUENCES = frozenset({"List", "list", "Sequence", "Iterable", "Collection", "Set", "set", "Tuple", "tuple"})
DICTS = frozenset({"Dict", "dict", "Mapping", "OrderedDict"})
WRAPPERS = frozenset({"Optional", "Final", "Annotated", "ClassVar", "Required", "NotRequired"})


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
            return self.one_of([node.left, node.right])
        if kind is _ast.Constant:
            return NONE if node.value is None else self.written(node.value) if type(node.value) is str else None
        if kind is _ast.Subscript:
            return self.generic(node)
        if kind is _ast.Name or kind is _ast.Attribute:
            return self.named(node)
        return None

    def written(self, text: str) -> object | None:
        """The kind of an annotation that is a string."""
        try:
            return self.annotated(compile(text.strip(), "", "eval", flags=ONLY_A_TREE, dont_inherit=True).body)
        except (SyntaxError, ValueError):
            return None

    def one_of(self, nodes: list) -> object | None:
        """The kind of one of several annotations; where some say nothing, what the others say must not matter."""
        kinds = [self.annotated(node) for node in nodes]
        made: object = NONE
        for kind in kinds:
            made = made if kind is None else join(made, kind)
        return None if None in kinds and made in STATIC else made

    def generic(self, node: _ast.Subscript) -> object | None:
        name = node.value.attr if type(node.value) is _ast.Attribute else getattr(node.value, "id", "")
        inner = node.slice.elts if type(node.slice) is _ast.Tuple else [node.slice]
        if name in WRAPPERS:
            return self.annotated(inner[0])
        if name == "Union":
            return self.one_of(inner)
        if name == "Literal":
            return TEXT if type(inner[0]) is _ast.Constant and type(inner[0].value) is str else None
        if name not in SEQUENCES and name not in DICTS:
            return None
        kinds = [self.annotated(part) for part in inner if not (type(part) is _ast.Constant and part.value is ...)]
        if name in DICTS:
            return self.given_container(node, "dict", kinds[1:])
        if kinds and all(kind == NUMBER for kind in kinds):
            return SIZES
        if all(kind is None or kind in STATIC for kind in kinds):
            return None
        if name in ("Tuple", "tuple") and len(kinds) == len(inner) > 1:
            return tuple([TENSOR if kind is None else kind for kind in kinds])
        return self.given_container(node, "list", kinds)

    def given_container(self, node, role: str, kinds: list) -> Many:
        """A container that the caller hands over, and keeps."""
        made = self.sites.get(node)
        if made is None:
            made = self.sites[node] = Many(role, True, self.clock)
        for kind in kinds or [None]:
            made.widen(TENSOR if kind is None else kind)
        return made

    def named(self, node) -> object | None:
        source, inner = self.source, node
        while type(inner) is _ast.Attribute:
            inner = inner.value
        if type(inner) is not _ast.Name:
            return None
        if inner is node and (cls := source.class_named(node.id)) is not None:
            return Data(cls) if cls.is_data else frozenset({cls}) if cls.is_object else UNKNOWN
        if inner is node and node.id in source.constants and node.id not in source.twice:
            found = self.annotated(source.constants[node.id])
            is_known = found is None or found in STATIC or found == TENSOR or type(found) is Many
            return found if is_known else UNKNOWN
        if inner.id in source.bound and (inner.id not in source.imports or inner.id in source.twice):
            return UNKNOWN  # the analyzer may know what it stands for
        name = source.dotted(node)
        if name in TENSOR_TYPES or name.startswith("jaxtyping."):
            return TENSOR
        if name == "torch.Size":
            return SIZES
        if inner.id in source.imports and not source.files.is_outside(name.partition(".")[0]):
            return UNKNOWN
        return PYTHON_TYPES.get(name)

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
