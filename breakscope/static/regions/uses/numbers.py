"""What a function does with a Python number that differs between its calls: whether a tensor could stand
in its place, or only the number itself does."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from breakscope.knowledge import load
from breakscope.rulekit.numbers.arguments import KEYWORDS, NUMBERS, SIZES
from breakscope.rulekit.values import Instance, Tensor, Value
from breakscope.rulekit.walking import children, walk
from breakscope.static.project.modules import ModuleInfo

# what decides about advice, the strongest first
ORDER = ("branch", "value", "other", "number", "size", "arithmetic")
FUNCTIONS = frozenset({"torch", "F", "nn.functional", "functional", "torch.nn.functional"})
PASSED_ON = frozenset({"abs", "max", "min", "pow", "sum"})  # these take tensors
NEEDS_NUMBER = frozenset(
    "range int float bool round str print len isinstance divmod format enumerate repr hash".split()
)
OF_NUMBERS = ("math.", "np.", "numpy.", "random.")
SAME_SHAPE = ("dim", "dims", "axis", *KEYWORDS)


class Read(NamedTuple):
    """A name to look for; `is_computed`: it has what the number gave with something else, a tensor as a rule."""

    name: str
    is_computed: bool = False


class NumberUses:
    """How a function uses numbers. `names` are what it has for its names, as far as that is known."""

    def __init__(self, node: ast.AST, names: Mapping[str, Value]) -> None:
        self.names = names
        self.parts = walk(node)
        self.parents = {id(child): part for part in self.parts for child in children(part)}

    def of(self, name: str) -> str:
        """How a number is used that is written `name`, be it an item or an attribute, in the strongest of
        its uses: "branch" where a test decides by it; "value" where Python needs the number itself, as
        the length of a loop or as text; "number" where an operator takes no tensor in its place; "size"
        where it is one, or a dimension or an index of a tensor; "arithmetic" where a tensor would do;
        "other" where that is not known."""
        found = self.all_of(name)
        return next((use for use in ORDER if use in found), "other")

    def all_of(self, name: str) -> set[str]:
        """All its uses, in the same words."""
        waiting, seen, found = [Read(name)], set(), set()
        while waiting:
            read = waiting.pop()
            if read in seen:
                continue
            seen.add(read)
            for node in self._loads(read.name):
                use, names = self._climb(node, read.is_computed)
                found.add(use)
                waiting += names
        return found

    def _loads(self, name: str) -> list[ast.expr]:
        """Where it is read; of an item that is not written anywhere, where the container is."""
        kinds = ast.Name if name.isidentifier() else (ast.Attribute, ast.Subscript)
        found = [
            part
            for part in self.parts
            if isinstance(part, kinds)
            and isinstance(part.ctx, ast.Load)
            and ast.unparse(part) == name
        ]
        if not found and name.endswith("]"):
            return self._loads(name[: name.rindex("[")])
        return found

    def _climb(self, node: ast.expr, is_computed: bool) -> tuple[str, list[Read]]:
        """What is done with an expression, "" where it only gets other names, and these."""
        keyword = ""
        while (parent := self.parents.get(id(node))) is not None:
            match parent:
                case ast.BinOp():
                    other = parent.right if parent.left is node else parent.left
                    is_computed = is_computed or not _is_plain(other)
                case ast.If() | ast.While() | ast.Assert():
                    return "branch", []
                case ast.IfExp() if parent.test is node:
                    return "branch", []
                case ast.comprehension() | ast.For():
                    if node is not parent.iter:
                        return "branch", []
                    return "", [Read(name, is_computed) for name in _names(parent.target)]
                case ast.Subscript() if parent.slice is node:
                    held = self._held(parent.value)
                    if held is None or held.is_unknown:
                        return "other", []
                    return "size" if type(held) is Tensor else "value", []
                case ast.keyword():
                    keyword = parent.arg or "**"
                case ast.Call() if parent.func is not node:
                    use = self._of_call(parent, node, keyword, is_computed)
                    if use:
                        return use, []
                case ast.FormattedValue():
                    return "value", []
                case ast.AugAssign():
                    return "arithmetic", []
                case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                    targets = getattr(parent, "targets", None) or [parent.target]
                    names = [name for target in targets for name in _names(target)]
                    return "" if names else "other", [Read(name, is_computed) for name in names]
                case ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.IfExp() | ast.Slice():
                    pass
                case ast.Tuple() | ast.List() | ast.Starred():
                    pass
                case _:
                    return "arithmetic" if is_computed else "other", []
            node = parent
        return "other", []

    def _held(self, node: ast.expr) -> Value | None:
        """What a name has, or an attribute of one."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        owner = self._held(node.value) if isinstance(node, ast.Attribute) else None
        return owner.attributes.get(node.attr) if isinstance(owner, Instance) else None

    def _of_call(self, call: ast.Call, node: ast.expr, keyword: str, is_computed: bool) -> str:
        """What a call does with an argument; "" where its result is another number."""
        text = ast.unparse(call.func)
        if text in PASSED_ON:
            return ""
        if text in NEEDS_NUMBER or text.startswith(OF_NUMBERS):
            return "value"
        owner, _, name = text.rpartition(".")
        is_function = owner in FUNCTIONS
        given = next((i for i, part in enumerate(call.args) if part is node), -1)
        for full in _full_names(name, is_function):
            if given in SIZES.get(full, ()) or (full in SIZES and keyword in KEYWORDS):
                return "size"
            at = given if is_function else given + 1
            wanted = {**load().numbers.get(full, {}), **NUMBERS.get(name, {})}
            place = keyword or next((k for k, v in wanted.items() if v == at and given >= 0), "")
            if place in wanted:
                return "size" if place in SAME_SHAPE else "number"
        if keyword in SAME_SHAPE:
            return "size"
        is_tensors = is_function or (bool(owner) and f"Tensor.{name}" in load().shapes)
        return "arithmetic" if is_computed or is_tensors else "other"


def number_use(node: ast.expr, owner: object, module: ModuleInfo) -> str:
    """How the function around a node uses the number that is read there, an attribute of `owner` or a
    global: see `NumberUses.of`."""
    around = [
        part
        for part in walk(module.tree)
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        and part.lineno <= node.lineno <= (part.end_lineno or 0)
    ]
    if not around:
        return "other"
    names = {}
    if isinstance(node, ast.Attribute) and isinstance(owner, Instance):
        names[ast.unparse(node.value)] = owner
    return NumberUses(around[-1], names).of(ast.unparse(node))


def _full_names(name: str, is_function: bool) -> Iterator[str]:
    plain = name.removesuffix("_")
    if is_function:
        yield f"torch.{plain}"
        yield f"torch.nn.functional.{plain}"
    else:
        yield f"Tensor.{plain}"


def _is_plain(node: ast.expr) -> bool:
    """True for a constant."""
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.UnaryOp) and _is_plain(node.operand)
    )


def _names(target: ast.expr) -> Iterator[str]:
    """The plain names that an assignment binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _names(part)
