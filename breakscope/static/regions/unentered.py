"""Code that a program compiles, or calls from what it compiles, though no region of its own file enters
it: functions that a library hands out, and methods of its classes; the forward of an autograd function;
what a metric does; the methods that a tensor class adds, and the properties that module classes with one
parent share."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from breakscope.rulekit.events import Call, Constructor, Event
from breakscope.rulekit.values import (
    Class,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Union,
    Value,
    maybe_tensor,
    options,
)
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import (
    bound_to,
    external_bases,
    find_member,
    is_module,
    is_module_class,
    is_tensor_class,
    members_of,
    mro_of,
)
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.library import TENSOR_DICT
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import configured_instance, parameter_values
from breakscope.static.regions.around import (
    is_around,
    is_class_around,
    is_function_around,
    is_no_tensor,
    parameters,
)
from breakscope.static.regions.discover import apart, enter, only_raises
from breakscope.static.regions.region import Region
from breakscope.static.regions.steps import tensor_methods

Entered = frozenset[tuple[str, str]]  # path and qualified name of functions
AUTOGRAD = "torch.autograd.Function"
METRIC = "Metric"  # how a base is called by those who have it from torchmetrics
PLAIN_DECORATORS = ("jit.export", "staticmethod")
LAYER = re.compile(r"torch\.nn\.(?:\w+\.)*[A-Z]\w*(?<!Loss)")  # a parameter, or a module but a loss
PREPARES = (
    "torch.nn.utils.parametrize.register",
    "torch.nn.utils.parametrizations.",
    "torch.nn.utils.prune.",
)
OPTIMIZER = re.compile(r"torch\.optim\.(?:\w+\.)?[A-Z]\w*")
OF_METRICS = ("update", "compute")
DISTRIBUTIONS = "torch.distributions."
# what regions call of a distribution, a transform of one, and a constraint
OF_DISTRIBUTIONS = frozenset(
    """
    sample rsample log_prob cdf icdf entropy mean variance stddev mode __call__ _call _inverse
    log_abs_det_jacobian check
    """.split()
)


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
            public = [n for n, node in members_of(value.info).items() if _is_public(n, node)]
            for method in tensor_methods(machine, value, public):
                if _is_news(method, module, entered):
                    regions += apart(machine, method, _method_region)
    for value in list(defined.values()):
        if _is_own_class(machine, value, module):
            for method in _methods(machine, value, id(value.info) in handed_out):
                if _is_news(method, module, entered):
                    regions += apart(machine, method, _method_region)
    return [region for region in regions if region is not None]


def _is_own_class(machine: Machine, value: Value, module: ModuleInfo) -> bool:
    is_own = type(value) is Class and value.info.module is module
    return is_own and not is_class_around(machine, value)


def _is_news(function: Function, module: ModuleInfo, entered: Entered) -> bool:
    info = function.info
    return info.module is module and (module.path, info.qualname) not in entered


def _function_region(machine: Machine, function: Function) -> Region | None:
    if is_function_around(machine, function):
        return None
    args, kwargs = parameter_values(machine, function, True)
    shown, _ = parameter_values(machine, function, False)
    # a parameter that alone has no annotation, as a name or a path, is no tensor for that
    is_unannotated = not any(p.annotation for p in parameters(function.info.node))
    given = args if is_unannotated else shown
    if _is_handed_model(machine, shown):
        return None
    if any(_is_tensor(machine, value) for value in given):
        return _unless_driver(
            machine, enter(machine, function.info.qualname, function, args, kwargs)
        )
    return None


def _shown_region(machine: Machine, function: Function) -> Region | None:
    """That of a function of which nothing but what it shows is known to be a tensor."""
    if is_function_around(machine, function) or not shows_tensors(machine, function):
        return None
    args, kwargs = parameter_values(machine, function, False)
    if _is_handed_model(machine, args):
        return None
    return _unless_driver(machine, enter(machine, function.info.qualname, function, args, kwargs))


def _unless_driver(machine: Machine, region: Region) -> Region | None:
    """None for a function that hands out what is compiled, or sets up or trains it."""
    is_driver = _is_made_before(machine, region.value) or _meets(region, _prepares)
    return None if is_driver else region


def _is_handed_model(machine: Machine, args: list[Value]) -> bool:
    """True for what is handed a model, and calls it: the model is compiled, not its driver."""
    return any(is_module(machine, option) for value in args for option in options(value))


def _is_made_before(machine: Machine, value: Value) -> bool:
    """True for a model, a function, or several: what hands these out is called before anything is
    compiled."""
    if type(value) is Sequence:
        return any(_is_made_before(machine, item) for item in value.items or ())
    if type(value) is Union:
        return any(_is_made_before(machine, option) for option in value.options)
    return isinstance(value, Function | Class) or is_module(machine, value)


def _is_tensor(machine: Machine, value: Value) -> bool:
    """True for what may be a tensor of torch's, or an object of them."""
    return (maybe_tensor(value) and not is_no_tensor(value)) or _is_of_tensors(machine, value)


