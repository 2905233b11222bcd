"""Small helpers for `@rule.rewrite`: find the flagged expression in a libcst statement, build the
new one.

Imports libcst, so a rule imports this module inside its rewrite function and never at its top.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from breakscope.rulekit.patch import Place
from breakscope.rulekit.walking import walk as walk_tree

_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float)
_OPERATIONS = (
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.Attribute,
    cst.Subscript,
    cst.Await,
)
_ELEMENTWISE = (
    cst.LessThan,
    cst.LessThanEqual,
    cst.GreaterThan,
    cst.GreaterThanEqual,
    cst.Equal,
    cst.NotEqual,
)
_NEVER_TENSORS = (
    cst.SimpleString,
    cst.FormattedString,
    cst.ConcatenatedString,
    cst.List,
    cst.Tuple,
    cst.Dict,
    cst.Set,
    cst.Lambda,
    cst.ListComp,
    cst.DictComp,
    cst.GeneratorExp,
    cst.Yield,
    cst.Await,
    cst.NamedExpr,
    cst.BooleanOperation,
)
_DIVISIONS = (cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power)
# methods and functions of torch that give a bool or a number of Python's
_BOOLS = re.compile(r"item|tolist|equal|allclose|size|dim|numel|is_.*").fullmatch
# Names of calls that draw random numbers (the operations that torch tags `nondeterministic_seeded`,
# and what is built on them), change something, or leave torch.
_EFFECTS = (
    r".*_|.*(?:rand|dropout|bernoulli|multinomial|poisson|normal|uniform|exponential|geometric"
    r"|cauchy|binomial|rrelu|gumbel|rsample|sample|attention|lstm|gru|rnn).*"
    r"|append|extend|insert|pop|popleft|popitem|update|setdefault|remove|clear|send|write|item|tolist|numpy"
)
# operations with a pole in their gradient, or that raise for some values
_POLES = (
    r"log|log2|log10|log1p|logit|sqrt|rsqrt|reciprocal|div|divide|true_divide|pow|float_power|acos|asin"
    r"|arccos|arcsin|acosh|atanh|norm|vector_norm|matrix_norm|std|var|normalize|inv|inverse|solve|cholesky"
    r"|det|logdet|slogdet|svd|svdvals|eigh?|eigvals|eigvalsh|lgamma|digamma|erfinv|softmax|cross_entropy"
    r"|nll_loss|cdist|dist|prod|cumprod|median|mode|kthvalue"
)
_ACTS = re.compile(f"{_EFFECTS}|{_POLES}").fullmatch
is_effect = re.compile(_EFFECTS).fullmatch
# methods of tensors by which `self.weight.method()` shows that no module is called
_TENSOR_METHODS = re.compile(
    r"expand|expand_as|view|view_as|reshape|repeat|unsqueeze|squeeze|transpose|permute|flatten|clone|detach|to|float"
    r"|abs|neg|exp|sigmoid|tanh|clamp|sum|mean|max|min|square|softplus|type_as|contiguous|masked_fill|new_zeros"
).fullmatch
# methods and functions whose result is a tensor, whatever its size
_REDUCTIONS = re.compile(
    r"(?:arg|a)?(?:max|min)|sum|mean|std|var|prod|abs|norm|median|logsumexp|square|detach|float|long"
).fullmatch
# results that are tensors of bools
_BOOL_TENSORS = re.compile(
    r"any|all|isnan|isinf|isfinite|isclose|eq|ne|lt|le|gt|ge|logical_\w+|isin|bool|less\w*|greater\w*"
).fullmatch


def code(node: cst.CSTNode) -> str:
    """Source text of a node."""
    return cst.Module([]).code_for_node(node)


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything below it, outermost first."""
    yield node
    for child in node.children:
        yield from walk(child)


def same(node: cst.CSTNode, flagged: ast.AST) -> bool:
    """True when the libcst expression is the `ast` expression, whatever their layout."""
    return _tree_of(code(node)) == _tree_of(ast.unparse(flagged)) != ""


def find(statement: cst.CSTNode, problem) -> cst.BaseExpression | None:
    """The flagged expression inside a statement, in the test of an `if`; None when it is not there or
    stands there twice."""
    if not isinstance(problem.node, ast.expr):
        return None
    wanted = _tree_of(ast.unparse(problem.node))
    found = [
        n
        for n in walk(statement.test if isinstance(statement, cst.If) else statement)
        if isinstance(n, cst.BaseExpression) and wanted and _tree_of(code(n)) == wanted
    ]
    return found[0] if len(found) == 1 else None


