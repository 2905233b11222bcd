"""Damages a trace or a log in the ways that real ones are damaged, and in some that they are not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable


def mutate(data: bytes, chance: random.Random) -> bytes:
    """One to three kinds of damage, at places that `chance` picks."""
    for _ in range(chance.randint(1, 3)):
        data = chance.choice(KINDS)(data, chance) or b"\n"
    return data


def truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def drop(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice((1, 40, 4000)) :]


def repeat(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    part = data[start : start + chance.choice((10, 500, 20_000))]
    return data[:start] + part * 2 + data[start:]


def flip(data: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.choice((1, 20, 400))):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def interleave(data: bytes, chance: random.Random) -> bytes:
    """As two processes write into one file."""
    lines = data.splitlines(keepends=True)
    other = [line.replace(b" 9", b" 8", 1) for line in lines]
    mixed: list[bytes] = []
    while lines or other:
        part = chance.choice([part for part in (lines, other) if part])
        count = chance.randint(1, 30)
        mixed += part[:count]
        del part[:count]
    return b"".join(mixed)


def binary(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + chance.randbytes(chance.choice((3, 3000))) + data[start:]


def huge_line(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    return (
        data[:start] + chance.choice((b"x", b"[", b'{"a":', b"\t", b"9")) * 300_000 + data[start:]
    )


def chant(data: bytes, chance: random.Random) -> bytes:
    """A few characters of its own again and again: what makes a pattern try every end for every
    beginning."""
    start = chance.randrange(len(data))
    part = data[start : start + chance.randint(1, 30)]
    return data[:start] + part * (chance.choice((3_000, 300_000)) // len(part)) + data[start:]


def wrong_types(data: bytes, chance: random.Random) -> bytes:
    """Numbers, texts and lists of the headers become something else."""
    others = (
        b"null",
        b"-1",
        b"1e999",
        b"NaN",
        b"9" * 5000,
        b'"text"',
        b"[]",
        b"{}",
        b"true",
        b"[[[[1]]]]",
        b"",
    )

    def other(found: re.Match) -> bytes:
        return found[1] + chance.choice(others) if chance.random() < 0.1 else found[0]

    return re.sub(rb'("\w+": )(\d+\.?\d*|"[^"]*"|\[[^\]]*\]|null|true|false)', other, data)


def without_ends(data: bytes, chance: random.Random) -> bytes:
    """Lines run together, or end as on another system."""
    wanted = chance.choice((b"", b"\r\n", b"\r", b"\n\n", b"\n\t"))
    return re.sub(rb"\n", lambda found: wanted if chance.random() < 0.05 else found[0], data)


KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    truncate,
    drop,
    repeat,
    flip,
    interleave,
    binary,
    huge_line,
    chant,
    wrong_types,
    without_ends,
)
