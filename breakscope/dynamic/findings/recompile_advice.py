"""What to write instead of a recompile: only what helps whatever else the program does.

What does not hold in general is decided by what was seen: whether the version that was compiled
last was made for one value again, whether the name can be reached by a caller, which of Dynamo's
switches are set already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from breakscope.dynamic.findings.wording import values
from breakscope.dynamic.observations.facts import FrameCompile, RecompileSeen
from breakscope.dynamic.observations.guards import dimensions
from breakscope.dynamic.observations.guards.families import Guard
from breakscope.dynamic.observations.guards.in_source import (
    counts_a_loop,
    decides,
    is_own,
    picks_a_layer,
)
from breakscope.dynamic.observations.guards.instances import of_another_module
from breakscope.dynamic.observations.guards.names import STACK, readable
from breakscope.dynamic.observations.guards.origins import is_parameter
from breakscope.dynamic.observations.guards.passed import (
    ARGUMENT,
    calls_it,
    is_compiled_alone,
    written_by_caller,
)
from breakscope.dynamic.observations.guards.passed import COUNTED as COUNTED_ARGUMENTS
from breakscope.dynamic.observations.ownership import OF_DYNAMO, Places, library_of, torchs_file

FIXES = {
    "size": "compile with `dynamic=True`, or pad to a few fixed sizes",
    "stride": "call `.contiguous()` before the compiled region, so that the layout is always the same",
    "dtype": "convert before the compiled region, so that every call has one dtype",
    "device": "move inputs to one device before the compiled region",
    "requires_grad": "two versions are usual where some inputs need gradients; for one, detach or set requires_grad before every call",
    "grad_mode": "two versions, one with gradients and one without, are usual: call both once before timing",
    "autocast": "enter autocast inside the compiled region, or always outside of it",
    "default_dtype": "set the default dtype once, before the first call",
    "global_state": "set torch's global switches once, before the first call",
    "alias": "pass distinct tensors in every call, or the same tensor in every call",
    "int_argument": "compile with `dynamic=True`, or accept one more version: the second value makes the number dynamic",
    "float_argument": "pass the number as a 0-d tensor, or accept one more version: the second value makes it dynamic",
    "bool_argument": "accept one compile for each value, or split the function in two",
    "str_argument": "accept one compile for each value, or choose the function outside the compiled region",
    "enum_argument": "accept one compile for each value, or choose the function outside the compiled region",
    "none_argument": "give the argument in every call, or in none",
    "attribute": "keep the value in a tensor (a buffer updated in place), or let it change rarely: each value is a version",
    "global": "pass it as an argument, or keep what is only computed with in a tensor that is changed in place (`fill_`)",
    "closure": "pass it as an argument, or keep what is only computed with in a tensor that is changed in place (`fill_`)",
    "container_length": "keep the container outside the compiled region, or give it a fixed length",
    "container_key": "fill the dict before the first call, or keep it outside the compiled region",
    "object_identity": "create the object once and reuse it, so that every call passes the same one",
    "type": "pass the same types in every call",
    "tensor_value": "keep the value in the tensor: work with masks or `torch.where`",
    "optimizer_state": "the first step creates the state; one recompile is normal, later ones are not",
    "module_parameters": "add or replace parameters before the first call",
    "backend": "make the backend once and pass the same object to every `torch.compile` of the function",
    "other": "keep what the guard names the same in every call",
}
NUMBER = re.compile(r"-?\d+")
FRACTION = re.compile(r"-?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)")
COUNTER = (
    "keep the number in a buffer and update it in place (not where it bounds a slice or a range)"
)
FRACTION_KEPT = (
    "keep the value in a tensor (a buffer updated in place), or accept one more version: the second value makes it "
    "dynamic"
)
NEEDED = "each value is a version, because the code needs the number itself: keep to a few values"
UNSPECIALISED = "`torch._dynamo.config.allow_unspec_int_on_nn_module = True` makes an int dynamic"
OF_INSTANCES = (
    "the value is one instance's own, so each instance is a version: compile the model that holds them as a whole, "
    "and each is traced in its place"
)
NONE_ATTRIBUTE = (
    "set it in `__init__`, a tensor as a buffer of its largest size, or pass it in and return it"
)
RATE = "give the optimizer `lr=torch.tensor(...)`, which schedulers change in place: a float is compiled in"
ONE = "size 1 is a version of its own however it is marked: call it once before timing, pad it to 2, or leave it out (`drop_last=True`)"
DECIDES = "the code decides by this size, so each side is a version: pad to sizes of one side, or write it without the decision"
FIXED_SIZE = "pad to a few fixed sizes: the code needs this size as a number, so `dynamic=True` does not help"
FIXED_NUMBER = (
    "each value is a version, because the code needs the number itself: pass a 0-d tensor where it only computes or "
    "indexes with it (not as the bound of a slice or a range), or keep to a few values"
)
SMALL_NUMBER = "where it is a size 0 and 1 are versions of their own, else the second value makes the number dynamic"
COUNTED = f"count outside of the compiled region, or accept the versions: {SMALL_NUMBER}"
OTHER_MODULE = (
    "another module than before is called: modules of torch's own classes share one wrapper",
    "one version for each is usual; where they come to the recompile limit, write each as an `nn.Module` class of its "
    "own, whose `forward` calls it",
)
OTHER_INSTANCE = (
    "another instance than before is called: its `{}` has another size",
    "each instance of another size is a version: compile the model that holds them as a whole, and each is traced in "
    "its place",
)
ONE_WAY = "`no_grad` and `inference_mode` are two versions: use the same one for every call without gradients"
SAME_KEYS = "pass the same keys in every call, or accept a version for each set of keys"
MODES = "a version for `train()` and one for `eval()` are usual: call the model once in both before timing"
BROKEN_OFF = "the graph ends at line {} and goes on with what that gave: without the break there is nothing to compile for"
DECIDED = "a test decides by this value, so each side of it is a version, and a tensor there would end the graph"
DECIDED_BY_INT = f"{DECIDED}: {UNSPECIALISED}, which leaves those versions only"
DECIDED_BY_ANY = (
    f"{DECIDED}: call each side once before it counts, or test outside of the compiled region"
)
PADDED = "pad to a few fixed sizes"
PADDED_BEFORE = "pad what is passed to a few sizes (a multiple of 64, say)"
LAST_BATCH = "leave a smaller last batch out (`drop_last=True`)"
HELD = "make what holds it in one fixed size and pass that, such as a cache of a fixed length"
OF_A_PACKAGE = "set it before the first call, or accept a version for each value: the package's own code changes it"
PASSED_BY_PACKAGE = (
    "accept a version for each form: the package's own code passes other arguments in some calls"
)
PASSED_ALIKE = "pass the same arguments in every call, by position or by name alike, or accept a version for each form"
STATIC = "assume_static_by_default"  # off: compiled with dynamic=True


@dataclass(frozen=True)
class About:
    """What decides which advice holds. `fixed`: the version that was compiled last serves one value
    only, again; `alone`: no other tensor's size changed with it; `resumed_at`: the line behind whose
    break the function goes on; `reachable`: the user's code
    has the guarded name as an argument of its call; `mark`: how `mark_dynamic` is written there, with
    the dimensions left open; `package`: the compiled function is an installed package's; `decides`:
    the guard goes back to a test of the value; `own`: the value is set in `__init__` and nowhere
    else; `switches`: Dynamo's that are on."""

    fixed: bool = False
    alone: bool = True
    resumed_at: int = 0
    reachable: bool = True
    mark: str = "`torch._dynamo.mark_dynamic({name}, {dims})`"
    package: bool = False
    decides: bool = False
    own: bool = False
    switches: frozenset[str] = frozenset((STATIC,))


