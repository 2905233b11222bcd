"""Code that a program compiles, or calls from what it compiles, though no region of its own file enters
it: functions that a library hands out, and methods of its classes; the forward of an autograd function;
what a metric does; the methods that a tensor class adds, and the properties that module classes with one
parent share."""

from __future__ import annotations

import ast
import os
import re
from functools import partial

from breakscope.rulekit.events import Call, Constructor, Event
from breakscope.rulekit.values import (
    Class,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Tensor,
    Union,
    Value,
    maybe_tensor,
    options,
)
from breakscope.rulekit.walking import plain_parameters, walk
from breakscope.static.definitions.classes import (
    external_bases,
    find_member,
    is_module,
    is_module_class,
    members_of,
)
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.compiled_names import compiles
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import parameter_values
from breakscope.static.regions.discovery.around import (
    is_class_around,
    is_function_around,
    is_no_tensor,
)
from breakscope.static.regions.discovery.discover import apart, enter
from breakscope.static.regions.discovery.evidence import HANDED_OUT, LOOSE, METHOD, Evidence
from breakscope.static.regions.discovery.methods import (
    AUTOGRAD,
    OF_METRICS,
    is_property,
    is_public,
    is_tensor,
    methods_entered,
    shows_tensors,
)
from breakscope.static.regions.discovery.names_of_files import is_file_around
from breakscope.static.regions.discovery.steps import tensor_methods
from breakscope.static.regions.region import Region

Entered = frozenset[tuple[str, str]]  # path and qualified name of functions
LAYER = re.compile(r"torch\.nn\.(?:\w+\.)*[A-Z]\w*(?<!Loss)")  # a parameter, or a module but a loss
PREPARES = (
    "torch.nn.utils.parametrize.register",
    "torch.nn.utils.parametrizations.",
    "torch.nn.utils.prune.",
)
SEEDS = ("torch.Generator", "torch.manual_seed", "torch.random.manual_seed")
PUTS_ON_HOOK = "module.register_hook"
OF_SPARSE = re.compile(rb"torch\.sparse|to_sparse|is_sparse|sparse_c[os][or]")
OPTIMIZER = re.compile(r"torch\.optim\.(?:\w+\.)?[A-Z]\w*")


def unentered_regions(
    machine: Machine, module: ModuleInfo, names: dict[str, bool], entered: Entered
) -> list[Region]:
    """The regions of what is not `entered`; `names` are the functions and classes that the library
    hands out, and whether it names them: of others only those that show that they take tensors."""
    regions: list[Region | None] = []
    defined = module_names(machine, module)
    handed_out = set()  # ids of classes
    for name in sorted(names & defined.keys()):
        value = resolve_import(machine, defined[name])
        if type(value) is Function and _is_news(value, module, entered):
            regions += apart(machine, value, _function_region if names[name] else _shown_region)
        elif _is_own_class(machine, value, module):
            handed_out.add(id(value.info))
            public = [n for n, node in members_of(value.info).items() if is_public(n, node)]
            for method in tensor_methods(machine, value, public):
                if _is_news(method, module, entered):
                    regions += apart(machine, method, partial(_method_region, evidence=METHOD))
    for value in list(defined.values()):
        if _is_own_class(machine, value, module):
            is_handed_out = id(value.info) in handed_out
            for method, evidence in methods_entered(machine, value, is_handed_out):
                if _is_news(method, module, entered):
                    regions += apart(machine, method, partial(_method_region, evidence=evidence))
    return [region for region in regions if region is not None]


def _is_own_class(machine: Machine, value: Value, module: ModuleInfo) -> bool:
    is_own = type(value) is Class and value.info.module is module
    return is_own and not (is_class_around(machine, value) or is_file_around(module))


def _is_news(function: Function, module: ModuleInfo, entered: Entered) -> bool:
    info = function.info
    return info.module is module and (module.path, info.qualname) not in entered


def _function_region(machine: Machine, function: Function) -> Region | None:
    if is_function_around(machine, function):
        return None
    args, kwargs = parameter_values(machine, function, True)
    shown, _ = parameter_values(machine, function, False)
    # a parameter that alone has no annotation, as a name or a path, is no tensor for that
    is_unannotated = not any(p.annotation for p in plain_parameters(function.info.node))
    given = args if is_unannotated else shown
    if _is_handed_model(machine, shown):
        return None
    if any(is_tensor(machine, value) for value in given):
        name = function.info.qualname
        is_surely_one = _is_of_models(machine, function.info.module)
        is_surely_one = is_surely_one and not _may_be_given_sparse(
            function, [*args, *kwargs.values()]
        )
        evidence = HANDED_OUT if is_surely_one else LOOSE
        return _unless_driver(
            machine, enter(machine, name, function, args, kwargs, evidence=evidence)
        )
    return None


def _may_be_given_sparse(function: Function, given: list[Value]) -> bool:
    """True for a function that is called after sparse tensors, in a file that has to do with them, where nothing says
    which parameter is one: the frame that touches it first is Python's, and so are all that it hands it to."""
    tensors = [o for value in given for o in options(value) if type(o) is Tensor]
    return (
        "sparse" in function.info.name.lower().split("_")
        and OF_SPARSE.search(function.info.module.text) is not None
        and all(o.kind != "sparse" for o in tensors)
    )


