"""Guards in plain words: what changed, and the values that were seen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from breakscope import limits
from breakscope.dynamic.observations.guards import dimensions
from breakscope.dynamic.observations.guards.families import (
    GONE,
    MISSING_ATTRIBUTE,
    MISSING_KEY,
    Guard,
)
from breakscope.dynamic.observations.guards.names import STACK, readable
from breakscope.dynamic.observations.guards.passed import ARGUMENT, COUNTED
from breakscope.report.model import in_order
from breakscope.texts import middle_out

TENSOR_VALUES = re.compile(
    r"expected (?:requires_grad=)?(?P<expected>[^,]+?)(?:, actual (?P<actual>[^.]+))?(?:\.\s|\.?$)"
)
# the guard is on what is made of a name: `(64 % batch) == 0`
COMPUTED = re.compile(r" (?:[-+*/%]|//) ")
SWITCHES = {
    "grad_mode": "gradients were switched on or off (`torch.no_grad`, `inference_mode`, `set_grad_enabled`)",
    "autocast": "autocast is on in some calls and off in others, or for another dtype",
    "default_dtype": "`torch.set_default_dtype` changed the default dtype",
    "backend": "the function is compiled by another backend than before, or by a new object of the same backend",
}

INFERENCE = "`torch.inference_mode` is on in some calls and off in others"


def values(guards: Sequence[Guard]) -> tuple[str, ...]:
    """The values that the guards name, each once: those that were compiled for, and those met where
    Dynamo reports them.

    Numbers stand by size: guards of a function's parts fail in an order of their own.
    """
    pairs = [_values(guard) for guard in guards]
    seen = [expected for expected, _ in pairs] + [actual for _, actual in pairs]
    return in_order(dict.fromkeys(value for value in seen if value))


def cause(guards: Sequence[Guard], resumed_at: int = 0) -> str:
    """What changed, in plain words, of guards that failed for the same thing: the first where it is
    one."""
    first = guards[0]
    if first.family == "grad_mode" and "dispatch key set" in first.text:
        return INFERENCE
    if first.family in SWITCHES and not first.name:
        return SWITCHES[first.family]
    if first.family == "global_state":
        return f"a global switch of torch changed ({_switch(first.text)})"
    changed = dimensions.of_guards(guards)
    if guards[0].text.partition("type=<class 'bool'>")[1] and first.name.endswith(".training"):
        return f"`{readable(first.name)}` changed: `train()` and `eval()` are two versions"
    if len(changed) > 1:
        parts = [
            f"dimension {n} ({_known([g for g in guards if dimensions.of_guards([g]) == [n]])})"
            for n in changed
        ]
        return f"{_quoted(first, resumed_at)} changed in {'its strides, ' if first.family == 'stride' else ''}{' and '.join(parts)}"
    subject = _subject(first, resumed_at)
    seen = values([guard for guard in guards if _subject(guard, resumed_at) == subject])
    if len(guards) > 1 and len(seen) > 1:
        shown = (
            seen
            if len(seen) <= limits.MOST_SHOWN_VALUES
            else (*seen[: limits.MOST_SHOWN_VALUES], "...")
        )
        return f"{subject} changed: {', '.join(shown)}"
    return _change(first, resumed_at, *_values(first))


def _known(guards: Sequence[Guard]) -> str:
    """The values seen; a single one is the value before."""
    seen = values(guards)
    return ", ".join(seen) if len(seen) > 1 else f"no longer {seen[0]}"


def _quoted(guard: Guard, resumed_at: int) -> str:
    """What is guarded; from the stack, where a function was resumed, it has no name of its own."""
    name = readable(guard.name)
    if resumed_at and STACK.match(name):
        return f"the value that line {resumed_at} gave"
    if ARGUMENT.fullmatch(name):
        return name
    return f"`{name}`" if name else "a condition"


def _subject(guard: Guard, resumed_at: int) -> str:
    quoted = _quoted(guard, resumed_at)
    if guard.name in COUNTED.values():
        return f"the number of {guard.name}"
    if guard.family == "size" and "rank mismatch" in guard.text:
        return f"the number of dimensions of {quoted}"
    if guard.family in ("size", "stride") and (changed := dimensions.of_guards([guard])):
        return f"{'the stride of ' if guard.family == 'stride' else ''}dimension {changed[0]} of {quoted}"
    owners = {
        "dtype": "the dtype of ",
        "device": "the device of ",
        "requires_grad": "requires_grad of ",
        "container_length": "the length of ",
        "type": "the type of ",
        "global": "the global ",
        "closure": "the captured variable ",
    }
    what = (
        ""
        if guard.text.startswith(f"{guard.name} ==") and guard.family in ("dtype", "device")
        else owners.get(guard.family, "")
    )
    return what + quoted


def _change(guard: Guard, resumed_at: int, expected: str, actual: str) -> str:
    text, subject, quoted = guard.text, _subject(guard, resumed_at), _quoted(guard, resumed_at)
    if expected and actual:
        return f"{subject} was {expected} and is {actual} now"
    if sets := re.findall(r"DispatchKeySet\(([^)]*)\)", text):
        return (
            f"{subject}: {_kinds(*sets[:2])}"
            if len(sets) > 1
            else f"{subject} is another kind of tensor than before"
        )
    if guard.family == "alias":
        if same := re.match(r"(?P<one>\S+) is (?P<other>\S+)$", text):
            return f"`{readable(same['one'])}` and `{readable(same['other'])}` were the same object and are not any more"
        return f"{subject.replace(', ', '` and `')} are the same tensor now and were not before"
    if GONE.match(text):
        return f"{quoted} of the earlier call, which the code was compiled for, is gone"
    if "___check_obj_id" in text and "type=<class 'bool'>" in text:
        return f"{subject} was another of True and False before"
    if "___check_obj_id" in text:
        return f"{subject} is another object than before"
    if guard.family == "optimizer_state" and "state[" in text and not expected:
        return "the first step made the optimizer's state"
    if "hasattr(" in text or (".__dict__)" in text and "dict_contains" in text):
        return f"{_attribute(guard, text)} {'exists now' if text.startswith('not ') else 'is gone'}"
    if missing := MISSING_ATTRIBUTE.match(text):
        return f"something that had `.{missing['attribute']}` is {'None' if missing['type'] == 'NoneType' else f'a `{missing[1]}`'} now"
    if missing := MISSING_KEY.match(text):
        return f"{subject} has no {missing['key']} any more"
    if left := dimensions.left_range(text):
        what, how = left
        return f"{what}{quoted} {how}"
    if guard.family == "container_key":
        return f"the keys or contents of {subject} changed: `{text}` does not hold any more"
    if guard.family == "none_argument" and expected == "None":
        return f"{subject} was None and is not any more"
    if expected:
        return f"{subject} is not {expected} any more"
    return f"the code was compiled for `{text}` only"


def _kinds(expected: str, actual: str) -> str:
    """What distinguishes two sets of dispatch keys, without what every tensor has."""
    was, now = expected.split(", "), actual.split(", ")
    return (
        f"a tensor with {', '.join(key for key in now if key not in was) or 'fewer keys'} now, "
        f"before with {', '.join(key for key in was if key not in now) or 'fewer keys'}"
    )


def _attribute(guard: Guard, text: str) -> str:
    found = re.search(r"hasattr\((?P<name>.+), '(?P<attribute>\w+)'\)", text)
    return (
        f"`{readable(found['name'])}.{found['attribute']}`"
        if found
        else f"`{readable(guard.name)}`"
    )


def _values(guard: Guard) -> tuple[str, str]:
    """The value that was compiled for and the value that was met; "" where the guard does not
    name it."""
    text = guard.text
    if "dispatch key set" in text:
        return "", ""
    if "to be a tensor type" in text:
        found = re.search(r"found <class '([^']+)'>", text)
        return "Tensor", {"NoneType": "None"}.get(
            found[1], found[1].rpartition(".")[2]
        ) if found else ""
    if "mismatch" in text and (found := TENSOR_VALUES.search(text)):
        return (
            _requires(found["expected"])
            if guard.family == "requires_grad"
            else (found["expected"], found["actual"] or "")
        )
    if guard.family == "type" and (found := re.search(r"type=<class '([^']+)'>", text)):
        return found[1].rpartition(".")[2], ""
    if guard.family == "container_length":
        found = re.search(r"len\(.+\) [!=]= (\d+)", text)
        return found[1] if found else "0" if text.startswith("not ") else "", ""
    if text.endswith("is None"):
        return "None", ""
    if text.endswith("is not None"):
        return "", "None"
    if "_isnan(" in text:
        return "nan", ""
    found = re.match(r"(?P<name>[^=<>!]+) == (?P<value>.+)$", text)
    if not found or guard.family in ("size", "alias") or COMPUTED.search(found["name"]):
        return "", ""
    return middle_out(found["value"], limits.LONGEST_SNIPPET), ""


def _requires(expected: str) -> tuple[str, str]:
    return ("True", "False") if expected.strip() == "1" else ("False", "True")


def _switch(text: str) -> str:
    if "torch_function_mode" in text:
        return "a TorchFunctionMode or `torch.set_default_device`"
    if "functorch" in text:
        return "`vmap`, `grad` or another transform around the call"
    if "saved_tensors_hooks" in text:
        return "saved_tensors_hooks around the call"
    return text.removeprefix("GLOBAL_STATE changed: ").strip() or text
