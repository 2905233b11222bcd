"""Modules of torch.nn, containers of modules, and the methods that nn.Module gives to objects of
the checked source."""

from __future__ import annotations

import ast

from breakscope.rulekit.values import (
    CONFIG,
    FALSE,
    NONE,
    UNKNOWN,
    Const,
    Dict,
    External,
    ExternalInstance,
    Instance,
    Method,
    Py,
    Sequence,
    Tensor,
    Value,
    options,
)
from breakscope.static.definitions.classes import external_bases
from breakscope.static.machine.compiled_values import call_of_compiled
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.library import GIVEN_MODULE
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.effects.emitting import emit_call
from breakscope.static.variables.effects.side_effects import note_outside, put_attribute
from breakscope.static.variables.effects.unmade_iterators import CALL, unmade
from breakscope.static.variables.library.known_results import PYTHON_RESULTS
from breakscope.static.variables.library.objects import LibraryObjectVariable
from breakscope.static.variables.lists import ListVariable
from breakscope.static.variables.modules import submodules
from breakscope.static.variables.modules.changes import (
    certainty_of_change,
    note_module_change,
)
from breakscope.static.variables.modules.containers import add_named, put_named, submodule_at
from breakscope.static.variables.modules.hooks import (
    HOOKS,
    register_hook,
    run_hooks,
    run_pre_hooks,
)
from breakscope.static.variables.modules.layers import layer_result, part_of_layer
from breakscope.static.variables.modules.parameters import (
    named_parameters_of,
    parameter_of,
    parameters_of,
    sized_parameter,
)
from breakscope.static.variables.modules.recurrent import (
    WALKS,
    first_recurrent,
    note_recurrent_argument,
    note_recurrent_read,
)
from breakscope.static.variables.modules.unseen_layers import behind, call_unseen
from breakscope.static.variables.tensors.followed import behind_followed_layer
from breakscope.static.variables.tensors.subclasses import is_of_subclass

SELF_METHODS = frozenset(
    """
    train eval to cuda cpu half float double bfloat16 requires_grad_ apply share_memory to_empty type
    """.split()
)


PARAMETERS = frozenset(
    """
    weight bias running_mean running_var in_proj_weight in_proj_bias weight_g weight_v
    """.split()
)
OPTIONAL = frozenset({"padding_idx"})  # None unless it is given
OVER_PARAMETERS = frozenset({"parameters", "buffers", "named_parameters", "named_buffers"})
SIZES = ("num_", "in_", "out_", "kernel", "padding", "stride", "embed", "eps")


class ModuleListVariable(ListVariable):
    """An nn.ModuleList or nn.Sequential."""

    def is_of_type(self, machine: Machine, value, name) -> bool | None:
        verdict = machine.library.is_subclass(f"torch.nn.{value.type}", name)
        return super().is_of_type(machine, value, name) if verdict is None else verdict

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        if callee.type != "Sequential":
            return UNKNOWN
        value = args[0] if args else UNKNOWN
        with call_of_compiled(machine.driver, callee, args, kwargs, node, frame):
            run_pre_hooks(machine, callee, args, node, frame)
            for module in callee.inside:
                made = machine.call(module, [value], {}, node, frame)
                value = behind([value]) if made.is_unknown else made
            run_hooks(machine, callee, args, value, node, frame)
        return value

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name in submodules.WALKS:
            return unmade(submodules.walk_over(machine, owner, name, frame), CALL, frame)
        if name in HOOKS and args:
            return register_hook(machine, owner, name, args, node, frame)
        note_mode(machine, owner, name, args, kwargs, node, frame)
        note_module_change(machine, owner, name, args, kwargs, node, frame)
        if name == "compile" and owner.type == "Sequential" and not frame.emits:
            machine.file.note_compiled_in_place(owner, kwargs)
            return NONE
        if name in SELF_METHODS:
            if name == "apply":
                submodules.apply(machine, owner, args, node, frame)
            return owner
        if name == "parameters" and not frame.emits:
            return unmade(parameters_of(machine, owner, frame), CALL, frame)
        if name == "named_parameters" and not frame.emits:
            return unmade(named_parameters_of(machine, owner, frame), CALL, frame)
        if name == "buffers" and not frame.emits:
            return unmade(
                Sequence("iterator", None, parameter_of(machine, owner, frame)), CALL, frame
            )
        made = super().call_method(machine, owner, name, args, kwargs, node, frame)
        return unmade(made, CALL, frame) if name in OVER_PARAMETERS else made


