"""Names outside the checked source, and what a call of one returns."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.knowledge.tensor_types import DTYPES
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Class,
    Const,
    External,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Sequence,
    Tensor,
    Value,
    options,
)
from breakscope.static.definitions.classes import external_bases, is_tensor_class
from breakscope.static.definitions.names import external_value
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.library import SCRIPTED
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.versions import known_version
from breakscope.static.variables.base import Variable
from breakscope.static.variables.builtin import call_builtin
from breakscope.static.variables.effects.emitting import args_certainty, emit_call, emit_out
from breakscope.static.variables.effects.kept_iterators import note_kept
from breakscope.static.variables.effects.size_reads import MARKS_DYNAMIC, emit_flags, mark_dynamic
from breakscope.static.variables.library import transforms
from breakscope.static.variables.library.builtin_iteration import ordered_dict
from breakscope.static.variables.library.concurrency import queues, threads
from breakscope.static.variables.library.copies import copied, copied_object
from breakscope.static.variables.library.followed.draws import drawn
from breakscope.static.variables.library.followed.evaluated import evaluated_call
from breakscope.static.variables.library.followed.followed_iteration import call_counter
from breakscope.static.variables.library.followed.loaders import split_dataset
from breakscope.static.variables.library.followed.patterns import compiled_pattern
from breakscope.static.variables.library.math_functions import math_function
from breakscope.static.variables.library.plain_calls import (
    call_in_source,
    enter_package,
    loaded_code,
    plain_result,
)
from breakscope.static.variables.library.trees import (
    call_tree_flatten,
    call_tree_leaves,
    call_tree_map,
    call_tree_unflatten,
)
from breakscope.static.variables.modules.changes import (
    PARAMETRIZE,
    REPARAMETRIZES,
    call_parametrize,
    note_reparametrized,
)
from breakscope.static.variables.modules.containers import (
    MODULE_LISTS,
    SCRIPTING,
    call_module_dict,
    module_list,
    scripted,
)
from breakscope.static.variables.numpy import kept_scalar, numpy_function, numpy_number
from breakscope.static.variables.objects.construction import call_namespace
from breakscope.static.variables.objects.default_dicts import call_default_dict
from breakscope.static.variables.stdlib import (
    PARTIAL,
    call_cast,
    call_chain,
    call_deque,
    call_is_function,
    call_method_type,
    call_partial,
    call_partialmethod,
    call_reduce,
    call_replace,
    call_stdlib,
)
from breakscope.static.variables.tensor import call_tensor_method
from breakscope.static.variables.tensors.patterns import EINOPS
from breakscope.static.variables.tensors.results import dtype_attribute
from breakscope.static.variables.tensors.subclasses import as_tensor
from breakscope.static.variables.torch import (
    call_checkpoint,
    call_chosen_module,
    call_cond,
    call_module,
    call_parameter,
    call_size,
    call_sparse_maker,
    call_transform,
    call_where,
    other_torch_name,
    torch_function,
)

NAMESPACES = frozenset(
    """
    torch torch.nn.functional torch.linalg torch.fft torch.special torch.sparse torch.ops.aten torch.Tensor
    torchvision.ops torch.nested torch.masked
    """.split()
)
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
    "torch.set_default_dtype": "default_dtype",
    "torch.set_default_tensor_type": "default_dtype",
    "torch.set_autocast_enabled": "autocast",
    "torch.set_grad_enabled": "grad_mode",
    "torch.set_default_device": "global_state",
    "torch.set_deterministic_debug_mode": "global_state",
    "torch.set_num_threads": "global_state",
    "torch.use_deterministic_algorithms": "global_state",
    "torch.set_float32_matmul_precision": "global_state",
}
# what shows how far a loop is
BARS = frozenset(
    {"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.std.tqdm", "tqdm.notebook.tqdm", "tqdm.rich.tqdm"}
)
RESETS = frozenset({"torch.compiler.reset", "torch._dynamo.reset"})
PLAIN_STATES = {  # what is set before a program sets anything
    "torch.set_default_dtype": External("torch.float32"),
    "torch.set_grad_enabled": Const(True),
    "torch.use_deterministic_algorithms": Const(False),
    "torch.set_float32_matmul_precision": Const("highest"),
}
STDLIB = frozenset({"operator", "_operator", "itertools", "itertools.chain", "collections", "collections.OrderedDict",
                    "dict", "dataclasses", "typing"})  # fmt: skip
DISABLE = "torch.compiler.disable"
SPARSE_MAKERS = [
    *(f"torch.sparse_{layout}_tensor" for layout in "coo csr csc bsr bsc compressed".split()),
    *(name.replace("torch.", "torch.sparse.") for name in DTYPES),
]
LAYOUTS = frozenset(
    {"torch.strided", *(f"torch.sparse_{form}" for form in "coo csr csc bsr bsc".split())}
)
_SPECIAL = {
    "torch.nn.*": call_chosen_module,
    "torch.nn.Module.__call__": call_module,
    "torch.nn.Parameter": call_parameter,
    "torch.nn.Buffer": call_parameter,
    "torch.Size": call_size,
    "torch.nn.ModuleDict": call_module_dict,
    "torch.nn.ParameterDict": call_module_dict,
    "functools.partial": call_partial,
    "types.SimpleNamespace": call_namespace,
    "argparse.Namespace": call_namespace,
    "functools.partialmethod": call_partialmethod,
    PARAMETRIZE: call_parametrize,
    "torch.utils.checkpoint.checkpoint": call_checkpoint,
    "torch.func.vmap": call_transform,
    "torch.vmap": call_transform,
    **transforms.HANDLERS,
    **queues.HANDLERS,
    **threads.HANDLERS,
    "re.compile": compiled_pattern,
    "torch.cond": call_cond,
    "dataclasses.replace": call_replace,
    "itertools.chain": call_chain,
    "functools.reduce": call_reduce,
    "collections.OrderedDict": ordered_dict,
    "collections.deque": call_deque,
    "collections.Counter": call_counter,
    "collections.defaultdict": call_default_dict,
    "torch.where": call_where,
    "torch.utils.data.random_split": split_dataset,
    **dict.fromkeys(SPARSE_MAKERS, call_sparse_maker),
    "typing.cast": call_cast,
    "types.MethodType": call_method_type,
    "inspect.isfunction": call_is_function,
    "torch.utils._pytree.tree_map": call_tree_map,
    "torch.utils._pytree.tree_leaves": call_tree_leaves,
    "torch.utils._pytree.tree_flatten": call_tree_flatten,
    "torch.utils._pytree.tree_unflatten": call_tree_unflatten,
    "torch.jit.annotate": call_cast,
    **EINOPS,
}
ARRAY = Tensor(kind="numpy")
INDEXED = {  # objects of numpy's that are used by indexing them -> what they make
    "numpy.ogrid": "arrays",
    "numpy.mgrid": ARRAY,
    "numpy.r_": ARRAY,
    "numpy.c_": ARRAY,
    "numpy.s_": UNKNOWN,
    "numpy.index_exp": UNKNOWN,
}


class ExternalVariable(Variable):
    """A name outside the checked source."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        return call_external(machine, callee.name, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if (owner.name, name) == ("sys", "argv") and machine.driver.sets and not frame.emits:
            return Sequence("list", [Py("str")])  # of a program that nobody gives an argument
        known = dtype_attribute(owner.name, name)
        return external_value(machine, f"{owner.name}.{name}") if known is None else known

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        made = INDEXED.get(container.name)
        if made is None:
            return super().getitem(machine, container, index, store, node, frame)
        emit_call(machine, f"{container.name}.__getitem__", None, (index,), {}, node, frame)
        return Sequence("list", None, ARRAY) if made == "arrays" else made

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        if owner.name == "torch.backends.cuda.matmul" and machine.driver.sets:
            machine.driver.state["global_state"] = f"{name} {value.describe()}"

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        if op in (ast.Eq, ast.NotEq) and left == right:
            return Const(op is ast.Eq)
        if op in (ast.Eq, ast.NotEq) and type(right) is External:
            if left.name in LAYOUTS and right.name in LAYOUTS:
                return Const(op is ast.NotEq)
        return super().compare(machine, left, right, op, node, frame)

    def identical(self, left, right) -> bool | None:
        if isinstance(right, External):
            return left.name == right.name
        return False if isinstance(right, Class) else None

    def may_show_tensor(self, machine: Machine, value, depth) -> bool:
        return False

    def is_configuration(self, value) -> bool:
        return _may_be_setting(value.name)

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        return None if _may_be_setting(value.name) else True