def advice_on(
    group: Sequence[RecompileSeen],
    switches: frozenset[str],
    compiles: Sequence[FrameCompile] = (),
) -> str:
    """What to write instead of the recompiles of one guard at one place."""
    first, last = group[0], group[-1]
    guards, places = [g for seen in group for g in of_one_name(seen)], Places.here("")
    return fix(
        guards,
        About(
            fixed=last.fixed
            or _is_needed(group)
            or any(counts_a_loop(guard) or picks_a_layer(guard) for guard in guards),
            alone=not any(
                g.family in ("size", "stride") for seen in group for g in _of_others(seen)
            ),
            resumed_at=first.frame.resumed_at,
            reachable=_is_passed(first)
            and calls_it(first.frame, places)
            and not is_compiled_alone(first.frame, compiles, places),
            mark=_mark(first),
            package=bool(library_of(first.frame.path)) and not torchs_file(first.frame.path),
            decides=any(decides(guard) for guard in guards),
            own=first.guard.family == "attribute" and is_own(first),
            switches=switches or frozenset((STATIC,)),
        ),
    )


def _is_passed(seen: RecompileSeen) -> bool:
    name = readable(seen.guard.name)
    return (
        bool(ARGUMENT.fullmatch(name))
        or seen.guard.name in COUNTED_ARGUMENTS.values()
        or is_parameter(seen.frame, name)
    )


