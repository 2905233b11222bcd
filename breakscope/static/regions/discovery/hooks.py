"""Functions that a file registers as forward hooks: Dynamo traces them with the module that they are
put on, whichever that is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec.structs import replace

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Dict,
    Function,
    Instance,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.rulekit.walking import last_name, nodes_of, positional_parameters, walk
from breakscope.static.definitions.binding import bind_arguments
from breakscope.static.definitions.classes import (
    bound_to,
    external_bases,
    find_member,
    is_module_class,
)
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.frames import Frame, OutOfBudget, Raised
from breakscope.static.machine.lattice import join, join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.regions.arguments import parameter_values
from breakscope.static.regions.configured import configured_instance
from breakscope.static.regions.discovery.brief_hooks import (
    is_named_briefly,
    is_put_on_briefly,
    is_session,
    takes_itself_off,
)
from breakscope.static.regions.discovery.callers import COMPILES
from breakscope.static.regions.discovery.evidence import BRIEF_HOOK, HOOK, WATCHING_HOOK, Evidence
from breakscope.static.regions.uses.bodies import Usage

REGISTERS = frozenset(
    {
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_module_forward_hook",
        "register_module_forward_pre_hook",
    }
)
# mostly what other layers made, not an input of the graph
MADE = Tensor(sure=False)
GIVEN = Sequence("tuple", None, MADE)
# what hooks call the module, what it is given, and what it returns or is given by keyword
PARAMETERS = (
    re.compile(r"_*|m|mod|module|layer"),
    re.compile(r"((\w*_)?hook_|mod_|module_|layer_|_)?(in|inp|inps|input|inputs|args|given)_?"),
    re.compile(r"((\w*_)?hook_|mod_|module_|layer_|_)?(out|outs|output|outputs|result|kwargs)_?"),
    re.compile(r"((\w*_)?hook_|mod_|module_|layer_|_)?(out|outs|output|outputs|result)_?"),
)


IMPORTS_TORCH = re.compile(r"(?m)^\s*(?:import|from)\s+torch\b")


def registered_hooks(machine: Machine, module: ModuleInfo) -> list[tuple[Function, Evidence]]:
    """The hooks of a file: functions and methods of it, what is defined where it is registered, what
    another function of it makes, and the entries of a table; and what its name and its parameters
    show to be one, which another file may register. Each with what tells whether it runs with a compiled
    module."""
    if "hook" not in module.source:
        return []
    names = module_names(machine, module)
    classes = classes_at(module, names)
    found: dict[tuple[int, int], tuple[Function, Evidence]] = {}
    for statement in module.tree.body:
        cls = classes.get(statement)
        for outer, hook in _registered(statement):
            frame = around(machine, module, names, cls, outer)
            is_brief = is_put_on_briefly(module, statement, outer)
            for value in functions_of(machine, hook, frame, outer):
                if is_of(module, value):
                    is_short = is_brief or takes_itself_off(value.info.node)
                    evidence = BRIEF_HOOK if is_short else _evidence(machine, cls, value)
                    found.setdefault(key_of_hook(value), (value, evidence))
        for value in _by_their_names(machine, names, cls, statement):
            is_brief = is_session(statement) or is_named_briefly(module, value.info.name)
            evidence = BRIEF_HOOK if is_brief else _evidence(machine, cls, value)
            found.setdefault(key_of_hook(value), (value, evidence))
    return list(found.values())


def is_of(module: ModuleInfo, function: Function) -> bool:
    """True for a function of the file, and for an inherited method, or what it makes, on an object of one of the
    file's classes."""
    owner, home = _owner(function), function.info.module
    is_inherited = owner is not None and owner.cls.info.module is module and not home.library
    return home is module or is_inherited


def key_of_hook(function: Function) -> tuple[int, int]:
    """A method is another hook on an object of a subclass, whose methods it calls."""
    owner = _owner(function)
    return id(function.info), 0 if owner is None else id(owner.cls.info)


def _owner(function: Function) -> Instance | None:
    """The object of a method, and of what a method makes."""
    owner = function.bound or (function.scope and function.scope.names.get("self"))
    return owner if type(owner) is Instance else None


def classes_at(module: ModuleInfo, names: dict[str, Value]) -> dict[ast.stmt, Class]:
    """The classes of a file by the statements that define them."""
    return {
        value.info.node: value
        for value in names.values()
        if isinstance(value, Class) and value.info.module is module
    }


