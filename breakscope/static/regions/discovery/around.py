"""Code around a model, which no region calls: it fits, prepares, checks or judges one, has its data, reads and
writes files, or draws."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Dict,
    External,
    Function,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.rulekit.walking import kept_with_node, plain_parameters, walk
from breakscope.static.definitions.annotations import parsed_annotation
from breakscope.static.definitions.classes import (
    MODULE_BASES,
    OTHER_FRAMEWORKS,
    external_bases,
    members_of,
    mro_of,
)
from breakscope.static.definitions.names import module_names, resolve_import
from breakscope.static.machine.compiled_names import compiles
from breakscope.static.machine.frames import Activation
from breakscope.static.machine.library import CHANGING_METHODS
from breakscope.static.machine.machine import Machine
from breakscope.static.project.modules import ClassInfo, ModuleInfo
from breakscope.static.regions.discovery.callers import COMPILES
from breakscope.static.regions.discovery.names_of_files import (
    MEASURES,
    METRICS,
    OF_DATA,
    TESTS,
    file_of,
    is_file_around,
    is_of_measures,
)

# whose reporters and trainers run models of torch's, too
BESIDE_TORCH = frozenset({"chainer"})
# how functions and methods of it are called, or how their names begin
NAMES = frozenset(
    """
    merge unmerge load test summary summarize stats statistics report validate evaluate count_parameters num_parameters
    init_weights reset_parameters generate train_step training_step test_step validation_step val_step eval_step
    """.split()
)
BEGINNINGS = tuple(
    """
    fit partial_fit save export show plot plt print render draw visualize visualise load_ prepare_for initialize
    check_ assert_ is_ has_ download fetch
    """.split()
)
# what is asked of an argument that is a model or an optimizer
OF_MODEL = frozenset(
    """
    train eval zero_grad parameters named_parameters state_dict load_state_dict modules named_modules
    """.split()
)
# what a module makes that learns: such a one is a model, though it serves to measure others
LEARNED = re.compile(
    r"\bnn\.(?:Parameter|(?:Lazy)?(?:Linear|Conv\w+)|Bilinear|(?:LSTM|GRU|RNN)(?:Cell)?|Embedding(?:Bag)?|MultiheadAttention"
    r"|Transformer\w*)\("
)
SAMPLE_TRANSFORMS = "torchvision.transforms."
# how classes are called, or end, whose objects stand beside a model: what explains it, what quantisation reads, and what
# makes a batch of data
LOOKS = re.compile(r"Explainer|(?:Observer|Calibrator|DataPre[pP]rocessor)(?:Base|Mixin)?$")
LOSSES = re.compile(r"loss|penalt|regulari[sz]|decay")
ARRAYS = re.compile(r"(?i)\b(?:ndarray|np\.array|numpy array)s?\b")
PLAIN = frozenset({"str", "int", "float", "bool", "bytes"})
GATHERED = frozenset({"dict", "Dict", "tuple", "Tuple", "list", "List", "Optional", "typing"})
# what a function returns that hands out no tensor, by its annotation, beside containers of plain values
RETURNED = PLAIN | {"np.ndarray", "numpy.ndarray", "Image.Image", "PIL.Image.Image", "plt.Figure"}
TENSORS = frozenset({"Tensor", "ndarray"})
FILE_NAMES = frozenset({"str", "Path", "PathLike"})
FILES_AND_THE_LIKE = frozenset({"Path", "PathLike", "Image", "DataFrame", "DataArray"})
DATA = "torch.utils.data"
PROCESSES = "torch.multiprocessing"
# packages without tensors, in which functions that prepare data, judge results or start programs do their work
WITHOUT_TENSORS = frozenset(
    f"""
    scipy sklearn pandas networkx matplotlib seaborn plotly PIL cv2 skimage argparse socket subprocess multiprocessing
    {DATA} {PROCESSES}
    """.split()
)


def is_around(name: str) -> bool:
    """True for the name of a function or method that stands around models."""
    return name in NAMES or name.startswith(BEGINNINGS)


def is_measured_by(called: Activation, caller: Activation) -> bool:
    """True where code of a model calls a function in a file of metrics, plots or the like, to judge or to show what it
    gave: nobody compiles that with it, but for a loss."""
    if called.module is caller.module or not is_of_measures(called.module):
        return False
    names = f"{called.function} {called.module.name} {caller.function} {caller.module.name}".lower()
    return not is_of_measures(caller.module) and LOSSES.search(names) is None


def is_aside(machine: Machine, cls: Class, forward: Value | None) -> bool:
    """True for a module class of a file that debugs or tests models, or that measures them and learns nothing, for what
    explains or calibrates one, for what prepares samples of data, for what runs models of another framework, and for one
    whose `forward` goes over the parameters of the model that it is given first and returns nothing, as of averages that
    follow the optimizer's steps; not where its file compiles something, nor for a loss or a penalty, which training
    runs. And for one that compiles parts of its own objects."""
    module = cls.info.module
    is_loss = LOSSES.search(f"{cls.info.name} {module.name.rpartition('.')[2]}".lower()) is not None
    is_measuring = (
        MEASURES.search(file_of(module)) is not None
        or (METRICS.search(file_of(module)) is not None and not _learns(cls))
        or TESTS.search(module.name) is not None
        or OF_DATA.search(module.name) is not None
        or any(name.startswith(SAMPLE_TRANSFORMS) for name in external_bases(machine, cls.info))
        or any(LOOKS.search(name) for name in _names_of(machine, cls))
        or _needs_other_framework(module)
    )
    if type(forward) is Function and not is_measuring:
        node = forward.info.node
        follows = drives_model(node, {p.arg for p in plain_parameters(node)[1:2]})
        is_measuring = follows and all(
            _is_nothing(part.value) for part in walk(node) if isinstance(part, ast.Return)
        )
    if is_measuring and not (is_loss or COMPILES.search(module.source)):
        return True
    return _compiles_parts(machine, cls) and not any(
        value is cls or getattr(value, "cls", None) is cls for value in machine.file.compiled
    )


def _learns(cls: Class) -> bool:
    """True for a class that makes layers with weights."""
    node = cls.info.node
    lines = cls.info.module.source_lines()[node.lineno - 1 : node.end_lineno]
    return LEARNED.search("\n".join(lines)) is not None


def _compiles_parts(machine: Machine, cls: Class) -> bool:
    """True for a class that compiles what its objects hold, and none of its own methods: who wrote it leaves its `forward`,
    which drives them, to Python."""
    order = [info for info in mro_of(machine, cls.info) if not info.module.library]
    compiled = {part for info in order for part in _parts_compiled_in(info)}
    methods = {name for info in order for name in members_of(info)} if compiled else set()
    return bool(compiled) and compiled.isdisjoint({"__call__", *methods})


@kept_with_node
def _parts_compiled_in(info: ClassInfo) -> set[str]:
    """What the methods that stand in the body of a class compile of `self`."""
    bodies = members_of(info).values() if b"compile" in info.module.text else ()
    methods = [node for node in bodies if isinstance(node, ast.FunctionDef)]
    calls = [part for node in methods for part in walk(node) if type(part) is ast.Call]
    return {*map(_part_compiled, calls)} - {""}


def _part_compiled(node: ast.Call) -> str:
    """`encoder.forward` of `torch.compile(self.encoder.forward)`, "" for what compiles no part of `self`."""
    if not node.args or not compiles(node.func):
        return ""
    text = ast.unparse(node.args[0])
    return text.removeprefix("self.") if text.startswith("self.") else ""


def _names_of(machine: Machine, cls: Class) -> list[str]:
    """How a class and those that it derives from are called."""
    own = [info.name for info in mro_of(machine, cls.info)]
    return own + [name.rpartition(".")[2] for name in external_bases(machine, cls.info)]


def _needs_other_framework(module: ModuleInfo) -> bool:
    """True for a file that cannot be imported without another framework."""
    return any(
        name.partition(".")[0] in OTHER_FRAMEWORKS - BESIDE_TORCH
        for statement in module.tree.body
        for name in (
            [alias.name for alias in statement.names]
            if type(statement) is ast.Import
            else [statement.module or ""]
            if type(statement) is ast.ImportFrom and not statement.level
            else ()
        )
    )


def is_class_around(machine: Machine, cls: Class) -> bool:
    """True for a data set, or what loads one."""
    bases = external_bases(machine, cls.info)
    return any(
        name.startswith((f"{DATA}.", "torchvision.datasets.")) or name.endswith("DataModule")
        for name in bases
    )


def is_function_around(machine: Machine, function: Function) -> bool:
    """True for a function that is called where its name or its file says, that drives or trains a model, that reads
    files, that hands out nothing, or plain numbers, texts or arrays, or that is one of NumPy's arrays, by what it does or what its
    docstring says, or of a package without tensors."""
    info = function.info
    returned = getattr(info.node, "returns", None)  # a lambda has none
    roots = _packages_used(machine, function)
    return (
        is_around(info.name)
        or is_file_around(info.module)
        or _is_plain(returned)
        or not roots.isdisjoint(WITHOUT_TENSORS)
        or gives_nothing(info.node)
        or drives_model(info.node)
        or is_training_step(info.node)
        or reads_files(function)
        or ("numpy" in roots and "torch" not in roots and not _is_annotated(function))
        or (not _is_annotated(function) and _documents_arrays(info.node))
        or any(
            _names_module(machine, p.annotation, info.module) for p in plain_parameters(info.node)
        )
    )


def _documents_arrays(node: ast.AST) -> bool:
    """True for a function whose docstring speaks of NumPy's arrays, and of no tensor."""
    text = "" if isinstance(node, ast.Lambda) else (ast.get_docstring(node, clean=False) or "")
    return ARRAYS.search(text) is not None and "tensor" not in text.lower()


