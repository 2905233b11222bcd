"""breakscope rule [CODE]"""

from __future__ import annotations

import inspect
import io
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence

import click
from click.shell_completion import CompletionItem
from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from breakscope.cli import options, session
from breakscope.cli.types import OneOf
from breakscope.errors import UserError
from breakscope.rulekit.loader import FAMILY_TITLES, load_rules
from breakscope.rulekit.rule import Rule
from breakscope.texts import did_you_mean

GB_ID = re.compile(r"GB\d{1,4}")


def _completed(context: click.Context, parameter: click.Parameter, begun: str) -> list:
    """What the shell offers: codes, and names once they are begun."""
    found = [(rule.code, rule) for rule in load_rules() if rule.code.startswith(begun.upper())]
    found += [(rule.name, rule) for rule in load_rules() if begun and rule.name.startswith(begun)]
    return [CompletionItem(value, help=rule.title) for value, rule in found]


@click.command("rule")
@click.argument("asked", default="", metavar="[CODE]", shell_complete=_completed)
@click.option(
    "--color",
    type=OneOf(["auto", "always", "never"]),
    default="auto",
    help="Colour the page.",
)
@options.rules_option
def command(asked: str, color: str, allow_rules: bool, config: str) -> int:
    """Show the page of the rule with this code, name or GB id of Dynamo; where several fit, as they do
    a prefix (BRK2) or nothing at all, their table."""
    rules = load_rules(session.settings(allow_rules, config).rules)
    rules = _asked_for(asked, rules) if asked else list(rules)
    console = _console(color)
    if len(rules) == 1 and asked:
        _page(console, rules[0])
    else:
        _table(console, rules)
    session.write("\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n")
    return session.CLEAN


def _asked_for(asked: str, rules: Sequence[Rule]) -> list[Rule]:
    """The rules with this code or name, with codes or names that begin so, or about this GB id;
    raises UserError when there are none."""
    code, name = asked.upper(), asked.lower()
    if GB_ID.fullmatch(code):
        found = [rule for rule in rules if code in rule.gb_ids()]
        if not found:
            whole = f"GB{int(code[2:]):04}"
            if any(whole in rule.gb_ids() for rule in rules):
                raise UserError(f"no rule is about {code}; did you mean {whole}?")
            raise UserError(
                f"no rule is about {code}; BRK901 is about breaks that no other rule explains"
            )
        return found
    exact = [rule for rule in rules if name == rule.name]
    found = exact or [r for r in rules if r.code.startswith(code) or r.name.startswith(name)]
    if not found:
        known = [word for rule in rules for word in (rule.code, rule.name)]
        hint = did_you_mean(asked, known) or "; `breakscope rule` lists them"
        raise UserError(f"no rule has the code or name {asked!r}{hint}")
    return found


def _console(color: str) -> Console:
    colored = session.wants_color(color, sys.stdout.isatty())
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
    return Console(
        file=io.StringIO(),
        force_terminal=colored,
        no_color=not colored,
        width=min(width, 120),
        color_system="standard" if colored else None,
        legacy_windows=False,
        highlight=False,
        theme=Theme({"markdown.code": "cyan"}),
    )


def _table(console: Console, rules: list[Rule]) -> None:
    table = Table(
        "code",
        "name",
        "kind",
        "fix",
        "what it finds",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    family = ""
    for rule in rules:
        if rule.code[3] != family:
            family = rule.code[3]
            number = sum(other.code[3] == family for other in rules)
            title = f"{FAMILY_TITLES[family]} ({number})"
            table.add_row(f"{rule.code[:4]}xx", "", "", "", Text(title, style="bold"), style="bold")
        table.add_row(rule.code, rule.name, rule.kind, rule.fix or "-", Text(rule.title))
    console.print(table)


def _page(console: Console, rule: Rule) -> None:
    console.print(f"[bold]{rule.code}[/] {rule.name}", markup=True)
    console.print(_facts(rule), style="dim", markup=False)
    console.print()
    console.print(Markdown(rule.page.strip()))
    for example in rule.examples[:1]:
        _show_code(console, "Flagged:", example.bad)
        if example.good is not None:
            _show_code(console, "Instead:", example.good)


def _facts(rule: Rule) -> str:
    versions = (
        f"torch {rule.since} and later"
        if not rule.until
        else f"torch {rule.since} up to, not including, {rule.until}"
    )
    about = "guards" if rule.kind == "recompile" else "Dynamo"
    facts = [rule.kind, rule.severity, versions]
    if ids := ", ".join(rule.gb_ids()):
        facts.append(f"{about}: {ids}")
    facts.append(f"{rule.fix} fix" if rule.fix else "no automatic fix")
    return " | ".join(facts)


def _show_code(console: Console, title: str, function: Callable) -> None:
    console.print()
    console.print(title, style="bold")
    console.print()
    syntax = Syntax(_source(function), "python", theme="ansi_dark", background_color="default")
    console.print(Padding(syntax, (0, 0, 0, 4)))


def _source(function: Callable) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    while lines and not lines[0].lstrip().startswith(("def ", "class ", "async def ")):
        lines.pop(0)  # the decorators that make it an example
    return "\n".join(lines)
