"""The options of a command line: what a program's own code has of `argparse` unless somebody says
otherwise. Of a flag that is off by default nothing is known: it is there to be put on, as `--compile` is."""

from __future__ import annotations

from breakscope.rulekit.values import UNKNOWN, Const, ExternalInstance, Sequence, Value
from breakscope.static.machine.machine import Machine

PARSER = "argparse.ArgumentParser"
PARSED = ExternalInstance("argparse.Namespace")
# what adds a part to a parser, to which arguments are added in turn
PARTS = frozenset(
    {"add_subparsers", "add_parser", "add_argument_group", "add_mutually_exclusive_group"}
)


def parser_result(
    machine: Machine, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """What a method of a parser gives; outside of regions only."""
    if name == "add_argument":
        _note_option(machine, args, kwargs)
    elif name == "parse_args":
        return PARSED
    return ExternalInstance(PARSER) if name in PARTS else UNKNOWN


def option(machine: Machine, name: str) -> Value:
    """The default of an option, where it is known."""
    return machine.driver.options.get(name, UNKNOWN)


def _note_option(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> None:
    default = kwargs.get("default")
    names = [v.value for v in args if isinstance(v, Const) and isinstance(v.value, str)]
    if "dest" in kwargs and isinstance(kwargs["dest"], Const):
        names = [str(kwargs["dest"].value)]
    chosen = next((name for name in names if name.startswith("--")), names[0] if names else "")
    is_list = isinstance(default, Sequence) and bool(default.items)
    is_known = all(v.is_const for v in default.items) if is_list else _is_plain(default)
    if chosen and is_known:
        machine.driver.options[chosen.lstrip("-").replace("-", "_")] = default


def _is_plain(value: Value | None) -> bool:
    """True for a number, a text, None, or a flag that is on."""
    is_known = isinstance(value, Const) and value.value is not False
    return is_known and isinstance(value.value, int | float | str | None)