def _is_plain(returned: ast.expr | None) -> bool:
    """True for what a function returns by its annotation where that holds no tensor: `float`, `dict[str, float]`."""
    words = _annotation_words(returned) - {""}
    is_gathered = words <= PLAIN | GATHERED and not words.isdisjoint(PLAIN)
    return is_gathered or (returned is not None and ast.unparse(returned).strip("'\"") in RETURNED)


def gives_nothing(node: ast.AST) -> bool:
    """True for a function without a result that changes nothing in place, but a table at the top of a file: it
    shows, plays, writes or registers what it is given."""
    if isinstance(node, ast.Lambda):
        return False
    own = {p.arg for p in plain_parameters(node)}
    own |= {p.id for p in walk(node) if type(p) is ast.Name and isinstance(p.ctx, ast.Store)}
    for part in walk(node):
        if type(part) in (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.AugAssign):
            return False
        if type(part) is ast.Return and not _is_nothing(part.value):
            return False
        if type(part) in (ast.Attribute, ast.Subscript) and not isinstance(part.ctx, ast.Load):
            if type(part) is ast.Attribute or _is_own(part.value, own):
                return False
        if type(part) is ast.Call and (
            _changes(part.func, own) or any(k.arg == "out" for k in part.keywords)
        ):
            return False
    return True


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or (type(value) is ast.Constant and value.value is None)


