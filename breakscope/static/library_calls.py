"""Calls of names outside the checked source: torch, numpy, the standard library and everything unknown."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.events import Call
from breakscope.knowledge import since
from breakscope.static.copies import copied
from breakscope.static.frames import Frame
from breakscope.static.joins import element_of
from breakscope.static.library import TYPED
from breakscope.static.ranks import joined_rank
from breakscope.values import (
    FALSE,
    NONE,
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Instance,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
)

CREATES = frozenset(
    """
    randn rand zeros ones empty full randint arange linspace logspace eye randperm tensor as_tensor from_numpy
    normal bernoulli tril_indices triu_indices hann_window full_like scalar_tensor asarray array empty_strided
    complex polar hamming_window
    """.split()
)
NAMESPACES = frozenset(
    """
    torch torch.nn.functional torch.linalg torch.fft torch.special torch.sparse torch.ops.aten torch.Tensor
    torchvision.ops torch.nested torch.masked
    """.split()
)
INPLACE_INIT = "torch.nn.init."
MODULE_LISTS = {
    "torch.nn.ModuleList": "ModuleList",
    "torch.nn.Sequential": "Sequential",
    "torch.nn.ParameterList": "list",
}
PASS_THROUGH = frozenset(
    """
    torch.compile torch.nn.utils.weight_norm torch.nn.utils.spectral_norm
    torch.nn.utils.parametrizations.weight_norm torch.nn.utils.parametrizations.spectral_norm
    torch.autograd.Variable torch.nn.utils.parametrizations.orthogonal
    torch.compiler.allow_in_graph torch.func.functionalize torch.nn.DataParallel
    torch.nn.parallel.DistributedDataParallel torch.nn.init torch.quantization.fuse_modules
    """.split()
)
COPIES = {"copy.copy": False, "copy.deepcopy": True}  # deep?
GLOBAL_STATES = {  # what a driver sets with these -> what Dynamo guards
    "torch.set_grad_enabled": "grad_mode",
    "torch.use_deterministic_algorithms": "global_state",
    "torch.set_float32_matmul_precision": "global_state",
}
STDLIB = frozenset({"operator", "_operator", "itertools", "itertools.chain", "collections", "collections.OrderedDict",
                    "dict", "dataclasses"})  # fmt: skip
DECORATORS = frozenset({"torch.compiler.disable", "torch._dynamo.disable"})
SCRIPTING = {  # what they make of a module
    "torch.jit.script": "torch.jit.ScriptModule",
    "torch.jit.freeze": "torch.jit.ScriptModule",
    "torch.jit.trace": "torch.jit.TracedModule",
}
TRACED_DRAWS = {"random.uniform": "float", "random.randint": "int", "random.randrange": "int"}


class LibraryCalls:
    """What calls outside the checked source emit and return."""

    __slots__ = ()

    def call_external(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if self.driver is not None and name == "torch.set_default_dtype" and args:
            self.state["default_dtype"] = args[0].describe()
        if self.driver is not None and name in GLOBAL_STATES and args:
            self.state[GLOBAL_STATES[name]] = args[0].describe()
        answer = self.library.answer(name)
        if answer is not None:
            return answer
        if self.interesting(name):
            self.emit(Call, node, frame, self.args_certainty(args), name=name, args=tuple(args), kwargs=kwargs)
        if name in self.library.builtins:
            return self.call_builtin(name, args, kwargs, node, frame)
        special = _SPECIAL.get(name)
        if special is not None:
            return getattr(self, special)(args, kwargs, node, frame)
        if name == "torch.compile":
            self.compiled.extend(args[:1])
            return args[0] if args else External(name)  # `@torch.compile(...)`
        if name in DECORATORS and not args:
            return External(name)  # `@torch.compiler.disable(recursive=False)`
        if name in SCRIPTING and args and isinstance(args[0], Instance | ExternalInstance):
            return ExternalInstance(SCRIPTING[name])
        if name in COPIES and args:
            return copied(args[0], COPIES[name])
        if name in PASS_THROUGH:
            return args[0] if args else UNKNOWN
        head, _, last = name.rpartition(".")
        if head == "torch.Tensor" and args and args[0].is_tensor:
            return self.call_tensor_method(args[0], last, args[1:], kwargs, node, frame)
        if name in MODULE_LISTS:
            return self.module_list(name, args, node, frame)
        if head in NAMESPACES:
            return self.torch_function(name, last, args, kwargs, node, frame)
        if name.startswith("torch."):
            return self.other_torch(name, last, args, kwargs)
        if head.partition(".")[0] == "numpy":
            number = self.numpy_number(last, args) if frame.emits and head == "numpy" and not kwargs else None
            return number if number is not None else self.numpy_function(name, last, args, kwargs)
        if head == "math":
            return self.math_function(last, args, node, frame)
        self.enter_package(name, args, kwargs, node, frame)
        made = self.call_stdlib(name, args, kwargs, node, frame) if head in STDLIB else None
        return self.plain_result(name, args, kwargs) if made is None else made

    def enter_package(self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """A function, class or method outside of the checked source is called; to make an exception is no harm."""
        if name.partition(".")[0] in self.library.skipped_packages and not name.endswith(("Error", "Exception", "Warning")):
            self.emit(Call, node, frame, name="call of a skipped package", receiver=External(name), args=tuple(args), kwargs=kwargs)

    def args_certainty(self, args: list[Value]) -> str:
        tensors = [a for a in args if isinstance(a, Tensor)]
        return "likely" if tensors and not all(t.sure for t in tensors) else "certain"

    def plain_result(self, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of the standard library or of an unknown library."""
        if name in TRACED_DRAWS or name == "random.random" and since("2.15"):
            return Py(TRACED_DRAWS.get(name, "float"), "draw")
        if name in PYTHON_RESULTS:
            return PYTHON_RESULTS[name]
        returned = self.returned(name)
        if returned is not None:
            return returned
        root = name.partition(".")[0]
        if root in ("time", "random") and name != "random.Random":
            return Py("float", "random")
        if root in ("os", "sys", "platform"):
            return Py("unknown", "environment")
        last = name.rpartition(".")[2]
        if last[:1].isupper() or name in (
            "logging.getLogger",
            "threading.Lock",
            "threading.RLock",
            "slice",
            "dataclasses.field",
        ):
            canonical = "logging.Logger" if name == "logging.getLogger" else name
            return ExternalInstance(canonical, tuple(args), tuple(kwargs.items()))
        if root in ("contextlib", "threading", "warnings", "tempfile"):
            return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
        return UNKNOWN

    def torch_function(
        self, name: str, last: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        if name in TYPED:
            return self.of_type(TYPED[name], args)
        if last[:1].isupper() and name.startswith("torch.") and last not in ("Tensor",):
            return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
        if name in _CONTEXTS:
            return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
        if last in CREATES:
            made = self.created(last, args, kwargs)
            return made if frame.emits or made.requires_grad else replace(made, requires_grad=False)
        if last in ("is_tensor", "is_storage"):
            return (
                Const(args[0].is_tensor)
                if args and not args[0].is_unknown and not isinstance(args[0], Union)
                else Py("bool", "config")
            )
        if name in PYTHON_RESULTS:
            return PYTHON_RESULTS[name]
        returned = self.returned(name)
        if returned is not None:
            return returned
        first = next((a for a in args if isinstance(a, Tensor)), None) or next(
            (v for k, v in kwargs.items() if isinstance(v, Tensor) and k in ("input", "x", "query", "self", "tensors")),
            None,
        )
        if first is not None:
            return self.tensor_result(last, first, args, kwargs, name)
        if (
            args
            and isinstance(args[0], Sequence)
            and last
            in (
                "cat",
                "stack",
                "concat",
                "hstack",
                "vstack",
                "broadcast_tensors",
                "meshgrid",
                "block_diag",
                "atleast_1d",
            )
        ):
            element = element_of(args[0])
            sure = isinstance(element, Tensor) and element.sure
            made = Tensor(element.dtype if isinstance(element, Tensor) else None, joined_rank(last, element), None, sure)
            return Sequence("tuple", None, made) if last in ("broadcast_tensors", "meshgrid") else made
        if last in ("meshgrid", "broadcast_tensors"):
            return (
                Sequence("tuple", [Tensor("int" if a.is_tensor and a.dtype == "int" else None) for a in args])
                if args
                else Sequence("tuple", None, Tensor())
            )
        if last == "einsum" and args and args[0].is_const:
            result = str(args[0].value).rpartition("->")[2].strip()
            return Tensor(ndim=len(result) if "->" in str(args[0].value) and "." not in result else None)
        known_arguments = args or kwargs
        return (
            Tensor(sure=bool(known_arguments) and not any(a.is_unknown for a in args)) if known_arguments else UNKNOWN
        )

    def other_torch(self, name: str, last: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """torch names outside the function namespaces: classes give instances, context managers too."""
        if name in PYTHON_RESULTS:
            return PYTHON_RESULTS[name]
        if name.startswith(INPLACE_INIT):
            return args[0] if args else UNKNOWN
        if last[:1].isupper() or name in _CONTEXTS or name.startswith("torch.backends."):
            return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
        returned = self.returned(name)
        if returned is not None:
            return returned
        if self.library.returns(name) in ("tensor", "maybe tensor"):
            return Tensor(sure=True)
        if name.startswith(("torch.cuda.", "torch.distributed.", "torch.version.", "torch.mps.", "torch.xpu.")):
            return Py("bool" if last.startswith("is_") else "unknown", "environment")
        if name.startswith("torch.nn.utils.rnn."):
            if last == "pad_packed_sequence":
                return Sequence("tuple", [Tensor(), Tensor("int")])
            return Tensor() if last == "pad_sequence" else ExternalInstance("torch.nn.utils.rnn.PackedSequence")
        if any(a.is_tensor for a in args) and name.startswith(("torch.utils.checkpoint", "torch.nn.utils.")):
            return Tensor()
        return UNKNOWN

    def numpy_function(self, name: str, last: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if last in ("rand", "randn") and args and name.startswith("numpy.random."):  # a size: an array, not a number
            return Tensor("float", len(args), None, True, "numpy")
        if name.startswith("numpy.random."):
            return ExternalInstance(name) if last[:1].isupper() or last == "default_rng" else Py("number", "random")
        if last in CREATES:
            made = self.created(last, args, kwargs)
            return Tensor(made.dtype, made.ndim, made.shape, made.sure, "numpy")
        if last[:1].isupper() or last.startswith(("float", "int", "uint", "bool")):
            return UNKNOWN
        first = next((a for a in args if isinstance(a, Tensor)), None)
        if first is not None:
            made = self.tensor_result(last, first, args, kwargs, name)
            return Tensor(made.dtype, made.ndim, made.shape, made.sure, "numpy") if isinstance(made, Tensor) else made
        if args and all(a.is_const or a.is_shape or isinstance(a, Py) for a in args):
            return Py("number")
        return UNKNOWN


_SPECIAL = {
    "torch.nn.*": "call_chosen_module",
    "torch.nn.Parameter": "call_parameter",
    "torch.nn.Buffer": "call_parameter",
    "torch.nn.ModuleDict": "call_module_dict",
    "torch.nn.ParameterDict": "call_module_dict",
    "functools.partial": "call_partial",
    "types.SimpleNamespace": "call_namespace",
    "argparse.Namespace": "call_namespace",
    "functools.partialmethod": "call_partialmethod",
    "torch.utils.checkpoint.checkpoint": "call_checkpoint",
    "torch.func.vmap": "call_transform",
    "torch.vmap": "call_transform",
    "torch.cond": "call_cond",
    "dataclasses.replace": "call_replace",
    "itertools.chain": "call_chain",
    "functools.reduce": "call_reduce",
    "functools.wraps": "call_wraps",
    "collections.OrderedDict": "call_ordered_dict",
    "collections.deque": "call_deque",
    "collections.defaultdict": "call_default_dict",
    "logging.getLogger": "call_getlogger",
    "torch.where": "call_where",
    "typing.cast": "call_cast",
    "torch.jit.annotate": "call_cast",
}
_CONTEXTS = frozenset(
    """
    torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled torch.autocast
    torch.amp.autocast torch.cuda.amp.autocast torch.cpu.amp.autocast torch.autograd.set_detect_anomaly
    torch.autograd.detect_anomaly torch.autograd.graph.saved_tensors_hooks torch.random.fork_rng
    torch.profiler.record_function torch.device torch.autograd.profiler.record_function torch.cuda.stream
    torch.cuda.device torch.nn.attention.sdpa_kernel torch.profiler.profile torch.autograd.graph.save_on_cpu
    torch.backends.cudnn.flags torch.backends.cuda.sdp_kernel torch.func.functional_call
    torch.nn.utils.parametrize.cached torch.sparse.check_sparse_tensor_invariants torch.cuda.nvtx.range
    torch.finfo torch.iinfo torch.Generator torch.compiler.set_stance
    """.split()
)
MATCH = Union((NONE, ExternalInstance("re.Match")))
PYTHON_RESULTS: dict[str, Value] = {
    "re.compile": ExternalInstance("re.Pattern"),
    **{f"{owner}.{name}": MATCH for owner in ("re", "re.Pattern") for name in ("match", "fullmatch", "search")},
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
    "torch._C._is_tracing": FALSE,
    "torch._assert": NONE,
    "torch._check": NONE,
    "torch._check_is_size": NONE,
    "torch.set_default_dtype": NONE,
    "torch.save": NONE,
}
