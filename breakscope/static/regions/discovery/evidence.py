"""By which evidence there is a region, and how sure that makes what is found in it."""

from __future__ import annotations

from msgspec import Struct


class Evidence(Struct, frozen=True):
    """Why Dynamo would trace a piece of code. What is found there is at most as sure as `certainty`: where nothing
    in the source shows that anybody compiles it, findings are possible ones, and hidden. What regions of other
    evidence call is found from these, too, as surely as they say."""

    name: str
    certainty: str
    is_hook: bool = False  # it runs with a module that the region does not show


# what is compiled, and what a compiled module runs
COMPILED = Evidence("what the source compiles, or an entry", "certain")
FORWARD = Evidence("the `forward` of a module", "certain")
TEMPLATE = Evidence("a method that a parent module calls and leaves abstract", "certain")
STEP = Evidence("the `step` of a scheduler or solver", "certain")
HANDED_OUT = Evidence("a function of a library of functions and modules", "certain")
REPLACED = Evidence(
    "what a module puts in the place of a `forward`, or anybody in a class", "likely", is_hook=True
)
HOOK = Evidence(
    "a hook that is put on by a module, or has a part in what it computes", "likely", is_hook=True
)

# what runs beside models as well, or around them
ASIDE = Evidence(
    "the `forward` of a module that measures, debugs, tests, explains or calibrates models, or follows their parameters",
    "possible",
)
LOOSE = Evidence("a function of another library, or handed out with all of its file", "possible")
METHOD = Evidence("a method that a module or a user may call", "possible")
PATCHED = Evidence("what others put in the place of a module's `forward`", "possible", is_hook=True)
WATCHING_HOOK = Evidence("a hook that looks at somebody's model", "possible", is_hook=True)
BRIEF_HOOK = Evidence("a hook that is taken off again", "possible", is_hook=True)
