"""Calls of names outside the checked source: torch, numpy, the standard library and everything unknown."""

from __future__ import annotations

import ast

from breakscope.events import Call, ScalarRead
from breakscope.static.calls import Super
from breakscope.static.frames import Frame, Raised
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.tensors import FLOAT_DTYPES
from breakscope.values import (
    FALSE, NONE, TRUE, UNKNOWN, Class, Const, Dict, External, ExternalInstance, Function, Instance, Method, Py, Scalar, Sequence,
    ShapeInt, Tensor, Union, Value, holds_tensor, options,
)

CREATES = frozenset({
    "randn", "rand", "zeros", "ones", "empty", "full", "randint", "arange", "linspace", "logspace", "eye", "randperm", "tensor",
    "as_tensor", "from_numpy", "normal", "bernoulli", "tril_indices", "triu_indices", "hann_window", "full_like", "scalar_tensor",
    "asarray", "array", "empty_strided", "complex", "polar", "hamming_window",
})
SIZED = frozenset({"randn", "rand", "zeros", "ones", "empty"})
RANKED = {"arange": 1, "linspace": 1, "logspace": 1, "randperm": 1, "eye": 2, "hann_window": 1, "tril_indices": 2, "triu_indices": 2}
TENSOR_FUNCTION_MODULES = ("torch.", "torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch._C.")
NAMESPACES = frozenset({"torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special", "torch.sparse", "torch.ops.aten",
                        "torch.Tensor", "torchvision.ops", "torch.nested", "torch.masked"})
INPLACE_INIT = "torch.nn.init."
MODULE_LISTS = {"torch.nn.ModuleList": "ModuleList", "torch.nn.Sequential": "Sequential", "torch.nn.ParameterList": "list"}
PASS_THROUGH = frozenset({
    "torch.compile", "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm", "torch.nn.utils.parametrizations.weight_norm",
    "torch.nn.utils.parametrizations.spectral_norm", "copy.deepcopy", "copy.copy", "typing.cast", "torch.jit.annotate",
    "torch.nn.utils.parametrizations.orthogonal", "torch.compiler.allow_in_graph", "torch.func.functionalize",
    "torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "torch.nn.init", "torch.quantization.fuse_modules",
})
TENSOR_PAIRS = frozenset({"LSTM", "GRU", "RNN"})
HOOKS = {"register_forward_hook": "forward", "register_forward_pre_hook": "pre", "register_full_backward_hook": "backward",
         "register_backward_hook": "backward", "register_full_backward_pre_hook": "backward"}
SELF_METHODS = frozenset({"train", "eval", "to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_", "apply",
                          "share_memory", "to_empty", "type"})
TRACED_DRAWS = {"random.uniform": "float", "random.randint": "int", "random.randrange": "int"}
MATH_READS = frozenset({"torch.arange", "torch.zeros", "torch.ones", "torch.full", "torch.empty", "torch.rand", "torch.randn"})


