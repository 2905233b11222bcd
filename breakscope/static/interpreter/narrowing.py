"""What follows of names from a condition that is true or false, and from taking a shape apart."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Const,
    External,
    Function,
    Instance,
    Py,
    Tensor,
    Union,
    Value,
    options,
)
from breakscope.rulekit.walking import kept_with_node, positional_parameters
from breakscope.static.definitions.annotations import value_of_class
from breakscope.static.definitions.classes import mro_of
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import join_all
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import FunctionInfo
from breakscope.static.variables.operators.instance_checks import (
    is_instance,
    is_tensor_type,
    value_of_type,
)
from breakscope.static.variables.tensors.by_method import TENSOR_ONLY
from breakscope.static.variables.tensors.dtypes import NARROWED, kind_of_dtype

GUESSED = Tensor(sure=False, origin="guess")
ASKED = replace(GUESSED, origin="argument")
OF_TENSORS = frozenset({"ndim", "is_cuda", "is_leaf", "grad_fn", "requires_grad"})
TAKE_MASK = frozenset(
    {"masked_fill", "masked_fill_", "masked_select"}
)  # torch refuses any but bools


def narrow_by(machine: Machine, test: ast.expr, truth: bool, frame: Frame) -> None:
    """Narrow the names in a condition that is true, or false."""
    kind = type(test)
    if kind is ast.UnaryOp and isinstance(test.op, ast.Not):
        narrow_by(machine, test.operand, not truth, frame)
    elif kind is ast.BoolOp:
        is_and = isinstance(test.op, ast.And)
        if is_and == truth:
            for operand in test.values:
                narrow_by(machine, operand, truth, frame)
        else:  # `a and b` is false while b is true: so a is false
            truths = machine.region.operand_truths.get(id(test), ())
            open_ = [o for o, known in zip(test.values, truths) if known is not is_and]
            if len(truths) == len(test.values) and len(open_) == 1:
                narrow_by(machine, open_[0], truth, frame)
    elif kind is ast.Compare and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is | ast.IsNot):
        right = test.comparators[0]
        if isinstance(right, ast.Constant) and right.value is None:
            narrow_to(test.left, (isinstance(test.ops[0], ast.Is)) == truth, frame)
    elif kind is ast.Compare and all([isinstance(op, ast.Eq | ast.NotEq) for op in test.ops]):
        if not (narrow_by_name(test, truth, frame) or narrow_by_dtype(test, truth, frame)):
            narrow_by_count(test, truth, frame)
    elif (
        kind is ast.Call
        and isinstance(test.func, ast.Name)
        and test.func.id == "isinstance"
        and len(test.args) == 2
    ):
        narrow_isinstance(machine, test.args[0], test.args[1], truth, frame)
    elif (
        kind is ast.Call
        and isinstance(test.func, ast.Attribute)
        and test.func.attr == "is_tensor"
        and len(test.args) == 1
    ):
        narrow_isinstance(
            machine, test.args[0], ast.copy_location(ast.Constant("is_tensor"), test), truth, frame
        )
    elif kind is ast.NamedExpr:
        narrow_by(machine, test.target, truth, frame)
    elif kind is ast.Name and _is_flag(frame.names.get(test.id)):
        frame.names[test.id] = Const(truth)
    elif kind in (ast.Name, ast.Attribute) and truth:
        narrow_to(test, False, frame)


def _is_flag(value: Value | None) -> bool:
    """True for what is True or False, as the caller chooses."""
    return type(value) is Py and value.type == "bool" and value.source == "argument"


def narrow_to(node: ast.expr, is_none: bool, frame: Frame) -> None:
    """Keep only None, or everything but None, of a name or `machine.getattr`."""
    value = peek_value(node, frame)
    if value is None:
        return
    if is_none:
        kept = [o for o in options(value) if o.is_none]
        rebind_name(node, kept[0] if kept else Const(None) if value.is_unknown else value, frame)
    elif type(value) is Union:
        kept = [o for o in value.options if not o.is_none]
        if kept and len(kept) < len(value.options):
            rebind_name(node, join_all(kept), frame)


def narrow_isinstance(
    machine: Machine, node: ast.expr, types: ast.expr, truth: bool, frame: Frame
) -> None:
    value = peek_value(node, frame)
    if value is None:
        return
    wanted = External("torch.Tensor")
    if not isinstance(types, ast.Constant):
        with frame.silent():
            wanted = machine.eval(types, frame)
    verdicts = [(o, is_instance(machine, o, wanted, frame)) for o in options(value)]
    kept = [
        o for o, verdict in verdicts if verdict is truth or (verdict is None and not o.is_unknown)
    ]
    if truth and True in [verdict for _, verdict in verdicts]:  # others only may be of the class
        kept = [o for o, verdict in verdicts if verdict or (o in kept and type(o) is not Tensor)]
    if truth and type(wanted) is Class:
        kept = [_of_subclass(machine, option, wanted) for option in kept]
    is_open = verdicts[0][1] is None
    if type(value) is Tensor and value.is_argument and kept == [value] and is_open:
        if not truth and is_tensor_type(machine, wanted):
            rebind_name(node, UNKNOWN, frame)  # where it is no tensor
        elif truth and not is_tensor_type(
            machine, wanted
        ):  # another than was guessed, or annotated
            rebind_name(node, value_of_type(machine, wanted) or UNKNOWN, frame)
    elif kept:
        if not truth and is_tensor_type(machine, wanted):
            kept = [_of_other_class(option) for option in kept]
        rebind_name(node, join_all(kept), frame)
    elif truth:
        made = value_of_type(machine, wanted)
        if made is not None:
            rebind_name(node, made, frame)


def _of_subclass(machine: Machine, value: Value, wanted: Class) -> Value:
    """An object known by its annotation only, of a class from which the one that was asked for derives."""
    if type(value) is not Instance or not machine.objects.is_annotated(value):
        return value
    is_base = value.cls.info in mro_of(machine, wanted.info)[1:]
    return value_of_class(machine, wanted) if is_base else value


def _of_other_class(value: Value) -> Value:
    """A tensor that is not of the class asked for may be a plain one."""
    of_subclass = type(value) is Tensor and value.kind == "subclass"
    return replace(value, kind="") if of_subclass else value


def narrow_by_name(test: ast.Compare, truth: bool, frame: Frame) -> bool:
    """Narrow one of several functions whose name is compared: `f` of `f.__name__ == "softmax"`. False where
    the test compares no name."""
    name = test.comparators[0]
    if not (
        isinstance(test.left, ast.Attribute)
        and test.left.attr == "__name__"
        and isinstance(name, ast.Constant)
    ):
        return False
    value, is_wanted = peek_value(test.left.value, frame), isinstance(test.ops[0], ast.Eq) == truth
    if type(value) is Union:
        named = [(o, _name_of(o)) for o in value.options]
        kept = [o for o, known in named if known is None or (known == name.value) is is_wanted]
        if kept:
            rebind_name(test.left.value, join_all(kept), frame)
    return True


def narrow_by_dtype(test: ast.Compare, truth: bool, frame: Frame) -> bool:
    """Narrow a tensor whose dtype is, or is not another than, one of narrow whole numbers: `mask.dtype != torch.uint8`.
    False where the test compares no dtype with one."""
    dtype = test.comparators[0]
    if not (
        isinstance(test.left, ast.Attribute)
        and test.left.attr == "dtype"
        and isinstance(dtype, ast.Attribute)
        and (kind := kind_of_dtype(f"torch.{dtype.attr}")) in NARROWED
    ):
        return False
    value, is_equal = peek_value(test.left.value, frame), isinstance(test.ops[0], ast.Eq)
    if is_equal == truth and type(value) is Tensor and value.dtype in (None, "int"):
        rebind_name(test.left.value, replace(value, dtype="int", kind=kind), frame)
    return True


def _name_of(value: Value) -> str | None:
    if type(value) is Function and not isinstance(value.info.node, ast.Lambda):
        return value.info.name
    return value.name.rpartition(".")[2] if type(value) is External else None


def narrow_by_count(test: ast.Compare, truth: bool, frame: Frame) -> None:
    """Narrow the tensors whose number of dimensions, or whose shape, is compared in a test that is
    true, or false: `x` of `x.ndim == 2`, both of `x.ndim == y.ndim == 2`."""
    *compared, right = [test.left, *test.comparators]
    if {isinstance(op, ast.Eq) for op in test.ops} != {truth} or not (truth or len(compared) == 1):
        return
    is_count = isinstance(right, ast.Constant) and type(right.value) is int
    ndim = right.value if is_count else _length(right)
    for left in compared if ndim is not None else ():
        node = _counted_tensor(left) if is_count else _shaped_tensor(left)
        if node is not None:
            _narrow(node, ndim, frame)


def narrow_by_unpacking(node: ast.Assign, frame: Frame) -> None:
    """Narrow `x` in `a, b = x.shape`, and in `a, b, c = *x.shape, x.device`."""
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple):
        return
    others = 0
    if isinstance(value, ast.Tuple):
        parts = [part.value for part in value.elts if isinstance(part, ast.Starred)]
        if len(parts) != 1:
            return
        others, value = len(value.elts) - 1, parts[0]
    shaped = _shaped_tensor(value)
    if shaped is not None and not any([isinstance(part, ast.Starred) for part in target.elts]):
        _narrow(shaped, len(target.elts) - others, frame)


def narrow_by_call(machine: Machine, node: ast.Call, callee: Value, frame: Frame) -> None:
    """What only tensors have a method for, and what torch takes for a tensor, is one from here on:
    `x` of `x.unsqueeze(0)` and of `F.relu(x)`, where nothing was known of it. What it takes for a
    mask is of bools."""
    func, name = node.func, callee.name if type(callee) is External else ""
    if type(func) is ast.Attribute and func.attr in TENSOR_ONLY:
        _take_for_tensor(func.value, frame)
        if func.attr in TAKE_MASK and node.args:
            take_for_mask(node.args[0], frame, sure=True)
        elif func.attr in ("any", "all"):
            take_for_mask(func.value, frame)
    if name == "torch.where" and len(node.args) == 3:
        take_for_mask(node.args[0], frame, sure=True)
    elif name and node.args and _takes_tensor_first(machine, name):
        _take_for_tensor(node.args[0], frame)


def narrow_by_attribute(node: ast.Attribute, owner: Value, frame: Frame) -> Value:
    """What is asked for what only tensors and arrays have is one from here on, where nothing was known
    of it: `x` of `x.ndim`."""
    if owner is UNKNOWN and node.attr in OF_TENSORS and type(node.value) is ast.Name:
        frame.names[node.value.id] = owner = ASKED
    return owner


def narrow_by_guard(node: ast.Call, callee: Value, frame: Frame) -> None:
    """What is handed to a function that begins with a refusal of None is not None from here on."""
    if type(callee) is not Function or not (refused := _refusals_of_none(callee.info)):
        return
    parameters = [p.arg for p in positional_parameters(callee.info.node)][
        callee.bound is not None :
    ]
    starred = [isinstance(argument, ast.Starred) for argument in node.args]
    given = {} if any(starred) else dict(zip(parameters, node.args))
    given |= {keyword.arg: keyword.value for keyword in node.keywords}
    for name in refused:
        if isinstance(argument := given.get(name), ast.Name):
            narrow_to(argument, False, frame)


@kept_with_node
def _refusals_of_none(info: FunctionInfo) -> list[str]:
    """The names in `if name is None: raise ...` and `assert name is not None` at the start of a function."""
    refused: list[str] = []
    for statement in info.node.body if isinstance(info.node, ast.FunctionDef) else ():
        match statement:
            case ast.Expr(ast.Constant()):
                continue
            case ast.If(
                ast.Compare(ast.Name(name), [ast.Is()], [ast.Constant(None)]), [*_, ast.Raise()], []
            ) | ast.Assert(ast.Compare(ast.Name(name), [ast.IsNot()], [ast.Constant(None)])):
                refused.append(name)
            case _:
                break
    return refused


def _takes_tensor_first(machine: Machine, name: str) -> bool:
    head, _, last = name.rpartition(".")
    return head == "torch.nn.functional" or (
        head == "torch" and last in machine.library.tensor_names
    )


def _take_for_tensor(node: ast.expr, frame: Frame) -> None:
    if type(node) is ast.Name and frame.names.get(node.id) is UNKNOWN:
        frame.names[node.id] = GUESSED


def take_for_mask(node: ast.expr, frame: Frame, sure: bool = False) -> None:
    """A tensor of which only this is known, that it is used as masks are, is of bools; `sure` where
    torch takes no other."""
    value = frame.names.get(node.id) if type(node) is ast.Name else None
    if value is UNKNOWN and sure:
        frame.names[node.id] = replace(GUESSED, dtype="bool")
    elif type(value) is Tensor and not value.dtype:
        frame.names[node.id] = replace(value, dtype="bool", sure=sure and value.sure)


def _counted_tensor(node: ast.expr) -> ast.expr | None:
    """`x` of `x.ndim`, `x.dim()` and `len(x.shape)`."""
    match node:
        case ast.Attribute(owner, "ndim") | ast.Call(
            ast.Attribute(owner, "dim" | "ndimension"), [], []
        ):
            return owner
        case ast.Call(ast.Name("len"), [shape], []):
            return _shaped_tensor(shape)
    return None


def _shaped_tensor(node: ast.expr) -> ast.expr | None:
    """`x` of `x.shape` and `x.size()`."""
    match node:
        case ast.Attribute(owner, "shape") | ast.Call(ast.Attribute(owner, "size"), [], []):
            return owner
    return None


def _length(node: ast.expr) -> int | None:
    """The number of items of a tuple or list that is written out, `(3, 3)` or `torch.Size([3, 3])`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        is_size = isinstance(node.func, ast.Attribute) and node.func.attr == "Size"
        node = node.args[0] if is_size else node
    is_open = not isinstance(node, ast.Tuple | ast.List) or any(
        [isinstance(part, ast.Starred) for part in node.elts]
    )
    return None if is_open else len(node.elts)


