"""The rules' examples as the laws need them: marked lines, source without names and marks, outcomes
of a call."""

from __future__ import annotations

import ast
import inspect
import io
import random
import re
import sys
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from breakscope.knowledge import since
from breakscope.rulekit.loader import load_rules
from breakscope.rulekit.rule import Example, Rule

MARK = re.compile(r"[ ]*# BRK\d{3}(?:, BRK\d{3})*\b")
CODE = re.compile(r"BRK\d{3}")
LAYOUT = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
)


@dataclass(frozen=True)
class Case:
    """One example of one rule."""

    rule: Rule
    example: Example

    @property
    def name(self) -> str:
        return f"{self.rule.code}-{self.example.bad.__name__}"

    @property
    def calls(self) -> list[tuple]:
        """Fresh arguments, one tuple for each call."""
        torch.manual_seed(0)
        if self.example.calls is not None:
            return self.example.calls()
        return [make() for make in self.example.inputs]

    @property
    def ids(self) -> set[str]:
        """The GB ids, or guard families, that this example must show."""
        return set(self.example.dynamo if self.example.dynamo is not None else self.rule.gb_ids())


def cases() -> list[Case]:
    """The examples of rules about compiled code whose pattern breaks under the running Python and
    torch."""
    return [case for case in _every_case() if case.rule.kind != "usage" and holds(case.rule)]


def others() -> list[Case]:
    """The examples of rules about compiled code whose pattern breaks under other versions of torch
    only."""
    return [case for case in _every_case() if case.rule.kind != "usage" and not holds(case.rule)]


def holds(rule) -> bool:
    """True when the rule speaks of the running torch."""
    return since(rule.since) and not (rule.until and since(rule.until))


def programs() -> list[Case]:
    """The examples of the rules about the use of torch.compile itself."""
    return [case for case in _every_case() if case.rule.kind == "usage"]


def _every_case() -> list[Case]:
    rules = [
        r
        for r in load_rules(heavy=True)
        if not r.until_python or sys.version_info[:2] < _version(r.until_python)
    ]
    return [Case(rule, example) for rule in rules for example in rule.examples]


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def callable_of(function: Callable, module: bool) -> Callable:
    """What is called: the function, or what it makes."""
    torch.manual_seed(0)
    return function() if module else function


def lines_of(function: Callable) -> tuple[int, int]:
    """First and last line of a function, its decorators not counted."""
    lines, first = inspect.getsourcelines(function)
    skip = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    return first + skip, first + len(lines) - 1


def marked_lines(case: Case, others: bool = False, example: str = "bad") -> set[int]:
    """The lines of an example that end with the rule's mark, or with that of another rule."""
    lines, first = inspect.getsourcelines(getattr(case.example, example))
    marks = {first + i: mark.group() for i, line in enumerate(lines) if (mark := MARK.search(line))}
    own = {case.rule.code}
    return {
        line
        for line, mark in marks.items()
        if (set(CODE.findall(mark)) - own if others else case.rule.code in mark)
    }


def source_of(function: Callable) -> str:
    """A function's source from `def` on."""
    lines, _ = inspect.getsourcelines(function)
    skip = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    return "".join(lines[skip:])


def tokens_of(source: str) -> list[str]:
    """The tokens of a function, comments among them, without layout, marks and the function's name."""
    plain = MARK.sub("", source)
    tokens = [
        t.string
        for t in tokenize.generate_tokens(io.StringIO(plain).readline)
        if t.type not in LAYOUT
    ]
    tokens[1] = "def_name"
    return tokens


