"""Tests whose outcome says that code does not run in an ordinary compiled call: it is debugged,
profiled, exported, calibrated, runs in half precision, is handed a text, a path or something else instead of a
tensor, or has computed what is no number, or writes files."""

from __future__ import annotations

import ast
import re

from breakscope.rulekit.values import NONE, UNKNOWN, Function, Instance, Py, Value, options
from breakscope.rulekit.walking import kept_with_node, last_name, plain_parameters, walk
from breakscope.static.definitions.classes import (
    MODULE_BASES,
    external_bases,
    find_member,
    is_module,
    mro_of,
)
from breakscope.static.definitions.names import module_names
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.machine import Machine

WATCHED = frozenset(
    "debug debugging verbose verbosity profile profiler profiling export exporting exportable onnx "
    "tracing anomaly dump print plot plotting visualize visualise visualization torchscript scripting "
    "tflite tensorrt coreml tensorboard wandb logs calib calibrate calibrating calibration report reporter "
    "reporting monitor monitoring metrics".split()
)
# how arguments are called that say where to write what is kept of a call, or what to read in the place of tensors
WRITTEN = re.compile(
    r"^f?dir\d*$|(?:directory|folder|filename|filepath|file_path)s?\d*$|(?:^|_)(?:out|output|save|saved?|log|dump|write|export|frames)_?(?:path|dir|directory|folder|file|filename)$"
)
OPEN = frozenset({"unknown", "object"})  # of a value that may be None as well
# what is called to train, and to read a file
PREPARES = frozenset(
    {"backward", "zero_grad", "open", "load", "load_state_dict", "from_pretrained"}
)
TEXTS = frozenset({"str", "bytes", "Path", "PathLike"})
PICTURES = frozenset({"Image.Image", "PIL.Image.Image"})


def is_rare(test: ast.expr, truth: bool) -> bool:
    """True where a test has this outcome only in such calls."""
    return _rare_outcomes(test)[truth]


@kept_with_node
def _rare_outcomes(test: ast.expr) -> tuple[bool, bool]:
    return _is_rare(test, False), _is_rare(test, True)


def is_rare_here(machine: Machine, test: ast.expr, truth: bool, frame: Frame) -> bool:
    """The same, and where it follows from what the function is called with, or from its class."""
    if is_rare(test, truth):
        return True
    if type(test) is ast.UnaryOp and isinstance(test.op, ast.Not):
        return is_rare_here(machine, test.operand, not truth, frame)
    match test:
        case ast.Compare(ast.Name(), [ast.Is() | ast.IsNot() as op], [ast.Constant(None)]):
            return truth is (type(op) is ast.Is) and _is_handed(test.left, frame)
        case ast.Call(ast.Name("hasattr"), [ast.Name(owner), ast.Constant(str() as name)]):
            return truth and _is_never_set(machine, frame.names.get(owner, UNKNOWN), name)
        case ast.Call(ast.Name("isinstance"), [ast.Name(name), ast.Attribute(attr="Tensor")]):
            return not truth and _is_input(name, frame)
    return False


def _is_input(name: str, frame: Frame) -> bool:
    """True for what a region is given first, as nothing says what it is: where that is no tensor, what is compiled
    stands further in."""
    if frame.function is None or frame.depth != 1:
        return False
    spec, is_method = frame.function.node.args, frame.function.owner is not None
    first = [*spec.posonlyargs, *spec.args][is_method:][:1]
    return any(p.arg == name and p.annotation is None for p in first)


def _is_handed(parameter: ast.Name, frame: Frame) -> bool:
    """True for a parameter for which the call hands over what nothing says to be None: who has nothing leaves it out."""
    if frame.function is None or frame.depth == 1:
        return False
    node, value = frame.function.node, frame.names.get(parameter.id, NONE)
    if any(o.is_none or (type(o) is Py and o.type in OPEN) for o in options(value)):
        return False
    return parameter.id in {p.arg for p in plain_parameters(node)} and not any(
        type(part) is ast.Name and part.id == parameter.id and isinstance(part.ctx, ast.Store)
        for part in walk(node)
        if getattr(part, "lineno", node.end_lineno) < parameter.lineno
    )


def _is_never_set(machine: Machine, owner: Value, name: str) -> bool:
    """True for an attribute of a module that no file of its classes sets, or has: others would have to, by hand."""
    if type(owner) is not Instance or not is_module(machine, owner):
        return False
    if not set(external_bases(machine, owner.cls.info)) <= set(MODULE_BASES):
        return False
    files = {info.module.path: info.module for info in mro_of(machine, owner.cls.info)}
    sets = re.compile(rb"setattr\(|__dict__|\b%s\b *(?:[:=]|\()|def %s\b" % ((name.encode(),) * 2))
    return not any(sets.search(module.text) for module in files.values())


