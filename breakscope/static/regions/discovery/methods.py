"""Which methods of a class run when a region uses it, though no region of its own file enters them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from breakscope.rulekit.values import (
    Class,
    ExternalInstance,
    Function,
    Instance,
    Value,
    maybe_tensor,
)
from breakscope.rulekit.walking import positional_parameters, walk
from breakscope.static.definitions.annotations import value_of_annotation
from breakscope.static.definitions.classes import (
    MODULE_BASES,
    bound_to,
    external_bases,
    find_member,
    is_module_class,
    is_tensor_class,
    members_of,
    mro_of,
)
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.library import TENSOR_DICT
from breakscope.static.machine.machine import Machine
from breakscope.static.regions.arguments import parameter_values
from breakscope.static.regions.configured import configured_instance
from breakscope.static.regions.discovery.around import is_around, is_no_tensor, is_training_step
from breakscope.static.regions.discovery.discover import only_raises
from breakscope.static.regions.discovery.evidence import METHOD, TEMPLATE, Evidence

AUTOGRAD = "torch.autograd.Function"
TORCHMETRICS = "torchmetrics"
METRIC = "Metric"  # how a base is called by those who have it from torchmetrics
PLAIN_DECORATORS = ("jit.export", "staticmethod")
OF_METRICS = ("update", "compute")
DISTRIBUTIONS = "torch.distributions."
# what regions call of a distribution, a transform of one, and a constraint
OF_DISTRIBUTIONS = frozenset(
    """
    sample rsample log_prob cdf icdf entropy mean variance stddev mode __call__ _call _inverse
    log_abs_det_jacobian check
    """.split()
)


def is_tensor(machine: Machine, value: Value) -> bool:
    """True for what may be a tensor of torch's, or an object of them."""
    return (maybe_tensor(value) and not is_no_tensor(value)) or _is_of_tensors(machine, value)


def _is_of_tensors(machine: Machine, value: Value) -> bool:
    if type(value) is ExternalInstance:
        return value.name == TENSOR_DICT
    return type(value) is Instance and is_tensor_class(machine, value.cls.info)


def methods_entered(
    machine: Machine, cls: Class, is_handed_out: bool
) -> Iterator[tuple[Function, Evidence]]:
    """What runs of a class when a region uses it: the forward of an autograd function; the methods that
    a tensor class adds; of a metric, which `forward` of its library calls, `update` and `compute`;
    `__call__` of an object that is called with tensors; the properties that module classes with one
    parent share, the methods that a parent leaves abstract, and those that the file calls of a module
    without a `forward`. A method that a parent calls on itself runs with that parent's; of the others nothing
    shows that it is compiled."""
    members = members_of(cls.info)
    bases = external_bases(machine, cls.info)
    is_autograd, required = AUTOGRAD in bases, []
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
        required = required_methods(machine, cls)
        names = [*shared_properties(machine, cls), *required]
        names += [name for name in methods_called(machine, cls) if name not in names]
    owner: Value = configured_instance(machine, cls) if names and not is_autograd else cls
    for name in names:
        member = find_member(machine, cls.info, name)
        method = bound_to(member, owner) if isinstance(member, Function) else None
        if isinstance(method, Function) and not only_raises(method):
            is_called = name in required and _calls_itself(machine, cls, name)
            yield method, (TEMPLATE if is_called else METHOD)


def _is_called_with_tensors(machine: Machine, cls: Class, is_handed_out: bool) -> bool:
    """True for a class whose objects are called with a tensor where the library hands it out; with
    tensors only beside a module, which is given them: a loss, a transformation or a scheme."""
    call = find_member(machine, cls.info, "__call__")
    if not isinstance(call, Function) or isinstance(call.info.node, ast.Lambda):
        return False
    if is_handed_out and not call.info.node.decorator_list:
        return shows_tensors(machine, replace(call, bound=Instance(cls)))
    spec = call.info.node.args
    annotated = positional_parameters(call.info.node)[1:] + spec.kwonlyargs
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
    names = [name for name, node in members_of(cls.info).items() if is_property(node)]
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
    return [name for name in names if any(is_property(m.get(name)) for m in shared)]


def required_methods(machine: Machine, cls: Class) -> list[str]:
    """The methods of a module class that a parent leaves abstract: what has the parent's calls them."""
    names = [
        name
        for name, node in members_of(cls.info).items()
        if isinstance(node, ast.FunctionDef)
        and not (name.startswith("__") or is_around(name) or is_training_step(node))
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


def _calls_itself(machine: Machine, cls: Class, name: str) -> bool:
    """True where a method of a parent calls the method on its own object: none that makes the object, trains or judges,
    or yields batch after batch, and not with nothing but the object's own settings (`self.set_up(self.config.data)`)."""
    return any(
        type(part) is ast.Call
        and type(part.func) is ast.Attribute
        and part.func.attr == name
        and getattr(part.func.value, "id", "") == "self"
        and not _is_given_settings(part)
        for parent in mro_of(machine, cls.info)[1:]
        for caller, node in members_of(parent).items()
        if isinstance(node, ast.FunctionDef)
        and not (caller == "__init__" or is_around(caller) or _yields(node))
        for part in walk(node)
    )


def _yields(node: ast.FunctionDef) -> bool:
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in walk(node))


def _is_given_settings(call: ast.Call) -> bool:
    """True for a call that is handed attributes of `self` only."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    texts = map(ast.unparse, given)
    return bool(given) and all(text.startswith("self.") and "(" not in text for text in texts)


def methods_called(machine: Machine, cls: Class) -> list[str]:
    """The public methods of a module class without a `forward` that its file calls on some object, outside
    of the class: what stands in the place of one (`agent.get_value(observation)`)."""
    if not is_module_class(machine, cls.info) or find_member(machine, cls.info, "forward"):
        return []
    if not set(external_bases(machine, cls.info)) <= set(MODULE_BASES):
        return []  # a base of another package may have a `forward`
    public = {name for name, node in members_of(cls.info).items() if is_public(name, node)}
    inside = set(map(id, walk(cls.info.node))) if public else set()
    called = {
        part.func.attr
        for part in (walk(cls.info.module.tree) if public else ())
        if type(part) is ast.Call
        and type(part.func) is ast.Attribute
        and type(part.func.value) is ast.Name
        and id(part) not in inside
    }
    return sorted(public & called)


def shows_tensors(machine: Machine, function: Value | None) -> bool:
    """True where an annotation or a use says that a parameter is a tensor."""
    if type(function) is not Function:
        return False
    shown, named = parameter_values(machine, function, False)
    return any(is_tensor(machine, value) for value in (*shown, *named.values()))


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


def is_property(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.FunctionDef) and [
        getattr(d, "id", "") for d in node.decorator_list
    ] == ["property"]


def is_public(name: str, node: ast.stmt) -> bool:
    """True for a method that users call in a region."""
    return (
        isinstance(node, ast.FunctionDef)
        and not (name.startswith("_") or is_around(name))
        and not node.decorator_list
        and len(node.args.args) > 1
    )


def _is_metric(machine: Machine, cls: Class, bases: tuple[str, ...]) -> bool:
    """True for a metric as torchmetrics has them, which are modules; those of others stand around models."""
    keeps_state = b"add_state(" in cls.info.module.text
    for name in bases:
        parts = name.split(".")
        if parts[-1] == METRIC and (keeps_state or parts[0] == TORCHMETRICS):
            return True
    return is_module_class(machine, cls.info) and any(
        parent.name == METRIC and parent.module.library for parent in mro_of(machine, cls.info)
    )
