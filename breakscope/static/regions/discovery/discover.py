"""Regions: the code of a file that Dynamo would trace."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from breakscope.rulekit.events import Call, Constructor, Event
from breakscope.rulekit.values import UNKNOWN, Class, Const, Function, Instance, Value
from breakscope.rulekit.walking import last_name, positional_parameters, walk
from breakscope.static.definitions.classes import bound_to, find_member, is_module_class, members_of
from breakscope.static.definitions.lightning import COUNTED, compiled_steps
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.frames import Activation, Frame, Raised
from breakscope.static.machine.gaps import why
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.state import RegionState
from breakscope.static.project.modules import FunctionInfo, ModuleInfo
from breakscope.static.regions.arguments import as_any_argument, parameter_values, takes_tensors
from breakscope.static.regions.by_programs import settle_by_programs
from breakscope.static.regions.configured import configured_instance, opened_flags, undecorated
from breakscope.static.regions.discovery.around import (
    is_around,
    is_aside,
    is_driver,
    is_training_step,
    reads_files,
)
from breakscope.static.regions.discovery.callers import COMPILES, follow_callers
from breakscope.static.regions.discovery.evidence import (
    ASIDE,
    BRIEF_HOOK,
    COMPILED,
    FORWARD,
    STEP,
    Evidence,
)
from breakscope.static.regions.discovery.hooks import hook_arguments, registered_hooks
from breakscope.static.regions.discovery.host_work import is_host_program
from breakscope.static.regions.discovery.names_of_files import is_file_around
from breakscope.static.regions.discovery.replaced import replaced_forwards
from breakscope.static.regions.discovery.steps import tensor_step
from breakscope.static.regions.driver import bound
from breakscope.static.regions.first_calls import settle_first_calls
from breakscope.static.regions.late_hooks import late_hooks
from breakscope.static.regions.programs import handed_by_program, program_regions
from breakscope.static.regions.region import Region

# makes an optimizer, takes a step of it, or goes backward
TRAINS = re.compile(r"torch\.optim\.(?:\w+\.)*[A-Z]|Tensor\.backward$")
LOADER = "torch.utils.data.DataLoader"
NOWHERE = ast.Pass(lineno=0, col_offset=0)


def default_regions(machine: Machine, module: ModuleInfo) -> list[Region]:
    """`forward` of every nn.Module class at the top of the file, `step` of other classes where it
    takes tensors, every function under torch.compile, what of other files is handed to it, what runs of
    compiled objects beside a `forward`, and what is registered as a forward hook or put in the place of a
    module's `forward`.

    The last classes go first: they use the earlier ones, which then need no analysis of their own.
    """
    names = module_names(machine, module)
    candidates = [
        v for v in names.values() if isinstance(v, Class | Function) and v.info.module is module
    ]
    machine.file.compiled.extend(compiled_by_name(machine, module))
    methods = follow_callers(machine, module)
    candidates += methods
    candidates += _compiled_in_functions(machine, module)
    candidates += _compiled_of_other_files(machine, module)
    regions: list[Region | None] = []
    for value in _each_once(candidates):
        regions += apart(machine, value, _region_of)
    for method in _methods_compiled(machine):
        regions += apart(machine, method, _region_of_method)
    for hook, evidence in registered_hooks(machine, module):
        regions += apart(machine, hook, partial(_hook_region, evidence=evidence))
    for function, *how in replaced_forwards(machine, module):
        regions += apart(machine, function, partial(_replaced_region, how=how))
    of_programs = program_regions(machine, module, enter)
    regions = [region for region in regions if region is not None]
    if of_programs:
        calls = [call for calls, _ in machine.file.programs for call in calls]
        settle_by_programs(regions, of_programs, calls)
    return regions + of_programs


def _compiled_in_functions(machine: Machine, module: ModuleInfo) -> list[Class | Function]:
    """What the file's code was seen to hand to torch.compile: functions, and for modules of classes that
    stand inside of a function, which no name at the top of the file leads to, their classes."""
    found: list[Class | Function] = []
    for value in machine.file.compiled:
        if isinstance(value, Instance) and value.cls.info.scope is not None:
            value = value.cls
        if isinstance(value, Class | Function) and value.info.module is module:
            found.append(value)
    return found


def _compiled_of_other_files(machine: Machine, module: ModuleInfo) -> list[Class | Function]:
    """What the file imports from the checked source, and compiles: functions, and the classes of modules."""
    return [
        value
        for value in _made_of(machine.file.compiled)
        if isinstance(value, Class | Function)
        and value.info.module is not module
        and not value.info.module.library
    ]


def _made_of(compiled: list[Value]) -> list[Value]:
    """What is compiled, with the classes in the place of objects."""
    return [v.cls if isinstance(v, Instance) else v for v in compiled]


def _methods_compiled(machine: Machine) -> list[Function]:
    """The methods that run of the objects that the file compiles, but the `forward` of modules: the steps of
    Lightning's, and what other objects are called by."""
    made = [v for v in _made_of(machine.file.compiled) if isinstance(v, Class)]
    classes = {id(v.info): v for v in made if not v.info.module.library}
    return [
        method
        for cls in classes.values()
        for name in (
            compiled_steps(machine, cls.info)
            if is_module_class(machine, cls.info)
            else ["__call__"]
        )
        if isinstance(member := find_member(machine, cls.info, name), Function)
        and isinstance(method := bound_to(member, configured_instance(machine, cls)), Function)
    ]


