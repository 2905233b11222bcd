"""Dynamo's settings (`torch._dynamo.config`): which a file switches on, and the fix that does so."""

from __future__ import annotations

import ast

from msgspec import Struct, field

from breakscope.rulekit.patch import Also, Declined, Patch, Place
from breakscope.rulekit.walking import children, kept_with_node, last_name, names_in, uses_of, walk

SIZES = "capture_dynamic_output_shape_ops"
CONFIG = "torch._dynamo.config."
IMPORTS = (ast.Import, ast.ImportFrom)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# what may be done with a number, or with a tensor of a size, that Python does not know
ARITHMETIC = (ast.BinOp, ast.Tuple, ast.List, ast.Starred, ast.keyword, ast.Slice)
SCALARS = "capture_scalar_outputs"
OF_SIZES = frozenset("split split_with_sizes view reshape expand zeros ones empty".split())
OVER = frozenset({"zip", "enumerate"})
PYTHON = frozenset(
    "round math sorted sort format range enumerate zip hash divmod isinstance print str repr bool"
    " reversed sum any all map filter chr hex".split()
)


def switched_on(tree: ast.Module) -> frozenset[str]:
    """The settings that statements at the top of a file set to True."""
    return frozenset(
        target.attr
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is True
        for target in statement.targets
        if isinstance(target, ast.Attribute) and ast.unparse(target).startswith(CONFIG)
    )


def switching_on(problem, place: Place):
    """The fix that sets the problem's setting below the imports of the file; a reason where what is
    read decides what Python does next, which no setting helps."""
    setting = problem.setting
    imports = [n for n in place.tree.body if isinstance(n, IMPORTS)]
    if not imports or setting in switched_on(place.tree):
        return None
    changes = f"Dynamo's setting `{setting}` is on in the whole process that imports this file"
    if setting in (SIZES, SCALARS):
        source = problem.node
        is_list = isinstance(source, ast.Call) and ast.unparse(source.func).endswith(".tolist")
        way = _Way(place.tree, setting == SIZES, is_list)
        steers = place.function is None or way.steers(source, place.function)
        if steers and problem.guarded:
            changes += RECOMPILES
        elif steers:
            what = "the size of the result" if setting == SIZES else "the value"
            return Declined(f"{what} decides what Python does next")
        if is_list and problem.dtype != "int" and not (way.sizes or way.bounds):
            return Declined("Dynamo keeps only whole numbers in the graph, and these may be others")
        if setting == SCALARS and way.bounds:
            changes += BOUNDS
    return Patch(
        None,
        also=(Also(imports[-1], lambda last: _with_line(last, f"{CONFIG}{setting} = True")),),
        changes=changes,
        safety="unsafe",
    )


def read_as_number(node, problem, place: Place, tensor: ast.expr):
    """The fix that reads a tensor by `.item()` where Python needs a number of it, with the setting that
    keeps the read in the graph; None where Dynamo would not guard on it."""
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    name = getattr(tensor, "id", None)
    found = [n for n in rw.walk(node) if isinstance(n, cst.Name) and n.value == name]
    is_for = isinstance(node, cst.For)
    if is_for:
        found = [n for n in rw.walk(node.iter) if n in found]
    elif not isinstance(node, cst.SimpleStatementLine):
        return None
    if not problem.guarded or len(found) != 1:
        return None
    switched = switching_on(problem, place)
    also = switched.also if isinstance(switched, Patch) else ()
    if not also and problem.setting not in switched_on(place.tree):
        return None
    read = cst.parse_expression(f"{found[0].value}.item()")
    changes = switched.changes if isinstance(switched, Patch) else RECOMPILES
    return Patch(node.deep_replace(found[0], read), also=also, changes=changes, safety="unsafe")


RECOMPILES = "; each value compiles again, up to the recompile limit, as it did behind the break"
# torch 2.13: the gradient of such a slice, not the slice itself
BOUNDS = "; Inductor compiles the gradient of the slice only where `torch._check(n >= 0)` stands before it"


def _with_line(last, line: str):
    import libcst as cst

    added = cst.parse_statement(line)
    return cst.FlattenSentinel(
        [last, added.with_changes(leading_lines=[cst.EmptyLine(indent=False)])]
    )


