"""Wires the interpreter: which function runs which syntax, and the machine that uses them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from breakscope.static.interpreter import choices, comprehensions, expressions, imports, statements
from breakscope.static.interpreter.calls.call_expressions import eval_call, inline
from breakscope.static.interpreter.control_flow import exec_if, exec_try
from breakscope.static.interpreter.loops import exec_for, exec_while
from breakscope.static.interpreter.match import exec_match
from breakscope.static.interpreter.with_blocks import exec_with
from breakscope.static.machine.machine import Tables
from breakscope.static.project import eviction
from breakscope.static.variables.table import behaviour

EXPRESSIONS: dict[type, Callable] = {
    ast.Constant: expressions.eval_constant,
    ast.Name: expressions.eval_name,
    ast.Attribute: expressions.eval_attribute,
    ast.NamedExpr: expressions.eval_named_expr,
    ast.Lambda: expressions.eval_lambda,
    ast.Starred: expressions.eval_starred,
    ast.Await: expressions.eval_await,
    ast.Yield: expressions.eval_yield,
    ast.YieldFrom: expressions.eval_yield_from,
    ast.Tuple: partial(expressions.eval_display, type_="tuple"),
    ast.List: partial(expressions.eval_display, type_="list"),
    ast.Set: partial(expressions.eval_display, type_="set"),
    ast.Dict: expressions.eval_dict,
    ast.JoinedStr: expressions.eval_joined_str,
    ast.BoolOp: choices.eval_bool_op,
    ast.IfExp: choices.eval_if_exp,
    ast.Subscript: expressions.eval_subscript,
    ast.Slice: expressions.eval_slice,
    ast.BinOp: expressions.eval_bin_op,
    ast.UnaryOp: expressions.eval_unary_op,
    ast.Compare: expressions.eval_compare,
    ast.Call: eval_call,
    ast.ListComp: partial(comprehensions.eval_comprehension, type_="list"),
    ast.SetComp: partial(comprehensions.eval_comprehension, type_="set"),
    ast.DictComp: comprehensions.eval_dict_comp,
    ast.GeneratorExp: partial(comprehensions.eval_comprehension, type_="generator"),
}
STATEMENTS: dict[type, Callable] = {
    ast.Expr: statements.exec_expr,
    ast.Pass: statements.exec_pass,
    ast.Assign: statements.exec_assign,
    ast.AnnAssign: statements.exec_ann_assign,
    ast.AugAssign: statements.exec_aug_assign,
    ast.Delete: statements.exec_delete,
    ast.Return: statements.exec_return,
    ast.Raise: statements.exec_raise,
    ast.Assert: statements.exec_assert,
    ast.Global: statements.exec_global,
    ast.Nonlocal: statements.exec_nonlocal,
    ast.Break: statements.exec_break,
    ast.Continue: statements.exec_continue,
    ast.FunctionDef: statements.exec_function_def,
    ast.AsyncFunctionDef: statements.exec_function_def,
    eviction.FunctionDef: statements.exec_function_def,
    ast.ClassDef: statements.exec_class_def,
    ast.Import: imports.exec_import,
    ast.ImportFrom: imports.exec_import_from,
    ast.If: exec_if,
    ast.Try: exec_try,
    ast.TryStar: exec_try,
    ast.While: exec_while,
    ast.For: exec_for,
    ast.AsyncFor: exec_for,
    ast.With: exec_with,
    ast.AsyncWith: exec_with,
    ast.Match: exec_match,
}
if hasattr(ast, "TypeAlias"):  # since Python 3.12
    STATEMENTS[ast.TypeAlias] = statements.exec_type_alias


TABLES = Tables(EXPRESSIONS, STATEMENTS, behaviour, inline)