def _is_rare(test: ast.expr, truth: bool) -> bool:
    kind = type(test)
    if kind is ast.UnaryOp and isinstance(test.op, ast.Not):
        return is_rare(test.operand, not truth)
    if kind is ast.BoolOp:
        decides = any if (isinstance(test.op, ast.And)) is truth else all
        return decides([is_rare(operand, truth) for operand in test.values])
    if kind is ast.Compare:
        return len(test.ops) == 1 and _is_rare_comparison(test, truth)
    return _went_wrong(test, truth) or (truth and (is_watched(test) or _is_of_text(test)))


def _is_of_text(test: ast.expr) -> bool:
    """`isinstance(source, str)`, `isinstance(source, (str, Path))`, `isinstance(source, PIL.Image.Image)`."""
    if not isinstance(test, ast.Call) or getattr(test.func, "id", "") != "isinstance":
        return False
    types = test.args[1:] if len(test.args) == 2 else []
    parts = types[0].elts if types and isinstance(types[0], ast.Tuple) else types
    return bool(parts) and all(last_name(p) in TEXTS or ast.unparse(p) in PICTURES for p in parts)


def _went_wrong(test: ast.expr, truth: bool) -> bool:
    """True for `torch.isnan(x).any()` that holds, and `torch.isfinite(x).all()` that does not; not of a
    single number, as of a gradient's norm in a step that is skipped now and then."""
    if not isinstance(test, ast.Call):
        return False
    parts = [
        part for part in walk(test) if isinstance(part, ast.Attribute | ast.Name | ast.UnaryOp)
    ]
    names = {getattr(part, "attr", "") or getattr(part, "id", "") for part in parts}
    if any(isinstance(getattr(part, "op", None), ast.Invert) for part in parts):
        truth = not truth
    wrong = ("isnan", "isinf") if truth else ("isfinite",)
    return not names.isdisjoint(wrong) and not names.isdisjoint(("any", "all"))


def _is_rare_comparison(test: ast.Compare, truth: bool) -> bool:
    op, left, right = type(test.ops[0]), test.left, test.comparators[0]
    if op in (ast.Is, ast.Eq, ast.IsNot, ast.NotEq):
        same = truth is (op in (ast.Is, ast.Eq))
        if isinstance(right, ast.Constant) and not isinstance(right.value, str):
            return same is bool(right.value) and is_watched(left)
        return same and (is_watched(right) or _is_half(right))
    return op in (ast.Gt, ast.GtE) and truth and is_watched(left)


def _is_half(node: ast.expr) -> bool:
    """Compiled regions run in float32 or bfloat16 unless configured otherwise."""
    return isinstance(node, ast.Attribute) and node.attr in ("float16", "half")


def is_watched(node: ast.expr) -> bool:
    """True for what by its name says whether the program is debugged, profiled or exported, or where it writes."""
    if isinstance(node, ast.Call):
        if getattr(node.func, "id", "") == "hasattr":
            return False  # what has the attribute does not use it for that
        return is_watched(node.func) or any(map(is_watched, node.args))
    if isinstance(node, ast.Constant):
        name = node.value
    else:
        name = getattr(node, "attr", None) or getattr(node, "id", None)
    if not isinstance(name, str):
        return False
    if not WATCHED.isdisjoint(name.lower().split("_")) or WRITTEN.search(name.lower()):
        return True
    return isinstance(node, ast.Attribute) and is_watched(node.value)  # `self.debug.steps`


@kept_with_node
def is_deprecated(branch: ast.If) -> bool:
    """True for a branch that warns of being deprecated: callers have left what leads there."""
    expressions = [s.value for s in branch.body if isinstance(s, ast.Expr)]
    return any(_warns_of_deprecation(e) for e in expressions if isinstance(e, ast.Call))


def runs_once(machine: Machine, branch: ast.If, frame: Frame) -> bool:
    """True for what a program does once, in its first call, and as well might before it."""
    return _loads_once(machine, branch, frame) or _prepares_once(machine, branch, frame)


