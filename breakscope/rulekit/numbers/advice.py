"""What to do about a Python number that differs between calls, by what the region does with it: see
`NumberUses.of`."""

from __future__ import annotations

FEW = {
    "number": "keep `{name}` to a few values: its operator takes a Python number only",
    "branch": "keep `{name}` to a few values, or test it outside of the compiled region: each is a version",
    "value": "keep `{name}` to a few values: the code needs the number itself, so each is a version",
}
WHERE_NEEDED = "where the number itself is needed keep it to a few values"
OWN = "compile the model that holds these objects as a whole: each is then traced in its place"
ARGUMENT = {
    **FEW,
    "arithmetic": "pass `{name}` as a 0-d tensor",
    "size": "compile with `dynamic=True`, or accept one more version: the second value makes the number dynamic",
    "other": "pass `{name}` as a 0-d tensor where it is only computed with; " + WHERE_NEEDED,
}
KEPT = {
    **FEW,
    "arithmetic": "keep `{name}` in a 0-d tensor and `fill_` it, or pass it in as a tensor",
    "size": "pass `{name}` in as an argument: the second value makes it dynamic",
    "other": "keep `{name}` in a 0-d tensor and `fill_` it where it is only computed with; "
    + WHERE_NEEDED,
}


def of_argument(name: str, use: str) -> str:
    """About an argument, and about what the objects differ in that a region is entered with."""
    return OWN if name.startswith("self.") else ARGUMENT[use].format(name=name)


def of_kept(name: str, use: str) -> str:
    """About an attribute or a global."""
    return KEPT[use].format(name=name)
