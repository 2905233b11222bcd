"""What is found in a region is as sure as what says that there is one."""

from pathlib import Path

import pytest
from programs import analysed, found, seen

TASK = """\
import abc
import torch


class Task(torch.nn.Module, abc.ABC):
    @abc.abstractmethod
    def scores(self, x):
        ...

    def {caller}(self, x):
        return {call}(x) * 2


class Sums(Task):
    def scores(self, x):
        return x.sum().item()
"""


@pytest.mark.parametrize(
    ("caller", "call", "is_shown"),
    [
        ("apply_to", "self.scores", True),
        ("apply_to", "self.other", False),
        ("apply_to", "self.model.scores", False),
        ("validation_step", "self.scores", False),
    ],
)
def test_a_method_that_a_parent_leaves_abstract_and_calls(caller, call, is_shown, tmp_path):
    result = analysed(tmp_path, {"task.py": TASK.format(caller=caller, call=call)})
    assert seen(result) == [("BRK201", 16)]
    assert found(result) == ([("BRK201", 16)] if is_shown else [])


HOOKED = """\
import torch


class Holder({base}):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.last = layer, 0.0
        layer.register_forward_hook(self.keep)

    def keep(self, module, args, made):
        self.last = made.mean().item()
        {end}
"""


@pytest.mark.parametrize(
    ("base", "end", "is_shown"),
    [
        ("torch.nn.Module", "pass", True),
        ("torch.optim.Optimizer", "pass", True),
        ("object", "return made * 2", True),
        ("object", "setattr(module, 'last', made)", True),
        ("object", "made.add_(1)", True),
        ("object", "module.last = made", True),
        ("object", "module.weight.data += 1", True),
        ("object", "module.flops += 2 * made.numel()", False),
        ("object", "self.size = made.__sizeof__()", False),
        ("object", "pass", False),
    ],
)
def test_a_hook_that_looks_at_somebodys_model_is_possible(base, end, is_shown, tmp_path):
    result = analysed(tmp_path, {"holder.py": HOOKED.format(base=base, end=end)})
    assert ("BRK201", 11) in seen(result)
    assert (("BRK201", 11) in found(result)) is is_shown
    compiles = HOOKED.format(base=base, end=end) + "\n\ndoubled = torch.compile(lambda x: x * 2)\n"
    assert ("BRK201", 11) in found(analysed(tmp_path, {"holder.py": compiles}))


NUMBERED = """\
import torch


class Kept(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.kept = [None, None]
        for index, layer in enumerate(layers):
            layer.register_forward_hook(lambda module, args, made, index={default}: self.keep(made, index))

    def keep(self, made, index):
        self.kept[index] = made
        if made.sum() > 0:
            return made * 2
        return made

    def forward(self, x):
        return x
"""


@pytest.mark.parametrize("default", ["index", "0"])
def test_a_parameter_with_a_default_is_not_given_to_a_hook(default, tmp_path):
    result = analysed(tmp_path, {"kept.py": NUMBERED.format(default=default)})
    assert found(result) == [("BRK101", 13)]


FUNCTION = """\
import torch


def summed(x: torch.Tensor):
    return x.sum().item()
"""


@pytest.mark.parametrize(
    ("front", "is_shown"),
    [
        ("from .losses import summed\n", True),
        ("from .losses import *\n", False),
        ("from . import losses\n", False),
        ("import library.losses\n", False),
    ],
)
def test_a_function_is_shown_where_the_library_names_it(front, is_shown, tmp_path):
    result = analysed(tmp_path, {"library/__init__.py": front, "library/losses.py": FUNCTION})
    assert seen(result) == [("BRK201", 5)]
    assert found(result) == ([("BRK201", 5)] if is_shown else [])


OBJECTS = """\
import torch


class Planner:
    pass


class Failed(ValueError):
    pass


class Layer(torch.nn.Module):
    def forward(self, x):
        return x
"""


@pytest.mark.parametrize(
    ("more", "is_shown"),
    [("", True), ("Layer", True), ("Layer, Planner", False), ("Failed", False)],
)
def test_a_library_of_functions_and_modules_is_one_of_what_models_call(more, is_shown, tmp_path):
    front = "from .losses import summed\n" + (f"from .parts import {more}\n" if more else "")
    files = {"library/losses.py": FUNCTION, "library/parts.py": OBJECTS}
    result = analysed(tmp_path, files | {"library/__init__.py": front})
    assert seen(result) == [("BRK201", 5)]
    assert found(result) == ([("BRK201", 5)] if is_shown else [])


SCRIPTED = """\
import torch


class Scripted(torch.jit.ScriptModule):
    {decorator}
    def forward(self, x):
        if bool(x.sum() > 0):
            return x * 2
        return x
"""


@pytest.mark.parametrize(
    ("decorator", "is_region"),
    [("# as Python runs it", True), ("@torch.jit.script_method", False)],
)
def test_dynamo_does_not_look_into_what_torchscript_runs(decorator, is_region, tmp_path):
    result = analysed(tmp_path, {"scripted.py": SCRIPTED.format(decorator=decorator)})
    assert bool(found(result)) is is_region


