"""The rule kit: everything that a file in `rules/` leans on.

A rule file defines one `Rule` under the name `rule` and hangs its parts on it:

    rule = Rule("BRK101", "branch-on-tensor", dynamo=("GB0170",), fix="unsafe")

    @rule.on(Branch, construct=("if", "elif"))
    def check(event): yield event.problem("...", help="...")

    @rule.rewrite
    def rewrite(node, problem): ...     # libcst node -> replacement, or None when the shape is not ours

    @rule.example(lambda: (torch.ones(4),), lambda: (-torch.ones(4),))
    def bad(x): ...                     # lines that the rule must flag end with `# BRK101`

    @rule.becomes
    def good(x): ...

A rule about the use of torch.compile itself (kind "usage") shows programs instead, see
`Rule.program`. The file's docstring is the rule's page: its first line is the title. A rule file
may `import torch` (or numpy) at its top; it must not touch it before an example runs: for a static
check rules are loaded with a stand-in that imports nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from breakscope.report.model import Kind, Severity
from breakscope.rulekit.events import Event
from breakscope.rulekit.problem import Problem

Check = Callable[[Any], "Iterable[Problem] | None"]

# Families of guards that fail and cause a recompile; a recompile rule names the ones it is about.
FAMILIES = tuple(
    """
    size stride dtype device requires_grad grad_mode autocast default_dtype global_state alias
    int_argument float_argument bool_argument str_argument enum_argument none_argument attribute
    global closure container_length container_key object_identity type tensor_value optimizer_state
    module_parameters backend other
    """.split()
)

SHOWN = ("graphs", "returns", "error")  # what running a usage rule's example can show


class Handler(Struct, frozen=True):
    """One `@rule.on(...)`: the kind of event, the fields it must have, the function to call."""

    event: type[Event]
    names: frozenset[str]  # for Call and Enter: canonical names; empty means any
    fields: dict[str, tuple]
    check: Check
    # called when a check begins: torch versions differ
    more_names: tuple[Callable[[], Iterable[str]], ...] = ()

    def settled(self) -> Handler:
        """This handler with all its names, for the target version of torch now."""
        if not self.more_names:
            return self
        names = self.names.union(*(function() for function in self.more_names))
        return replace(self, names=names or frozenset({""}), more_names=())


class Example(Struct, frozen=True):
    """`bad` and `good` with the inputs that both are called with.

    Each input is a function that returns the argument tuple of one call. `module` is True when
    `bad` and `good` are factories that take nothing and return the callable (for examples that need
    an nn.Module). `calls` is True for recompile rules: the inputs are one sequence of calls to the
    same compiled callable. The functions of a usage rule are small programs that take nothing and
    call torch.compile themselves.
    """

    bad: Callable
    inputs: tuple[Callable[[], tuple], ...]
    good: Callable | None = None
    module: bool = False
    # the rewrite makes `good` of `bad`; False where `good` is advice
    fixed: bool = True
    equal: bool = True  # good(x) equals bad(x); False when the rule's page says what changes
    gradients: bool = True  # of a fixed example, too; False when the rule's page says what changes
    dynamo: tuple[str, ...] | None = None  # ids this example shows, when fewer than the rule's
    calls: Callable | None = None  # `calls()` returns the argument tuples, instead of `inputs`
    # `drive(call, model)` makes the calls itself, instead of `inputs`
    drive: Callable | None = None
    shows: dict[str, Any] = {}  # usage rules: what running `bad` shows
    instead: dict[str, Any] = {}  # usage rules: what running `good` shows, for the same keys
    on: str = ""  # usage rules: the kind of device that running them needs


class Rule(Struct):
    """One rule.

    `dynamo`: GB ids of the breaks it predicts, each "GB0007" or "GB0007: pattern", where pattern is
    a regular expression searched in Dynamo's reason (several rules may share an id). For recompile
    rules: guard families. `shares`: further ids that this pattern shows, as others do: to expect,
    not to attribute an unpredicted break by. `unshown`: those of these ids that no example shows:
    other versions of torch give them, or only calls that few programs make. `fix`: "safe" (for
    every input the same values, gradients, exceptions, side effects, order of evaluation, random
    stream and state, in eager and compiled), "unsafe", or "" when there is no rewrite. `since`,
    `until`: the torch versions for which the pattern breaks: since <= version < until.
    `seen` and `help`: the words for such a break where only a run saw it; `{}` in `seen` is the code;
    `help_outside` where that code is eager and what it calls is compiled by itself.
    `until_python`: the first Python version, such as "3.12", under which the pattern no longer
    breaks.
    """

    code: str
    name: str
    dynamo: tuple[str, ...] = ()
    kind: Kind = "break"
    severity: Severity = "error"
    fix: str = ""
    since: str = "2.6"
    until: str = ""
    until_python: str = ""
    seen: str = ""
    help: str = ""
    help_outside: str = ""
    shares: tuple[str, ...] = ()
    unshown: tuple[str, ...] = ()
    handlers: list[Handler] = []
    examples: list[Example] = []
    rewriter: Callable | None = None
    wants_place: bool = False  # the rewriter has a third parameter
    page: str = ""  # the file's docstring, filled in by the loader
    path: str = ""  # the rule's file, filled in by the loader

    def on(
        self,
        event: type[Event],
        *names: str | Iterable[str] | Callable[[], Iterable[str]],
        **fields: Any,
    ) -> Callable[[Check], Check]:
        """Register a check. `names` are canonical names (strings, sets of them, or functions that
        return some for the target version of torch) for Call and Enter; `fields` restrict
        event fields to a value or a tuple of values."""
        functions = tuple(entry for entry in names if callable(entry))
        given = (entry for entry in names if not callable(entry))
        wanted = frozenset(
            n for entry in given for n in ([entry] if isinstance(entry, str) else entry)
        )
        limits = {k: v if isinstance(v, tuple) else (v,) for k, v in fields.items()}

        def register(check: Check) -> Check:
            self.handlers.append(Handler(event, wanted, limits, check, functions))
            return check

        return register

    def rewrite(self, function: Callable) -> Callable:
        """Register the fix: `function(node, problem) -> libcst node | None`; `node` is the libcst
        node of the statement around the finding. It is not called for a problem that is not
        fixable. A function with a third parameter is given the `Place` of the statement; one whose
        fix takes more than one place returns a `Patch` (both in `rulekit.patch`)."""
        self.wants_place = function.__code__.co_argcount > 2
        self.rewriter = function
        return function

    def example(
        self,
        *inputs: Callable[[], tuple],
        module: bool = False,
        equal: bool = True,
        fixed: bool = True,
        gradients: bool = True,
        dynamo: tuple[str, ...] | None = None,
        calls: Callable | None = None,
        drive: Callable | None = None,
    ) -> Callable:
        """Register `bad` with one or more inputs, or with the file's own `calls()` or `drive(call,
        model)`, which the source analysis reads as well. `good` follows with `@rule.becomes`."""

        def register(function: Callable) -> Callable:
            self.examples.append(
                Example(
                    function,
                    inputs,
                    None,
                    module,
                    fixed,
                    equal,
                    gradients,
                    dynamo,
                    calls,
                    drive,
                )
            )
            return function

        return register

    def program(self, shows: dict[str, Any], instead: dict[str, Any], on: str = "") -> Callable:
        """Register `bad` of a usage rule: a program that takes nothing, and what running it
        `shows`.

        What running `good` shows `instead` must differ in every key.

        Keys: "graphs" (how many were compiled), "returns" (what the program returns), "error" (a
        regular expression found in "Type: message" of the exception that ends it; "" for none).
        `on`: the kind of device without which neither shows anything, "cuda".
        """
        same = [name for name in SHOWN if name in shows and shows[name] == instead.get(name)]
        if same or shows.keys() != instead.keys() or not shows or shows.keys() - set(SHOWN):
            raise ValueError(
                f"`shows` and `instead` must differ in every key, which may be {', '.join(SHOWN)}"
            )

        def register(function: Callable) -> Callable:
            self.examples.append(Example(function, (), shows=shows, instead=instead, on=on))
            return function

        return register

    def becomes(self, function: Callable) -> Callable:
        """Register `good` for the example above it."""
        self.examples[-1] = replace(self.examples[-1], good=function)
        return function

    @property
    def title(self) -> str:
        return self.page.strip().partition("\n")[0].rstrip()

    def explains(self, gb_id: str, reason: str) -> int:
        """How much of Dynamo's reason this rule names: 0 where it is not about the break, 1 where
        it is by the id alone, else the length of what its pattern finds."""
        found = 0
        for entry in self.dynamo:
            wanted, _, pattern = entry.partition(":")
            if wanted == gb_id:
                match = re.search(pattern.strip(), reason)
                found = max(found, len(match.group()) or 1 if match else 0)
        return found

    def gb_ids(self) -> Iterator[str]:
        """Every id that this pattern may show, each once."""
        yield from dict.fromkeys(entry.partition(":")[0] for entry in (*self.dynamo, *self.shares))