class LayerVariable(LibraryObjectVariable):
    """An object of torch.nn."""

    called = "forward"

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        with call_of_compiled(machine.driver, callee, args, kwargs, node, frame):
            return super().call(machine, callee, args, kwargs, node, frame)

    def is_of_type(self, machine: Machine, value, name) -> bool | None:
        verdict = machine.library.is_subclass(value.name, name)
        if verdict is False and machine.library.is_subclass(name, value.name):
            return None  # what is only known to be of a class may be of one that derives from it
        return super().is_of_type(machine, value, name) if verdict is None else verdict

    def is_of_class(self, machine: Machine, value, wanted) -> bool | None:
        if machine.driver.sets:
            return False  # around a region the very object is known
        bases = external_bases(machine, wanted.info)
        verdicts = [machine.library.is_subclass(base, value.name) for base in bases]
        return False if bases and "?" not in bases and not {True, None} & {*verdicts} else None

    def result(self, machine: Machine, owner, args, frame) -> Value:
        made = layer_result(machine, owner, args)
        return behind_followed_layer(machine, owner, made, args, frame)

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        note_mode(machine, owner, name, args, kwargs, node, frame)
        if name in HOOKS and args:
            return register_hook(machine, owner, name, args, node, frame)
        if name in submodules.WALKS:
            return unmade(submodules.walk_over(machine, owner, name, frame), CALL, frame)
        if name in SELF_METHODS:
            note_module_change(machine, owner, name, args, kwargs, node, frame)
            if name == "apply":
                submodules.apply(machine, owner, args, node, frame)
            return owner
        if name == "parameters" and not frame.emits:
            return unmade(parameters_of(machine, owner, frame), CALL, frame)
        if name in ("__call__", "forward"):
            return machine.call(owner, args, kwargs, node, frame)
        made = super().call_method(machine, owner, name, args, kwargs, node, frame)
        return unmade(made, CALL, frame) if name in OVER_PARAMETERS else made

    def method_result(self, owner, name, args) -> Value:
        if name == "state_dict":
            return Dict({}, Tensor(), open=True)
        parameter = Tensor("float", kind="parameter")
        if name in ("parameters", "buffers"):
            return Sequence("iterator", None, parameter)
        if name in ("named_parameters", "named_buffers"):
            return Sequence("iterator", None, Sequence("tuple", [Py("str"), parameter]))
        return UNKNOWN

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if frame.emits and type(node) is ast.Attribute and type(node.value) is ast.Name:
            note_recurrent_argument(machine, owner, node.value, frame)
        if name in PARAMETERS:
            absent = dict(owner.kwargs).get("bias")
            if name == "bias" and isinstance(absent, Const) and absent.value is False:
                return NONE
            if owner.name.endswith("Loss"):
                return dict(owner.kwargs).get(name, UNKNOWN)  # of classes, where they are given any
            return sized_parameter(owner, name, True, frame)
        if name == "training":
            return Py("bool", "config")
        given = dict(owner.kwargs)
        if name in given:
            return given[name]
        if (part := part_of_layer(owner.name, name)) is not None:
            return given.get(f"custom_{name}", part)
        if name in machine.library.module_methods or f"{owner.name}.{name}" in PYTHON_RESULTS:
            return Method(owner, name)
        if name in OPTIONAL:
            return UNKNOWN
        return Py("number", "config") if name.startswith(SIZES) else UNKNOWN

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        note_outside(machine, owner, name, value, Py("unknown"), frame, node)

    def is_opaque(self, machine: Machine, value, within) -> bool:
        return True


class GivenModuleVariable(LayerVariable):
    """A module of which only the annotation is known, `encoder: nn.Module`: it has what all modules have, and
    what else is decided by configuration."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        run_pre_hooks(machine, callee, args, node, frame)
        result = call_unseen(args, node, frame)
        run_hooks(machine, callee, args, result, node, frame)
        return result

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name == "requires_grad_":
            sure = certainty_of_change(name, node, frame)
            sure = "likely" if sure == "certain" else sure
            emit_call(machine, f"{GIVEN_MODULE}.{name}", owner, args, kwargs, node, frame, sure)
        return super().call_method(machine, owner, name, args, kwargs, node, frame)

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if name == "training":
            return Py("bool", "config")
        if name == "apply" or name in submodules.WALKS:
            return CONFIG  # of modules inside that nobody shows
        return Method(owner, name) if name in machine.library.module_methods else CONFIG

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        return CONFIG

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        return CONFIG

    def is_of_class(self, machine: Machine, value, wanted) -> bool | None:
        return None

    def is_of_type(self, machine: Machine, value, name) -> bool | None:
        return True if name == GIVEN_MODULE else None


def training_after(name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What `training` is behind `eval()`, `train()`, `train(mode)`."""
    if name == "eval":
        return FALSE
    given = (*args, *kwargs.values())
    return Const(True) if not given else given[0] if given[0].is_const else Py("bool", "config")


