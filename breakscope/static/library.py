"""What the analyzer knows of names outside the checked source: aliases, constants, types and what calls return.

Facts that torch itself can tell come from the generated tables (`breakscope.knowledge`); here stands only how Python's
own builtins and typing behave, and names that decide branches while Dynamo traces.
"""

from __future__ import annotations

import builtins
import sys
from functools import cached_property, lru_cache

from breakscope.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Method,
    Py,
    Sequence,
    Tensor,
    Value,
)

ALIASES = {
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.functional": "torch",
    "torch.nn.parameter": "torch.nn",
    "torch.special.softmax": "torch.softmax",
    "os.path": "os.path",
    "posixpath": "os.path",
    "typing_extensions": "typing",
    "torch.autograd.function.Function": "torch.autograd.Function",
    "torch.utils.checkpoint": "torch.utils.checkpoint",
    "torch.compiler._is_compiling": "torch.compiler.is_compiling",
    "collections.abc": "typing",
}
PREFIXES = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.nn.functional.", "torch.nn.functional."),
    ("typing_extensions.", "typing."),
)
COMPILING = Const(True)  # what a call answers that asks whether Dynamo traces
# Calls with a known answer while Dynamo traces: torch/_dynamo/trace_rules.py (constant folded) and torch/jit.
ANSWERS = {
    "torch.jit.is_scripting": FALSE,
    "torch.jit.is_tracing": FALSE,
    "torch._jit_internal.is_scripting": FALSE,
    "torch.compiler.is_compiling": COMPILING,
    "torch.compiler.is_dynamo_compiling": COMPILING,
    "torch._dynamo.is_compiling": COMPILING,
    "torch._utils.is_compiling": COMPILING,
    "torch.compiler.is_exporting": FALSE,
    "torch.onnx.is_in_onnx_export": FALSE,
    "torch._C._get_tracing_state": NONE,
    "torch.overrides.has_torch_function": FALSE,
    "torch.overrides.has_torch_function_unary": FALSE,
    "torch.overrides.has_torch_function_variadic": FALSE,
    "torch.fx._symbolic_trace.is_fx_tracing": FALSE,
    "torch._dynamo.external_utils.is_compiling": COMPILING,
    "torch._dynamo.is_dynamo_supported": TRUE,
}
VERSION_INFO = Py("tuple", "environment")
ADDRESS = Py("int", "address")  # of a tensor's memory
CONSTANTS = {
    "typing.TYPE_CHECKING": FALSE,
    "TYPE_CHECKING": FALSE,
    "__debug__": TRUE,
    "torch.bool": External("torch.bool"),
    "sys.platform": Py("str", "environment"),
    "os.name": Py("str", "environment"),
    "sys.version_info": VERSION_INFO,
    "torch.__version__": Py("str", "environment"),
    "torch.version.cuda": Py("str", "environment"),
    "sys.modules": Py("dict", "environment"),
    "os.environ": Py("os.environ", "environment"),
    "math.pi": Const(3.141592653589793),
    "math.inf": Const(float("inf")),
    "math.e": Const(2.718281828459045),
    "numpy.pi": Const(3.141592653589793),
    "numpy.inf": Const(float("inf")),
    "torch.pi": Const(3.141592653589793),
    "torch.inf": Const(float("inf")),
    "Ellipsis": Const(...),
    "NotImplemented": External("NotImplemented"),
}
ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
TENSOR_TYPES = frozenset(
    f"torch.{p}Tensor"
    for p in ("", "Float", "Long", "Bool", "Int", "Half", "Double", "BFloat16", "Byte", "Short", "Char")
) | {
    "torch.nn.Parameter",
    "torch.nn.parameter.Parameter",
    "torch.nn.Buffer",
    "torch.cuda.FloatTensor",
    "torch.cuda.LongTensor",
}
TYPED = {  # tensor types that say what they hold
    f"torch.{name}Tensor": dtype
    for dtype, names in (("float", "Float Double Half BFloat16"), ("int", "Long Int Short Char Byte"), ("bool", "Bool"))
    for name in names.split()
}
NOT_TENSORS = ("torch.fx.", "torch.nn.utils.", "torch.Size", "torch.dtype", "torch.device", "torch.distributions.")
PYTHON_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex"})
NUMBER_TYPES = {"int": ("int", "bool"), "float": ("float",), "bool": ("bool",), "str": ("str",), "bytes": ("bytes",)}
SEQUENCES = {
    "list": ("list", "ModuleList"),
    "tuple": ("tuple", "size"),
    "set": ("set",),
    "typing.Sequence": ("list", "tuple", "size"),
    "typing.Iterable": ("list", "tuple", "size", "set", "generator"),
    "torch.Size": ("size",),
    "torch.nn.ModuleList": ("ModuleList",),
    "torch.nn.Sequential": ("Sequential",),
}
TENSOR_ATTRIBUTES = frozenset(
    """
    T H mT mH cuda data device dtype grad grad_fn imag is_cuda is_leaf is_sparse itemsize layout nbytes ndim
    real requires_grad shape storage
    """.split()
)
SHARED_WITH_OTHERS = frozenset(
    """
    device dtype data max min size all any item names indices values apply_
    """.split()
)
MODULE_METHODS = frozenset(
    """
    parameters named_parameters buffers named_buffers modules named_modules children named_children state_dict
    load_state_dict train eval requires_grad_ to cuda cpu half float double bfloat16 type apply zero_grad
    register_buffer register_parameter register_module add_module register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_backward_hook register_full_backward_pre_hook
    get_parameter get_buffer get_submodule extra_repr compile to_empty register_load_state_dict_post_hook
    register_state_dict_pre_hook _load_from_state_dict share_memory __call__
    """.split()
)