def find_in_line(node: cst.CSTNode, problem) -> cst.BaseExpression | None:
    """The same in a statement that is not compound; None in others."""
    return find(node, problem) if isinstance(node, cst.SimpleStatementLine) else None


def single(line: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The statement of a line that has no other; None for a compound one."""
    is_single = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
    return line.body[0] if is_single else None


def parts(statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes of a simple statement, or of the test of an `if`; none of other statements."""
    if isinstance(statement, cst.SimpleStatementLine):
        yield from walk(statement)
    elif isinstance(statement, cst.If):
        yield from walk(statement.test)


def swap(statement: cst.CSTNode, old: cst.BaseExpression, text: str) -> cst.CSTNode | None:
    """The statement with one expression replaced by the source `text`; all layout around it stays.

    None when a comment stands inside the expression, since it would be lost.
    """
    if "#" in code(old):
        return None
    new = cst.parse_expression(text)
    if (old.lpar or _is_operand(statement, old)) and not isinstance(new, _ATOMS) and not new.lpar:
        new = new.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return statement.deep_replace(old, new)


def _is_operand(statement: cst.CSTNode, wanted: cst.BaseExpression) -> bool:
    """True where an operator, a dot or a bracket stands beside the expression."""
    return any(
        isinstance(node, _OPERATIONS) and any(child is wanted for child in node.children)
        for node in walk(statement)
    )


def is_comparison(node: cst.CSTNode) -> bool:
    """True for one comparison that works element by element: `a < b`, not `a is b`, not `a < b <
    c`."""
    return (
        isinstance(node, cst.Comparison)
        and len(node.comparisons) == 1
        and isinstance(node.comparisons[0].operator, _ELEMENTWISE)
    )


def may_be_tensor(node: cst.BaseExpression) -> bool:
    """False for what is certainly neither a tensor nor a number, or may not be evaluated where
    Python did not do so."""
    if isinstance(node, cst.Name):
        return node.value not in ("None", "True", "False")
    return not isinstance(node, _NEVER_TENSORS)


def is_tensor_test(node: cst.BaseExpression) -> bool:
    """False for a condition that is a bool of Python's though it reads a tensor: membership,
    identity, a chain of comparisons, a builtin, a function that gives a bool."""
    if isinstance(node, cst.Comparison):
        return is_comparison(node)
    if isinstance(node, cst.Call):
        name = called(node)
        return bool(name) and not isinstance(node.func, cst.Name) and not _BOOLS(name)
    return not isinstance(node, (cst.BooleanOperation, cst.UnaryOperation))


def may_always_run(node: cst.BaseExpression) -> bool:
    """True when an expression may be computed where Python did not compute it: it calls nothing but
    operations that draw no random numbers and change nothing, and none whose gradient is infinite
    or NaN where the value is not used. What an object or a function of the user's does is not
    known."""
    for part in walk(node):
        if isinstance(part, cst.Call):
            name, root = called(part), dotted(part.func).partition(".")[0]
            owned = root == "self" and not _TENSOR_METHODS(name)
            if not name or isinstance(part.func, cst.Name) or owned or _ACTS(name):
                return False
        if isinstance(part, cst.BinaryOperation) and isinstance(part.operator, _DIVISIONS):
            return False
    return True


def called(call: cst.Call) -> str:
    """The last name of what is called; "" where it has none."""
    func = call.func
    return (
        func.attr.value
        if isinstance(func, cst.Attribute)
        else func.value
        if isinstance(func, cst.Name)
        else ""
    )


def is_bool_tensor(node: cst.BaseExpression, place: Place | None = None) -> bool:
    """True for an expression that is a tensor of bools, when it is a tensor; with the place also for
    a name that its function sets once, to such an expression."""
    if isinstance(node, cst.Call):
        return bool(_BOOL_TENSORS(called(node)))
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.BitInvert) and is_bool_tensor(node.expression, place)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitAnd | cst.BitOr):
        return is_bool_tensor(node.left, place) and is_bool_tensor(node.right, place)
    if isinstance(node, cst.Name) and place is not None and place.function is not None:
        value = place.only_value_of(node.value)
        return value is not None and is_bool_tensor(cst.parse_expression(ast.unparse(value)))
    return is_comparison(node)


