"""Calls of Python's builtin functions: the table by name, casts, checks and representations."""

from __future__ import annotations

import ast

from breakscope import limits
from breakscope.rulekit.values import (
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
    Instance,
    Method,
    Py,
    Sequence,
    ShapeInt,
    Tensor,
    Value,
    options,
)
from breakscope.static.definitions.classes import find_member, is_module, members_of, mro_of
from breakscope.static.definitions.computed_names import affixes, fits
from breakscope.static.definitions.fields import is_plain
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.library import MADE_CLASS
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import Import
from breakscope.static.variables.effects.emitting import emit_argument_read, emit_call, emit_drawn
from breakscope.static.variables.effects.kept_iterators import note_kept, note_made
from breakscope.static.variables.effects.missing_attributes import (
    has_unseen_attributes,
    note_absent,
)
from breakscope.static.variables.effects.side_effects import note_outside
from breakscope.static.variables.library import builtin_iteration, builtin_numbers
from breakscope.static.variables.library.folding import CASTS
from breakscope.static.variables.library.followed.evaluated import is_followed
from breakscope.static.variables.modules.containers import OPEN, contents_of, put_openly
from breakscope.static.variables.modules.recurrent import note_recurrent_check
from breakscope.static.variables.numpy import maybe_array
from breakscope.static.variables.operators.instance_checks import is_instance

TORCH_NN, ANY_MODULE_CLASS = External("torch.nn"), External("torch.nn.*")
GOES_OVER = frozenset(
    "len list tuple set sorted reversed enumerate zip map filter iter next sum min max any all".split()
)
_PLAIN_RESULTS: dict[str, Value] = {
    "print": NONE,
    "id": Py("int"),
    "hash": Py("int"),
    "ord": Py("int"),
    "chr": Py("str"),
    "input": Py("str", "environment"),
    "open": ExternalInstance("open"),
    "object": ExternalInstance("object"),
    "bytes": Py("bytes"),
    "format": Py("str"),
    "breakpoint": NONE,
    "dir": Sequence("list", None, Py("str")),
    "classmethod": UNKNOWN,
    "staticmethod": UNKNOWN,
}


# what a random number is needed for by its value
NEEDS_NUMBER = frozenset(
    {*CASTS, "range", "round", "divmod", "pow", "repr", "format", "hash", "chr"}
)
COMPUTES = frozenset({"min", "max", "round", "abs", "pow"})


