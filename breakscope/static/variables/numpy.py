"""Calls of numpy functions, and numpy's numbers, which Dynamo traces as arrays."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from breakscope.rulekit.events import Branch
from breakscope.rulekit.values import (
    CONFIG,
    UNKNOWN,
    Const,
    External,
    ExternalInstance,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
    int_of,
    options,
)
from breakscope.static.machine.frames import Frame
from breakscope.static.machine.lattice import element_of
from breakscope.static.machine.machine import Machine
from breakscope.static.variables.constant import PythonVariable
from breakscope.static.variables.effects.emitting import emit_call, emit_read, sureness
from breakscope.static.variables.tensors.creation import (
    CREATES,
    created_tensor,
    drawn_sizes,
    dtype_of_data,
    ndim_of_data,
)
from breakscope.static.variables.tensors.results import tensor_result

FOLDED, TRUTH = Py("numpy float"), Py("numpy bool")
READ = "numpy number"
# computed of Python's integers one by one: torch takes it for a size without a read, Python reads it
WHOLE = Py("numpy integer")
# made outside of the region: an argument of the graph, which Dynamo reads as it is, and an array as
# soon as it is computed with or compared
KEPT = Py("numpy scalar")
# of a value that configuration decides: most likely of several numbers, which numpy makes an array of
TRUTH_OF_CONFIG = Py(TRUTH.type, "config")
KEPT_OF_CONFIG = Py(KEPT.type, "config")
NAMES = frozenset({FOLDED.type, READ, WHOLE.type, TRUTH.type, KEPT.type})
OF_TEXTS = "array of texts made before the region"
# these give lists of arrays
SEVERAL = frozenset("meshgrid split array_split hsplit vsplit dsplit broadcast_arrays".split())
# where these take the dtype, if it is not named
DTYPE_AT = {"zeros": 1, "ones": 1, "empty": 1, "array": 1, "asarray": 1, "full": 2}
SCALAR_TYPES = frozenset({"float16", "float32", "float64", "int32", "int64"})
INTEGERS = frozenset({"clip", "maximum", "minimum"})  # of two integers an integer
OF_INTEGERS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
REDUCES = frozenset(
    {"prod", "sum", "max", "min", "amax", "amin", "mean", "std", "median", "argmax", "argmin"}
)
TESTS = frozenset({"any", "all"})
OF_ALL = frozenset({"prod", "sum", "max", "min", "amax", "amin"})
DRAWN_INTEGERS = frozenset(
    {"randint", "integers", "random_integers", "poisson", "binomial", "permutation"}
)
OF_SIZE = frozenset({"random", "random_sample", "standard_normal"})
OF_SIZE_BEHIND_TWO = frozenset({"normal", "uniform", "integers", "randint"})
# what gives an array of whatever it is given, by the number of its dimensions where that is known
FLAT = frozenset("cumsum cumprod diff ravel atleast_1d flatnonzero".split())
FILLED = frozenset({"broadcast_to", "tile"})
ELEMENTWISE = frozenset(
    """
    ceil clip floor round rint sqrt cbrt exp exp2 log log2 log10 log1p power sin cos tan tanh maximum minimum square reciprocal
    """.split()
)


class NumpyNumberVariable(PythonVariable):
    """A number of numpy's, which Dynamo traces as an array without dimensions."""

    binary_precedence = 1
    compare_precedence = 2

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        if name in ("item", "tolist", "__int__", "__float__"):
            read_numpy_number(machine, "item", owner, node, frame)
            return Py("float" if owner.type == FOLDED.type else "number")
        if name == "astype" and args:
            whole = isinstance(args[0], External) and "int" in args[0].name
            if whole or (isinstance(args[0], Const) and "int" in str(args[0].value)):
                return number_to_read()
        return replace(owner)

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        array = Tensor("bool", 0, (), sure=not value.source, kind="numpy")
        machine.emit(Branch, node, frame, sureness(array), test=array, construct=construct, **facts)
        return None

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        read = [value for value in (left, right) if getattr(value, "type", "") == READ]
        if read:
            return number_to_read(max(value.source for value in read))
        return WHOLE if WHOLE in (left, right) and op in OF_INTEGERS else FOLDED

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        if left.is_none or right.is_none:
            return super().compare(machine, left, right, op, node, frame)
        return TRUTH_OF_CONFIG if Py(READ, "config") in (left, right) else TRUTH

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        read_numpy_number(machine, name, value, node, frame)
        return Py(name, value.source if value.is_drawn else "")