class LibraryCalls:
    """What calls outside the checked source emit and return."""

    def call_external(self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        if self.driver is not None and name == "torch.set_default_dtype" and args:
            self.state["default_dtype"] = args[0].describe()
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
            return self.numpy_function(name, last, args, kwargs)
        if head == "math":
            return self.math_function(last, args, node, frame)
        return self.plain_result(name, args, kwargs)

    def args_certainty(self, args: list[Value]) -> str:
        tensors = [a for a in args if isinstance(a, Tensor)]
        return "likely" if tensors and not all(t.sure for t in tensors) else "certain"

    def plain_result(self, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of the standard library or of an unknown library."""
        if name in TRACED_DRAWS:
            return Py(TRACED_DRAWS[name], "draw")
        returned = self.returned(name)
        if returned is not None:
            return returned
        root = name.partition(".")[0]
        if root in ("time", "random"):
            return Py("float", "random")
        if root in ("os", "sys", "platform"):
            return Py("unknown", "environment")
        last = name.rpartition(".")[2]
        if last[:1].isupper() or name in ("logging.getLogger", "threading.Lock", "threading.RLock", "slice", "dataclasses.field"):
            canonical = "logging.Logger" if name == "logging.getLogger" else name
            return ExternalInstance(canonical, tuple(args), tuple(kwargs.items()))
        if root in ("contextlib", "threading", "warnings", "tempfile"):
            return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
        return UNKNOWN

    def torch_function(self, name: str, last: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        if last[:1].isupper() and name.startswith("torch.") and last not in ("Tensor",):
            return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
        if name in _CONTEXTS:
            return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
        if last in CREATES:
            return self.created(last, args, kwargs)
        if last in ("is_tensor", "is_storage"):
            return Const(args[0].is_tensor) if args and not args[0].is_unknown and not isinstance(args[0], Union) else Py("bool", "config")
        if name in _PYTHON_RESULTS:
            return _PYTHON_RESULTS[name]
        returned = self.returned(name)
        if returned is not None:
            return returned
        first = next((a for a in args if isinstance(a, Tensor)), None) or next(
            (v for k, v in kwargs.items() if isinstance(v, Tensor) and k in ("input", "x", "query", "self", "tensors")), None)
        if first is not None:
            return self.tensor_result(last, first, args, kwargs, name)
        if args and isinstance(args[0], Sequence) and last in ("cat", "stack", "concat", "hstack", "vstack", "broadcast_tensors", "meshgrid",
                                                                "block_diag", "atleast_1d"):
            element = element_of(args[0])
            sure = isinstance(element, Tensor) and element.sure
            made = Tensor(element.dtype if isinstance(element, Tensor) else None, None, None, sure)
            return Sequence("tuple", None, made) if last in ("broadcast_tensors", "meshgrid") else made
        if last in ("meshgrid", "broadcast_tensors"):
            return Sequence("tuple", [Tensor("int" if a.is_tensor and a.dtype == "int" else None) for a in args]) if args else Sequence(
                "tuple", None, Tensor())
        known_arguments = args or kwargs
        return Tensor(sure=bool(known_arguments) and not any(a.is_unknown for a in args)) if known_arguments else UNKNOWN

    def created(self, last: str, args: list[Value], kwargs: dict[str, Value]) -> Tensor:
        """A tensor made from sizes or Python values."""
        given = kwargs.get("dtype")
        dtype = None
        if isinstance(given, External):
            dtype = "bool" if given.name in ("torch.bool", "bool", "numpy.bool_") else "float" if given.name in FLOAT_DTYPES else "int"
        elif given is None and last in ("randint", "randperm", "tril_indices", "triu_indices"):
            dtype = "int"
        elif given is None and last in ("randn", "rand", "zeros", "ones", "empty", "linspace", "normal"):
            dtype = "float"
        elif last == "arange" and given is None:
            dtype = "int" if all(not (a.is_const and isinstance(a.value, float)) for a in args) else "float"
        elif last in ("tensor", "as_tensor", "array", "asarray") and given is None and args:
            dtype = self.dtype_of_data(args[0])
        if last in ("as_tensor", "asarray", "from_numpy") and args and isinstance(args[0], Tensor):
            source = args[0]
            return Tensor(dtype or source.dtype, source.ndim, source.shape, source.sure, "numpy" if last == "asarray" else "")
        sizes = self.sizes(last, args, kwargs)
        rank = len(sizes) if sizes is not None else RANKED.get(last)
        if last in ("tensor", "array") and args:
            rank, sizes = self.rank_of_data(args[0])
        known = sizes is not None and all(isinstance(s, Const) and isinstance(s.value, int) for s in sizes)
        return Tensor(dtype, rank, tuple(s.value for s in sizes) if known else None, True, "numpy" if last == "array" else "")

    def sizes(self, last: str, args: list[Value], kwargs: dict[str, Value]) -> list[Value] | None:
        given = kwargs.get("size")
        if last in SIZED:
            if len(args) == 1 and isinstance(args[0], Sequence):
                return args[0].items
            return args if args and not kwargs.get("*") and all(not isinstance(a, Sequence) for a in args) else (
                given.items if isinstance(given, Sequence) else None)
        if last in ("full", "randint"):
            found = given or next((a for a in args if isinstance(a, Sequence)), None)
            return found.items if isinstance(found, Sequence) else None
        if last in ("randperm", "arange") and len(args) == 1:
            return args
        return None

    def dtype_of_data(self, data: Value) -> str | None:
        if isinstance(data, Const):
            return {"bool": "bool", "int": "int", "float": "float"}.get(type(data.value).__name__)
        if data.is_shape:
            return "int"
        if isinstance(data, Tensor):
            return data.dtype
        if isinstance(data, Sequence):
            inner = data.items[0] if data.items else data.element
            return self.dtype_of_data(inner)
        return data.type if isinstance(data, Py) and data.type in ("bool", "int", "float") else None

    def rank_of_data(self, data: Value) -> tuple[int | None, list[Value] | None]:
        if isinstance(data, Const | ShapeInt | Scalar | Py):
            return 0, []
        if isinstance(data, Sequence) and data.items is not None:
            if not data.items:
                return 1, [Const(0)]
            rank, sizes = self.rank_of_data(data.items[0])
            return (rank + 1 if rank is not None else None), ([Const(len(data.items)), *sizes] if sizes is not None else None)
        return None, None

    def other_torch(self, name: str, last: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """torch names outside the function namespaces: classes give instances, context managers too."""
        if name in _PYTHON_RESULTS:
            return _PYTHON_RESULTS[name]
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

    def math_function(self, last: str, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        for i, value in enumerate(args):
            if value.is_tensor:
                self.read("math", value, node, frame, i)
                return Scalar("float")
        if any(a.is_scalar for a in args):
            return Scalar("float")
        integer = last in ("ceil", "floor", "prod", "gcd", "lcm", "trunc", "factorial", "comb")
        if any(a.is_shape or isinstance(a, Sequence) and a.type == "size" for a in args):
            return ShapeInt() if integer else Py("float", "shape")
        return Py("int" if integer else "float", next((a.source for a in args if isinstance(a, Py) and a.source), ""))

    # --- methods

    def call_method(self, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        kind = type(owner)
        if kind is Tensor:
            return self.call_tensor_method(owner, name, args, kwargs, node, frame)
        if kind is Super:
            return self.call_super_method(owner, name, args, kwargs, node, frame)
        if kind is Instance:
            return self.call_module_method(owner, name, args, kwargs, node, frame)
        if kind is Class and name == "apply":
            return self.call_autograd_function(owner, args, kwargs, node, frame)
        if kind is ExternalInstance:
            return self.call_external_method(owner, name, args, kwargs, node, frame)
        if kind is Sequence and owner.type in ("ModuleList", "Sequential") and name in HOOKS | dict.fromkeys(SELF_METHODS):
            return owner
        return self.call_python_method(owner, name, args, kwargs, node, frame)

    def call_super_method(self, owner: Super, name: str, args, kwargs, node, frame) -> Value:
        instance = owner.instance
        if isinstance(instance, Instance):
            externals = self.external_bases(instance.cls.info)
            if self.interesting("super().method") and frame.emits:
                self.emit(Call, node, frame, name="super().method", receiver=instance, args=(Const(name), *map(External, externals)), kwargs={})
            if name in self.library.module_methods and self.is_module(instance):
                return self.call_module_method(instance, name, args, kwargs, node, frame)
            base = next((n for n in externals if n in self.library.builtins), "")
            if base and name == "__init__":
                self.emit(Call, node, frame, name=f"{base}.__init__", receiver=instance, args=tuple(args), kwargs=kwargs)
            if name == "forward" and self.is_module(instance):
                base = next((n for n in externals if n.startswith("torch.nn.") and n != "torch.nn.Module"), None)
                if base:
                    return self.call_external_instance(ExternalInstance(base), args, kwargs, node, frame)
        return UNKNOWN

    def call_module_method(self, owner: Instance, name: str, args, kwargs, node, frame) -> Value:
        full = f"torch.nn.Module.{name}"
        if self.interesting(full):
            self.emit(Call, node, frame, name=full, receiver=owner, args=tuple(args), kwargs=kwargs)
        if self.driver is not None and name in ("double", "half", "bfloat16", "float", "to", "requires_grad_"):
            self.state["requires_grad" if name == "requires_grad_" else "module_dtype"] = self.text(node, frame.module)
        if name in ("register_buffer", "register_parameter") and args and isinstance(args[0], Const):
            value = args[1] if len(args) > 1 else kwargs.get("tensor", kwargs.get("param", UNKNOWN))
            owner.attributes[args[0].value] = self.registered(value, "buffer" if name == "register_buffer" else "parameter")
            return NONE
        if name in ("add_module", "register_module") and len(args) > 1 and isinstance(args[0], Const):
            owner.attributes[args[0].value] = args[1]
            return NONE
        if name in HOOKS and args:
            self.hooks.setdefault(id(owner), []).append((HOOKS[name], args[0]))
            return UNKNOWN
        if name in ("parameters", "buffers"):
            return Sequence("iterator", None, Tensor("float", kind="parameter"))
        if name in ("named_parameters", "named_buffers"):
            return Sequence("iterator", None, Sequence("tuple", [Py("str"), Tensor("float", kind="parameter")]))
        if name == "state_dict":
            return Dict({}, Tensor(), open=True)
        if name in ("get_parameter", "get_buffer"):
            return Tensor()
        if name in ("children", "modules"):
            return Sequence("iterator", None, join_all(v for v in owner.attributes.values() if self.is_module(v)))
        if name in SELF_METHODS:
            return owner
        if name == "_replace":
            made = Instance(owner.cls, {**owner.attributes, **kwargs})
            self.kept.append(made)
            return made
        if name == "_asdict":
            return Dict(dict(owner.attributes))
        if name == "__call__":
            return self.call_instance(owner, args, kwargs, node, frame)
        return UNKNOWN

    def registered(self, value: Value, kind: str) -> Value:
        """A registered buffer or parameter is a tensor or None, whatever was passed."""
        parts = []
        for option in options(value):
            if option.is_none:
                parts.append(option)
            elif isinstance(option, Tensor):
                parts.append(Tensor(option.dtype, option.ndim, option.shape, True, kind))
            else:
                parts.append(Tensor(kind=kind))
        return join_all(parts)

    def call_autograd_function(self, owner: Class, args, kwargs, node, frame) -> Value:
        forward = self.find_member(owner.info, "forward")
        if isinstance(forward, Function):
            ctx = [ExternalInstance("torch.autograd.function.FunctionCtx")] if self.find_member(owner.info, "setup_context") is None else []
            return self.call_value(self.bound_to(forward, owner), [*ctx, *args], kwargs, node, frame)
        return Tensor()

    def call_external_instance(self, owner: ExternalInstance, args, kwargs, node, frame) -> Value:
        """A library object is called: most often a torch.nn module."""
        name = f"{owner.name}.forward" if owner.name.startswith("torch.nn.") else f"{owner.name}.__call__"
        if self.interesting(name):
            self.emit(Call, node, frame, name=name, receiver=owner, args=tuple(args), kwargs=kwargs)
        args, kwargs = self.run_pre_hooks(owner, args, kwargs, node, frame)
        result = self.external_instance_result(owner, args)
        return self.run_hooks(owner, args, result, node, frame)

    def external_instance_result(self, owner: ExternalInstance, args: list[Value]) -> Value:
        last = owner.name.rpartition(".")[2]
        if owner.name in ("functools.partial",):
            return UNKNOWN
        if owner.name.startswith("torch.nn.utils.rnn"):
            return UNKNOWN
        if owner.name.startswith(("torch.nn.", "torchvision.", "torch.jit.script", "torch.library", "einops.layers.")):
            first = next((a for a in args if isinstance(a, Tensor)), None)
            if last in TENSOR_PAIRS:
                state = Tensor("float", 3)
                packed = args and isinstance(args[0], ExternalInstance)
                output = ExternalInstance("torch.nn.utils.rnn.PackedSequence") if packed else Tensor("float", 3)
                return Sequence("tuple", [output, Sequence("tuple", [state, state]) if last == "LSTM" else state])
            if last == "LSTMCell":
                return Sequence("tuple", [Tensor("float", 2), Tensor("float", 2)])
            if last == "MultiheadAttention":
                return Sequence("tuple", [Tensor("float"), join(Tensor("float"), NONE)])
            if last == "Identity":
                return args[0] if args else UNKNOWN
            rank = first.ndim if first is not None else None
            if last == "Embedding":
                rank = rank + 1 if rank is not None else None
            elif last not in ("Linear", "Dropout", "LayerNorm", "ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "Softmax", "Conv1d", "Conv2d",
                              "Conv3d", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d"):
                rank = None
            return Tensor("float", rank, None, first.sure if first is not None else True)
        return UNKNOWN

    def external_instance_attribute(self, owner: ExternalInstance, name: str, node: ast.AST, frame: Frame) -> Value:
        if owner.name.startswith("torch.nn."):
            if name in ("weight", "bias", "running_mean", "running_var", "in_proj_weight", "in_proj_bias", "weight_g", "weight_v"):
                absent = dict(owner.kwargs).get("bias")
                if name == "bias" and isinstance(absent, Const) and absent.value is False:
                    return NONE
                return Tensor("float", sure=True, kind="parameter")
            if name == "training":
                return Py("bool", "config")
            given = dict(owner.kwargs).get(name)
            if given is not None:
                return given
            if name in self.library.module_methods:
                return Method(owner, name)
            return Py("number", "config") if name.startswith(("num_", "in_", "out_", "kernel", "padding", "stride", "embed", "eps")) else UNKNOWN
        if owner.name == "torch.autograd.function.FunctionCtx":
            stored = self.contexts.get(name)
            return Sequence("tuple", None, Tensor()) if name == "saved_tensors" else stored if stored is not None else Method(owner, name)
        if owner.name == "torch.nn.utils.rnn.PackedSequence":
            return Tensor()
        if owner.name in ("torch.finfo", "torch.iinfo"):
            return Py("number")
        return Method(owner, name)

    def call_external_method(self, owner: ExternalInstance, name: str, args, kwargs, node, frame) -> Value:
        if owner.name.startswith("torch.nn."):
            if name in HOOKS and args:
                self.hooks.setdefault(id(owner), []).append((HOOKS[name], args[0]))
                return UNKNOWN
            if name in SELF_METHODS:
                return owner
            if name == "__call__" or name == "forward":
                return self.call_external_instance(owner, args, kwargs, node, frame)
        full = f"{owner.name}.{name}"
        if owner.name == "logging.Logger" and name.endswith("_once"):
            full = full.removesuffix("_once")  # added to the class by several libraries
        if self.interesting(full):
            self.emit(Call, node, frame, name=full, receiver=owner, args=tuple(args), kwargs=kwargs)
        if owner.name.startswith("torch.nn."):
            if name == "state_dict":
                return Dict({}, Tensor(), open=True)
            if name in ("parameters", "buffers"):
                return Sequence("iterator", None, Tensor("float", kind="parameter"))
            if name in ("named_parameters", "named_buffers"):
                return Sequence("iterator", None, Sequence("tuple", [Py("str"), Tensor("float", kind="parameter")]))
        if owner.name.startswith("torch.distributions.") and name in (
                "sample", "rsample", "log_prob", "entropy", "cdf", "icdf", "prob", "perplexity"):
            return Tensor()
        if owner.name.startswith("torch.distributions.") and name in ("mode", "mean", "variance", "stddev", "probs", "logits"):
            return Tensor()
        if owner.name == "torch.Generator":
            return owner
        if owner.name == "contextlib.ExitStack":
            return args[0] if args else UNKNOWN
        if owner.name == "itertools.permutations":
            return UNKNOWN
        return UNKNOWN

    # --- calls with a meaning of their own

    def module_list(self, name: str, args: list[Value], node: ast.AST, frame: Frame) -> Value:
        type_ = MODULE_LISTS[name]
        if type_ == "Sequential" and not (len(args) == 1 and isinstance(args[0], Dict)):
            return Sequence("Sequential", list(args))
        if args and isinstance(args[0], Dict):
            return Sequence(type_, list(args[0].items.values()))
        source = args[0] if args else Sequence("list", [])
        if isinstance(source, Sequence):
            return Sequence(type_, list(source.items) if source.items is not None else None, source.element)
        element = self.iterate(source, node, frame)
        return Sequence(type_, None, element if element is not None else UNKNOWN)

    def call_module_dict(self, args, kwargs, node, frame) -> Value:
        return self.builtin_dict(args, {}, node, frame)

    def call_parameter(self, args, kwargs, node, frame) -> Value:
        value = args[0] if args else kwargs.get("data", UNKNOWN)
        if isinstance(value, Tensor):
            return Tensor(value.dtype, value.ndim, value.shape, True, "parameter", requires_grad=True)
        return Tensor("float", kind="parameter", requires_grad=True)

    def call_partial(self, args, kwargs, node, frame) -> Value:
        if args and isinstance(args[0], Function):
            target = args[0]
            return Function(target.info, target.bound, target.scope, (*target.args, *args[1:]), (*target.kwargs, *kwargs.items()))
        if args and isinstance(args[0], External | Class | ExternalInstance):
            return args[0] if not kwargs.get("**") else UNKNOWN
        return UNKNOWN

    def call_checkpoint(self, args, kwargs, node, frame) -> Value:
        rest = {k: v for k, v in kwargs.items() if k not in (
            "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")}
        return self.call_value(args[0], args[1:], rest, node, frame) if args else UNKNOWN

    def call_transform(self, args, kwargs, node, frame) -> Value:
        """torch.func transforms give a function that is called with tensors."""
        return Method(args[0], "transformed") if args and isinstance(args[0], Method) else args[0] if args else UNKNOWN

    def call_cond(self, args, kwargs, node, frame) -> Value:
        results = [self.call_value(f, list(args[3].items or []) if len(args) > 3 and isinstance(args[3], Sequence) else [], {}, node, frame)
                   for f in args[1:3]]
        return join_all(results)

    def call_replace(self, args, kwargs, node, frame) -> Value:
        if args and isinstance(args[0], Instance):
            made = Instance(args[0].cls, {**args[0].attributes, **kwargs})
            self.kept.append(made)
            return made
        return UNKNOWN

    def call_tree_map(self, args, kwargs, node, frame) -> Value:
        return UNKNOWN

    def call_chain(self, args, kwargs, node, frame) -> Value:
        return Sequence("iterator", None, join_all([self.iterate(a, node, frame) or UNKNOWN for a in args]))

    def call_wraps(self, args, kwargs, node, frame) -> Value:
        return External("functools.wraps")

    def call_ordered_dict(self, args, kwargs, node, frame) -> Value:
        return self.builtin_dict(args, kwargs, node, frame)

    def call_deque(self, args, kwargs, node, frame) -> Value:
        return self.ordered("deque", args, node, frame)

    def call_default_dict(self, args, kwargs, node, frame) -> Value:
        made = self.call_value(args[0], [], {}, node, frame) if args and not args[0].is_none else UNKNOWN
        return Dict({}, made, open=True)

    def call_getlogger(self, args, kwargs, node, frame) -> Value:
        return ExternalInstance("logging.Logger")

    def call_same(self, args, kwargs, node, frame) -> Value:
        return args[0] if args else UNKNOWN

    def call_where(self, args, kwargs, node, frame) -> Value:
        if len(args) == 1:
            return Sequence("tuple", None, Tensor("int", 1))
        tensors = [a for a in args[1:] if isinstance(a, Tensor)]
        dtypes = {t.dtype for t in tensors}
        ranks = [0 if isinstance(a, Const) else getattr(a, "ndim", None) for a in args]
        rank = max(ranks) if ranks and None not in ranks else None
        return Tensor(dtypes.pop() if len(dtypes) == 1 and len(tensors) == 2 else None, rank, sure=all(t.sure for t in tensors))


_SPECIAL = {
    "torch.nn.Parameter": "call_parameter", "torch.nn.Buffer": "call_parameter", "torch.nn.ModuleDict": "call_module_dict",
    "torch.nn.ParameterDict": "call_module_dict",
    "functools.partial": "call_partial", "functools.partialmethod": "call_partial", "torch.utils.checkpoint.checkpoint": "call_checkpoint",
    "torch.func.vmap": "call_transform", "torch.vmap": "call_transform", "torch.cond": "call_cond", "dataclasses.replace": "call_replace",
    "itertools.chain": "call_chain", "functools.wraps": "call_wraps", "collections.OrderedDict": "call_ordered_dict",
    "collections.deque": "call_deque", "collections.defaultdict": "call_default_dict", "logging.getLogger": "call_getlogger",
    "torch.where": "call_where",
}
_CONTEXTS = frozenset({
    "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autocast", "torch.amp.autocast",
    "torch.cuda.amp.autocast", "torch.cpu.amp.autocast", "torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly",
    "torch.autograd.graph.saved_tensors_hooks", "torch.random.fork_rng", "torch.profiler.record_function", "torch.device",
    "torch.autograd.profiler.record_function", "torch.cuda.stream", "torch.cuda.device", "torch.nn.attention.sdpa_kernel",
    "torch.profiler.profile", "torch.autograd.graph.save_on_cpu", "torch.backends.cudnn.flags", "torch.backends.cuda.sdp_kernel",
    "torch.func.functional_call", "torch.nn.utils.parametrize.cached", "torch.sparse.check_sparse_tensor_invariants",
    "torch.cuda.nvtx.range", "torch.finfo", "torch.iinfo", "torch.Generator", "torch.compiler.set_stance",
})
_PYTHON_RESULTS: dict[str, Value] = {
    "torch.get_default_dtype": Py("dtype"), "torch.is_grad_enabled": Py("bool", "config"), "torch.is_autocast_enabled": Py("bool", "config"),
    "torch.is_inference_mode_enabled": Py("bool", "config"), "torch.is_floating_point": Py("bool", "config"), "torch.is_complex": Py("bool", "config"),
    "torch.get_autocast_gpu_dtype": Py("dtype"), "torch.get_autocast_dtype": Py("dtype"), "torch.manual_seed": UNKNOWN,
    "torch.equal": Py("bool", "tensor"), "torch.allclose": Py("bool", "tensor"), "torch.is_nonzero": Py("bool", "tensor"),
    "torch.numel": ShapeInt(), "torch.cuda.is_available": Py("bool", "environment"), "torch.broadcast_shapes": Sequence("size", None, ShapeInt()),
    "torch.promote_types": Py("dtype"), "torch.result_type": Py("dtype"), "torch.get_num_threads": Py("int", "environment"),
    "torch.is_autocast_cpu_enabled": Py("bool", "config"), "torch.get_device": Py("int"), "torch.are_deterministic_algorithms_enabled": Py("bool", "environment"),
    "torch._assert": NONE, "torch._check": NONE, "torch._check_is_size": NONE, "torch.set_default_dtype": NONE, "torch.save": NONE,
}