def surely_tensor(test: cst.BaseExpression) -> bool:
    """True for an answer that only a tensor gives: a method or function of torch for bools
    (`isnan(x).any()`), or a comparison with what a reduction gives (`x.max() > 3`)."""
    if isinstance(test, cst.Comparison):
        return is_comparison(test) and any(
            map(_is_reduced, (test.left, test.comparisons[0].comparator))
        )
    return (
        isinstance(test, cst.Call) and not isinstance(test.func, cst.Name) and is_bool_tensor(test)
    )


def _is_reduced(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.BinaryOperation):
        return _is_reduced(value.left) or _is_reduced(value.right)
    is_call = isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute)
    return is_call and bool(_REDUCTIONS(called(value)))


def truth(test: cst.BaseExpression, place: Place | None = None) -> str | None:
    """Source of the truth of a tensor as a tensor; None where the test is no tensor."""
    if isinstance(test, cst.BinaryOperation | cst.UnaryOperation) and is_bool_tensor(test, place):
        return code(test)
    if isinstance(test, cst.Call) and place is not None and _answers_with_tensor(test.func, place):
        return code(test)
    if not is_tensor_test(test):
        return None
    return code(test) if is_bool_tensor(test, place) else f"{operand(test)} != 0"


def _answers_with_tensor(func: cst.BaseExpression, place: Place) -> bool:
    """True for a function at the top of the file whose returns are all tensors of bools."""
    if not isinstance(func, cst.Name):
        return False
    found = [n for n in place.tree.body if getattr(n, "name", "") == func.value]
    if len(found) != 1 or not isinstance(found[0], ast.FunctionDef) or found[0].decorator_list:
        return False
    answers = [n.value for n in walk_tree(found[0]) if isinstance(n, ast.Return)]
    return bool(answers) and all(
        answer is not None and surely_tensor(cst.parse_expression(ast.unparse(answer)))
        for answer in answers
    )


def negated(test: cst.BaseExpression, place: Place | None = None) -> str | None:
    """Source of the opposite of a tensor's truth."""
    return None if truth(test, place) is None else f"torch.logical_not({code(test)})"


def is_number(node: cst.BaseExpression) -> bool:
    """True for a number as it is written, with or without a sign."""
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Minus | cst.Plus) and is_number(node.expression)
    return isinstance(node, cst.Integer | cst.Float)


def operand(node: cst.BaseExpression) -> str:
    """Source of an expression, in parentheses where a method call or an operator behind it needs
    them."""
    text = code(node)
    return text if isinstance(node, _ATOMS) or node.lpar else f"({text})"


def dotted(node: cst.CSTNode) -> str:
    """`torch.nn.functional` for an attribute chain of names; "" for anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr.value}" if owner else ""
    return ""


def arguments(
    call: cst.Call,
) -> tuple[list[cst.BaseExpression], dict[str, cst.BaseExpression]] | None:
    """Positional and keyword arguments of a call; None when a star is among them."""
    if any(argument.star for argument in call.args):
        return None
    positional = [a.value for a in call.args if a.keyword is None]
    return positional, {a.keyword.value: a.value for a in call.args if a.keyword is not None}


def assignment(statement: cst.BaseSmallStatement) -> tuple[str, cst.BaseExpression, str] | None:
    """(name, value, operator) of `name = value`, or of `name += value` ("+")."""
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target, operator = statement.targets[0].target, ""
    elif isinstance(statement, cst.AugAssign):
        target, operator = statement.target, code(statement.operator).strip().removesuffix("=")
    else:
        return None
    return (target.value, statement.value, operator) if isinstance(target, cst.Name) else None


def line_instead(compound: cst.If | cst.While | cst.For, text: str) -> cst.SimpleStatementLine:
    """A one-line statement in the place of a compound one, with the comments above it and behind
    its header."""
    line = cst.parse_statement(text)
    header = (
        compound.body.header
        if isinstance(compound.body, cst.IndentedBlock)
        else line.trailing_whitespace
    )
    return line.with_changes(leading_lines=compound.leading_lines, trailing_whitespace=header)


def _tree_of(text: str) -> str:
    """The expression that a text is, as it is read: stores and loads of the same place compare
    equal. "" for none."""
    try:
        return ast.dump(ast.parse(f"({text})", mode="eval").body)
    except (SyntaxError, ValueError):
        return ""
