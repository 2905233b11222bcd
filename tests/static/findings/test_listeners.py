"""Events reach the rules that listen to them, under the target version of torch and Python."""

import ast
import sys

import pytest

from breakscope.knowledge import shipped, targeting
from breakscope.rulekit.events import Branch, Call, Event, ScalarRead
from breakscope.rulekit.loader import load_rules
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Tensor
from breakscope.static.findings.listeners import Listeners

PYTHON = sys.version_info[:2]
NODE = ast.parse("f(x)", mode="eval").body


def listeners(*rules: Rule, python: tuple[int, int] = PYTHON) -> Listeners:
    return Listeners(rules or load_rules(), python)


def call(name: str) -> Call:
    return Call(node=NODE, name=name, args=(), kwargs={})


def codes(found: Listeners, event: Event) -> list[str]:
    return [listener.rule.code for listener in found.to(event)]


def test_an_event_reaches_those_who_ask_for_its_fields():
    item, other = (
        ScalarRead(node=NODE, source="f(x)", how=how, value=Tensor()) for how in ("item", "nothing")
    )
    found = listeners()
    assert codes(found, item)[0] == "BRK201" and codes(found, other) == []


def test_those_who_take_all_events_of_a_kind_come_first_then_those_who_name_it():
    rules = [Rule(f"BRK90{n}", f"rule-{n}") for n in range(4)]
    rules[0].on(Call, "torch.one")(lambda event: None)
    rules[1].on(Call)(lambda event: None)
    rules[2].on(Call, {"torch.one", "torch.two"})(lambda event: None)
    rules[3].on(Branch)(lambda event: None)
    found = listeners(*rules)
    assert codes(found, call("torch.one")) == ["BRK901", "BRK900", "BRK902"]
    assert codes(found, call("torch.two")) == ["BRK901", "BRK902"]
    assert codes(found, call("torch.three")) == ["BRK901"]


def test_what_somebody_wants_is_known_by_name():
    named, every = Rule("BRK900", "named"), Rule("BRK901", "every")
    named.on(Call, lambda: {"torch.one"})(lambda event: None)
    named.on(Branch)(lambda event: None)
    every.on(Call)(lambda event: None)
    found = listeners(named)
    assert found.want("torch.one") and found.want("Branch") and not found.want("torch.two")
    assert listeners(named, every).want("torch.two")


def test_who_listens_is_asked_for_problems():
    rule = Rule("BRK900", "rule")
    rule.on(Call, "torch.one")(lambda event: [event.problem("found")])
    (listener,) = listeners(rule).to(call("torch.one"))
    assert [problem.message for problem in listener.problems(call("torch.one"))] == ["found"]


def all_named(version: str, python: tuple[int, int] = PYTHON) -> set[tuple[str, str]]:
    """Code and name of all that rules listen to by name."""
    with targeting(version):
        found = listeners(python=python)
        names = {
            name
            for rule in load_rules()
            for handler in rule.handlers
            for name in handler.settled().names
        }
        return {(code, name) for name in names for code in codes(found, call(name))}


@pytest.mark.parametrize("version", shipped())
def test_rules_listen_in_every_version(version):
    assert len({code for code, _ in all_named(version)}) > 50


def test_versions_of_torch_and_of_python_differ():
    assert all_named("2.8.0") != all_named("2.13.0")
    assert all_named("2.13.0", (3, 13)) < all_named("2.13.0", (3, 11))


def test_events_have_names_of_their_own():
    kinds = Event.__subclasses__()
    assert len(kinds) > 15 and len({kind.__name__ for kind in kinds}) == len(kinds)
