"""Compiles that raise into the program, in our words: what failed, and what makes it go."""

from __future__ import annotations

import re
from dataclasses import dataclass

from breakscope import limits
from breakscope.dynamic.observations.facts import Break
from breakscope.texts import shortened

NO_FAKE = re.compile(
    r"no fake impl registered for <CustomOpDef\((?P<def>[^)\s]+)\)>"
    r"|(?P<op>[\w.]+::[\w.]+): attempted to run this operator with Meta tensors"
)
ON_FAKE_TENSORS = re.compile(r"failed to run FX node with fake tensors: \w+ (?P<called>.+?)\(\*\(")
OWN_OP = re.compile(r"(?!aten\.|prims?\.|_?c10d|torch)(?P<space>[A-Za-z_]\w*)\.(?P<name>\w+)\.\w+$")
GOT = re.compile(r"got (?P<type>\w+)\((?P<quote>['\"])(?P<text>.*)(?P=quote)\)")
BACKEND = re.compile(r"backend='(?P<name>[^']*)' raised:\s*(?P<problem>[^\n]*)")
MARKED = re.compile(
    r"You marked L\['(?P<name>\w+)'\](?P<rest>\S*)\.size\(\)\[(?P<dim>\d+)\] as dynamic but your code "
    r"specialized it to be a constant \((?P<value>\d+)\)"
)
IN_EAGER = "`torch._dynamo.config.suppress_errors = True` runs the function in eager instead"


@dataclass(frozen=True)
class Wording:
    """One line on what failed, and one on what makes it go."""

    message: str
    help: str


def wording_of(seen: Break, snippet: str) -> Wording:
    """What is known of the failure, from the text that Dynamo raised."""
    where = f"`{snippet}`" if snippet else f"`{seen.site.function}`"
    for read in (_no_fake, _fake_failed, _backend, _marked):
        if found := read(seen, where):
            return found
    kind, _, text = seen.raised.partition(": ")
    return Wording(
        f"Dynamo itself fails at {where}, so the compiled call raises {kind}: {_line(text)}",
        "keep this code out of the compiled region with `torch.compiler.disable`; " + IN_EAGER,
    )


def _no_fake(seen: Break, where: str) -> Wording | None:
    found = NO_FAKE.search(seen.raised)
    if found is None:
        return None
    op = found["def"] or found["op"]
    return Wording(
        f"the custom op `{op}` has no fake implementation, so the compiled call raises",
        f'register one with `@torch.library.register_fake("{op}")`: a function with the same arguments that '
        "returns an empty tensor of the result's size and dtype",
    )


def _fake_failed(seen: Break, where: str) -> Wording | None:
    called = ON_FAKE_TENSORS.search(seen.raised)
    if called is None:
        return None
    got = GOT.search(seen.raised)
    problem = f": {got['type']}: {_line(got['text'])}" if got else ""
    if own := OWN_OP.search(called["called"]):
        op = f"{own['space']}::{own['name']}"
        return Wording(
            f"the fake implementation of the custom op `{op}` fails, so the compiled call raises{problem}",
            "let it compute sizes and dtypes from sizes and dtypes alone, never from values",
        )
    return Wording(
        f"{where} fails on fake tensors, so the compiled call raises{problem}",
        "where eager raises too, the code is at fault; where it catches the error, test for it before the call, or "
        "put the `try` into a function under `torch.compiler.disable`",
    )


def _backend(seen: Break, where: str) -> Wording | None:
    found = BACKEND.search(seen.raised)
    if found is None:
        return None
    problem = _line(found["problem"])
    return Wording(
        f"the backend `{found['name']}` fails on a graph of `{seen.site.function}`, so the compiled call raises"
        + (f" {problem}" if problem else ""),
        'compile with `backend="aot_eager"`, or `"eager"`, to see whether it is the backend alone; '
        + IN_EAGER,
    )


def _marked(seen: Break, where: str) -> Wording | None:
    found = MARKED.search(seen.raised)
    if found is None:
        return None
    name = found["name"] + found["rest"]
    return Wording(
        f"dimension {found['dim']} of `{name}` is marked dynamic, and the code needs it to be "
        f"{found['value']}, so the compiled call raises",
        f"mark it with `torch._dynamo.maybe_mark_dynamic({name}, {found['dim']})`, or not at all",
    )


def _line(text: str) -> str:
    return shortened(" ".join(text.split()), limits.LONGEST_SNIPPET)
