"""Calls of torch functions."""

from __future__ import annotations

from msgspec.structs import replace

from breakscope.knowledge.ndim import joined_ndim
from breakscope.rulekit.values import (
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Instance,
    Method,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
)
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.lattice import element_of, join_all
from breakscope.static.machine.library import PACKED_SEQUENCE, TYPED
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.subgraphs import call_within
from breakscope.static.variables.library.followed.draws import note_drawn_tensor
from breakscope.static.variables.library.known_results import PYTHON_RESULTS
from breakscope.static.variables.tensors.creation import (
    CREATES,
    created_tensor,
    is_never_made,
    tensor_of_type,
)
from breakscope.static.variables.tensors.dtypes import kind_of_dtype, made_narrow, promoted
from breakscope.static.variables.tensors.filtered import with_filtered_length
from breakscope.static.variables.tensors.followed import (
    as_made,
    broadcast,
    followed,
    spread_tensors,
    tracked,
)
from breakscope.static.variables.tensors.number_rows import note_numbers
from breakscope.static.variables.tensors.patterns import einsum_result
from breakscope.static.variables.tensors.results import returned_value, tensor_result
from breakscope.static.variables.tensors.size_rules import einsum_sizes, sizes_by_name
from breakscope.static.variables.tensors.sizes import (
    DrawnSize,
    joined_sizes,
    padded_sizes,
    resized,
    stacked_sizes,
)
from breakscope.static.variables.tensors.subclasses import is_of_subclass

INPLACE_INIT = "torch.nn.init."
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
# Dynamo enters those that the region makes, and no others
MADE_IN_REGION = frozenset(
    "torch.no_grad torch.enable_grad torch.set_grad_enabled torch.inference_mode".split()
)


# keywords that name what a function works on
OPERANDS = frozenset({"input", "x", "query", "self", "tensors"})
SEVERAL = frozenset({"broadcast_tensors", "meshgrid"})  # these give as many tensors as they take
JOINS = SEVERAL | frozenset("cat stack concat hstack vstack block_diag atleast_1d".split())
COMPLEX = frozenset(
    "torch.view_as_complex torch.complex torch.polar torch.stft torch.fft.fft torch.fft.ifft "
    "torch.fft.fft2 torch.fft.ifft2 torch.fft.fftn torch.fft.ifftn torch.fft.rfft torch.fft.rfft2".split()
)


def _joined_sizes(last: str, args: list[Value], kwargs: dict[str, Value]) -> tuple | None:
    dim = args[1] if len(args) > 1 else kwargs.get("dim")
    if last == "stack":
        return stacked_sizes(args[0], dim)
    if last in ("hstack", "vstack"):
        items = args[0].items or []
        is_long = all(type(item) is Tensor and item.ndim and item.ndim > 1 for item in items)
        dim = Const(1 if last == "hstack" else 0) if is_long else None
        return joined_sizes(args[0], dim) if dim is not None else None
    return joined_sizes(args[0], dim) if last in ("cat", "concat") else None


def torch_function(
    machine: Machine,
    name: str,
    last: str,
    args: list[Value],
    kwargs: dict[str, Value],
    frame: Frame,
) -> Value:
    if name in TYPED or name == "torch.Tensor":
        if frame.emits and is_never_made(args, kwargs):
            raise Raised(External("TypeError"))
        return tensor_of_type(TYPED.get(name, "float"), args)
    if last[:1].isupper() and name.startswith("torch."):
        return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
    if name in _CONTEXTS:
        exists = not frame.emits and name in MADE_IN_REGION
        return ExternalInstance(name, tuple(args), tuple(kwargs.items()), exists=exists)
    if last in ("as_tensor", "asarray") and args and is_of_subclass(machine, args[0]):
        if all(value.is_none for value in (*args[1:], *kwargs.values())):
            return args[0]  # with nothing to change, the tensor itself
    if last in CREATES:
        return _created(machine, last, args, kwargs, frame)
    if last in ("is_tensor", "is_storage"):
        truth = None
        if args and not args[0].is_unknown and not isinstance(args[0], Union):
            truth = args[0].is_tensor
        if truth and last == "is_tensor":
            truth = machine.behaviour(args[0]).is_of_type(machine, args[0], name)
        return Py("bool", "config") if truth is None else Const(truth)
    returned = returned_value(machine, name)
    if returned is not None:
        return returned
    if last == "einsum" and not any(is_of_subclass(machine, value) for value in args):
        made = einsum_result(args)
        if frame.emits or type(made) is not Tensor:
            return made
        made = as_made(machine, replace(made, shape=einsum_sizes(args)))
        return tracked(machine, made, tuple(args))
    named = (kwargs.get(key) for key in kwargs if key in OPERANDS)
    first = next((a for a in (*args, *named) if isinstance(a, Tensor)), None)
    if any(is_of_subclass(machine, value) for value in (*args, *kwargs.values())):
        first = replace(first or Tensor(sure=False), kind="subclass")
    if last in SEVERAL and not frame.emits and (spread := spread_tensors(last, args, kwargs)):
        return Sequence("tuple", [as_made(machine, tensor) for tensor in spread])
    if first is not None:
        return _computed(machine, name, last, first, args, kwargs, frame)
    if last in JOINS and args and isinstance(args[0], Sequence):
        made = _joined(machine, name, last, args, kwargs, frame)
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        if not frame.emits:
            made = with_filtered_length(machine, made, args[0], last, dim)
        return Sequence("tuple", None, made) if last in SEVERAL else made
    if last in SEVERAL:
        given = [Tensor("int" if a.is_tensor and a.dtype == "int" else None) for a in args]
        return Sequence("tuple", given) if args else Sequence("tuple", None, Tensor())
    return Tensor(sure=not any(a.is_unknown for a in args)) if args or kwargs else UNKNOWN