CALLED = """

class Model(torch.nn.Module):
    def forward(self, x):
        return {call}(x)
"""
AUTOGRAD = """\
import torch


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x.sum().item()

    @staticmethod
    def backward(ctx, gradient):
        return gradient
"""


@pytest.mark.parametrize(
    ("source", "call", "line"),
    [(AUTOGRAD, "Summed.apply", 7), (FUNCTION, "summed", 5)],
)
def test_what_a_forward_calls_is_shown(source, call, line, tmp_path):
    front = {"library/__init__.py": "from .part import *\n"}
    alone = analysed(tmp_path / "alone", front | {"library/part.py": source})
    assert (seen(alone), found(alone)) == ([("BRK201", line)], [])
    called = source + CALLED.format(call=call)
    assert found(analysed(tmp_path / "called", front | {"library/part.py": called})) == [
        ("BRK201", line)
    ]


MEASURE = """\
import torch


class Accuracy(torch.nn.Module):
    def forward(self, x, y):
        return (x == y).sum().item()
"""


@pytest.mark.parametrize(
    ("file", "more", "is_shown"),
    [
        ("layers.py", "", True),
        ("metrics.py", "", False),
        ("metrics/parts.py", "", False),
        ("monitoring/parts.py", "", False),
        ("parts/download_util.py", "", False),
        ("metric/parts.py", "", False),
        ("metrics/losses.py", "", True),
        ("metric_learning/parts.py", "", True),
        ("debug.py", "", False),
        ("explain.py", "", True),
        ("metrics.py", "\n\nmeasure = torch.compile(Accuracy())\n", True),
    ],
)
def test_a_module_in_a_file_that_measures_or_debugs_is_possible(file, more, is_shown, tmp_path):
    result = analysed(tmp_path, {file: MEASURE + more})
    assert ("BRK201", 6) in seen(result)
    assert (("BRK201", 6) in found(result)) is is_shown


def test_a_module_of_a_package_that_exports_models_is_possible(tmp_path):
    folders = ("lib", "lib/export", "lib/export/onnx")
    files = {f"{folder}/__init__.py": "" for folder in folders}
    result = analysed(tmp_path, files | {"lib/export/onnx/parts.py": MEASURE})
    assert (seen(result), found(result)) == ([("BRK201", 6)], [])


@pytest.mark.parametrize(
    ("made", "is_shown"),
    [("nn.LSTM(4, 4)", True), ("nn.Parameter(torch.ones(4))", True), ("nn.Softmax(-1)", False)],
)
def test_a_module_that_learns_to_measure_is_shown(made, is_shown, tmp_path):
    init = f"""\
import torch
from torch import nn


class Accuracy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {made}

"""
    source = init + MEASURE.partition("Module):\n")[2]
    result = analysed(tmp_path, {"metrics.py": source})
    assert (("BRK201", 11) in found(result)) is is_shown


def test_a_module_of_such_a_file_that_an_entry_names_is_shown(tmp_path):
    result = analysed(tmp_path, {"metrics.py": MEASURE}, "metrics.py::Accuracy")
    assert found(result) == [("BRK201", 6)]


PROX = """\
import abc
import torch


class Step(abc.ABC):
    def __call__(self, x: torch.Tensor):
        return self.apply(x)

    @abc.abstractmethod
    def apply(self, x):
        ...


class Cut(Step):
    def apply(self, x):
        return x.sum().item()
"""


def test_what_a_possible_region_calls_of_a_subclass_is_possible(tmp_path):
    front = {"library/__init__.py": "from .part import Step, Cut\n"}
    result = analysed(tmp_path, front | {"library/part.py": PROX})
    assert (seen(result), found(result)) == ([("BRK201", 16)], [])


SETTINGS = """\
import abc
import torch


class Task(torch.nn.Module, abc.ABC):
    def __init__(self, config):
        super().__init__()
        self.config = config
        {made}

    @abc.abstractmethod
    def set_up(self, data):
        ...

    def begin(self, stage, batch):
        {begun}


class Sums(Task):
    def set_up(self, data):
        print(data)
"""


@pytest.mark.parametrize(
    ("made", "begun", "is_shown"),
    [
        ("pass", "return self.set_up(batch)", True),
        ("pass", "return self.set_up(data=self.scaled(batch))", True),
        ("pass", "return self.set_up(self.config.data)", False),
        ("pass", "yield self.set_up(batch)", False),
        ("self.set_up(config)", "pass", False),
    ],
)
def test_what_a_parent_calls_to_prepare_itself_is_possible(made, begun, is_shown, tmp_path):
    result = analysed(tmp_path, {"task.py": SETTINGS.format(made=made, begun=begun)})
    assert seen(result) == [("BRK401", 21)]
    assert found(result) == ([("BRK401", 21)] if is_shown else [])


