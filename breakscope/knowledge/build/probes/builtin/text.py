"""Methods of str, bytes, int and float, and every way to format."""
# ruff: noqa

import torch


def cases_str_methods(x, s, t, n):
    s.upper()
    s.lower()
    s.strip()
    s.split("e")
    s.rsplit("e", 1)
    s.splitlines()
    s.partition("e")
    s.replace("e", "a")
    s.startswith("t")
    s.endswith(("t", "x"))
    s.find("e")
    s.index("e")
    s.count("e")
    s.join(["a", "b"])
    ", ".join(str(e) for e in [1, 2])
    ", ".join(map(str, [1, 2]))
    s.format(1)
    "{}".format(n)
    "{}".format(t)
    "{:.2f}".format(t)
    "{:.2f}".format(0.5)
    "{a}".format(a=n)
    "{a}".format_map({"a": 1})
    s.encode()
    s.encode("utf-8")
    b"ab".decode()
    b"ab".hex()
    s.title()
    s.capitalize()
    s.center(10)
    s.ljust(10)
    s.zfill(10)
    s.isdigit()
    s.isalpha()
    s.isidentifier()
    s.isupper()
    s.casefold()
    s.swapcase()
    s.expandtabs()
    s.removeprefix("t")
    s.removesuffix("t")
    s.translate({101: "a"})
    str.maketrans("a", "b")
    str.lower(s)
    str.join(",", ["a"])
    s.__contains__("e")
    int.from_bytes(b"ab", "big")
    n.bit_length()
    n.to_bytes(2, "big")
    (0.5).hex()
    (0.5).is_integer()
    (0.5).as_integer_ratio()
    float.fromhex("0x1p-1")


def cases_formats(x, t, k, n, p, s):
    f"{n}"  # as: f-string of int
    f"{t}"  # as: f-string of tensor
    f"{x}"  # as: f-string of tensor 2d
    f"{t:.2f}"  # as: f-string with format spec of tensor
    f"{k:d}"  # as: f-string with format spec of int tensor
    f"{p:.2f}"  # as: f-string with format spec of float
    f"{t!r}"  # as: f-string !r of tensor
    f"{t!s}"  # as: f-string !s of tensor
    f"{x.shape}"  # as: f-string of shape
    f"{x.shape[0]}"  # as: f-string of size
    f"{x.dtype} {x.device}"  # as: f-string of dtype and device
    "%s" % n  # as: percent of int
    "%s" % t  # as: percent of tensor
    "%d" % k  # as: percent d of int tensor
    "%.2f" % t  # as: percent .2f of tensor
    "%s %s" % (n, t)  # as: percent of tuple with tensor
    "%s" % s  # as: percent of str
    "%(a)s" % {"a": n}  # as: percent of dict
    s + str(n)  # as: str concatenation
