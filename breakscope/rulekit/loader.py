"""Finding, loading and validating the rule files."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from functools import lru_cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from os.path import dirname
from types import ModuleType

from breakscope.report.model import Kind
from breakscope.rulekit.rule import FAMILIES, Rule

LIBRARIES_LEFT_OUT = ("torch", "numpy")
FAMILY_TITLES = {  # the first digit of a code -> what these rules are about
    "0": "comments for breakscope itself",
    "1": "control flow",
    "2": "tensor to Python value",
    "3": "data-dependent shapes",
    "4": "side effects and I/O",
    "5": "calls and types that Dynamo does not trace",
    "6": "autograd and training inside the region",
    "7": "recompiles",
    "8": "use of torch.compile itself",
    "9": "seen only by a run",
}


class RuleError(Exception):
    """A rule file is wrong; the message names the file and what to change."""


class _StandIn(ModuleType):
    """Takes the place of torch and numpy while rules are loaded for a static check; its members
    serve as decorators and as base classes only."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn(f"{self.__name__}.{name}")

    def __mro_entries__(self, bases: tuple) -> tuple[type, ...]:
        return ()  # a class of an example may derive from a library's class

    def __call__(self, function, *args, **kwargs):
        if callable(function) and not args and not kwargs:
            return function
        raise RuleError(
            f"a rule calls {self.__name__} while it is loaded; use it inside functions and lambdas only"
        )


class _Later(ModuleType):
    """A module of the standard library that is imported when it is first used: most serve a rule's
    examples only."""

    def __getattr__(self, name: str):
        return getattr(import_module(self.__name__), name)


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """`__import__` for the top level of a rule that is loaded for a static check."""
    root = name.partition(".")[0]
    # also where the program around us has them: examples must not touch them
    if root in LIBRARIES_LEFT_OUT and level == 0:
        return _StandIn(root)
    if name in sys.stdlib_module_names and name not in sys.modules and not fromlist:
        return _Later(name)
    return __import__(name, globals, locals, fromlist, level)


LIGHT_BUILTINS = {**vars(builtins), "__import__": _import}


@lru_cache(maxsize=1)
def rules_folder() -> str:
    """The folder of rule files: `breakscope/rules` in an installed package, `rules/` beside the
    package in a checkout."""
    spec = importlib.util.find_spec("breakscope.rules")
    if spec and spec.submodule_search_locations:
        return next(iter(spec.submodule_search_locations))
    beside = os.path.join(dirname(dirname(dirname(os.path.realpath(__file__)))), "rules")
    if os.path.isdir(beside):
        return beside
    raise RuleError("the folder of rules is missing from this installation; reinstall breakscope")


def load_file(path: str | os.PathLike[str], heavy: bool) -> Rule:
    """Load one rule file. With `heavy` its imports of torch and numpy are real, so that its
    examples can run."""
    path = os.fspath(path)
    name = os.path.splitext(os.path.basename(path))[0]
    module = ModuleType(f"breakscope_rule_{name}")
    module.__file__ = path
    if not heavy:
        module.__dict__["__builtins__"] = LIGHT_BUILTINS
    try:
        exec(SourceFileLoader(module.__name__, path).get_code(module.__name__), vars(module))
    except RuleError as problem:
        raise RuleError(f"{path}: {problem}") from None
    except Exception as problem:  # a user's own rule may do anything wrong
        raise RuleError(
            f"{path}: cannot be loaded: {type(problem).__name__}: {problem}"
        ) from problem
    rule = getattr(module, "rule", None)
    if not isinstance(rule, Rule):
        raise RuleError(f"{path}: defines no `rule = Rule(...)`")
    rule.page, rule.path = module.__doc__ or "", path
    _validate(rule)
    return rule


def rule_files(folder: str) -> list[str]:
    """The names of a folder's rule files, sorted. Those that start with an underscore are helpers,
    not rules."""
    return sorted(
        name for name in os.listdir(folder) if name.endswith(".py") and not name.startswith("_")
    )


def load_folder(folder: str, heavy: bool = False) -> list[Rule]:
    """All rules of a folder, by code."""
    return sorted(
        (load_file(os.path.join(folder, name), heavy) for name in rule_files(folder)),
        key=lambda rule: rule.code,
    )


@lru_cache(maxsize=4)
def load_rules(extra: tuple[str, ...] = (), heavy: bool = False) -> tuple[Rule, ...]:
    """The shipped rules and those of the folders in `extra`, by code; raises RuleError when two
    share a code."""
    rules = load_folder(rules_folder(), heavy)
    for folder in extra:
        if not os.path.isdir(folder):
            raise RuleError(f"the rules folder {folder} does not exist")
        rules += load_folder(folder, heavy)
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.code in seen:
            raise RuleError(f"{rule.path}: code {rule.code} is taken by {seen[rule.code].path}")
        seen[rule.code] = rule
    return tuple(sorted(rules, key=lambda rule: rule.code))


def _validate(rule: Rule) -> None:
    if not (rule.code.startswith("BRK") and len(rule.code) == 6 and rule.code[3:].isdecimal()):
        raise RuleError(f"{rule.path}: {rule.code!r} is no code; write BRK and three digits")
    if rule.code[3] not in FAMILY_TITLES:
        raise RuleError(f"{rule.path}: {rule.code} is of no family; codes begin with BRK0 to BRK9")
    if not rule.title:
        raise RuleError(f"{rule.path}: has no docstring; it is the rule's page")
    if rule.kind not in Kind.__args__:
        raise RuleError(f"{rule.path}: kind {rule.kind!r} is none of {', '.join(Kind.__args__)}")
    if rule.kind == "recompile" and not set(rule.dynamo) <= set(FAMILIES):
        raise RuleError(
            f"{rule.path}: {', '.join(set(rule.dynamo) - set(FAMILIES))} is no guard family"
        )
    if rule.fix not in ("", "safe", "unsafe"):
        raise RuleError(f"{rule.path}: fix is {rule.fix!r}; write 'safe', 'unsafe' or ''")
    is_of_code = rule.code[3] != "0"  # else its fixes rewrite comments, and no statement
    if is_of_code and bool(rule.fix) != bool(rule.rewriter):
        raise RuleError(
            f"{rule.path}: declares fix={rule.fix!r} but {'has no' if rule.fix else 'has a'} @rule.rewrite"
        )
    if rule.kind == "usage" and any(not example.shows for example in rule.examples):
        raise RuleError(
            f"{rule.path}: the examples of a usage rule are programs; write @rule.program(...)"
        )