def _region_of_method(machine: Machine, method: Function) -> Region:
    values = parameter_values(machine, method, True, COUNTED)
    return enter(machine, method.info.qualname, method, *values)


def _each_once(candidates: list[Class | Function]) -> list[Class | Function]:
    """The candidates, the last first; one function compiled for several objects is one region."""
    by_source = {id(value.info): value for value in candidates}
    return list(reversed(by_source.values()))


def apart(
    machine: Machine, value: Class | Function, made: Callable[[Machine, Value], Region | None]
) -> list[Region | None]:
    """What `made` makes of a class or function, with a budget of its own; an error of ours in it
    costs no other region."""
    machine.budget.begin()
    try:
        return [made(machine, value)]
    except Exception as problem:
        machine.give_up(why(problem), value.info.node, Frame(value.info.module))
        return []


def compiled_by_name(machine: Machine, module: ModuleInfo) -> list[Value]:
    """What `torch.compile(name)` names anywhere in the file, also in functions that are not
    followed."""
    if COMPILES.search(module.source) is None:
        return []
    names = module_names(machine, module)
    found = []
    for node in walk(module.tree):
        if (
            isinstance(node, ast.Call)
            and _is_compile(node.func)
            and node.args
            and isinstance(node.args[0], ast.Name)
        ):
            found.append(resolve_import(machine, names.get(node.args[0].id, UNKNOWN)))
    return found


def _is_compile(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "compile"
        and isinstance(function.value, ast.Name)
        and (function.value.id == "torch")
    )


def _region_of(machine: Machine, value: Value) -> Region | None:
    if isinstance(value, Class):
        forward = find_member(machine, value.info, "forward")
        evidence = ASIDE if is_aside(machine, value, forward) else FORWARD
        return module_region(machine, value, evidence) or _step_region(machine, value)
    if not machine.file.is_compiled(value):
        return None
    value, args, kwargs = machine.file.calls.get(id(value.info), (value, [], {}))
    given = bound(machine, value, args, kwargs) if args or kwargs else {}
    return enter(
        machine,
        value.info.qualname,
        value,
        *parameter_values(
            machine, value, False, {name: as_any_argument(v) for name, v in given.items()}
        ),
    )


def module_region(machine: Machine, cls: Class, evidence: Evidence = FORWARD) -> Region | None:
    if not is_module_class(machine, cls.info):
        return None
    entry, own_call = "forward", find_member(machine, cls.info, "__call__")
    forward = find_member(machine, cls.info, entry)
    if isinstance(own_call, Function) and not isinstance(forward, Function):
        if reads_files(own_call) or is_driver(own_call):
            return None
        entry, forward = "__call__", own_call  # in place of a `forward`
    if not isinstance(forward, Function) or (
        only_raises(forward) and "__call__" not in members_of(cls.info)
    ):
        return None
    if _is_training_loop(forward) or machine.file.is_only_eager(forward) or _is_scripted(forward):
        return None
    name = f"{cls.info.qualname}.{entry}"
    # what a decorator puts around it may be around other methods, too
    own = undecorated(machine, cls.info, entry, forward)
    key = id(cls.info), id(own.info)
    absent, given = machine.summaries.reached.get(key, (frozenset(), None))
    is_known = given is not None and not _has_other_flag(own.info, given)
    if is_known and not takes_tensors(machine, own, absent):
        return Region(name, Activation(name, cls.info.module, cls.info.node.lineno))
    instance = configured_instance(machine, cls)
    bound = bound_to(forward, instance)
    if not isinstance(bound, Function):
        return None
    taken = undecorated(machine, cls.info, entry, bound)
    target, entered = instance, bound_to(own_call, instance)
    if isinstance(entered, Function) and is_driver(entered):
        target = bound  # what its own `__call__` drives
    elif isinstance(entered, Function) and (
        len(entered.info.node.args.args) > 1 or only_raises(forward)
    ):
        taken = entered  # the class is called by its own `__call__`
    # who inherits a library's forward enters it there
    at = cls.info.node if forward.info.module.library else NOWHERE
    known = {parameter: as_any_argument(value) for parameter, value in (given or {}).items()}
    known = handed_by_program(machine, own) | known
    values = parameter_values(machine, taken, True, known)
    region = enter(machine, name, target, *values, at, evidence)
    if entry == "__call__" and region.meets(_makes_module):
        return None  # it makes a model, or loads it
    is_compiling = COMPILES.search(cls.info.module.source) is not None
    is_left = evidence is FORWARD and not is_compiling
    if is_left and (region.surely_does(_trains) or is_host_program(region)):
        region = enter(machine, name, target, *values, at, ASIDE)
    if region.raises and opened_flags(machine, instance):
        return enter(machine, name, target, *values, at, evidence)
    if machine.region.leaves_other_state():
        again = enter(machine, name, target, *values, at, evidence)
        return replace(region, again=again.activation)
    return region