def _narrow(node: ast.expr, ndim: int, frame: Frame) -> None:
    value = peek_value(node, frame)
    if value is None:
        return
    kept = [option for option in options(value) if _may_have(option, ndim)]
    narrowed = [_with(option, ndim) for option in kept]
    if narrowed and narrowed != list(options(value)):
        rebind_name(node, join_all(narrowed), frame)


def _may_have(value: Value, ndim: int) -> bool:
    return type(value) is not Tensor or value.ndim in (None, ndim)


def _with(value: Value, ndim: int) -> Value:
    """Only a tensor has dimensions, or an array: what was guessed is one, and what was not known."""
    if value is UNKNOWN:
        return replace(ASKED, ndim=ndim)
    if type(value) is not Tensor:
        return value
    return replace(value, ndim=ndim, origin="argument" if value.origin == "guess" else value.origin)


def peek_value(node: ast.expr, frame: Frame) -> Value | None:
    """The value of a plain name or of `name.attribute` narrowed before, without events."""
    if isinstance(node, ast.Name):
        return frame.names.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        narrowed = frame.names.get(f"{node.value.id}.{node.attr}")
        if narrowed is not None:
            return narrowed
        owner = frame.names.get(node.value.id)
        if isinstance(owner, Instance):
            return owner.attributes.get(node.attr)
    return None


def rebind_name(node: ast.expr, value: Value, frame: Frame) -> None:
    if isinstance(node, ast.Name):
        frame.names[node.id] = value
    else:
        frame.names[f"{node.value.id}.{node.attr}"] = value
