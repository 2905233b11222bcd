"""The constructors of old, `torch.FloatTensor(data)`, with the dtype that each stands for."""

DTYPES = {
    f"torch.{name}Tensor": dtype
    for name, dtype in (
        ("Float", "float32"),
        ("Double", "float64"),
        ("Half", "float16"),
        ("BFloat16", "bfloat16"),
        ("Long", "int64"),
        ("Int", "int32"),
        ("Short", "int16"),
        ("Char", "int8"),
        ("Byte", "uint8"),
        ("Bool", "bool"),
    )
}
CONSTRUCTORS = frozenset({"torch.Tensor", *DTYPES})
