"""Hashing, compressing or serialising inside the region ends the graph.

`hashlib`, `zlib`, `pickle`, `json`, `base64`, `uuid` work in C on bytes; Dynamo does not trace them
and stops the graph. The result is usually a key or an identifier that depends on the configuration
and not on the batch.

Compute it once in `__init__`. For a cache key use a tuple of ints and strings: Dynamo traces
tuples, `hash((1, 2))` and dict lookups. `struct.pack` is traced as well.

The rewrite puts a checksum, a digest or an encoding of text into a function under
`torch.compiler.assume_constant_result`: Dynamo calls it while it traces and guards on what it was
given. It is unsafe because each new text compiles again. What draws random bytes or makes objects
that may be changed is left alone.
"""

import ast
import hashlib
import zlib

import torch

from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import Const, Py

rule = Rule(
    "BRK512",
    "serialising",
    dynamo=(
        r"GB0007: builtin `(zlib|_hashlib|_pickle|binascii|_blake2|_sha|_md5|_uuid|posix\.urandom|_csv|_struct|_bz2|_lzma)",
        "GB0156: class `(Scanner|HASH|bytes)`",
        "GB0008: SystemRandom",
    ),
    fix="unsafe",
)

# whose result is text, bytes or a number that depends on the arguments alone
CONSTANT = ("zlib.crc32", "zlib.adler32", "hashlib.", "base64.", "binascii.")

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
        # what is read from a tensor or an object is nothing that Dynamo could guard on
        fixable=all(
            isinstance(given, Const | Py) for given in (*event.args, *event.kwargs.values())
        ),
    )


@rule.rewrite
def rewrite(node, problem, place):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.rewrites.constant_call import as_constant

    called = rw.dotted(cst.parse_expression(ast.unparse(problem.node.func)))
    if not called.startswith(CONSTANT) or not isinstance(node, cst.SimpleStatementLine):
        return None
    return as_constant(node, problem, place)


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",), fixed=False)
def bad(x):
    seed = zlib.crc32(b"layer") % 7  # BRK512
    return x * seed


SEED = zlib.crc32(b"layer") % 7


@rule.becomes
def good(x):
    return x * SEED


@rule.example(
    lambda: (torch.ones(4), "tok"),
    lambda: (torch.ones(4), "seg"),
    fixed=False,
    dynamo=("GB0007", "GB0156"),
)
def bad_digest(x, name):
    bucket = int(hashlib.sha1(name.encode()).hexdigest(), 16) % 7  # BRK512
    return x * bucket


@torch.compiler.assume_constant_result
def sha1_of(name):
    return hashlib.sha1(name.encode()).hexdigest()


@rule.becomes
def good_digest(x, name):
    bucket = int(sha1_of(name), 16) % 7
    return x * bucket
