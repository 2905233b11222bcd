"""Results of library calls that are known by name."""

from __future__ import annotations

from breakscope.rulekit.values import (
    FALSE,
    NONE,
    UNKNOWN,
    External,
    ExternalInstance,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
)

MATCH = Union((NONE, ExternalInstance("re.Match")))
# texts, bytes and numbers of the standard library: no tensor that a function would still hold
TEXTS = ("json.dumps", "secrets.token_hex", "secrets.token_urlsafe")
BYTES = """
pickle.dumps base64.b16encode zlib.compress zlib.decompress gzip.compress gzip.decompress bz2.compress bz2.decompress lzma.compress
lzma.decompress base64.b64encode base64.b64decode base64.b32encode base64.urlsafe_b64encode binascii.hexlify
binascii.unhexlify struct.pack secrets.token_bytes os.urandom
""".split()
NUMBERS = ("zlib.crc32", "zlib.adler32", "binascii.crc32", "struct.calcsize", "secrets.randbelow")
PYTHON_RESULTS: dict[str, Value] = {
    **dict.fromkeys(TEXTS, Py("str")),
    **dict.fromkeys(BYTES, Py("bytes")),
    **dict.fromkeys(NUMBERS, Py("int")),
    "re.compile": ExternalInstance("re.Pattern"),
    **{
        f"{owner}.{name}": MATCH
        for owner in ("re", "re.Pattern")
        for name in ("match", "fullmatch", "search")
    },
    "functools.wraps": External("functools.wraps"),
    "logging.getLogger": ExternalInstance("logging.Logger"),
    "torch.get_default_dtype": Py("dtype"),
    "torch.is_grad_enabled": Py("bool", "config"),
    "torch.is_autocast_enabled": Py("bool", "config"),
    "torch.is_inference_mode_enabled": Py("bool", "config"),
    "torch.is_floating_point": Py("bool", "config"),
    "torch.is_complex": Py("bool", "config"),
    "torch.get_autocast_gpu_dtype": Py("dtype"),
    "torch.get_autocast_dtype": Py("dtype"),
    "torch.manual_seed": UNKNOWN,
    "torch.equal": Py("bool", "tensor"),
    "torch.allclose": Py("bool", "tensor"),
    "torch.is_nonzero": Py("bool", "tensor"),
    "torch.numel": ShapeInt(),
    "torch.cuda.is_available": Py("bool", "environment"),
    "torch.broadcast_shapes": Sequence("size", None, ShapeInt()),
    "torch.promote_types": Py("dtype"),
    "torch.result_type": Py("dtype"),
    "torch.get_num_threads": Py("int", "environment"),
    "torch.is_autocast_cpu_enabled": Py("bool", "config"),
    "torch.get_device": Py("int"),
    "torch.are_deterministic_algorithms_enabled": Py("bool", "environment"),
    "torch.nn.Transformer.generate_square_subsequent_mask": Tensor("float", 2),
    "torch.nn.init._calculate_fan_in_and_fan_out": Sequence("tuple", [ShapeInt(), ShapeInt()]),
    "torch.nn.init._calculate_correct_fan": ShapeInt(),
    "torch.nn.init.calculate_gain": Py("float"),
    "torch._C._is_tracing": FALSE,
    "torch._assert": NONE,
    "torch._check": NONE,
    "torch._check_is_size": NONE,
    "torch.set_default_dtype": NONE,
    "torch.save": NONE,
    "torch.load": UNKNOWN,  # whatever was saved: weights beside numbers and names
}