def _created(
    machine: Machine, last: str, args: list[Value], kwargs: dict[str, Value], frame: Frame
) -> Value:
    made = created_tensor(last, args, kwargs)
    given = kwargs.get("dtype")
    if frame.emits:
        return made_narrow(made, kwargs)
    if type(given) is External and (kind := kind_of_dtype(given.name)):
        made = replace(made, kind=kind)
    # to a region that finds it an input of the graph
    made = replace(as_made(machine, made), origin="attribute")
    made = made if made.requires_grad else replace(made, requires_grad=False)
    if args:
        made = with_filtered_length(machine, made, args[0], last, None)
    note_drawn_tensor(machine, last, args, made)
    note_numbers(machine, last, args, made)
    return made


def _computed(
    machine: Machine,
    name: str,
    last: str,
    first: Tensor,
    args: list[Value],
    kwargs: dict[str, Value],
    frame: Frame,
) -> Value:
    """What a function makes of a tensor, the first that it is given."""
    result = tensor_result(machine, last, first, args, kwargs, name)
    result = made_narrow(result, kwargs) if frame.emits else result
    if last in ("pad", "interpolate") and type(result) is Tensor and not frame.emits:
        made = replace(result, shape=resized(first, last, args[1:], kwargs))
        return as_made(machine, made)
    rest = args[1:] if args and args[0] is first else args
    if name in COMPLEX and type(result) is Tensor and not frame.emits:
        shape = sizes_by_name(last, first, rest, kwargs)
        return replace(result, dtype="float", kind="complex", shape=shape)
    # else the method's name
    called = "im2col" if name == "torch.nn.functional.unfold" else last
    return followed(machine, result, called, first, rest, kwargs, frame)


def _joined(machine: Machine, name: str, last: str, args, kwargs, frame: Frame) -> Tensor:
    """What is made of a list of tensors."""
    element = element_of(args[0])
    is_tensor = isinstance(element, Tensor)
    made = Tensor(
        element.dtype if is_tensor else None,
        joined_ndim(machine.library.shape(name), element),
        _joined_sizes(last, args, kwargs) if not frame.emits else None,
        is_tensor and element.sure,
    )
    if frame.emits:
        return made
    made = promoted(made, last, args[0].items or [element])
    return tracked(machine, as_made(machine, made), (args[0],))