def call_builtin(
    machine: Machine,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    if name in NEEDS_NUMBER:
        emit_drawn(machine, args, node, frame)
    if name in CASTS:
        if not args:
            return Const(CASTS[name]())
        if name == "bool" and type(args[0]) in (Sequence, Dict) and not frame.emits:
            truth = machine.truth(args[0], "bool", node, frame)
            return Py("bool") if truth is None else Const(truth)
        result = machine.behaviour(args[0]).cast(machine, args[0], name, node, frame)
        is_number = type(args[0]) in (Const, Py) and not frame.emits
        return machine.driver.result_of(result, args) if is_number else result
    handler = HANDLERS.get(name)
    if handler is None:
        return _PLAIN_RESULTS.get(name, UNKNOWN)
    if name in GOES_OVER:
        args = [contents_of(machine, value) for value in args]
    if name in GOES_OVER or name in ("next", "dict", "frozenset"):
        note_kept(machine, args, node, frame, name)
    result = handler(machine, args, kwargs, node, frame)
    note_made(name, args, result, frame)
    is_number = name in COMPUTES and not frame.emits
    return machine.driver.result_of(result, args) if is_number else result


def builtin_isinstance(machine: Machine, args, kwargs, node, frame) -> Value:
    if len(args) < 2:
        return UNKNOWN
    if _is_nested(args[1]):
        emit_call(machine, "object.__instancecheck__", None, args, {}, node, frame)
    verdicts = {is_instance(machine, o, args[1], frame) for o in options(args[0])}
    verdict = verdicts.pop() if len(verdicts) == 1 else None
    note_recurrent_check(machine, args, node, frame)
    return Py("bool", "config") if verdict is None else Const(verdict)


def builtin_issubclass(machine: Machine, args, kwargs, node, frame) -> Value:
    return Py("bool", "config")


def builtin_callable(machine: Machine, args, kwargs, node, frame) -> Value:
    value = args[0] if args else UNKNOWN
    if isinstance(value, Function | Class | External | Method) or is_module(machine, value):
        return TRUE
    return (
        FALSE
        if isinstance(value, Const | Tensor | Sequence | Dict | ShapeInt)
        else Py("bool", "config")
    )


def builtin_type(machine: Machine, args, kwargs, node, frame) -> Value:
    if len(args) == 3 and frame.emits:
        return ExternalInstance(MADE_CLASS)
    return machine.behaviour(args[0]).class_of(args[0]) if len(args) == 1 else UNKNOWN


def builtin_hasattr(machine: Machine, args, kwargs, node, frame) -> Value:
    if len(args) == 2 and isinstance(args[1], Const) and isinstance(args[1].value, str):
        owner, name = args[0], args[1].value
        if machine.behaviour(owner).call_hasattr(machine, owner, name, node, frame):
            return TRUE
        if isinstance(owner, Instance):
            note_absent(machine, owner, name, node, frame)
            if name in owner.attributes or find_member(machine, owner.cls.info, name) is not None:
                return TRUE
            if is_followed(machine, frame) and _has_no_other(machine, owner, name):
                return FALSE
        if isinstance(owner, Tensor) and name in ("shape", "dtype", "device"):
            return TRUE
        if isinstance(owner, Tensor) and name in (
            "keys",
            "items",
            "values",
            "append",
            "logits",
            "last_hidden_state",
        ):
            return FALSE
        if isinstance(owner, External) and machine.library.has(f"{owner.name}.{name}"):
            return TRUE
    return Py("bool", "config")


def _has_no_other(machine: Machine, owner: Instance, name: str) -> bool:
    """True for an object that has only what was seen being set, and its class defines."""
    is_of_module = name in machine.library.module_methods or name == "training"
    has_own_way = find_member(machine, owner.cls.info, "__getattr__") is not None
    is_hidden = name.startswith("_") or is_of_module or has_own_way
    return not is_hidden and is_plain(machine, owner.cls.info)


def builtin_getattr(machine: Machine, args, kwargs, node, frame) -> Value:
    if len(args) < 2:
        return UNKNOWN
    if isinstance(args[1], Const) and isinstance(args[1].value, str):
        if len(args) > 2:
            machine.behaviour(args[0]).call_hasattr(machine, args[0], args[1].value, node, frame)
            if isinstance(args[0], Instance):
                note_absent(machine, args[0], args[1].value, node, frame)
        value = machine.getattr(args[0], args[1].value, node, frame)
        if len(args) > 2 and (
            value.is_unknown
            or (
                isinstance(args[0], Instance)
                and args[1].value not in args[0].attributes
                and find_member(machine, args[0].cls.info, args[1].value) is None
            )
        ):
            return (
                args[2]
                if value.is_unknown
                and isinstance(args[0], Instance)
                and not has_unseen_attributes(machine, args[0])
                else join(value, args[2])
            )
        return value
    if args[0] == TORCH_NN:
        return ANY_MODULE_CLASS
    if not isinstance(args[0], Instance):
        return UNKNOWN
    usual = getattr(args[1], "usual", None)  # what configuration says by default
    if isinstance(usual, str) and find_member(machine, args[0].cls.info, usual) is not None:
        return machine.getattr(args[0], usual, node, frame)
    return attribute_of_computed_name(machine, args[0], node, frame)


def attribute_of_computed_name(
    machine: Machine, owner: Instance, node: ast.AST, frame: Frame
) -> Value:
    """`getattr(self, f"{kind}_loss")`: any method or attribute whose name begins and ends so."""
    begin, end = (
        affixes(node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else ("", "")
    )
    stored = owner.attributes.get(OPEN)
    if stored is not None and (begin, end) in stored.items:
        return stored.items[begin, end]
    if len(begin) + len(end) < limits.SHORTEST_AFFIX:
        return UNKNOWN
    names = {
        name
        for cls in mro_of(machine, owner.cls.info)
        for name in members_of(cls)
        if fits(name, begin, end)
    }
    names |= {name for name in owner.attributes if fits(name, begin, end)}
    if not 0 < len(names) <= limits.MOST_COMPUTED_NAMES:
        return UNKNOWN
    return join_all([machine.getattr(owner, name, node, frame) for name in sorted(names)])


def builtin_setattr(machine: Machine, args, kwargs, node, frame) -> Value:
    if len(args) != 3:
        return NONE
    owner, name, value = args
    is_named = isinstance(name, Const) and isinstance(name.value, str)
    if frame.emits:
        is_call = isinstance(node, ast.Call) and len(node.args) == 3
        if is_named and is_call:
            target = ast.Attribute(node.args[0], name.value, ast.Store())
            machine.setattr(owner, name.value, value, ast.copy_location(target, node), node, frame)
        elif is_call and isinstance(owner, Instance) and id(owner) in machine.objects.made_inside:
            machine.touch(owner)
            put_openly(owner, node, 1, value)
        return NONE
    if not isinstance(owner, Instance):
        return NONE
    if is_named:
        note_outside(
            machine,
            owner,
            name.value,
            value,
            owner.attributes.get(name.value, UNKNOWN),
            frame,
            node,
        )
        machine.touch(owner)
        owner.attributes[name.value] = value
    else:
        machine.touch(owner)
        put_openly(owner, node, 1, value)
    return NONE


def builtin_staticmethod(machine: Machine, args, kwargs, node, frame) -> Value:
    """`read = staticmethod(read)` in a class body."""
    if args and isinstance(args[0], Function):
        machine.touch(args[0].info)
        args[0].info.marks |= {"staticmethod"}
    return args[0] if args else UNKNOWN


def builtin_property(machine: Machine, args, kwargs, node, frame) -> Value:
    if args and isinstance(args[0], Function):
        machine.touch(args[0].info)
        args[0].info.marks |= {"property"}
        return args[0]
    return UNKNOWN


def builtin_vars(machine: Machine, args, kwargs, node, frame) -> Value:
    if not args or not isinstance(args[0], Instance):
        return UNKNOWN
    return machine.getattr(args[0], "__dict__", node, frame)


def builtin_locals(machine: Machine, args, kwargs, node, frame) -> Value:
    return Dict({k: v for k, v in frame.names.items() if "." not in k})


def builtin_globals(machine: Machine, args, kwargs, node, frame) -> Value:
    # what is imported stays unknown: to look at all of it costs too much
    names = module_names(machine, frame.module)
    return Dict({k: v for k, v in names.items() if type(v) is not Import}, open=True)


def builtin_slice(machine: Machine, args, kwargs, node, frame) -> Value:
    for i, value in enumerate(args):
        bound = value if value.is_tensor else maybe_array(value)
        if bound is not None:
            emit_argument_read(machine, bound, "slice", node, frame, i)
    bounds = [NONE, *args, NONE] if len(args) == 1 else [*args, NONE, NONE]
    return ExternalInstance("slice", tuple(bounds[:3]))


def _is_nested(types: Value) -> bool:
    """True for a tuple of types that has a tuple among them."""
    if not isinstance(types, Sequence) or types.items is None:
        return False
    return any(isinstance(item, Sequence) and item.type == "tuple" for item in types.items)


HANDLERS = {
    "abs": builtin_numbers.builtin_abs,
    "callable": builtin_callable,
    "divmod": builtin_numbers.builtin_divmod,
    "getattr": builtin_getattr,
    "globals": builtin_globals,
    "hasattr": builtin_hasattr,
    "isinstance": builtin_isinstance,
    "issubclass": builtin_issubclass,
    "locals": builtin_locals,
    "pow": builtin_numbers.builtin_pow,
    "property": builtin_property,
    "repr": builtin_numbers.builtin_repr,
    "round": builtin_numbers.builtin_round,
    "setattr": builtin_setattr,
    "slice": builtin_slice,
    "staticmethod": builtin_staticmethod,
    "str": builtin_numbers.builtin_str,
    "type": builtin_type,
    "vars": builtin_vars,
    "all": builtin_iteration.builtin_all,
    "any": builtin_iteration.builtin_any,
    "dict": builtin_iteration.builtin_dict,
    "enumerate": builtin_iteration.builtin_enumerate,
    "filter": builtin_iteration.builtin_filter,
    "iter": builtin_iteration.builtin_iter,
    "len": builtin_iteration.builtin_len,
    "list": builtin_iteration.builtin_list,
    "map": builtin_iteration.builtin_map,
    "max": builtin_iteration.builtin_max,
    "min": builtin_iteration.builtin_min,
    "next": builtin_iteration.builtin_next,
    "range": builtin_iteration.builtin_range,
    "reversed": builtin_iteration.builtin_reversed,
    "set": builtin_iteration.builtin_set,
    "sorted": builtin_iteration.builtin_sorted,
    "sum": builtin_iteration.builtin_sum,
    "tuple": builtin_iteration.builtin_tuple,
    "zip": builtin_iteration.builtin_zip,
    "frozenset": builtin_iteration.builtin_set,
}