def _changes(function: ast.expr, own: set[str]) -> bool:
    """True for what changes its object: `x.copy_`, `found.append` of a list of its own or a given one, a kernel's
    `run[grid]`."""
    if type(function) is ast.Attribute:
        name = function.attr
        return name.endswith("_") or (name in CHANGING_METHODS and _is_own(function.value, own))
    return type(function) is ast.Subscript


def _is_own(value: ast.expr, own: set[str]) -> bool:
    """True unless a value is known by a name at the top of a file: `REGISTRY` with `REGISTRY.append(kind)`."""
    return type(value) is not ast.Name or value.id in own


def drives_model(node: ast.AST, given: Collection[str] | None = None) -> bool:
    """True for a function that puts an argument into training, or goes over its parameters: it trains or
    judges a model, or counts what it has. `given` are the arguments that are looked at, all of them unless said."""
    given = {p.arg for p in plain_parameters(node)} if given is None else given
    return any(
        type(part) is ast.Call
        and type(part.func) is ast.Attribute
        and part.func.attr in OF_MODEL
        and type(part.func.value) is ast.Name
        and part.func.value.id in given
        for part in walk(node)
    )


def reads_files(function: Function) -> bool:
    """True for a driver: its first argument is a tensor or the name of a file to read it from, or all its
    arguments that may be tensors are."""
    owner, given = function.info.owner, plain_parameters(function.info.node)
    words = [_annotation_words(p.annotation) for p in given[1 if owner else 0 :]]
    of_tensors = [w for w in words if not w.isdisjoint(TENSORS)]
    may_be_files = [not w.isdisjoint(FILE_NAMES) for w in of_tensors]
    return bool(of_tensors) and (
        all(may_be_files) or (of_tensors[0] is words[0] and may_be_files[0])
    )