def another_module(group: Sequence[RecompileSeen]) -> tuple[str, str] | None:
    """Cause and advice where each recompile is for another module that runs the same code."""
    guard = of_another_module(group)
    if guard is None:
        return None
    if OF_DYNAMO.search(group[0].frame.path):
        return OTHER_MODULE
    cause, advice = OTHER_INSTANCE
    return cause.format(readable(guard.name)), advice


def _is_needed(group: Sequence[RecompileSeen]) -> bool:
    """One function has versions for two numbers, neither of them 0 or 1: the second would serve every
    number if the code did not need it."""
    found: dict[str, set[str]] = {}
    for seen in group:
        exact = [
            value
            for value in values([seen.guard])
            if (NUMBER.fullmatch(value) and value not in ("0", "1")) or FRACTION.fullmatch(value)
        ]
        if seen.guard.family in ("attribute", "int_argument", "float_argument"):
            found.setdefault(seen.frame.compile_id.partition("/")[0], set()).update(exact)
    return any(len(numbers) > 1 for numbers in found.values())


def _mark(seen: RecompileSeen) -> str:
    """How a caller writes `mark_dynamic`; "" for what a container holds: marked alone, another of its
    tensors that has the same size makes the compile raise."""
    name = readable(seen.guard.name)
    if not name.isidentifier() and not ARGUMENT.fullmatch(name):
        return ""
    written = written_by_caller(name, seen.frame)
    if written or (name.isidentifier() and not library_of(seen.frame.path)):
        return f"`torch._dynamo.mark_dynamic({written or name}, {{dims}})`"
    quoted = name if ARGUMENT.fullmatch(name) else f"`{name}`"
    return f"`torch._dynamo.mark_dynamic(tensor, {{dims}})` of {quoted}"


def of_one_name(seen: RecompileSeen) -> list[Guard]:
    """The guards on one name that kept the nearest version from serving the call, such as those on
    two dimensions of a tensor."""
    same = (seen.guard.family, seen.guard.name)
    return [seen.guard, *(g for g in seen.others if (g.family, g.name) == same)]


def _of_others(seen: RecompileSeen) -> list[Guard]:
    return [guard for guard in seen.others if guard.name != seen.guard.name]