def _may_be_setting(name: str) -> bool:
    """True for a member of a module that may be data: `torch.backends.cudnn.enabled`, unlike a module or
    a class."""
    owner, _, member = name.rpartition(".")
    return bool(owner) and (member.isupper() or not member[:1].isupper())


# names from before torch.compile that take its options and give a decorator
OLDER_COMPILE = frozenset({"torch._dynamo.optimize", "torch._dynamo.optimize_assert"})


def call_compile(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What is compiled, or for `torch.compile(...)` without it the decorator."""
    options = {name: value for name, value in kwargs.items() if name != "model"}
    target = args[0] if args else kwargs.get("model", NONE)
    if not target.is_none:
        return machine.file.note_compiled(target, options)
    decorator = External("torch.compile")
    return ExternalInstance(PARTIAL, (decorator,), tuple(options.items())) if options else decorator


def call_disable(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The function that Dynamo does not enter by this name; by its own it does. Without one, as in
    `@torch.compiler.disable(recursive=False)`, the decorator."""
    target = args[0] if args else kwargs.get("fn", NONE)
    if target.is_none:
        return External(DISABLE)
    if not isinstance(target, Function):
        return UNKNOWN
    made = replace(target, info=replace(target.info, marks=target.info.marks | {"disabled"}))
    machine.objects.kept.extend((made, made.info))
    return made


def call_external(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    if name in GLOBAL_STATES and args and machine.driver.sets:
        plain = args[-1] == PLAIN_STATES.get(name)
        what = GLOBAL_STATES[name]
        text = "off" if what == "grad_mode" else args[-1].describe()
        machine.driver.state[what] = "" if plain else text
    if machine.driver.calls is not None and name in MARKS_DYNAMIC:
        mark_dynamic(machine, args, kwargs)
    if machine.driver.sets and name in REPARAMETRIZES:
        note_reparametrized(machine, name, args, kwargs, node, frame)
    if machine.driver.calls is not None and machine.driver.sets and name in RESETS:
        machine.driver.end_program()
    answer = machine.library.answer(name)
    known = known_version(name, args) if answer is None else answer
    if answer is not None or (known is not None and not frame.emits):
        return known
    bases = _bases_of_copied(machine, args) if name in COPIES else ()
    if frame.emits:
        emit_call(machine, name, None, args, kwargs, node, frame, args_certainty(args), bases=bases)
        emit_flags(machine, name, kwargs, node, frame)
        if name.startswith("torch."):
            note_kept(machine, args, node, frame, "call")
    found = evaluated_call(machine, name, args, kwargs, node, frame) if known is None else known
    if found is not None:
        return machine.driver.result_of(found, args)
    if name in machine.library.builtins:
        return call_builtin(machine, name, args, kwargs, node, frame)
    if (special := _SPECIAL.get(name)) is not None:
        return special(machine, args, kwargs, node, frame)
    if (loaded := loaded_code(name, args, kwargs)) is not None:
        return loaded
    if name == "torch.compile":
        return call_compile(machine, args, kwargs)
    if name in OLDER_COMPILE:
        return call_compile(machine, [], kwargs)  # what is compiled is given to the result
    if name == DISABLE:
        return call_disable(machine, args, kwargs)
    if name in SCRIPTING and (made := scripted(name, args)) is not None:
        return made
    if name == "torch.jit.load":
        return ExternalInstance(SCRIPTED)
    if name in COPIES and args:
        if machine.driver.sets and not frame.emits:
            return copied_object(machine, args[0], COPIES[name])
        return copied(args[0], COPIES[name])
    if name in BARS and args and not frame.emits:
        return args[0]
    if name in PASS_THROUGH:
        return args[0] if args else UNKNOWN
    head, _, last = name.rpartition(".")
    if head == "torch.Tensor" and args and (owner := _tensor_of(machine, args[0])) is not None:
        return call_tensor_method(machine, owner, last, args[1:], kwargs, node, frame)
    if name in MODULE_LISTS:
        return module_list(machine, name, args, node, frame)
    if name.startswith("torch.nn.functional._"):
        return UNKNOWN  # helpers in Python, which give numbers, flags and tuples, too
    if head in NAMESPACES:
        made = torch_function(machine, name, last, args, kwargs, frame)
        if "out" in kwargs:
            emit_out(machine, made, kwargs["out"], node, frame)
        return made
    if name.startswith("torch."):
        return other_torch_name(machine, name, last, args, kwargs)
    if head.partition(".")[0] == "numpy":
        number = None
        if head == "numpy" and not kwargs:
            number = numpy_number(machine, last, args) if frame.emits else kept_scalar(last, args)
        if number is not None:
            return number
        return numpy_function(machine, name, last, args, kwargs, frame)
    if head == "math":
        result = math_function(machine, last, args, node, frame)
        return result if frame.emits else machine.driver.result_of(result, args)
    if not frame.emits and (another := drawn(machine, name, args, kwargs)) is not None:
        return another
    if not enter_package(machine, name, args, kwargs, node, frame):
        called = call_in_source(machine, name, args, kwargs, node, frame)
        if called is not None:
            return called
    made = call_stdlib(machine, name, args, kwargs, node, frame) if head in STDLIB else None
    return plain_result(machine, name, args, kwargs) if made is None else made


def _tensor_of(machine: Machine, value: Value) -> Tensor | None:
    """What a method of torch.Tensor finds in the value; None when that is no tensor."""
    if type(value) is Instance and is_tensor_class(machine, value.cls.info):
        return as_tensor(machine, value)
    return value if type(value) is Tensor else None


def _bases_of_copied(machine, args: list[Value]) -> tuple[str, ...]:
    """What the object that is copied derives from, outside of the checked source."""
    copied = next((o for o in options(args[0]) if type(o) is Instance), None) if args else None
    return () if copied is None else external_bases(machine, copied.cls.info)