def _evidence(machine: Machine, cls: Class | None, hook: Function) -> Evidence:
    """Modules and optimizers put hooks on what they run, as does a file on what it compiles; of others one that neither
    gives anything nor changes what it is given looks at a model that somebody else has."""
    if IMPORTS_TORCH.search(hook.info.module.source) is None:
        return WATCHING_HOOK  # of another framework's modules
    if COMPILES.search(hook.info.module.source) is not None:
        return HOOK
    if cls is not None:
        bases = external_bases(machine, cls.info)
        is_optimizer = any(name.startswith("torch.optim.") for name in bases)
        if is_optimizer or is_module_class(machine, cls.info):
            return HOOK
    return HOOK if _has_effect(hook.info.node) else WATCHING_HOOK


def _has_effect(node: ast.FunctionDef | ast.Lambda) -> bool:
    """True for a function with a result, and for one that changes an argument; not for one that counts on it:
    `module.flops += batch * size`."""
    if isinstance(node, ast.Lambda):
        return True
    given = {p.arg for p in positional_parameters(node)} - {"self"}
    counted = {
        id(part.target)
        for part in walk(node)
        if type(part) is ast.AugAssign
        and type(part.op) is ast.Add
        and type(getattr(part.target, "value", None)) is ast.Name
    }
    for part in walk(node):
        if type(part) is ast.Return and getattr(part.value, "value", part.value) is not None:
            return True
        if type(part) is ast.Call:
            name = last_name(part.func)
            is_in_place = type(part.func) is ast.Attribute and name.endswith("_")
            if name == "setattr" or (is_in_place and not name.endswith("__")):
                return True
        if type(part) in (ast.Attribute, ast.Subscript) and not isinstance(part.ctx, ast.Load):
            if _root(part) in given and id(part) not in counted:
                return True
    return False


def _root(node: ast.expr) -> str:
    while type(node) in (ast.Attribute, ast.Subscript):
        node = node.value
    return getattr(node, "id", "")


def _by_their_names(
    machine: Machine, names: dict[str, Value], cls: Class | None, statement: ast.stmt
) -> Iterator[Function]:
    """The function, or the methods of the class, that a statement defines with the name and the
    parameters of a hook."""
    if isinstance(statement, ast.FunctionDef) and _is_hook(statement, 0):
        value = resolve_import(machine, names.get(statement.name, UNKNOWN))
        if isinstance(value, Function) and value.info.node is statement:
            yield value
    for part in statement.body if cls is not None else ():
        if isinstance(part, ast.FunctionDef) and not part.decorator_list and _is_hook(part, 1):
            member = find_member(machine, cls.info, part.name)
            method = bound_to(member, configured_instance(machine, cls))
            if isinstance(method, Function):
                yield method


def _is_hook(node: ast.FunctionDef, first: int) -> bool:
    names = [p.arg for p in positional_parameters(node)][first:]
    return (
        "hook" in node.name
        and len(names) in (2, 3, 4)
        and all(form.fullmatch(name) for form, name in zip(PARAMETERS, names, strict=False))
    )


def _registered(statement: ast.stmt) -> Iterator[tuple[ast.FunctionDef | None, ast.expr]]:
    """What is registered, and the function or method around it; none at the top of the file."""
    for outer, node in nodes_of(statement):
        if type(node) is ast.Call:
            name = last_name(node.func)
            given = node.args[:1] or [k.value for k in node.keywords if k.arg == "hook"]
            if name in REGISTERS and given:
                yield outer, given[0]


def around(
    machine: Machine,
    module: ModuleInfo,
    names: dict[str, Value],
    cls: Class | None,
    outer: ast.FunctionDef | None,
) -> Frame:
    """Where a hook is registered, or a `forward` set: in a function or method, whose parameters and inner functions the
    frame has."""
    frame = Frame(module)
    if outer is None:
        return frame
    function = resolve_import(machine, names.get(outer.name, UNKNOWN))
    if cls is not None:
        member = find_member(machine, cls.info, outer.name)
        function = bound_to(member, configured_instance(machine, cls))
    if not isinstance(function, Function) or function.info.node is not outer:
        return frame
    values, named = parameter_values(machine, function, False)
    owner = [] if function.bound is None else [function.bound]
    info = function.info
    frame = Frame(module, info, function.scope, None, False, 0, info.qualname)
    frame.names = bind_arguments(machine, info, [*owner, *values], named, function.scope)
    for statement in _makes_inner(outer):
        try:
            machine.exec(statement, frame)
        except (Raised, OutOfBudget):
            continue
    return frame


