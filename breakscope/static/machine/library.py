"""Names outside the checked source: aliases, constants, types, and what calls return.

Facts that torch itself can report come from the generated tables (`breakscope.knowledge`); here
stand only how Python's own builtins and typing behave, and names that decide branches while Dynamo
traces.
"""

from __future__ import annotations

import builtins
import sys
from functools import cached_property, lru_cache

from breakscope.knowledge.shapes import Shape
from breakscope.knowledge.tensor_types import CONSTRUCTORS, DTYPES
from breakscope.rulekit.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    External,
    ExternalInstance,
    Py,
    Sequence,
    Tensor,
    Value,
)
from breakscope.static.machine.packages import DATES, TOKENIZER
from breakscope.static.machine.versions import OF_TORCH, version_of_torch

ALIASES = {
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.functional": "torch",
    "torch.nn.parameter": "torch.nn",
    "torch.special.softmax": "torch.softmax",
    "os.path": "os.path",
    "posixpath": "os.path",
    "typing_extensions": "typing",
    "torch.autograd.function.Function": "torch.autograd.Function",
    "torch.optim.optimizer.Optimizer": "torch.optim.Optimizer",
    "torch.optim.lr_scheduler._LRScheduler": "torch.optim.lr_scheduler.LRScheduler",
    "torch.utils.checkpoint": "torch.utils.checkpoint",
    "torch.compiler._is_compiling": "torch.compiler.is_compiling",
    "torch._dynamo.disable": "torch.compiler.disable",
    "collections.abc": "typing",
    **dict.fromkeys(
        (
            "tensordict.TensorDictBase",
            "tensordict.base.TensorDictBase",
            "tensordict._td.TensorDict",
            "tensordict.tensordict.TensorDict",
            "tensordict.tensordict.TensorDictBase",
        ),
        "tensordict.TensorDict",
    ),
}
PREFIXES = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.nn.functional.", "torch.nn.functional."),
    ("typing_extensions.", "typing."),
)
COMPILING = Const(True)  # the result of `torch.compiler.is_compiling()` and its like
# Calls with a known result while Dynamo traces: torch/_dynamo/trace_rules.py (constant folded) and
# torch/jit.
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
    "torch.default_generator": ExternalInstance("torch.Generator"),
    "sys.platform": Py("str", "environment"),
    "os.name": Py("str", "environment"),
    "sys.version_info": VERSION_INFO,
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
# library types that no tensor is
NOT_TENSORS = (
    "torch.fx.",
    "torch.nn.utils.",
    "torch.Size",
    "torch.dtype",
    "torch.device",
    "torch.distributions.",
)
# abstract types that every tensor is
OF_TENSORS = frozenset(
    f"{module}.{name}"
    for module in ("typing", "collections.abc")
    for name in ("Iterable", "Sized", "Container", "Collection", "Reversible", "Hashable")
)
TENSOR_DICT = "tensordict.TensorDict"
PACKED_SEQUENCE = "torch.nn.utils.rnn.PackedSequence"
GIVEN_MODULE = "torch.nn.Module"  # an object of it is of any class: a constructor is handed it
MADE_CLASS = "type"  # an object of it is a class that a call in a region makes
SET_ON_MADE = "type().__setattr__"
TENSOR_TYPES = CONSTRUCTORS | {
    "torch.nn.Parameter",
    "torch.nn.parameter.Parameter",
    "torch.nn.Buffer",
    "torch.cuda.FloatTensor",
    "torch.cuda.LongTensor",
}
TYPED = {  # tensor types with the kind of their elements: "float", "int" or "bool"
    name: next(kind for kind in ("float", "int", "bool") if kind in dtype)
    for name, dtype in DTYPES.items()
}
SCRIPTED = "torch.jit.ScriptModule"
SCRIPTED_TYPES = (SCRIPTED, "torch.ScriptModule", "torch.jit.RecursiveScriptModule")
NUMPY_GENERATORS = ("numpy.random.Generator", "numpy.random.RandomState")
OF_TRAINING = ("torch.optim.", "torch.amp.", "torch.cuda.amp.")
BY_USE = tuple(
    (frozenset(needs.split()), ExternalInstance(name, sure=False))
    for name, *ways in (
        ("torch.amp.GradScaler", "unscale_", "scale update", "scale step"),
        ("torch.optim.Optimizer", "zero_grad step", "param_groups step"),
        ("torch.optim.lr_scheduler.LRScheduler", "get_last_lr", "step() backward"),
    )
    for needs in ways
)
PYTHON_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "complex"})
CONTAINER_TYPES = frozenset({"list", "tuple", "dict", "set"})
TENSOR_ATTRIBUTES = frozenset(
    """
    T H mT mH cuda data device dtype grad grad_fn imag is_cuda is_leaf is_sparse itemsize layout nbytes ndim
    real requires_grad shape storage
    """.split()
)
# what the table of results does not try
UNTRIED_METHODS = frozenset(
    {"apply_", "map_", "map2_", "xpu", "register_post_accumulate_grad_hook"}
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


MODULE = "torch.nn.Module"
# methods of containers that change them
CHANGING_METHODS = frozenset(
    """
    append appendleft add insert extend extendleft update setdefault pop popleft popitem clear remove
    discard reverse sort rotate move_to_end add_module register_module __setitem__ __delitem__
    """.split()
)


class Library:
    """The tables of one torch version, by canonical name."""

    def __init__(self, tables) -> None:
        self.tables = tables
        self.builtins = frozenset(dir(builtins))
        self.module_methods = MODULE_METHODS
        self.canonical = lru_cache(maxsize=None)(self._canonical)

    @cached_property
    def skipped_packages(self) -> frozenset[str]:
        """The packages beside Python's own of which Dynamo traces no call; numpy's functions have
        rules of their own."""
        tops = {
            name
            for name in self.tables.skips
            if "." not in name and self.tables.module_skipped(name)
        }
        return frozenset(tops - sys.stdlib_module_names - {"torch", "numpy"})

    @cached_property
    def tensor_names(self) -> frozenset[str]:
        """The methods and attributes of a tensor."""
        methods = (
            name.removeprefix("Tensor.")
            for name in self.tables.results
            if name.startswith("Tensor.")
        )
        return TENSOR_ATTRIBUTES.union(name for name in methods if not name.startswith("__"))

    @cached_property
    def tensor_only(self) -> frozenset[str]:
        """Those that no other common object has: a value of which one is read is likely a tensor."""
        others = {
            name for kind in (list, dict, set, str, int, float, complex) for name in dir(kind)
        }
        return self.tensor_names - others - self.module_methods - SHARED_WITH_OTHERS

    @cached_property
    def tensor_methods(self) -> frozenset[str]:
        """All methods of a tensor that have a name of their own."""
        return self.tensor_names | UNTRIED_METHODS

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

    def is_subclass(self, name: str, wanted: str) -> bool | None:
        """Whether one class of torch's modules derives from another; None where the tables do not
        tell."""
        if name == wanted:
            return True
        classes = self.tables.classes
        known = {MODULE, *classes}
        return wanted in classes.get(name, ()) if {name, wanted} <= known else None

    def is_class(self, name: str) -> bool:
        """True for what is certainly a class."""
        known = name in TENSOR_TYPES or name in self.tables.classes
        return known or isinstance(getattr(builtins, name, None), type)

    def constant(self, name: str) -> Value | None:
        """The value of a library name that is no function, class or module."""
        return version_of_torch() if name in OF_TORCH else CONSTANTS.get(name)

    def answer(self, name: str) -> Value | None:
        """The result of a call that Dynamo replaces by a constant."""
        return ANSWERS.get(name)

    def has(self, name: str) -> bool:
        """True for a name that asks while Dynamo traces, or a module on the way to one."""
        return name in ANSWERS or any(known.startswith(f"{name}.") for known in ANSWERS)

    def is_enum(self, name: str) -> bool:
        return name in ENUMS

    def annotated(self, name: str) -> Value:
        """The value of something annotated with a library type."""
        if name in TENSOR_TYPES or name.startswith("jaxtyping."):
            return Tensor(TYPED.get(name), sure=False, origin="argument")
        if name in ("numpy.ndarray", "numpy.typing.NDArray"):
            return Tensor(sure=False, kind="numpy", origin="argument")
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
        if name in SCRIPTED_TYPES:
            return ExternalInstance(SCRIPTED)
        if TOKENIZER.fullmatch(name):
            return ExternalInstance(name, sure=False)
        if name.startswith(OF_TRAINING) or name in (
            PACKED_SEQUENCE,
            TENSOR_DICT,
            *NUMPY_GENERATORS,
            *DATES,
        ):
            return ExternalInstance(name)
        return UNKNOWN

    def used_as(self, used: frozenset[str], bare: frozenset[str]) -> Value:
        """What a value is of which these attributes are read, these methods called without an
        argument: an object that training steps have, where nothing else has them all."""
        return next((made for needs, made in BY_USE if needs <= used | bare), UNKNOWN)

    def returns(self, name: str) -> str | None:
        """The kind of value that a library call returns ("int", "bool", "shape", "none", ...), None
        for a tensor or unknown."""
        return self.tables.returns(name)

    def shape(self, name: str, form: str = "") -> Shape | None:
        """What the tensors look like that a library call returns; an operator of aten as the
        function of that name."""
        return self.tables.shape(name.replace("torch.ops.aten.", "torch."), form)

    def reads_data(self, name: str) -> bool:
        """True when an operator must read a tensor's values to answer."""
        return (self.tables.op(name) or {}).get("depends") == "value"