class _Way(Struct):
    """The way of a value through the functions of a file. It is a tensor of a size that Python does
    not know, a list of numbers, or a number. `bounds` is True when a slice was met, `sizes` when a
    call that takes only whole numbers was."""

    tree: ast.Module
    is_tensor: bool
    is_list: bool
    bounds: bool = False
    sizes: bool = False
    seen: set[str] = field(default_factory=set)

    def steers(self, source: ast.AST, function: ast.AST) -> bool:
        """True when Python's control flow may depend on it, as far as the file shows: it comes to a
        test, a loop, or the index of what may be a list."""
        parents = {id(child): node for node in walk(function) for child in children(node)}
        waiting: list[ast.AST] = [source]
        names: set[str] = set()
        while waiting:
            node = waiting.pop()
            parent = parents.get(id(node))
            while parent is not None and self._passes(node, parent, function):
                node, parent = parent, parents.get(id(parent))
            if parent is None or not self._is_taken(node, parent):
                return True
            stored = names_in(parent, ast.Store) if isinstance(parent, STORES) else set()
            if isinstance(parent, ast.For | ast.comprehension):
                stored = names_in(parent.target, ast.Store)
            for name in stored - names:
                names.add(name)
                waiting += uses_of(function, name, ast.Load)
            if isinstance(parent, ast.Return) and self._steers_in_callers(function):
                return True
        return False

    def _steers_in_callers(self, function: ast.AST) -> bool:
        """The same for what the function returns, where the file calls it by its name."""
        name = getattr(function, "name", "forward")
        if name in self.seen or name in ("forward", "__call__"):
            return False
        self.seen.add(name)
        calls = _calls_in(self.tree).get(name, ())
        return any(self.steers(call, caller) for call, caller in calls)

    def _passes(self, node: ast.AST, parent: ast.AST, function: ast.AST) -> bool:
        """True when the value goes on into what the parent gives."""
        if isinstance(parent, ast.Call):
            if node is parent.func:
                return True
            called = ast.unparse(parent.func).split(".")
            self.sizes = self.sizes or called[-1] in OF_SIZES
            if self.is_list and called[0] in OVER:
                return True
            return called[0] not in PYTHON and called[-1] not in PYTHON
        if isinstance(parent, ast.Attribute):
            return parent.attr not in ("tolist", "item")
        if isinstance(parent, ast.Subscript):
            in_slice = isinstance(node, ast.Slice | ast.Tuple)
            self.bounds = self.bounds or (in_slice and node is not parent.value)
            return (
                node is parent.value or self.is_tensor or in_slice or _is_tensor(parent, function)
            )
        if isinstance(parent, ast.Compare):
            return len(parent.ops) == 1 and isinstance(
                parent.ops[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE
            )
        if isinstance(parent, ast.ListComp):
            return node is parent.elt
        if isinstance(parent, ast.Dict):
            return node in parent.values
        return isinstance(parent, ARITHMETIC)

    def _is_taken(self, node: ast.AST, parent: ast.AST) -> bool:
        """True for the end of a value's way: it is stored, returned, a call is made for its effect,
        or a loop goes over a list of a length that is known."""
        if isinstance(parent, ast.For | ast.comprehension):
            return self.is_list and node is parent.iter
        return isinstance(parent, (*STORES, ast.Return, ast.Expr))


STORES = (ast.Assign, ast.AugAssign, ast.AnnAssign)


def _is_tensor(read: ast.Subscript, function: ast.AST) -> bool:
    """True for `y[...]` where `y` is an argument, or the function sets it to what a call or
    arithmetic gives, and to nothing else."""
    if not isinstance(read.value, ast.Name):
        return False
    name = read.value.id
    values = [
        n.value
        for n in walk(function)
        if isinstance(n, ast.Assign)
        and any(name in names_in(target, ast.Store) for target in n.targets)
    ]
    stores = len(uses_of(function, name, ast.Store, ast.Del))
    is_argument = any(isinstance(n, ast.arg) and n.arg == name for n in walk(function))
    return (
        stores == len(values)
        and (is_argument or bool(values))
        and all(
            isinstance(value, ast.BinOp)
            or (isinstance(value, ast.Call) and ast.unparse(value.func) not in ("list", "dict"))
            for value in values
        )
    )


@kept_with_node
def _calls_in(tree: ast.Module) -> dict[str, list[tuple[ast.Call, ast.AST]]]:
    """The calls in a file by the name that is called, each with a function around it."""
    calls = {}
    for caller in walk(tree):
        for call in walk(caller) if isinstance(caller, FUNCTIONS) else ():
            if isinstance(call, ast.Call):
                calls.setdefault(last_name(call.func), []).append((call, caller))
    return calls