class KeptScalarVariable(NumpyNumberVariable):
    """A number of numpy's that the region finds in an attribute or a global."""

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        source = owner.source if owner.is_drawn else ""
        is_read = name in ("item", "tolist", "__int__", "__float__")
        return Py("number", source) if is_read else owner

    def binary(self, machine: Machine, left, right, op, node, frame) -> Value:
        is_sure = not any(v in (KEPT_OF_CONFIG, Py(READ, "config")) for v in (left, right))
        if isinstance(node, ast.AugAssign) and left in (KEPT, KEPT_OF_CONFIG):
            # NumPy's floats, which most of them are, are Python's, too: no array is made
            return left
        if frame.emits:
            return number_to_read("" if is_sure else "config")
        return KEPT if is_sure else KEPT_OF_CONFIG

    def unary(self, machine: Machine, value, op, node, frame) -> Value:
        return self.binary(machine, value, value, op, node, frame)

    def compare(self, machine: Machine, left, right, op, node, frame) -> Value:
        if left.is_none or right.is_none:
            return super().compare(machine, left, right, op, node, frame)
        if not frame.emits:
            return Py("bool", "config")
        return TRUTH_OF_CONFIG if KEPT_OF_CONFIG in (left, right) else TRUTH

    def cast(self, machine: Machine, value, name, node, frame) -> Value:
        return Py(name, value.source if value.is_drawn else "")


def kept_scalar(last: str, args: list[Value]) -> Value | None:
    """What a function of numpy makes of Python's numbers outside of regions; None where it may be
    something else."""
    if last in SCALAR_TYPES:
        return KEPT if len(args) == 1 and args[0].is_number else None
    given = args[0] if len(args) == 1 else None
    if last in OF_ALL and given is not None and (given.is_unknown or given == CONFIG):
        return KEPT_OF_CONFIG
    if last in REDUCES or last in TESTS:
        if type(given) is not Sequence or given.items == [] or not _is_plain(element_of(given)):
            return None
        return KEPT if given.items else KEPT_OF_CONFIG
    if last not in ELEMENTWISE or not args:
        return None
    return KEPT if all(value == KEPT or _is_plain(value) for value in args) else None


def numpy_function(
    machine: Machine,
    name: str,
    last: str,
    args: list[Value],
    kwargs: dict[str, Value],
    frame: Frame,
) -> Value:
    # a size: an array, not a number
    if last in ("rand", "randn") and args and name.startswith("numpy.random."):
        made = Tensor("float", len(args), None, True, "numpy")
        return made if frame.emits else drawn_array(Sequence("tuple", args))
    size = size_drawn(last, args, kwargs) if name.startswith("numpy.random.") else None
    if size is not None and not frame.emits:
        return drawn_array(size, "int" if last in DRAWN_INTEGERS else "float")
    is_sized = last == "choice" and size is not None and not size.is_none
    if is_sized or last == "permutation":
        # the graph ended there, and what follows has the array itself
        return Tensor("", None, None, False, "numpy")
    if name.startswith("numpy.random."):
        return (
            ExternalInstance(name)
            if last[:1].isupper() or last == "default_rng"
            else Py("number", "random")
        )
    if last in ("array", "asarray") and not frame.emits and any(map(_holds_texts, args[:1])):
        return ExternalInstance(OF_TEXTS)
    if last in CREATES:
        at = DTYPE_AT.get(last, len(args))
        given = {"dtype": args[at]} if at < len(args) else {}
        made = created_tensor(last, args[:at], given | kwargs)
        return Tensor(made.dtype, made.ndim, made.shape, made.sure, "numpy")
    if last[:1].isupper() or last.startswith(("float", "int", "uint", "bool")):
        return UNKNOWN
    if last in SEVERAL:
        part = Tensor(sure=False, kind="numpy")
        return Sequence("list", [part] * len(args) if last == "meshgrid" else None, part)
    first = next((a for a in args if isinstance(a, Tensor)), None)
    if first is None and frame.emits and machine.library.shape(name) is not None:
        first = None if _is_of_a_number(last, args) else array_of(args)
    if first is not None:
        made = tensor_result(machine, last, first, args, kwargs, name)
        if last.startswith("logical_") and isinstance(made, Tensor):
            made = replace(made, dtype="bool")
        return (
            Tensor(made.dtype, made.ndim, made.shape, made.sure, "numpy")
            if isinstance(made, Tensor)
            else made
        )
    if args and (made := made_array(last, args, kwargs)) is not None:
        return made
    if args and all(a.is_const or a.is_shape or isinstance(a, Py) for a in args):
        return Py("number")
    return UNKNOWN