def _makes_inner(outer: ast.FunctionDef) -> list[ast.stmt]:
    """The inner functions, and what gives the names that they read their values, in their order."""
    inner = [p for p in walk(outer) if isinstance(p, ast.FunctionDef) and p is not outer]
    read = {
        part.id
        for function in inner
        for part in walk(function)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }
    within = {id(part) for function in inner for part in walk(function) if part is not function}
    made = [
        part
        for part in walk(outer)
        if isinstance(part, ast.Assign | ast.AnnAssign)
        and id(part) not in within
        and not read.isdisjoint(_bound_by(part))
    ]
    return sorted([*inner, *made], key=lambda statement: statement.lineno)


def _bound_by(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    """The names that an assignment gives a value; those that it reads on its left are none of them."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = (part for target in targets for part in walk(target) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def functions_of(
    machine: Machine, hook: ast.expr, frame: Frame, outer: ast.FunctionDef | None
) -> list[Function]:
    """What the expression may be: a function by its name, out of a table, or as another makes it."""
    if isinstance(hook, ast.Name) and outer is not None and hook.id not in frame.names:
        given = [
            part.value
            for part in walk(outer)
            if isinstance(part, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == hook.id for t in part.targets)
        ]
        hook = given[0] if len(given) == 1 else hook
    table = _table(hook)
    try:
        value = machine.eval(hook if table is None else table, frame)
    except (Raised, OutOfBudget):
        return []
    if table is not None:
        values = [*value.items.values(), value.element] if isinstance(value, Dict) else []
    else:
        values = [value]
    return [v for value in values for v in options(value) if isinstance(v, Function)]


def _table(hook: ast.expr) -> ast.expr | None:
    """`TABLE` of `TABLE[key]` and `TABLE.get(key)`: which entry is taken, some module's class
    decides."""
    if isinstance(hook, ast.Subscript):
        return hook.value
    is_get = isinstance(hook, ast.Call) and getattr(hook.func, "attr", "") == "get"
    return hook.func.value if is_get else None


def hook_arguments(machine: Machine, hook: Function) -> tuple[list[Value], dict[str, Value]]:
    """The module, the tuple of what it is given, and for a hook behind it what it returns."""
    spec = hook.info.node.args
    first = (hook.bound is not None) + len(hook.args)
    parameters = positional_parameters(hook.info.node)[first:]
    bound = [d for d in spec.defaults if not (type(d) is ast.Constant and d.value is None)]
    parameters = parameters[: len(parameters) - len(bound)]  # `index=index` of a loop around it
    given: dict[str, Value] = {parameters[1].arg: GIVEN} if len(parameters) > 1 else {}
    made = _behind(parameters)
    if made is not None and "isinstance" in Usage(hook.info).of(made.arg):
        given[made.arg] = join(GIVEN.element, GIVEN)
    values, named = parameter_values(machine, hook, True, given)
    if parameters and parameters[0].annotation is None:
        values[len(hook.args)] = UNKNOWN  # the module, which is no tensor however it is used
    at = len(hook.args) + parameters.index(made) if made is not None else -1
    if made is not None:
        values[at] = _as_made(values[at])
    taken = {name for name, _ in hook.kwargs}  # by functools.partial, as hook.args are
    free = zip(parameters, values[len(hook.args) :], strict=False)
    return (
        [value for parameter, value in free if parameter.arg not in taken],
        {name: value for name, value in named.items() if name not in taken},
    )


def _as_made(value: Value) -> Value:
    """What a module returns is no input of the graph, and is computed with its parameters."""
    if value is UNKNOWN:
        return MADE
    if type(value) is Tensor:
        return replace(value, origin="op", requires_grad=True)
    if isinstance(value, Union):
        return join_all([_as_made(option) for option in value.options])
    return value.rebuilt(_as_made)


def _behind(parameters: list[ast.arg]) -> ast.arg | None:
    """The parameter for what the module returns: the last, unless that are keyword arguments."""
    if len(parameters) < 3 or "kw" in parameters[-1].arg:
        return None
    return parameters[3] if len(parameters) > 3 and "kw" in parameters[2].arg else parameters[2]