def _loads_once(machine: Machine, branch: ast.If, frame: Frame) -> bool:
    """True for `if KERNELS is None: KERNELS = load()` of a global, for which nothing of the function's own is needed,
    and for `if KERNELS is None: load()` of one that `load` sets: a program loads or builds such a thing once, in its
    first call."""
    match branch.test:
        case ast.Compare(ast.Name(name), [ast.Is()], [ast.Constant(None)]) if (
            name in frame.globals_
        ):
            parts = [part for statement in branch.body for part in walk(statement)]
        case _:
            return False
    values = [
        part.value
        for part in parts
        if isinstance(part, ast.Assign) and getattr(part.targets[0], "id", "") == name
    ]
    calls = [part for part in parts if isinstance(part, ast.Call) and not values]
    setters = [_function_named(machine, call.func, frame) for call in calls]
    values += [call for call, node in zip(calls, setters) if node is not None and _sets(node, name)]
    used = (part.id for value in values for part in walk(value) if type(part) is ast.Name)
    return bool(values) and frame.names.keys().isdisjoint(used)


def _sets(function: ast.AST, name: str) -> bool:
    """True for a function that sets a global."""
    return any(type(part) is ast.Global and name in part.names for part in walk(function))


def _prepares_once(machine: Machine, branch: ast.If, frame: Frame) -> bool:
    """True for `if self.codes is None: self.codes = self.fit(x)`, and for `if name not in MODELS: MODELS[name] =
    load(name)`, where something is trained, or read from a file, in the first call."""
    match branch.test:
        case ast.Compare(
            ast.Attribute() | ast.Subscript() as kept, [ast.Is()], [ast.Constant(None)]
        ):
            text = ast.unparse(kept)
        case ast.Compare(key, [ast.NotIn()], [ast.Attribute() | ast.Name() as kept]):
            text = f"{ast.unparse(kept)}[{ast.unparse(key)}]"
        case _:
            return False
    parts = [part for statement in branch.body for part in walk(statement)]
    stored = [part.targets[0] for part in parts if isinstance(part, ast.Assign)]
    if not any(ast.unparse(target) == text for target in stored):
        return False
    called = [_function_named(machine, p.func, frame) for p in parts if isinstance(p, ast.Call)]
    parts += [part for function in called if function is not None for part in walk(function)]
    return any(
        isinstance(part, ast.Call)
        and (getattr(part.func, "attr", "") or getattr(part.func, "id", "")) in PREPARES
        for part in parts
    )


def _function_named(machine: Machine, named: ast.expr, frame: Frame) -> ast.AST | None:
    """The source of what a call names: a function of the file, or a method of the object at hand."""
    if isinstance(named, ast.Name):
        found = module_names(machine, frame.module).get(named.id)
    elif isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name):
        owner = frame.names.get(named.value.id)
        is_object = type(owner) is Instance
        found = find_member(machine, owner.cls.info, named.attr) if is_object else None
    else:
        found = None
    return found.info.node if isinstance(found, Function) else None


def replaces_module(machine: Machine, branch: ast.If, frame: Frame) -> bool:
    """True for `if self.model.training: self.model = load()`: a branch that puts a new one in the place of a module
    whose own state is not what it should be. A module that is not there yet is made in the first call."""
    return any(
        type(owner := frame.names.get(name)) is Instance
        and any(is_module(machine, o) for o in options(owner.attributes.get(attribute, UNKNOWN)))
        for name, attribute in _replaced(branch)
    )


@kept_with_node
def _replaced(branch: ast.If) -> list[tuple[str, str]]:
    """The attributes of names that a branch tests, and sets to what a call gives."""
    made = [
        s.targets[0] for s in branch.body if type(s) is ast.Assign and type(s.value) is ast.Call
    ]
    parts = [part for t in made for part in (t.elts if type(t) is ast.Tuple else (t,))]
    stored = [p for p in parts if type(p) is ast.Attribute and type(p.value) is ast.Name]
    if not stored:
        return []
    tested = {ast.unparse(p) for p in walk(branch.test) if type(p) is ast.Attribute}
    return [(p.value.id, p.attr) for p in stored if ast.unparse(p) in tested]


def switches_what_it_tests(branch: ast.If) -> bool:
    """True for `if not self.warned: ...; self.warned = True`: a branch that runs once, in the first call."""
    is_not = type(branch.test) is ast.UnaryOp and isinstance(branch.test.op, ast.Not)
    test = branch.test.operand if is_not else branch.test
    return isinstance(test, ast.Attribute) and any(
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is is_not
        and any(
            ast.dump(test.value) == ast.dump(t.value) and test.attr == t.attr
            for t in statement.targets
            if isinstance(t, ast.Attribute)
        )
        for statement in branch.body
    )


def _warns_of_deprecation(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", "") or getattr(call.func, "id", "")
    if not name.startswith("warn"):
        return False
    texts = [
        p.value for p in walk(call) if isinstance(p, ast.Constant) and isinstance(p.value, str)
    ]
    return any("deprecat" in text.lower() for text in texts)