def _is_of_models(machine: Machine, module: ModuleInfo) -> bool:
    """True for a file of a library that hands out functions and modules only: users call them in their models.
    Of one that hands out other objects, too, functions prepare these as well."""
    front = machine.world.module(
        os.path.join(module.root, module.name.partition(".")[0], "__init__.py")
    )
    if front is None:
        return False
    values = [resolve_import(machine, value) for value in module_names(machine, front).values()]
    return all(is_module_class(machine, v.info) for v in values if type(v) is Class)


def _shown_region(machine: Machine, function: Function) -> Region | None:
    """That of a function of which nothing but what it shows is known to be a tensor."""
    if is_function_around(machine, function) or not shows_tensors(machine, function):
        return None
    args, kwargs = parameter_values(machine, function, False)
    if _is_handed_model(machine, args):
        return None
    name = function.info.qualname
    return _unless_driver(machine, enter(machine, name, function, args, kwargs, evidence=LOOSE))


def _unless_driver(machine: Machine, region: Region) -> Region | None:
    """None for a function that hands out what is compiled, or sets up or trains it."""
    is_driver = _is_made_before(machine, region.value) or region.meets(_prepares)
    is_driver = is_driver or _compiles_itself(region)
    return None if is_driver else region


def _is_handed_model(machine: Machine, args: list[Value]) -> bool:
    """True for what is handed a model, and calls it: the model is compiled, not its driver."""
    return any(is_module(machine, option) for value in args for option in options(value))


def _is_made_before(machine: Machine, value: Value) -> bool:
    """True for a model, a data set, a function, or several: what hands these out is called before anything is
    compiled."""
    if type(value) is Sequence:
        return any(_is_made_before(machine, item) for item in value.items or ())
    if type(value) is Union:
        return any(_is_made_before(machine, option) for option in value.options)
    if type(value) is Instance and is_class_around(machine, value.cls):
        return True
    return isinstance(value, Function | Class) or is_module(machine, value)


def _method_region(machine: Machine, method: Function, evidence: Evidence) -> Region | None:
    guesses = method.info.name != "__call__"  # an object is called with more than tensors
    args, kwargs = parameter_values(machine, method, guesses)
    owner = method.info.owner
    if method.bound is None and owner and AUTOGRAD in external_bases(machine, owner):
        return _autograd_region(machine, method, args, evidence)
    answers = is_property(method.info.node) or method.info.name in OF_METRICS
    named = [value for name, value in kwargs.items() if name[0] != "*" or not value.is_unknown]
    given = [option for value in (*args, *named) for option in options(value)]
    if given and all(map(is_no_tensor, given)):
        return None  # a tokenizer's, what saves and loads, or a figure of NumPy's arrays
    region = enter(machine, method.info.qualname, method, args, kwargs, evidence=evidence)
    if not given and not answers and not _may_hold_tensors(region.value):
        return None  # what prepares data, or hands out loaders of it
    is_set_up = _is_made_before(machine, region.value) or region.meets(_sets_up)
    is_of_module = owner is not None and is_module_class(machine, owner)
    is_driver = not is_of_module and _compiles_itself(region)
    return None if is_set_up or is_driver else region


def _may_hold_tensors(value: Value) -> bool:
    return any(
        option.is_unknown or maybe_tensor(option) or type(option) in (Instance, Sequence, Dict)
        for option in options(value)
    )


def _compiles_itself(region: Region) -> bool:
    """True where the code of the region or of what it calls compiles something: the parts are compiled, not what
    calls them."""
    return any(
        b"torch.compile" in activation.module.text
        and any(
            isinstance(node, ast.FunctionDef) and node.lineno == activation.line and compiles(node)
            for node in walk(activation.module.tree)
        )
        for activation in region.activations()
    )


def _sets_up(event: Event) -> bool:
    """Of a method that does, a model is built, converted or looked into by it."""
    return type(event) is Constructor or (
        type(event) is Call
        and (LAYER.fullmatch(event.name) is not None or event.name == PUTS_ON_HOOK)
    )


def _prepares(event: Event) -> bool:
    """Of a function that does, a model is made, prepared, trained or looked into by it, or data is drawn at random."""
    return type(event) is Call and (
        event.name.startswith((*PREPARES, *SEEDS))
        or LAYER.fullmatch(event.name) is not None
        or OPTIMIZER.fullmatch(event.name) is not None
        or event.name == PUTS_ON_HOOK
    )


def _autograd_region(
    machine: Machine, forward: Function, args: list[Value], evidence: Evidence
) -> Region | None:
    """An autograd function is applied to a tensor at least; what else it is given are tensors where
    they are annotated or used as such."""
    shown, kwargs = parameter_values(machine, forward, False)
    first = 0 if find_member(machine, forward.info.owner, "setup_context") is not None else 1
    if first:
        shown[:1] = [ExternalInstance("torch.autograd.function.FunctionCtx")]
    shown[first : first + 1] = args[first : first + 1]
    return enter(machine, forward.info.qualname, forward, shown, kwargs, evidence=evidence)