def as_program(case: Case, function: Callable, folder: Path) -> Path:
    """The rule's file as a program that a user may check: `function` under a name of its own, and
    at the end a `make()`, and `calls()` where calls matter. Line numbers stay as they are."""
    source = Path(case.rule.path).read_text(encoding="utf-8")
    lines = source.splitlines()
    first, name = lines_of(function)[0], "the_example"
    lines[first - 1] = lines[first - 1].replace(f"def {function.__name__}(", f"def {name}(", 1)
    target = f"{name}()" if case.example.module else name
    lines += ["", "", "def make():", f"    return {target}, {_first_call(case, source)}, {{}}"]
    if case.rule.kind == "recompile" and not (case.example.calls or case.example.drive):
        lines += ["", "", "def calls():", f"    return [{', '.join(_inputs_text(case, source))}]"]
    for role in ("drive", "calls"):
        given = getattr(case.example, role)
        if given is not None and given.__name__ != role:
            lines += ["", "", f"{role} = {given.__name__}"]
    program = folder / Path(case.rule.path).name
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return program


def _first_call(case: Case, source: str) -> str:
    if case.example.drive:
        return "()"
    return "calls()[0]" if case.example.calls else _inputs_text(case, source)[0]


def _inputs_text(case: Case, source: str) -> list[str]:
    """The source of each call's argument tuple, as `@rule.example` gives it."""
    bad = next(
        n
        for n in ast.walk(ast.parse(source))
        if isinstance(n, ast.FunctionDef) and n.lineno == lines_of(case.example.bad)[0]
    )
    decorator = next(d for d in bad.decorator_list if isinstance(d, ast.Call))
    texts = []
    for given in decorator.args:
        if isinstance(given, ast.Lambda):
            texts.append(ast.unparse(given.body))
        elif isinstance(given, ast.Starred):
            texts += [f"{ast.unparse(given.value)}[{i}]()" for i in range(len(case.example.inputs))]
        else:
            texts.append(f"{ast.unparse(given)}()")
    return texts


@dataclass
class Outcome:
    """What a call gave: its results and the arguments afterwards as tensors, and gradients; or an
    exception."""

    failed: bool
    leaves: list[Any]
    gradients: list[torch.Tensor]


def outcome(function: Callable, arguments: tuple, with_gradients: bool) -> Outcome:
    """Call `function` with a copy of the arguments. With gradients, every float result is summed
    and differentiated."""
    arguments = pytree.tree_map(
        lambda a: a.clone() if isinstance(a, torch.Tensor) else a, arguments
    )
    inputs = [
        a
        for a in pytree.tree_leaves(arguments)
        if isinstance(a, torch.Tensor) and a.is_floating_point()
    ]
    if isinstance(function, torch.nn.Module):
        inputs += list(function.parameters())
    torch.manual_seed(1)
    random.seed(1)
    try:
        results = function(*arguments)
    except Exception:
        return Outcome(True, [], [])
    leaves = [_plain(leaf) for leaf in pytree.tree_leaves((results, arguments))]
    return Outcome(False, leaves, gradients(function, arguments, inputs) if with_gradients else [])


def gradients(
    function: Callable, arguments: tuple, inputs: list[torch.Tensor]
) -> list[torch.Tensor]:
    """The gradient of the sum of all float results; zeros where an input has none."""
    for tensor in inputs:
        tensor.requires_grad_()
    torch.manual_seed(1)
    random.seed(1)
    results = pytree.tree_leaves(function(*arguments))
    total = sum(r.sum() for r in results if isinstance(r, torch.Tensor) and r.requires_grad)
    if not isinstance(total, torch.Tensor):
        return [torch.zeros_like(t) for t in inputs]
    found = torch.autograd.grad(total, inputs, allow_unused=True)
    return [torch.zeros_like(t) if g is None else g for t, g in zip(inputs, found)]


def _plain(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().clone()
    return torch.tensor(leaf) if isinstance(leaf, (bool, int, float, complex)) else leaf


def assert_same(bad: Outcome, good: Outcome) -> None:
    """Equal failures, equal values up to rounding and dtype, equal gradients; NaN equals NaN."""
    assert bad.failed == good.failed
    assert len(bad.leaves) == len(good.leaves)
    for left, right in zip([*bad.leaves, *bad.gradients], [*good.leaves, *good.gradients]):
        if isinstance(left, torch.Tensor):
            dtype = torch.promote_types(left.dtype, right.dtype)
            torch.testing.assert_close(left.to(dtype), right.to(dtype), equal_nan=True)
        else:
            assert left == right or type(left) is type(right)