class Library:
    """The tables of one torch version, asked by canonical name."""

    def __init__(self, tables) -> None:
        self.tables = tables
        self.builtins = frozenset(dir(builtins))
        self.module_methods = MODULE_METHODS
        self.canonical = lru_cache(maxsize=None)(self._canonical)

    @cached_property
    def skipped_packages(self) -> frozenset[str]:
        """The packages beside Python's own of which Dynamo traces no call; numpy's it knows by name."""
        tops = {name for name in self.tables.skips if "." not in name and self.tables.module_skipped(name)}
        return frozenset(tops - sys.stdlib_module_names - {"torch", "numpy"})

    @cached_property
    def tensor_names(self) -> frozenset[str]:
        """The methods and attributes of a tensor."""
        methods = (name.removeprefix("Tensor.") for name in self.tables.results if name.startswith("Tensor."))
        return TENSOR_ATTRIBUTES.union(name for name in methods if not name.startswith("__"))

    @cached_property
    def tensor_only(self) -> frozenset[str]:
        """Those that no other common object has: a value of which one is read is likely a tensor."""
        others = {name for kind in (list, dict, set, str, int, float, complex) for name in dir(kind)}
        return self.tensor_names - others - self.module_methods - SHARED_WITH_OTHERS

    @cached_property
    def of_containers(self) -> frozenset[str]:
        """The methods of lists, dicts, sets and texts that no tensor has."""
        return frozenset(name for kind in (list, dict, set, str) for name in dir(kind) if name[0] != "_") - self.tensor_names

    def _canonical(self, name: str) -> str:
        """One name for each library member, whatever path it was imported by."""
        if name in ALIASES:
            return ALIASES[name]
        for prefix, short in PREFIXES:
            if name.startswith(prefix) and prefix != short:
                last = name.removeprefix(prefix).rpartition(".")[2]
                return self.canonical(short + last) if short + last != name else name
        head, _, last = name.rpartition(".")
        if head in ALIASES:
            return f"{ALIASES[head]}.{last}"
        return name

    def constant(self, name: str) -> Value | None:
        """The value of a library name that is no function, class or module."""
        return CONSTANTS.get(name)

    def answer(self, name: str) -> Value | None:
        """The result of a call that Dynamo answers while it traces."""
        return ANSWERS.get(name)

    def is_enum(self, name: str) -> bool:
        return name in ENUMS

    def annotated(self, name: str) -> Value:
        """The value of something annotated with a library type."""
        if name in TENSOR_TYPES or name.startswith("jaxtyping."):
            return Tensor(TYPED.get(name), sure=False, origin="argument")
        if name in PYTHON_TYPES:
            return Py(name, "argument")
        if name in ("list", "typing.List", "typing.Sequence"):
            return Sequence("list", None)
        if name in ("dict", "typing.Dict"):
            return Dict({}, open=True)
        if name in ("torch.device", "torch.dtype", "torch.Generator"):
            return Py(name.rpartition(".")[2], "argument")
        if name == "torch.Size":
            return Sequence("size", None, UNKNOWN)
        return UNKNOWN

    def is_instance(self, value: Value, wanted: str) -> bool | None:
        """isinstance of a value that is no object of the checked source; None when not known."""
        if wanted == "object":
            return True
        if isinstance(value, Tensor):
            if wanted in ("torch.Tensor", "torch.is_tensor"):
                return value.kind != "numpy"
            if wanted.startswith(NOT_TENSORS):
                return False
            if wanted in TENSOR_TYPES or wanted.startswith("torch."):
                return None
            if wanted.startswith("numpy."):
                return value.kind == "numpy" or None
            return False
        if wanted in TENSOR_TYPES:
            return False
        if isinstance(value, Const):
            return self._const_is(value.value, wanted)
        if isinstance(value, Sequence):
            if wanted in SEQUENCES:
                return value.type in SEQUENCES[wanted]
            return False if wanted in PYTHON_TYPES or wanted == "dict" else None
        if isinstance(value, Dict):
            return (
                True
                if wanted in ("dict", "typing.Mapping", "typing.MutableMapping")
                else False
                if wanted in (*PYTHON_TYPES, "list", "tuple", "set")
                else None
            )
        if value.is_shape:
            return wanted in ("int", "typing.Hashable", "numbers.Number", "numbers.Integral") or (
                False if wanted in PYTHON_TYPES else None
            )
        if isinstance(value, Py) and value.type in PYTHON_TYPES and wanted in PYTHON_TYPES:
            return value.type in NUMBER_TYPES.get(wanted, (wanted,))
        if isinstance(value, Py) and value.type in PYTHON_TYPES and wanted in ("list", "tuple", "dict", "set"):
            return False
        if isinstance(value, ExternalInstance):
            return True if value.name == wanted else None
        if isinstance(value, Function | Method | Class):
            return False if wanted in (*PYTHON_TYPES, "list", "tuple", "dict", "set") else None
        return None

    def _const_is(self, value, wanted: str) -> bool | None:
        if wanted in PYTHON_TYPES | {"list", "tuple", "dict", "set"}:
            return type(value).__name__ in NUMBER_TYPES.get(wanted, (wanted,))
        if wanted in ("typing.Sequence", "typing.Iterable", "typing.Hashable"):
            return isinstance(value, str | bytes) if wanted != "typing.Hashable" else True
        if wanted.startswith("numbers."):
            return isinstance(value, int | float)
        return False if value is None or wanted.startswith("torch.") else None

    def returns(self, name: str) -> str | None:
        """The kind of value that a library call returns ("int", "bool", "shape", "none", ...), None for a tensor or unknown."""
        return self.tables.returns(name)