def _is_of_tensors(machine: Machine, value: Value) -> bool:
    if type(value) is ExternalInstance:
        return value.name == TENSOR_DICT
    return type(value) is Instance and is_tensor_class(machine, value.cls.info)


def _methods(machine: Machine, cls: Class, is_handed_out: bool) -> Iterator[Function]:
    """What runs of a class when a region uses it: the forward of an autograd function; the methods that
    a tensor class adds; of a metric, which `forward` of its library calls, `update` and `compute`;
    `__call__` of an object that is called with tensors; the properties that module classes with one
    parent share."""
    members = members_of(cls.info)
    bases = external_bases(machine, cls.info)
    is_autograd = AUTOGRAD in bases
    if is_autograd:
        names = ["forward"] if "forward" in members else []
    elif is_tensor_class(machine, cls.info):
        names = own_methods(cls)
    elif any(name.startswith(DISTRIBUTIONS) for name in bases):
        names = [name for name in members if name in OF_DISTRIBUTIONS]
    elif any(name in members for name in OF_METRICS) and _is_metric(machine, cls, bases):
        names = [*OF_METRICS]
    elif "__call__" in members and not is_module_class(machine, cls.info):
        names = ["__call__"] if _is_called_with_tensors(machine, cls, is_handed_out) else []
    else:
        names = [*shared_properties(machine, cls), *required_methods(machine, cls)]
    owner: Value = configured_instance(machine, cls) if names and not is_autograd else cls
    for name in names:
        member = find_member(machine, cls.info, name)
        method = bound_to(member, owner) if isinstance(member, Function) else None
        if isinstance(method, Function) and not only_raises(method):
            yield method


def _is_called_with_tensors(machine: Machine, cls: Class, is_handed_out: bool) -> bool:
    """True for a class whose objects are called with a tensor where the library hands it out; with
    tensors only beside a module, which is given them: a loss, a transformation or a scheme."""
    call = find_member(machine, cls.info, "__call__")
    if not isinstance(call, Function) or isinstance(call.info.node, ast.Lambda):
        return False
    if is_handed_out and not call.info.node.decorator_list:
        return shows_tensors(machine, replace(call, bound=Instance(cls)))
    spec = call.info.node.args
    annotated = [*spec.posonlyargs, *spec.args][1:] + spec.kwonlyargs
    frame = Frame(call.info.module, scope=call.scope)
    return (
        bool(annotated)
        and all(
            p.annotation is not None and value_of_annotation(machine, p.annotation, frame).is_tensor
            for p in annotated
        )
        and any(
            type(value) is Class
            and value.info.module is cls.info.module
            and is_module_class(machine, value.info)
            for value in module_names(machine, cls.info.module).values()
        )
    )


def own_methods(cls: Class) -> list[str]:
    """The public methods that a class adds to those of its parents' without a decorator."""
    return [
        name
        for name, node in members_of(cls.info).items()
        if isinstance(node, ast.FunctionDef)
        and not name.startswith("_")
        and not node.decorator_list
    ]


def shared_properties(machine: Machine, cls: Class) -> list[str]:
    """The properties of a module class that a parent has too, or another class of the file with the
    same parent: who is handed an object of one of them reads it by that name."""
    names = [name for name, node in members_of(cls.info).items() if _is_property(node)]
    if not names or not is_module_class(machine, cls.info):
        return []
    parents = mro_of(machine, cls.info)[1:]
    relatives = [
        value.info
        for value in module_names(machine, cls.info.module).values()
        if type(value) is Class
        and value.info is not cls.info
        and not set(map(id, mro_of(machine, value.info))).isdisjoint(map(id, parents))
    ]
    shared = [members_of(info) for info in (*parents, *relatives)]
    return [name for name in names if any(_is_property(m.get(name)) for m in shared)]