def is_driver(function: Function) -> bool:
    """True for what is given files, pictures or tables first, or gives such, by its annotations, and no tensors
    there: it prepares what it hands to the model, or to its own `forward`."""
    given = plain_parameters(function.info.node)[1 if function.info.owner else 0 :]
    ends = [*(p.annotation for p in given[:1]), getattr(function.info.node, "returns", None)]
    words = [_annotation_words(annotation) for annotation in ends]
    return any(w & FILES_AND_THE_LIKE and w.isdisjoint(TENSORS) for w in words)


def _annotation_words(annotation: ast.expr | None) -> set[str]:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = parsed_annotation(annotation.value.strip())
    parts = walk(annotation) if annotation is not None else ()
    return {getattr(part, "id", getattr(part, "attr", "")) for part in parts}


def is_no_tensor(option: Value) -> bool:
    """True for a constant, plain data, an array of NumPy's, and what holds such values only."""
    if type(option) is Tensor:
        return option.kind == "numpy"
    if type(option) is Union:
        return all(map(is_no_tensor, option.options))
    if type(option) is Sequence and option.items is None:
        return is_no_tensor(option.element)
    if type(option) is Dict and not option.items:
        return option.element is not UNKNOWN and is_no_tensor(option.element)
    return option.is_const or (isinstance(option, Py) and option.type in PLAIN)


def _is_annotated(function: Function) -> bool:
    return any(p.annotation for p in plain_parameters(function.info.node))


def _packages_used(machine: Machine, function: Function) -> set[str]:
    """The packages outside the checked source that a function's code names, and torch's own of data and of processes."""
    names = module_names(machine, function.info.module)
    roots = set()
    for part in walk(function.info.node):
        if type(part) is ast.Import:  # one that stands in the function
            roots |= {alias.name.partition(".")[0] for alias in part.names}
        first, rest = _first_of(part)
        value = resolve_import(machine, names[first]) if first in names else UNKNOWN
        if isinstance(value, External):
            full = f"{value.name}.{rest}"
            own = [part for part in (DATA, PROCESSES) if full.startswith(part)]
            roots.add(own[0] if own else value.name.partition(".")[0])
    return roots


def _first_of(part: ast.AST) -> tuple[str, str]:
    """`torch` and `utils.data.Dataset` of `torch.utils.data.Dataset`."""
    rest: list[str] = []
    while type(part) is ast.Attribute:
        rest.insert(0, part.attr)
        part = part.value
    return (part.id if type(part) is ast.Name else ""), ".".join(rest)


def _names_module(machine: Machine, annotation: ast.expr | None, module: ModuleInfo) -> bool:
    """True for an annotation in which `torch.nn.Module` stands."""
    names = module_names(machine, module) if annotation is not None else {}
    for part in walk(annotation) if annotation is not None else ():
        if type(part) in (ast.Name, ast.Attribute):
            first, *rest = ast.unparse(part).split(".")
            value = resolve_import(machine, names.get(first, UNKNOWN))
            if isinstance(value, External) and ".".join((value.name, *rest)) in MODULE_BASES:
                return True
    return False


def is_training_step(node: ast.AST) -> bool:
    """True for a function that prepares or runs a backward pass: it is compiled where a program says so."""
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("backward", "zero_grad")
        for part in walk(node)
    )