def _makes_module(event: Event) -> bool:
    return type(event) is Constructor


def _trains(event: Event) -> bool:
    """Of a module whose `forward` does, a program compiles the parts, and not what goes over data and improves them."""
    return type(event) is Call and (TRAINS.match(event.name) is not None or _makes_loader(event))


def _makes_loader(event: Call) -> bool:
    """True for a call of the class, not of what a loader has: going over one has its name, too."""
    func = event.node.func if event.name == LOADER and type(event.node) is ast.Call else None
    return func is not None and last_name(func).endswith("DataLoader")


def _has_other_flag(info: FunctionInfo, given: dict[str, Value]) -> bool:
    """True where the file names the other value of a flag that regions have given the function, as code that
    nobody compiles here does (`self.flow(z, reverse=True)`)."""
    return any(
        type(value) is Const
        and type(value.value) is bool
        and re.search(
            rb"\b%s=%s\b" % (name.encode(), str(not value.value).encode()), info.module.text
        )
        for name, value in given.items()
    )


def _hook_region(machine: Machine, hook: Function, evidence: Evidence) -> Region | None:
    if machine.file.is_only_eager(hook) or is_file_around(hook.info.module):
        return None
    if id(hook.info) in late_hooks(machine):
        return None
    if any(
        map(is_around, hook.info.qualname.split("."))
    ):  # its own name, or one around it: `summary.hook`
        return None
    arguments = hook_arguments(machine, hook)
    return enter(machine, hook.info.qualname, hook, *arguments, evidence=evidence)


def _replaced_region(machine: Machine, function: Function, how: list) -> Region:
    args, kwargs, evidence = how
    return enter(machine, function.info.qualname, function, args, kwargs, evidence=evidence)


def _step_region(machine: Machine, cls: Class) -> Region | None:
    step = tensor_step(machine, cls)
    if step is None:
        return None
    values = parameter_values(machine, step, True)
    return enter(machine, f"{cls.info.qualname}.step", step, *values, evidence=STEP)


def _is_training_loop(forward: Function) -> bool:
    """True for the `forward` of a trainer that is written as a module: it is given nothing, and
    trains."""
    spec = forward.info.node.args
    given = (
        positional_parameters(forward.info.node)[1:] or spec.kwonlyargs or spec.vararg or spec.kwarg
    )
    return not given and is_training_step(forward.info.node)


def _is_scripted(forward: Function) -> bool:
    """True for a method of a `torch.jit.ScriptModule` that runs in the TorchScript runtime, which Dynamo does not
    look into."""
    decorators = getattr(forward.info.node, "decorator_list", [])
    return any(ast.unparse(d).endswith("script_method") for d in decorators)


def only_raises(function: Function) -> bool:
    """An abstract forward."""
    if isinstance(function.info.node, ast.Lambda):
        return False
    body = [
        s
        for s in function.info.node.body
        if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    return bool(body) and all(isinstance(s, ast.Raise | ast.Pass) for s in body)


def home_of(target: Instance | Function) -> ModuleInfo:
    return target.info.module if isinstance(target, Function) else target.cls.info.module


def enter(
    machine: Machine,
    name: str,
    target: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    at: ast.AST = NOWHERE,
    evidence: Evidence = COMPILED,
) -> Region:
    """Interpret a region's call and keep what was seen, also when the work grows over the budget."""
    module = home_of(target) if isinstance(target, Instance | Function) else machine.file.module
    if module.library:
        module = machine.file.module
    activation = Activation("", module, 0)
    frame = Frame(module, None, None, activation, True, 0, "", certainty=evidence.certainty)
    machine.region = RegionState(is_hook=evidence.is_hook, is_brief=evidence is BRIEF_HOOK)
    machine.budget.begin()
    value: Value = UNKNOWN
    raises = False
    try:
        value = machine.call(target, args, kwargs, at, frame)
    except Raised:
        raises = True
    except Exception as problem:
        where = getattr(target, "info", None) or getattr(getattr(target, "cls", None), "info", None)
        machine.give_up(why(problem), where.node if where else at, Frame(module), name)
    machine.region.end(activation)
    settle_first_calls(machine.region, activation)
    return Region(name, activation, value, raises)
