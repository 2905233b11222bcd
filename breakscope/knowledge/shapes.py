"""The table `shapes`: what the tensors look like that a library call returns.

An entry is a word: `"same float"` is one tensor, by its dimensions and its dtype; `"(same same, same
int)"` a tuple of two; `"[-1 same]"` any number of equal ones. Where the number of results hangs on
how the call is written, an entry holds a word for each form (see `Shape.of`).

Dimensions (`breakscope.knowledge.ndim.NDIM` evaluates them):
    `0`, `1`, ...  so many, whatever is given
    `shape`        those of the first tensor, of the same sizes
    `same`         as many as the first tensor has
    `+1`, `-1`     so many more or fewer
    `broadcast`    of all tensors, broadcast against each other
    `reduced`      without those that `dim` names; it is the first argument, `keepdim` the second
                   (`reduced:1:2`: the second and third; `reduced:0`: `keepdim` only by its name)
    `sizes`        one for each size that is given
    `permuted`     `same`, or `sizes` where the first tensor's are not known
    `second`       those of the second tensor
    `indexed`      `second`, or `same` where that is known to be two or more
    `product`      of a product of matrices
    `loss`         none, unless `reduction="none"`
    `flattened`    one in the place of several, from the first on (`flattened:1`: from the second)
    `?`            not known

Dtypes (`breakscope.knowledge.ndim.DTYPE` evaluates them):
    `bool`, `int`, `float`
    `same`         the first tensor's
    `promoted`     of all tensors and numbers together
    `quotient`     `float`, or `promoted` with a `rounding_mode`
    `summed`       the first tensor's, integers of booleans
    `second`       the second tensor's
    `?`            not known
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct

FORMS = ("arguments", "flag", "tensor")


class Result(Struct, frozen=True):
    """One tensor of a result, in the words above."""

    ndim: str
    dtype: str


class Shape(Struct, frozen=True):
    """All tensors of a result; a "list" is of any number, each like the only one in `results`."""

    results: tuple[Result, ...]
    container: Literal["", "tuple", "list"] = ""

    @classmethod
    def of(cls, entry: str | dict[str, str] | None, form: str) -> Shape | None:
        """What a table's entry says of a call written in this form, None when nothing is known.

        A form is the flags that add results ("return_indices"); without them "" (the first tensor
        alone), "tensor" (one more, and nothing else), "flag" (a True without a name) or
        "arguments". An entry without forms holds for all; where it has none of the last three,
        they are under "".
        """
        if type(entry) is dict:
            entry = entry.get(form, entry.get("") if form in FORMS else None)
        return None if entry in (None, "?") else _parsed(entry)

    def __str__(self) -> str:
        words = ", ".join(f"{result.ndim} {result.dtype}" for result in self.results)
        return {"": words, "tuple": f"({words})", "list": f"[{words}]"}[self.container]


@lru_cache(maxsize=256)
def _parsed(word: str) -> Shape:
    results = tuple(Result(*part.split()) for part in word.strip("()[]").split(", "))
    return Shape(results, {"(": "tuple", "[": "list"}.get(word[0], ""))
