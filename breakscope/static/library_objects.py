"""Methods: of modules, of library objects, of super()."""

from __future__ import annotations

import ast

from breakscope.events import Call
from breakscope.static.construction import Super
from breakscope.static.frames import Frame
from breakscope.static.hooks import HOOKS
from breakscope.static.joins import join, join_all
from breakscope.static.library_calls import PYTHON_RESULTS
from breakscope.static.module_containers import FILLING, HELD, READING
from breakscope.static.ranks import rank_behind_layer
from breakscope.static.recurrent import WALKS, first_met
from breakscope.static.stdlib_calls import GETTERS
from breakscope.values import (
    FALSE,
    NONE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Sequence,
    Tensor,
    Value,
    options,
)

TENSOR_PAIRS = frozenset({"LSTM", "GRU", "RNN"})
OWN_DRAWS = {"uniform": "float", "random": "float", "randint": "int", "randrange": "int"}  # of a random.Random
SELF_METHODS = frozenset(
    """
    train eval to cuda cpu half float double bfloat16 requires_grad_ apply share_memory to_empty type
    """.split()
)


class LibraryObjects:
    """What methods outside the checked source emit and return."""

    __slots__ = ()

    def call_method(
        self, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
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
            if self.driver is not None and name in ("train", "eval") and owner.name.startswith("torch.nn."):
                self.state["training"] = f"{name} of {self.text(node, frame.module)}"
            return self.call_external_method(owner, name, args, kwargs, node, frame)
        if (
            kind is Sequence
            and owner.type in ("ModuleList", "Sequential")
            and name in HOOKS | dict.fromkeys(SELF_METHODS)
        ):
            return owner
        return self.call_python_method(owner, name, args, kwargs, node, frame)

    def call_super_method(self, owner: Super, name: str, args, kwargs, node, frame) -> Value:
        instance = owner.instance
        if isinstance(instance, Instance):
            externals = self.external_bases(instance.cls.info)
            if self.interesting("super().method") and frame.emits:
                self.emit(
                    Call,
                    node,
                    frame,
                    name="super().method",
                    receiver=instance,
                    args=(Const(name), *map(External, externals)),
                    kwargs={},
                )
            if name == "__call__" and self.is_module(instance):
                forward = self.attribute(instance, "forward", node, frame)
                return self.call_value(forward, args, kwargs, node, frame)
            if name in ("__getattr__", "__setattr__"):
                return self.inherited_attribute_method(instance, name, args, node, frame)
            if name in self.library.module_methods and self.is_module(instance):
                return self.call_module_method(instance, name, args, kwargs, node, frame)
            base = next((n for n in externals if n in self.library.builtins), "")
            if name == "__init__":
                self.hold(instance, args, kwargs, node, frame)
            if HELD in instance.attributes and (name in FILLING or name in READING and self.contents(instance) is not instance):
                return self.call_value(Method(instance.attributes[HELD], name), args, kwargs, node, frame)
            if base and name == "__init__":
                self.emit(
                    Call, node, frame, name=f"{base}.__init__", receiver=instance, args=tuple(args), kwargs=kwargs
                )
            if name == "forward" and self.is_module(instance):
                base = next((n for n in externals if n.startswith("torch.nn.") and n != "torch.nn.Module"), None)
                if HELD in instance.attributes:
                    return self.call_value(instance.attributes[HELD], args, kwargs, node, frame)
                if base:
                    return self.call_external_instance(ExternalInstance(base), args, kwargs, node, frame)
        return UNKNOWN

    def call_module_method(self, owner: Instance, name: str, args, kwargs, node, frame) -> Value:
        full = f"torch.nn.Module.{name}"
        if self.interesting(full):
            self.emit(Call, node, frame, name=full, receiver=owner, args=tuple(args), kwargs=kwargs)
        if self.driver is not None and name in ("double", "half", "bfloat16", "float", "to", "requires_grad_"):
            self.state["requires_grad" if name == "requires_grad_" else "module_dtype"] = self.text(node, frame.module)
        if self.driver is not None and name in ("train", "eval"):
            self.state["training"] = "eval" if name == "eval" or FALSE in (*args, *kwargs.values()) else "train"
        if name in ("register_buffer", "register_parameter") and args:
            value = args[1] if len(args) > 1 else kwargs.get("tensor", kwargs.get("param", UNKNOWN))
            made = self.registered(value, "buffer" if name == "register_buffer" else "parameter")
            self.put_named(owner, args[0], made, node, frame)
            return NONE
        if name in ("add_module", "register_module") and len(given := [*args, *kwargs.values()]) == 2:
            self.add_named(owner, *given, node, frame)
            return NONE
        if name == "get_submodule" and args and isinstance(args[0], Const):
            return self.submodule(owner, str(args[0].value), node, frame)
        if name in HOOKS and args:
            return self.register_hook(owner, name, args, node, frame)
        if frame.emits and name in WALKS:
            met = first_met(owner, "parameters" in name, name.endswith("children"))
            if isinstance(met, ExternalInstance):
                self.look_at_recurrent(met, node, frame)
        if name in ("parameters", "buffers"):
            return Sequence("iterator", None, Tensor("float", kind="parameter"))
        if name in ("named_parameters", "named_buffers"):
            return Sequence("iterator", None, Sequence("tuple", [Py("str"), Tensor("float", kind="parameter")]))
        if name == "state_dict":
            return Dict({}, Tensor(), open=True)
        if name in ("get_parameter", "get_buffer"):
            return Tensor()
        if name in ("children", "modules", "named_children", "named_modules"):
            return self.submodules(owner, name, frame)
        if name in SELF_METHODS:
            return owner
        if name in ("_replace", "_asdict") and self.interesting(f"NamedTuple.{name}"):
            self.emit(Call, node, frame, name=f"NamedTuple.{name}", receiver=owner, args=tuple(args), kwargs=kwargs)
        if name == "_replace":
            made = Instance(owner.cls, {**owner.attributes, **kwargs})
            self.kept.append(made)
            return made
        if name == "_asdict":
            return Dict(dict(owner.attributes))
        if name == "__call__":
            return self.call_instance(owner, args, kwargs, node, frame)
        return UNKNOWN

    def put_attribute(self, owner: Instance, name: str, value: Value, frame: Frame) -> None:
        """Set an attribute as an assignment does: where a test is open, what another branch set stays possible."""
        before = owner.attributes.get(name)
        certain = before is None or frame.lost == "" and not frame.undecided
        owner.attributes[name] = value if certain else join(before, value)

    def submodules(self, owner: Instance, name: str, frame: Frame) -> Value:
        """What `children()`, `named_modules()` and their like go over: each module, where it is not a region that asks."""
        named = [(Const(key), v) for key, v in owner.attributes.items() if self.is_module(v)]
        if not name.endswith("children"):
            named.insert(0, (Const(""), owner))
        rows = [Sequence("tuple", [*row]) if name.startswith("named") else row[1] for row in named]
        if frame.emits:
            return Sequence("iterator", None, join_all(v for _, v in named if v is not owner)) if name[0] != "n" else UNKNOWN
        return Sequence("iterator", rows)

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
        if self.interesting("torch.autograd.Function.apply"):
            self.emit(
                Call,
                node,
                frame,
                self.args_certainty(args),
                name="torch.autograd.Function.apply",
                receiver=owner,
                args=tuple(args),
                kwargs=kwargs,
            )
        if isinstance(forward, Function):
            ctx = (
                [ExternalInstance("torch.autograd.function.FunctionCtx")]
                if self.find_member(owner.info, "setup_context") is None
                else []
            )
            result = self.call_value(self.bound_to(forward, owner), [*ctx, *args], kwargs, node, frame)
            if frame.emits and any(a.is_tensor and a.requires_grad is not False for a in args):
                self.call_backward(owner, result, node, frame)
            return result
        return Tensor()

    def call_backward(self, owner: Class, result: Value, node: ast.AST, frame: Frame) -> None:
        """Dynamo traces `backward` where `apply` stands, if an input may need a gradient."""
        backward = self.find_member(owner.info, "backward")
        if not isinstance(backward, Function):
            return
        outputs = result.items if isinstance(result, Sequence) and result.items is not None else [result]
        gradients = [Tensor("float", sure=False) if o.is_tensor else UNKNOWN for o in outputs]
        certainty, within = frame.certainty, frame.within
        frame.certainty, frame.within = "likely" if certainty == "certain" else certainty, "backward"
        context = ExternalInstance("torch.autograd.function.FunctionCtx")
        self.call_quietly(self.bound_to(backward, owner), [context, *gradients], node, frame)
        frame.certainty, frame.within = certainty, within

    def call_external_instance(self, owner: ExternalInstance, args, kwargs, node, frame) -> Value:
        """A library object is called: most often a torch.nn module."""
        if owner.name in GETTERS:
            return self.call_getter(owner, args, node, frame)
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
            rank = rank_behind_layer(owner, first.ndim if first is not None else None)
            return Tensor("float", rank, None, first.sure if first is not None else True)
        return UNKNOWN

    def external_instance_attribute(self, owner: ExternalInstance, name: str, node: ast.AST, frame: Frame) -> Value:
        if owner.name.startswith("torch.nn."):
            if name in (
                "weight",
                "bias",
                "running_mean",
                "running_var",
                "in_proj_weight",
                "in_proj_bias",
                "weight_g",
                "weight_v",
            ):
                absent = dict(owner.kwargs).get("bias")
                if name == "bias" and isinstance(absent, Const) and absent.value is False:
                    return NONE
                return Tensor("float", sure=True, kind="parameter")
            if name == "training":
                return Py("bool", "config")
            given = dict(owner.kwargs).get(name)
            if given is not None:
                return given
            if name in self.library.module_methods or f"{owner.name}.{name}" in PYTHON_RESULTS:
                return Method(owner, name)
            return (
                Py("number", "config")
                if name.startswith(("num_", "in_", "out_", "kernel", "padding", "stride", "embed", "eps"))
                else UNKNOWN
            )
        if owner.name == "torch.autograd.function.FunctionCtx":
            return Sequence("tuple", None, Tensor()) if name == "saved_tensors" else Method(owner, name)
        if owner.name == "torch.nn.utils.rnn.PackedSequence":
            return Tensor()
        if owner.name in ("torch.finfo", "torch.iinfo"):
            return Py("number")
        return Method(owner, name)

    def call_external_method(self, owner: ExternalInstance, name: str, args, kwargs, node, frame) -> Value:
        if owner.name.startswith("torch.nn."):
            if name in HOOKS and args:
                return self.register_hook(owner, name, args, node, frame)
            if name in SELF_METHODS:
                return owner
            if name == "__call__" or name == "forward":
                return self.call_external_instance(owner, args, kwargs, node, frame)
        full = f"{owner.name}.{name}"
        if owner.name == "logging.Logger" and name.endswith("_once"):
            full = full.removesuffix("_once")  # added to the class by several libraries
        if self.interesting(full):
            self.emit(Call, node, frame, name=full, receiver=owner, args=tuple(args), kwargs=kwargs)
        self.enter_package(full, args, kwargs, node, frame)
        if full in PYTHON_RESULTS:
            return PYTHON_RESULTS[full]
        if owner.name.startswith("torch.nn."):
            if name == "state_dict":
                return Dict({}, Tensor(), open=True)
            if name in ("parameters", "buffers"):
                return Sequence("iterator", None, Tensor("float", kind="parameter"))
            if name in ("named_parameters", "named_buffers"):
                return Sequence("iterator", None, Sequence("tuple", [Py("str"), Tensor("float", kind="parameter")]))
        if owner.name.startswith("torch.distributions.") and name in (
            "sample",
            "rsample",
            "log_prob",
            "entropy",
            "cdf",
            "icdf",
            "prob",
            "perplexity",
        ):
            return Tensor()
        if owner.name.startswith("torch.distributions.") and name in (
            "mode",
            "mean",
            "variance",
            "stddev",
            "probs",
            "logits",
        ):
            return Tensor()
        if owner.name == "torch.Generator":
            return owner
        if owner.name == "random.Random" and name in OWN_DRAWS:
            return Py(OWN_DRAWS[name], "draw")
        if owner.name == "contextlib.ExitStack":
            return args[0] if args else UNKNOWN
        if owner.name == "itertools.permutations":
            return UNKNOWN
        return UNKNOWN
