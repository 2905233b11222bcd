"""Which behaviour belongs to a value: the one place that looks at its kind."""

from __future__ import annotations

from breakscope.rulekit.values import (
    UNKNOWN,
    Cell,
    Class,
    Code,
    Const,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Method,
    Py,
    Scalar,
    Sequence,
    ShapeInt,
    Tensor,
    Union,
    Value,
)
from breakscope.static.machine.library import GIVEN_MODULE, TENSOR_DICT
from breakscope.static.project.modules import Import, Namespace
from breakscope.static.variables.base import Variable
from breakscope.static.variables.constant import ConstantVariable, PythonVariable
from breakscope.static.variables.dicts import DictVariable
from breakscope.static.variables.external import ExternalVariable
from breakscope.static.variables.functions import (
    CellVariable,
    CodeVariable,
    FunctionVariable,
    MethodVariable,
)
from breakscope.static.variables.iter import GeneratorVariable
from breakscope.static.variables.library.objects import FIELDS, LibraryObjectVariable
from breakscope.static.variables.library.tensor_dicts import TensorDictVariable
from breakscope.static.variables.lists import ListVariable
from breakscope.static.variables.misc import (
    NamespaceVariable,
    Recorder,
    RecorderVariable,
    Super,
    SuperVariable,
)
from breakscope.static.variables.nn_module import (
    GivenModuleVariable,
    LayerVariable,
    ModuleListVariable,
)
from breakscope.static.variables.number import ScalarVariable, ShapeVariable
from breakscope.static.variables.numpy import KEPT, NAMES, KeptScalarVariable, NumpyNumberVariable
from breakscope.static.variables.tensor import TensorVariable
from breakscope.static.variables.union import UnionVariable
from breakscope.static.variables.unknown import UnknownVariable
from breakscope.static.variables.user_defined import ClassVariable, InstanceVariable

# objects of torch.nn that are no modules
NO_LAYERS = frozenset(
    (
        *FIELDS,
        "torch.nn.UninitializedParameter",
        "torch.nn.UninitializedBuffer",
        "torch.nn.parameter.UninitializedParameter",
        "torch.nn.parameter.UninitializedBuffer",
    )
)

VARIABLES: dict[type[Value], Variable] = {
    type(UNKNOWN): UnknownVariable(),
    Const: ConstantVariable(),
    Tensor: TensorVariable(),
    ShapeInt: ShapeVariable(),
    Scalar: ScalarVariable(),
    Dict: DictVariable(),
    Function: FunctionVariable(),
    Method: MethodVariable(),
    Code: CodeVariable(),
    Cell: CellVariable(),
    Class: ClassVariable(),
    Instance: InstanceVariable(),
    Super: SuperVariable(),
    Namespace: NamespaceVariable(),
    Import: Variable(),
    External: ExternalVariable(),
    Recorder: RecorderVariable(),
    Union: UnionVariable(),
}
# numbers of numpy, by their type
NUMBERS: dict[str, Variable] = {
    **dict.fromkeys(NAMES, NumpyNumberVariable()),
    KEPT.type: KeptScalarVariable(),
}
# sequences that behave otherwise than a list, by their type
SEQUENCES: dict[str, Variable] = {
    "generator": GeneratorVariable(),
    "ModuleList": ModuleListVariable(),
    "Sequential": ModuleListVariable(),
}
PYTHON, LIST, LIBRARY_OBJECT = PythonVariable(), ListVariable(), LibraryObjectVariable()
LAYER = LayerVariable()
GIVEN = GivenModuleVariable()
TENSOR_DICTS = TensorDictVariable()


def behaviour(value: Value) -> Variable:
    """How a value behaves."""
    return VARIABLES.get(type(value)) or _by_name(value)


def _by_name(value: Py | Sequence | ExternalInstance) -> Variable:
    """How a value behaves of whose kind some behave otherwise."""
    kind = type(value)
    if kind is Py:
        return NUMBERS.get(value.type, PYTHON)
    if kind is Sequence:
        return SEQUENCES.get(value.type, LIST)
    if value.name == GIVEN_MODULE:
        return GIVEN
    if value.name.startswith("torch.nn.") and value.name not in NO_LAYERS:
        return LAYER
    return TENSOR_DICTS if value.name == TENSOR_DICT else LIBRARY_OBJECT
