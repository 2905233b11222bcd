"""Hashing, compressing or serialising inside the region ends the graph.

`hashlib`, `zlib`, `pickle`, `json`, `base64`, `uuid` work in C on bytes; Dynamo does not trace them
and stops the graph. The result is usually a key or an identifier that depends on the configuration
and not on the batch.

Compute it once in `__init__`. For a cache key use a tuple of ints and strings: Dynamo traces
tuples, `hash((1, 2))` and dict lookups. `struct.pack` is traced as well.
"""

import zlib

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK512",
    "serialising",
    dynamo=(
        r"GB0007: builtin `(zlib|_hashlib|_pickle|binascii|_blake2|_sha|_md5|_uuid|posix\.urandom|_csv|_struct|_bz2|_lzma)",
        "GB0156: class `(Scanner|HASH|bytes)`",
        "GB0008: SystemRandom",
    ),
)

NAMES = {
    "zlib": "crc32 adler32 compress decompress compressobj",
    "pickle": "dumps loads dump load",
    "json": "dumps loads dump load",
    "base64": "b64encode b64decode b32encode b16encode urlsafe_b64encode",
    "binascii": "hexlify unhexlify crc32 b2a_base64 a2b_base64",
    "uuid": "uuid1 uuid3 uuid4 uuid5",
    "hashlib": "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s new",
    "csv": "reader writer",
    "secrets": "token_hex token_bytes token_urlsafe choice randbelow",
    "gzip": "compress decompress",
    "bz2": "compress decompress",
    "lzma": "compress decompress",
    "struct": "calcsize",
    "os": "urandom",
}
FUNCTIONS = {f"{module}.{name}" for module, names in NAMES.items() for name in names.split()}


@rule.on(Call, FUNCTIONS)
def check(event):
    yield event.problem(
        f"`{event.name}` works on bytes in C, which Dynamo does not trace, so the graph ends at `{event.shown}`",
        help="compute it once in `__init__`; for a cache key use a tuple of ints and strings",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    seed = zlib.crc32(b"layer") % 7  # BRK512
    return x * seed


SEED = zlib.crc32(b"layer") % 7


@rule.becomes
def good(x):
    return x * SEED
