"""The rewrite of `torch.autograd.grad` inside the region: what lies between the input and the output
becomes a function, of which `torch.func` takes the gradient, or the product with `grad_outputs`.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast

import libcst as cst
from msgspec import Struct

from breakscope.rulekit import branching
from breakscope.rulekit import rewriting as rw
from breakscope.rulekit.patch import Also, Declined, Patch, Place
from breakscope.rulekit.rewrites.leaf_mark import CHANGES, is_mark, leaves
from breakscope.rulekit.walking import is_store, names_in, walk

PLAIN = frozenset(
    {"outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs"}
)


class Wanted(Struct, frozen=True):
    """One call of `torch.autograd.grad`: of what it takes the gradient, by which name. `is_kept`:
    the gradient has one itself."""

    output: ast.expr
    name: str
    factor: ast.expr | None
    is_kept: bool


class Path(Struct, frozen=True):
    """The lines from the input to the output, right above the call, and those that mark the input
    as a leaf, which go."""

    lines: tuple[ast.Assign, ...]
    marks: tuple[ast.stmt, ...]


def by_function(node: cst.SimpleStatementLine, problem, place: Place):
    """The fix of `torch.autograd.grad(output, x)`; None or a reason where it stays."""
    wanted = _wanted(problem.node)
    found = rw.find(node, problem)
    if wanted is None or not isinstance(found, cst.Call) or place.function is None:
        return None
    path = _path(wanted, place)
    if isinstance(path, Declined):
        return path
    if path.marks and leaves(wanted.name, place):
        return Declined(f"`{wanted.name}`, a leaf with a gradient, leaves the function")
    output = wanted.output
    if isinstance(output, ast.Name) and not path.lines:
        return None
    names = {n.targets[0].id for n in path.lines}
    reads = _reads(place.function)
    inner = names - ({output.id} if isinstance(output, ast.Name) else set())
    inside = [n for line in path.lines for n in walk(line.value)] + [*walk(output)]
    if any(reads.count(name) != _count(inside, name) for name in inner):
        return Declined("what is computed on the way to the output is used elsewhere, too")
    of_input, above = _function(wanted, path, place)
    is_used = isinstance(output, ast.Name) and reads.count(output.id) > _count(inside, output.id)
    made = (
        _product(node, found, wanted, of_input, place)
        if is_used or wanted.factor is not None
        else _gradient(node, found, wanted, of_input)
    )
    if made is None:
        return None
    blank = cst.EmptyLine(indent=False)
    if above:
        above[0] = above[0].with_changes(leading_lines=[blank, *node.leading_lines])
        made[0] = made[0].with_changes(leading_lines=[blank])
    else:
        made[0] = made[0].with_changes(leading_lines=node.leading_lines)
    lines = [*above, *made]
    also = [Also(line, branching.gone) for line in path.lines]
    also += [Also(line, _unmarked) for line in path.marks]
    changed = lines[0] if len(lines) == 1 else cst.FlattenSentinel(lines)
    return Patch(
        changed,
        also=tuple(also),
        changes=CHANGES.format(wanted.name) if path.marks else "",
    )


def _wanted(call: ast.Call) -> Wanted | None:
    """What a call asks for; None where it asks for what `torch.func` has no form of."""
    given = {k.arg: k.value for k in call.keywords}
    given |= dict(zip(("outputs", "inputs", "grad_outputs"), call.args, strict=False))
    if len(call.args) > 3 or not {"outputs", "inputs"} <= given.keys() <= PLAIN:
        return None
    flags = {n: given[n] for n in ("retain_graph", "create_graph", "only_inputs") if n in given}
    if not all(isinstance(value, ast.Constant) for value in flags.values()):
        return None  # whether the gradient has one is decided by the run
    source = _only(given["inputs"])
    output = _only(given["outputs"])
    factor = given.get("grad_outputs")
    factor = _only(factor) if factor is not None else None
    if isinstance(factor, ast.Constant) and factor.value is None:
        factor = None
    if not isinstance(source, ast.Name) or output is None or isinstance(output, ast.Starred):
        return None
    is_kept = "create_graph" in flags and bool(flags["create_graph"].value)
    return Wanted(output, source.id, factor, is_kept)


def _only(value: ast.expr) -> ast.expr | None:
    """The one value of a list or a tuple, or what is none of these."""
    if isinstance(value, ast.List | ast.Tuple):
        return value.elts[0] if len(value.elts) == 1 else None
    return value


def _path(wanted: Wanted, place: Place) -> Path | Declined:
    """The lines above the call that make the output of the input."""
    block, name = list(place.block), wanted.name
    above = block[: [line is place.statement for line in block].index(True)]
    made = [n for n, line in enumerate(above) if _sets(line) == name]
    first = made[-1] if made else -1
    marks = [above[first]] if made and is_mark(above[first].value) else []
    below = above[first + 1 :]
    marks += [n for n in below if isinstance(n, ast.Expr) and is_mark(n.value, name)]
    if name in _arguments(place.function) and any(isinstance(n, ast.Expr) for n in marks):
        return Declined(f"`{name}` is marked as a leaf for the caller")
    below = [line for line in below if line not in marks]
    needed = names_in(wanted.output) - {name}
    lines: list[ast.stmt] = []
    while below and _sets(below[-1]) in needed:
        lines.insert(0, below.pop())
        needed = (needed - {_sets(lines[0])}) | (names_in(lines[0].value) - {name})
    made_of_input = {name}
    for line in below:
        if names_in(line) & made_of_input:
            made_of_input |= {n.id for n in walk(line) if is_store(n)}
    if needed & (made_of_input - {name}):
        return Declined("other lines stand between the input and the gradient")
    return Path(tuple(lines), tuple(marks))


def _sets(line: ast.stmt) -> str:
    """The one name that a plain assignment sets."""
    if not isinstance(line, ast.Assign) or len(line.targets) != 1:
        return ""
    return line.targets[0].id if isinstance(line.targets[0], ast.Name) else ""


def _unmarked(line: cst.CSTNode):
    """A line without its `.requires_grad_()`."""
    if rw.single(line) is None:
        return None
    if isinstance(line.body[0], cst.Expr):
        return branching.gone(line)
    call = line.body[0].value
    return rw.swap(line, call, rw.code(call.func.value))


def _function(wanted: Wanted, path: Path, place: Place) -> tuple[str, list[cst.BaseStatement]]:
    """The source of the function of the input, and the lines that define it where it has several."""
    if not path.lines:
        return f"lambda {wanted.name}: {ast.unparse(wanted.output)}", []
    if isinstance(wanted.output, ast.Name) and len(path.lines) == 1:
        return f"lambda {wanted.name}: {ast.unparse(path.lines[0].value)}", []
    *lines, last = path.lines
    returned = [ast.Return(wanted.output)]
    if isinstance(wanted.output, ast.Name) and last.targets[0].id == wanted.output.id:
        returned = [ast.Return(last.value)]
    else:
        lines.append(last)
    body = "".join(f"    {ast.unparse(line)}\n" for line in (*lines, *returned))
    name = branching.free_name(place, ("of_input", "output_of", "output_of_input"))
    return name, [cst.parse_statement(f"def {name}({wanted.name}):\n{body}")]


def _gradient(node, found: cst.Call, wanted: Wanted, of_input: str):
    """`g = torch.func.grad(f)(x)`."""
    text = f"torch.func.grad({of_input})({wanted.name})" + ("" if wanted.is_kept else ".detach()")
    return _instead(node, found, text)


def _product(node, found: cst.Call, wanted: Wanted, of_input: str, place: Place):
    """`y, pullback = torch.func.vjp(f, x)`, and `g = pullback(factor)[0]`."""
    pullback = branching.free_name(place, ("pullback", "pull_back", "pullback_of_input"))
    output = ast.unparse(wanted.output) if isinstance(wanted.output, ast.Name) else "_"
    if output == "_" and wanted.factor is None:
        return None
    factor = f"torch.ones_like({output})" if wanted.factor is None else ast.unparse(wanted.factor)
    text = f"{pullback}({factor})[0]" + ("" if wanted.is_kept else ".detach()")
    made = _instead(node, found, text)
    if made is None:
        return None
    first = f"{output}, {pullback} = torch.func.vjp({of_input}, {wanted.name})"
    return [cst.parse_statement(first), *made]


def _instead(node, found: cst.Call, text: str) -> list[cst.BaseStatement] | None:
    """The line with this in the place of the one gradient of the tuple that the call gives."""
    for part in rw.walk(node):
        if isinstance(part, cst.Subscript) and part.value is found:
            first = part.slice[0].slice if len(part.slice) == 1 else None
            if not isinstance(first, cst.Index) or rw.code(first.value) != "0":
                return None
            made = rw.swap(node, part, text)
            return None if made is None else [made.with_changes(leading_lines=())]
        if isinstance(part, cst.Assign) and part.value is found and len(part.targets) == 1:
            target = part.targets[0].target
            if not isinstance(target, cst.Tuple | cst.List) or len(target.elements) != 1:
                return None
            one = target.elements[0].value
            made = rw.swap(node, found, text)
            return (
                None
                if made is None
                else [
                    made.deep_replace(
                        next(n for n in rw.walk(made) if isinstance(n, cst.AssignTarget)).target,
                        one,
                    ).with_changes(leading_lines=())
                ]
            )
    return None


def _reads(function: ast.AST) -> list[str]:
    return [n.id for n in walk(function) if isinstance(n, ast.Name) and not is_store(n)]


def _count(nodes: list[ast.AST], name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name and not is_store(n) for n in nodes)


def _arguments(function: ast.AST) -> set[str]:
    return {n.arg for n in walk(function.args) if isinstance(n, ast.arg)}