LOOKING = """\
import torch
{imported}

class {name}({base}):
    def forward(self, x):
        return x * x.sum().item()
"""


@pytest.mark.parametrize(
    ("file", "imported", "name", "base", "is_shown"),
    [
        ("parts.py", "", "Scale", "torch.nn.Module", True),
        ("parts.py", "", "MinMaxObserver", "torch.nn.Module", False),
        ("parts.py", "class Observer(torch.nn.Module): ...", "Scale", "Observer", False),
        ("parts.py", "", "GraphExplainer", "torch.nn.Module", False),
        ("parts.py", "", "ImageDataPreprocessor", "torch.nn.Module", False),
        ("parts.py", "", "ObserverLoss", "torch.nn.Module", True),
        ("parts.py", "import jax.numpy", "Scale", "torch.nn.Module", False),
        ("parts.py", "from tensorflow import keras", "Scale", "torch.nn.Module", False),
        ("parts.py", "from .tensorflow import keras", "Scale", "torch.nn.Module", True),
        ("tests/parts.py", "", "Scale", "torch.nn.Module", False),
        ("tests/data/models/parts.py", "", "Scale", "torch.nn.Module", False),
        ("dataset/parts.py", "", "Scale", "torch.nn.Module", False),
        ("dataset_parts.py", "", "Scale", "torch.nn.Module", True),
        ("test_parts.py", "", "Scale", "torch.nn.Module", False),
        ("test_time/parts.py", "", "Scale", "torch.nn.Module", True),
    ],
)
def test_a_module_that_looks_at_others_or_runs_another_framework_is_possible(
    file, imported, name, base, is_shown, tmp_path
):
    source = LOOKING.format(imported=imported, name=name, base=base)
    packages = {
        f"{folder}/__init__.py": "" for folder in map(str, Path(file).parents) if folder != "."
    }
    result = analysed(tmp_path, packages | {file: source})
    assert seen(result) == [("BRK201", 6)]
    assert found(result) == ([("BRK201", 6)] if is_shown else [])


@pytest.mark.parametrize("folder", ["test", "tests"])
def test_where_a_project_lies_says_nothing_of_its_modules(folder, tmp_path):
    source = LOOKING.format(imported="", name="Net", base="torch.nn.Module")
    result = analysed(tmp_path, {f"{folder}/models/net.py": source, f"{folder}/net.py": source})
    assert found(result) == [("BRK201", 6), ("BRK201", 6)]


@pytest.mark.parametrize(
    ("base", "count"), [("torch.nn.Module", 1), ("linen.Module", 0), ("unseen.Module", 1)]
)
def test_the_module_of_another_framework_is_none_of_torch_s(base, count, tmp_path):
    source = f"import torch\nimport unseen\nfrom flax import linen\n\nclass Net({base}):\n    def __call__(self, x):\n        print(x)\n"
    result = analysed(tmp_path, {"net.py": source})
    assert len(seen(result)) == count


@pytest.mark.parametrize(("method", "count"), [("forward", 1), ("__call__", 0)])
def test_what_is_called_by_its_own_call_is_no_module_of_an_unseen_package(method, count, tmp_path):
    source = f"import torch\nimport unseen\n\nclass Net(unseen.Base):\n    def {method}(self, x):\n        print(x)\n\n    def forward(self, x):\n        return x\n"
    source = source if method == "__call__" else source.partition("\n\n    def forward")[0]
    result = analysed(tmp_path, {"net.py": source})
    assert len(seen(result)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 1), ("x : numpy.ndarray", 0), ("x : Tensor or np.array", 1), ("x: the arrays", 1)],
)
def test_a_function_that_says_to_be_of_arrays_is_none_of_tensors(text, count, tmp_path):
    source = (
        f'import torch\n\ndef summed(x):\n    """{text}"""\n    print(x)\n    return torch.sum(x)\n'
    )
    files = {"library/__init__.py": "from .sums import summed\n", "library/sums.py": source}
    assert len(seen(analysed(tmp_path, files))) == count


SAMPLED = """\
import torch
from torchvision import transforms


class Cut({base}):
    def forward(self, image):
        return image[..., : int(torch.randint(4, (1,)).item())]
"""


@pytest.mark.parametrize(
    ("file", "base", "is_shown"),
    [
        ("net/layers/cut.py", "torch.nn.Module", True),
        ("net/datasets/layers/cut.py", "torch.nn.Module", False),
        ("net/layers/cut.py", "transforms.RandomCrop", False),
    ],
)
def test_a_transform_of_single_samples(file, base, is_shown, tmp_path):
    folders = [Path(file).parents[at] for at in range(len(Path(file).parents) - 1)]
    files = {file: SAMPLED.format(base=base), **{f"{f}/__init__.py": "" for f in folders}}
    result = analysed(tmp_path, files)
    assert ("BRK201", 7) in seen(result)
    assert (("BRK201", 7) in found(result)) is is_shown