def required_methods(machine: Machine, cls: Class) -> list[str]:
    """The methods of a module class that a parent leaves abstract: what has the parent's calls them."""
    names = [
        name
        for name, node in members_of(cls.info).items()
        if isinstance(node, ast.FunctionDef)
        and not (name.startswith("__") or is_around(name))
        and all(ast.unparse(d).endswith(PLAIN_DECORATORS) for d in node.decorator_list)
    ]
    parents = mro_of(machine, cls.info)[1:] if names else []
    abstract = {
        name
        for parent in parents
        for name, node in members_of(parent).items()
        if name in names and isinstance(node, ast.FunctionDef) and _is_abstract(node)
    }
    return [
        name
        for name in names
        if name in abstract
        and is_module_class(machine, cls.info)
        and (
            not name.startswith("_") or shows_tensors(machine, find_member(machine, cls.info, name))
        )
    ]


def shows_tensors(machine: Machine, function: Value | None) -> bool:
    """True where an annotation or a use says that a parameter is a tensor."""
    if type(function) is not Function:
        return False
    shown, named = parameter_values(machine, function, False)
    return any(_is_tensor(machine, value) for value in (*shown, *named.values()))


def _is_abstract(node: ast.FunctionDef) -> bool:
    """True for a method that is announced only, or that only some subclasses have."""
    if any(ast.unparse(d).endswith("abstractmethod") for d in node.decorator_list):
        return True
    last = node.body[-1]
    return (
        all(type(s) is ast.Expr and type(s.value) is ast.Constant for s in node.body[:-1])
        and type(last) is ast.Raise
        and last.exc is not None
    )


def _is_property(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.FunctionDef) and [
        getattr(d, "id", "") for d in node.decorator_list
    ] == ["property"]


def _is_public(name: str, node: ast.stmt) -> bool:
    """True for a method that users call in a region."""
    return (
        isinstance(node, ast.FunctionDef)
        and not (name.startswith("_") or is_around(name))
        and not node.decorator_list
        and len(node.args.args) > 1
    )


def _is_metric(machine: Machine, cls: Class, bases: tuple[str, ...]) -> bool:
    if any(name.rpartition(".")[2] == METRIC for name in bases):
        return True
    return is_module_class(machine, cls.info) and any(
        parent.name == METRIC and parent.module.library for parent in mro_of(machine, cls.info)
    )


def _method_region(machine: Machine, method: Function) -> Region | None:
    guesses = method.info.name != "__call__"  # an object is called with more than tensors
    args, kwargs = parameter_values(machine, method, guesses)
    owner = method.info.owner
    if method.bound is None and owner and AUTOGRAD in external_bases(machine, owner):
        return _autograd_region(machine, method, args)
    named = [value for name, value in kwargs.items() if name[0] != "*" or not value.is_unknown]
    given = [option for value in (*args, *named) for option in options(value)]
    if given and all(map(is_no_tensor, given)):
        return None  # a tokenizer's, what saves and loads, or a figure of NumPy's arrays
    region = enter(machine, method.info.qualname, method, args, kwargs)
    answers = _is_property(method.info.node) or method.info.name in OF_METRICS
    if not given and not answers and not _may_hold_tensors(region.value):
        return None  # what prepares data, or hands out loaders of it
    is_set_up = _is_made_before(machine, region.value) or _meets(region, _makes_layer)
    return None if is_set_up else region


def _may_hold_tensors(value: Value) -> bool:
    return any(
        option.is_unknown or maybe_tensor(option) or type(option) in (Instance, Sequence, Dict)
        for option in options(value)
    )


def _meets(region: Region, is_wanted: Callable[[Event], bool]) -> bool:
    """True where something that the region or what it calls does is wanted."""
    open_, met = [region.activation], set()
    while open_:
        activation = open_.pop()
        if id(activation) in met:
            continue
        met.add(id(activation))
        for step in activation.steps:
            if step.event is not None and is_wanted(step.event):
                return True
            if step.child is not None:
                open_.append(step.child)
    return False


def _makes_layer(event: Event) -> bool:
    """Of a method that does, a model is built or converted by it."""
    return type(event) is Constructor or (
        type(event) is Call and LAYER.fullmatch(event.name) is not None
    )


def _prepares(event: Event) -> bool:
    """Of a function that does, a model is prepared or trained by it."""
    return type(event) is Call and (
        event.name.startswith(PREPARES) or OPTIMIZER.fullmatch(event.name) is not None
    )


def _autograd_region(machine: Machine, forward: Function, args: list[Value]) -> Region | None:
    """An autograd function is applied to a tensor at least; what else it is given are tensors where
    they are annotated or used as such."""
    shown, kwargs = parameter_values(machine, forward, False)
    first = 0 if find_member(machine, forward.info.owner, "setup_context") is not None else 1
    if first:
        shown[:1] = [ExternalInstance("torch.autograd.function.FunctionCtx")]
    shown[first : first + 1] = args[first : first + 1]
    return enter(machine, forward.info.qualname, forward, shown, kwargs)