def fix(guards: Sequence[Guard], about: About | None = None) -> str:
    """What to write instead."""
    first, about = guards[0], about or About()
    if about.resumed_at and STACK.match(first.name):
        return BROKEN_OFF.format(about.resumed_at)
    if first.name in COUNTED_ARGUMENTS.values():
        return PASSED_BY_PACKAGE if about.package and not about.reachable else PASSED_ALIKE
    if first.family == "grad_mode" and "dispatch key set" in first.text:
        return ONE_WAY
    if first.family == "size":
        return _of_size(guards, about)
    if first.family == "int_argument":
        return _of_number(guards, about)
    if first.family == "attribute" and first.name.endswith(".training"):
        return MODES
    if first.family == "container_key" and about.reachable:
        return SAME_KEYS
    if about.package and first.family in ("attribute", "none_argument", "global"):
        return OF_A_PACKAGE
    if first.family == "attribute" and about.own:
        return OF_INSTANCES
    if about.decides and first.family in ("attribute", "global", "closure"):
        numbers = first.family == "attribute" and all(NUMBER.fullmatch(v) for v in values(guards))
        on = "allow_unspec_int_on_nn_module" in about.switches
        return DECIDED_BY_INT if numbers and values(guards) and not on else DECIDED_BY_ANY
    if (
        first.family == "attribute"
        and first.name.startswith("self.")
        and all(NUMBER.fullmatch(value) for value in values(guards) or ("",))
    ):
        if not about.fixed and all(value in ("0", "1") for value in values(guards)):
            return COUNTED  # of an object that is no module
        on = "allow_unspec_int_on_nn_module" in about.switches
        return COUNTER if on else f"{COUNTER}; {UNSPECIALISED}"
    if first.family == "attribute" and (seen := values(guards)):
        if all(FRACTION.fullmatch(value) for value in seen) and not about.fixed:
            return FRACTION_KEPT
        numbers = (NUMBER.fullmatch(value) or FRACTION.fullmatch(value) for value in seen)
        if about.fixed and all(numbers):
            return NEEDED
    if first.family == "float_argument" and about.fixed:
        return NEEDED
    if first.family == "type" and first.name.startswith("self."):
        return "set it before the first call, or accept a version for each type"
    if first.family == "none_argument" and first.name.startswith("self."):
        return NONE_ATTRIBUTE
    if first.family == "optimizer_state" and re.search(r"\['lr'\]", first.text):
        return RATE
    return FIXES.get(first.family, "")


def _of_size(guards: Sequence[Guard], about: About) -> str:
    first = guards[0]
    if "rank mismatch" in first.text:
        return "pass tensors of one number of dimensions, or accept one compile for each"
    changed = dimensions.of_guards(guards)
    if not changed:
        return ONE if first.text.startswith("2 <= ") else DECIDES
    ones = [n for n in changed if "1" in values([g for g in guards if _is_of(g, n)])]
    rest = [n for n in changed if n not in ones]
    if ones and not rest:
        return ONE
    if about.fixed:
        return FIXED_SIZE
    if about.package and not about.reachable:
        advice = PADDED_BEFORE
        if re.search(r"[.\[]", readable(first.name)):
            advice = HELD
        elif 0 in rest:
            advice = LAST_BATCH if rest == [0] else f"{PADDED_BEFORE}, {LAST_BATCH}"
        dynamic = ", or compile with `dynamic=True`" if STATIC in about.switches else ""
        return f"{advice}{dynamic}"
    advice = PADDED if STATIC not in about.switches else FIXES["size"]
    if STATIC in about.switches and about.reachable and about.alone and about.mark:
        mark = about.mark.format(name=readable(first.name), dims=rest if len(rest) > 1 else rest[0])
        advice = f"{mark} before the first call, compile with `dynamic=True`, or pad to a few fixed sizes"
    return f"{advice}; {ONE}" if ones else advice


def _is_of(guard: Guard, dimension: int) -> bool:
    return dimensions.of_guards([guard]) == [dimension]


def _of_number(guards: Sequence[Guard], about: About) -> str:
    seen = [value for value in values(guards) if NUMBER.fullmatch(value)]
    if about.fixed:
        return FIXED_NUMBER
    if STATIC not in about.switches or (seen and all(value in ("0", "1") for value in seen)):
        return SMALL_NUMBER
    return FIXES["int_argument"]