def note_mode(machine: Machine, owner: Value, name: str, args, kwargs, node, frame) -> None:
    """Note what the code around a region does to a whole module, as far as guards see it."""
    if name in ("train", "eval"):
        mode = "eval" if name == "eval" or FALSE in (*args, *kwargs.values()) else "train"
        machine.driver.set_state("training", mode, owner)
    elif name == "requires_grad_":
        given = next(iter((*args, *kwargs.values())), Const(True))
        text = machine.text(node, frame.module)
        switch = ("on" if given.value else "off") if given.is_const else text
        machine.driver.set_state("requires_grad", switch, owner)
    elif name in ("double", "half", "bfloat16", "float", "to"):
        given = [value.name for value in (*args, *kwargs.values()) if type(value) is External]
        text = ", ".join(given) or machine.text(node, frame.module)
        machine.driver.set_state("module_dtype", text, owner)


def call_module_method(
    machine: Machine, owner: Instance, name: str, args, kwargs, node, frame
) -> Value:
    full = f"torch.nn.Module.{name}"
    sure = certainty_of_change(name, node, frame)
    emit_call(machine, full, owner, args, kwargs, node, frame, sure)
    note_mode(machine, owner, name, args, kwargs, node, frame)
    if name == "compile" and not frame.emits:
        machine.file.note_compiled_in_place(owner, kwargs)
    if frame.emits and name in WALKS:
        met = first_recurrent(owner, "parameters" in name, name.endswith("children"))
        if isinstance(met, ExternalInstance):
            note_recurrent_read(machine, met, node, frame)
    if frame.emits and name in ("train", "eval"):
        owner.attributes.setdefault("training", Py("bool", "config"))
        put_attribute(machine, owner, "training", training_after(name, args, kwargs), frame)
        owner.version += 1
        return owner
    if name in ("register_buffer", "register_parameter") and args:
        value = args[1] if len(args) > 1 else kwargs.get("tensor", kwargs.get("param", UNKNOWN))
        made = registered_value(
            machine, value, "buffer" if name == "register_buffer" else "parameter"
        )
        put_named(machine, owner, args[0], made, node, frame)
        return NONE
    if name in ("add_module", "register_module") and len(given := [*args, *kwargs.values()]) == 2:
        add_named(machine, owner, *given, node, frame)
        return NONE
    if name == "get_submodule" and args and isinstance(args[0], Const):
        return submodule_at(machine, owner, str(args[0].value), node, frame)
    if name in HOOKS and args:
        return register_hook(machine, owner, name, args, node, frame)
    if name == "parameters":
        return unmade(parameters_of(machine, owner, frame), CALL, frame)
    if name == "named_parameters":
        return unmade(named_parameters_of(machine, owner, frame), CALL, frame)
    if name == "buffers":
        return unmade(Sequence("iterator", None, parameter_of(machine, owner, frame)), CALL, frame)
    if name == "named_buffers":
        rows = Sequence("tuple", [Py("str"), parameter_of(machine, owner, frame)])
        return unmade(Sequence("iterator", None, rows), CALL, frame)
    if name == "state_dict":
        return Dict({}, Tensor(), open=True)
    if name in ("get_parameter", "get_buffer"):
        return Tensor()
    if name in submodules.WALKS:
        return unmade(submodules.walk_over(machine, owner, name, frame), CALL, frame)
    if name in SELF_METHODS:
        if name == "apply":
            submodules.apply(machine, owner, args, node, frame)
        return owner
    if name in ("_replace", "_asdict"):
        emit_call(machine, f"NamedTuple.{name}", owner, args, kwargs, node, frame)
    if name == "_replace":
        made = Instance(owner.cls, {**owner.attributes, **kwargs})
        machine.objects.kept.append(made)
        return made
    if name == "_asdict":
        return Dict(dict(owner.attributes))
    if name == "__call__":
        return machine.call(owner, args, kwargs, node, frame)
    return UNKNOWN


def registered_value(machine: Machine, value: Value, kind: str) -> Value:
    """A registered buffer or parameter is a tensor or None, whatever was passed."""
    parts = []
    for option in options(value):
        if option.is_none:
            parts.append(option)
        elif is_of_subclass(machine, option):
            parts.append(Tensor(kind="subclass"))
        elif isinstance(option, Tensor):
            parts.append(Tensor(option.dtype, option.ndim, option.shape, True, kind))
        else:
            parts.append(Tensor(kind=kind))
    return join_all(parts)