def other_torch_name(
    machine: Machine, name: str, last: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """torch names outside the function namespaces: classes give instances, context managers
    too."""
    if name in PYTHON_RESULTS:
        return PYTHON_RESULTS[name]
    if name.startswith(INPLACE_INIT):
        return args[0] if args else UNKNOWN
    if last[:1].isupper() or name in _CONTEXTS or name.startswith("torch.backends."):
        return ExternalInstance(name, tuple(args), tuple(kwargs.items()))
    returned = returned_value(machine, name)
    if returned is not None:
        return returned
    if last == "pad_sequence" and args:
        first = Const(True) in (*args[1:2], kwargs.get("batch_first"))
        return Tensor(shape=padded_sizes(args[0], first))
    if machine.library.returns(name) in ("tensor", "maybe tensor"):
        return Tensor(sure=True)
    if name.startswith(
        ("torch.cuda.", "torch.distributed.", "torch.version.", "torch.mps.", "torch.xpu.")
    ):
        return Py("bool" if last.startswith("is_") else "unknown", "environment")
    if name.startswith("torch.nn.utils.rnn."):
        if last == "pad_packed_sequence":
            return Sequence("tuple", [Tensor(), Tensor("int")])
        return ExternalInstance(PACKED_SEQUENCE)
    if any(a.is_tensor for a in args) and name.startswith(
        ("torch.utils.checkpoint.checkpoint", "torch.nn.utils.")
    ):
        return Tensor()
    return UNKNOWN


def call_chosen_module(machine: Machine, args, kwargs, node, frame) -> Value:
    """`getattr(nn, name)(...)` with an open name: only the recurrent modules take these
    keywords."""
    if "bidirectional" in kwargs or ("num_layers" in kwargs and "batch_first" in kwargs):
        return ExternalInstance("torch.nn.RNNBase", tuple(args), tuple(kwargs.items()))
    return UNKNOWN


def call_module(machine: Machine, args, kwargs, node, frame) -> Value:
    """`nn.Module.__call__(self, x)` runs the module's `forward`."""
    if not args or type(args[0]) is not Instance:
        return UNKNOWN
    forward = machine.getattr(args[0], "forward", node, frame)
    return machine.call(forward, args[1:], kwargs, node, frame)


def call_size(machine: Machine, args, kwargs, node, frame) -> Value:
    """`torch.Size([3, 4])`: what it is made of it keeps as ints."""
    extent = ShapeInt(is_extent=True)
    given = args[0] if args else Sequence("tuple", [])
    if not isinstance(given, Sequence) or given.items is None:
        return Sequence("size", None, extent)
    known = [item if item.is_const or item.is_shape else extent for item in given.items]
    return Sequence("size", known)


def call_parameter(machine: Machine, args, kwargs, node, frame) -> Value:
    value = args[0] if args else kwargs.get("data", UNKNOWN)
    if is_of_subclass(machine, value):
        return Tensor(kind="subclass")
    if isinstance(value, Tensor):
        return Tensor(value.dtype, value.ndim, value.shape, True, "parameter", requires_grad=True)
    return Tensor("float", kind="parameter", requires_grad=True)


def call_checkpoint(machine: Machine, args, kwargs, node, frame) -> Value:
    rest = {
        k: v
        for k, v in kwargs.items()
        if k
        not in (
            "use_reentrant",
            "preserve_rng_state",
            "context_fn",
            "determinism_check",
            "debug",
            "early_stop",
        )
    }
    return (
        call_within(machine, "checkpoint", args[0], args[1:], rest, node, frame)
        if args
        else UNKNOWN
    )


def call_transform(machine: Machine, args, kwargs, node, frame) -> Value:
    """torch.func transforms give a function that is called with tensors."""
    return (
        Method(args[0], "transformed")
        if args and isinstance(args[0], Method)
        else args[0]
        if args
        else UNKNOWN
    )


def call_cond(machine: Machine, args, kwargs, node, frame) -> Value:
    results = [
        machine.call(
            f,
            list(args[3].items or []) if len(args) > 3 and isinstance(args[3], Sequence) else [],
            {},
            node,
            frame,
        )
        for f in args[1:3]
    ]
    return join_all(results)


def call_sparse_maker(machine: Machine, args, kwargs, node, frame) -> Value:
    """`torch.sparse_coo_tensor(...)` and the like."""
    return Tensor(kind="sparse")


def call_where(machine: Machine, args, kwargs, node, frame) -> Value:
    if len(args) == 1:
        shape = (DrawnSize(args[0]),) if type(args[0]) is Tensor and not frame.emits else None
        return Sequence("tuple", None, Tensor("int", 1, shape))
    tensors = [a for a in args[1:] if isinstance(a, Tensor)]
    dtypes = {t.dtype for t in tensors}
    dimensions = [0 if isinstance(a, Const) else getattr(a, "ndim", None) for a in args]
    ndim = max(dimensions) if dimensions and None not in dimensions else None
    made = Tensor(
        dtypes.pop() if len(dtypes) == 1 and len(tensors) == 2 else None,
        ndim,
        sure=all(t.sure for t in tensors),
    )
    if frame.emits or type(args[0]) is not Tensor or len(args) != 3:
        return made
    shape = broadcast(*args)
    return tracked(machine, as_made(machine, replace(made, shape=shape)), tuple(args))