def made_array(last: str, args: list[Value], kwargs: dict[str, Value]) -> Tensor | None:
    """What a function of numpy that always gives an array makes of Python's numbers, or of what is not known:
    `np.broadcast_to(kernel_size, 3)`, `np.cumsum(sizes)`."""
    ndim = None
    if last in FLAT and "axis" not in kwargs and len(args) == 1:
        ndim = 1
    elif last in FILLED and len(args) == 2:
        ndim = len(args[1].items) if type(args[1]) is Sequence and args[1].items else 1
    held = element_of(args[0]) if type(args[0]) is Sequence else args[0]
    dtype = "int" if _is_int(held) else None
    return Tensor(dtype, ndim, None, False, "numpy") if ndim is not None else None


def _holds_texts(value: Value) -> bool:
    """True for a list of texts, also one in another."""
    if type(value) is not Sequence or value.type not in ("list", "tuple"):
        return False
    items = value.inside
    return any(
        (item.is_const and type(item.value) is str)
        or (type(item) is Py and item.type == "str")
        or _holds_texts(item)
        for item in items
    )


def note_texts_read(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> None:
    """Emit that the region reads an array of texts that was made before."""
    if type(value) is ExternalInstance and value.name == OF_TEXTS:
        emit_call(machine, OF_TEXTS, value, (), {}, node, frame, "likely")


def size_drawn(name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The size that is given for random numbers; None for a single one."""
    at = {"choice": 1}.get(name, len(args))
    at = 0 if name in OF_SIZE else 2 if name in OF_SIZE_BEHIND_TWO else at
    return kwargs.get("size") or next(iter(args[at : at + 1]), None)


def drawn_array(size: Value, dtype: str = "float") -> Value:
    """An array of random numbers of this size."""
    given = size.items if isinstance(size, Sequence) else [size]
    if given is None:
        return Tensor(dtype, None, None, True, "numpy")
    if len(given) == 1 and given[0].is_none:
        return Py(dtype, "random")
    shape = tuple(map(int_of, given))
    shape = drawn_sizes(given) if None in shape else shape
    return Tensor(dtype, len(given), shape, True, "numpy")


def _is_of_a_number(last: str, args: list[Value]) -> bool:
    """True where nothing shows an array: `np.ceil(a / b)` of what is not known is most often one
    number of Python's, which Dynamo computes and Python may read."""
    return last in ELEMENTWISE and all(arg.is_unknown or arg.is_number for arg in args)


def array_of(args: list[Value]) -> Tensor | None:
    """What numpy makes of the sequence, or of what is not known, that a traced function of its
    is given first; None for a plain number."""
    given = args[0] if args else None
    if type(given) is Sequence:
        ndim, _ = ndim_of_data(given)
        known = _is_plain(element_of(given)) or is_numpy_number(element_of(given))
        return Tensor(dtype_of_data(given), ndim, None, known, "numpy")
    if type(given) is Union and any(option.is_tensor for option in given.options):
        found = next(option for option in given.options if option.is_tensor)
        return replace(found, sure=False)
    if given is not None and given.is_unknown:
        return Tensor(sure=False, kind="numpy")
    return None


def numpy_number(machine: Machine, last: str, args: list[Value]) -> Value | None:
    """The result of a numpy function of Python numbers, None where it is something else."""
    if not args:
        return None
    if last in REDUCES:
        given = args[0]
        if last in OF_ALL and len(args) == 1 and (given.is_unknown or given == CONFIG):
            return number_to_read("config")
        is_one = (
            isinstance(given, Sequence) and given.type != "size" and len(given.items or ()) == 1
        )
        if is_one and _is_int(given.items[0]):
            return WHOLE  # one item is handed on
        plain = type(given) is Sequence and (given.items or given.type == "size")
        is_known = plain and len(args) == 1 and _is_plain(element_of(given))
        return number_to_read() if is_known else None
    if not all(_is_plain(value) or is_numpy_number(value) for value in args):
        return None
    if last in SCALAR_TYPES and len(args) == 1 and _is_plain(args[0]):
        return WHOLE if last.startswith("int") and _is_int(args[0]) else FOLDED
    shape = machine.library.shape(f"numpy.{last}")
    if shape is not None and shape.results[0].dtype == "bool":
        return TRUTH
    if last not in ELEMENTWISE:
        return None
    if Py(READ) in args or KEPT in args:
        return number_to_read()
    if Py(READ, "config") in args or KEPT_OF_CONFIG in args:
        return number_to_read("config")
    return WHOLE if last in INTEGERS and all(map(_is_int, args)) else FOLDED


def read_numpy_number(
    machine: Machine, how: str, value: Value, node: ast.AST, frame: Frame
) -> None:
    """Python reads the number: `int(...)`, `.item()`, a slice's bound."""
    if value.type not in (FOLDED.type, KEPT.type):
        if isinstance(node, ast.Call) and node.args:
            part = node.args[0]
        else:  # `n.item()`
            part = getattr(node, "func", node)
            part = part.value if isinstance(part, ast.Attribute) else part
        array = Tensor("int", 0, (), sure=not value.source, kind="numpy", origin="numbers")
        emit_read(machine, array, how, node, frame, part)


def read_index(machine: Machine, index: Value, node: ast.Subscript, frame: Frame) -> None:
    """Python reads the number to find an item of a sequence of its own."""
    if index.type in (READ, WHOLE.type):
        array = Tensor("int", 0, (), sure=not index.source, kind="numpy")
        emit_read(machine, array, "index", node, frame, node.slice)


def array_of_number(value: Value) -> Value:
    """A number that numpy computes, as the array that it is while Dynamo traces; anything else as it
    is."""
    if is_numpy_number(value) and value.type != KEPT.type:
        return Tensor(None, 0, (), sure=not value.source, kind="numpy", origin="numbers")
    return value


def maybe_array(value: Value) -> Tensor | None:
    """The array that a value is, or may be, where a number must stand: one of numpy's numbers, also beside Python's."""
    if is_numpy_number(value) and value.type in (READ, WHOLE.type):
        return array_of_number(value)
    found = options(value) if type(value) is Union else ()
    array = next((v for v in found if type(v) is Tensor and v.kind == "numpy"), None)
    return array and replace(array, sure=False)


def traced_array(value: Value) -> Value:
    """The same, also of a number from outside of the region, which is an array as soon as Python looks at it."""
    return array_of_number(FOLDED if value == KEPT else value)


def number_to_read(source: str = "") -> Py:
    """A number that numpy computes, an object of its own: where torch has read it, or a break comes before,
    it is no array any more."""
    return Py(READ, source)


def is_numpy_number(value: Value) -> bool:
    return type(value) is Py and value.type in NAMES


def _is_plain(value: Value) -> bool:
    return value.is_number and not value.is_scalar and getattr(value, "source", "") != "draw"


def _is_int(value: Value) -> bool:
    return (
        value.is_shape
        or (isinstance(value, Const) and isinstance(value.value, int))
        or getattr(value, "type", "") in ("int", WHOLE.type)
    )
