"""What becomes of a frame with a break in it, in the words that every text uses for it."""

from __future__ import annotations

WHOLE, REST, NEW_GRAPH = "skipped as a whole", "skipped from here on", "continues in a new graph"
UNRESUMED = "Dynamo cannot resume behind the break"
CAUSES = {  # by `Finding.lost` and `SkippedFrame.why`
    "loop": "the break is in a loop",
    "try": "the break is in a `try`",
    "with": "the break is in a `with`",
    "assert": "the break is in an `assert`",
    "comprehension": "the break is in a comprehension",
    "implicit": "the break is in what an operator or an attribute calls",
    "object": "the break is in a call on an object made here",
    "call": UNRESUMED,
    "rest": UNRESUMED,
    "recompile limit": "it was compiled again too often",
}


def outcome(lost: str) -> str:
    """What becomes of the frame, by what a finding's `lost` holds."""
    if not lost:
        return NEW_GRAPH
    return REST if lost in ("rest", "recompile limit") else WHOLE


def sentence(function: str, lost: str, resumed_at: int = 0) -> str:
    """ "`f` is skipped as a whole, because the break is in a loop". With `resumed_at` it is about what
    follows that line alone."""
    cause = CAUSES.get(lost)
    because = f", because {cause}" if cause else ""
    if resumed_at:
        return (
            f"what follows line {resumed_at} of `{function}` is {REST}{because}; "
            "what stands before it stays compiled"
        )
    return f"`{function}` {'is ' if lost else ''}{outcome(lost)}{because}"
