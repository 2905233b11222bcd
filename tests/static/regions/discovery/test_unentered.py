"""Regions that nothing in their own file enters: autograd functions, metrics, hooks, methods."""

import pytest
from programs import analysed, found, seen

FUNCTION = """\
import torch
from torch.autograd import Function


class Positive(Function):
    @staticmethod
    def forward({context}x):
        return x[x > 0]

    @staticmethod
    def {other}:
        return None
"""
SETUP = """\
import torch


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(x, n):
        return x * n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, n = inputs
        ctx.n = n.item() if torch.is_tensor(n) else n
        ctx.total = x.sum().item()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.n, None


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.start = torch.zeros(3)

    def forward(self, x):
        return Doubled.apply({given}, 2)
"""
METRIC = """\
import torch
from torchmetrics import {base}


class Loss({base}):
    def __init__(self, reduction="mean", **more):
        super().__init__(**more)
        self.add_state("losses", default=torch.tensor(0.0))

    def update(self, prediction, target):
        self.add((prediction - target).sum())

    def add(self, losses):
        if not torch.isfinite(losses):
            losses = torch.tensor(1e9)
        self.losses = self.losses + losses

    def compute(self):
        return self.losses.item()
"""


def test_the_forward_of_an_autograd_function(tmp_path):
    old = FUNCTION.format(context="ctx, ", other="backward(ctx, gradient)")
    new = FUNCTION.format(context="", other="setup_context(ctx, inputs, output)")
    for source in (old, new):
        assert seen(analysed(tmp_path, {"program.py": source})) == [("BRK302", 8)]


def test_once_where_the_file_itself_applies_it(tmp_path):
    source = FUNCTION.format(context="ctx, ", other="backward(ctx, gradient)")
    source += "\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
    source += "        return Positive.apply(x)\n"
    result = analysed(tmp_path, {"program.py": source})
    assert found(result) == [("BRK302", 8)]
    assert [link.function for link in result.findings[0].chain] == ["Model.forward"]


def test_what_an_autograd_function_keeps_of_an_input_that_may_need_a_gradient(tmp_path):
    result = analysed(tmp_path, {"program.py": SETUP.format(given="x")})
    assert found(result) == [("BRK201", 13)]
    assert found(analysed(tmp_path, {"program.py": SETUP.format(given="self.start")})) == []


def test_what_a_metric_does_in_its_librarys_forward(tmp_path):
    result = analysed(tmp_path, {"program.py": METRIC.format(base="Metric")})
    assert seen(result) == [("BRK101", 14), ("BRK201", 19)]


def test_of_a_metric_that_is_no_module_nothing(tmp_path):
    source = METRIC.format(base="Metric").replace("from torchmetrics", "from ignite.metrics")
    source = source.replace(
        'self.add_state("losses", default=torch.tensor(0.0))', "self.losses = 0"
    )
    assert found(analysed(tmp_path, {"program.py": source})) == []


def test_of_another_class_that_nobody_has_seen_nothing(tmp_path):
    assert found(analysed(tmp_path, {"program.py": METRIC.format(base="Scorer")})) == []


FORWARD_OF_A_LIBRARY = """\
import torch


class Metric(torch.nn.Module):
    def forward(self, *args):
        if self.keeps_everything:
            self.update(*args)
        return self.compute()
"""


def test_what_a_metric_does_where_a_test_in_its_library_decides(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    library = tmp_path / "site-packages/torchmetrics"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(FORWARD_OF_A_LIBRARY)
    (library.parent / "torchmetrics-1.0.dist-info").mkdir()
    (library.parent / "torchmetrics-1.0.dist-info/METADATA").write_text("Name: torchmetrics\n")
    (tmp_path / "project").mkdir()
    result = analysed(tmp_path / "project", {"program.py": METRIC.format(base="Metric")})
    assert {("BRK101", 14), ("BRK201", 19)} <= set(seen(result))


HOOKED = """\
import torch


def note(module, inputs, output):
    print(output.sum())


class Watched(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.inner.register_forward_{kind}hook(self.keep)
        for layer in inner.modules():
            layer.register_forward_hook(note)

    def keep(self, module, inputs, output=None):
        self.total = inputs[0].sum().item()

    def forward(self, x):
        return self.inner(x)
"""


def test_hooks_on_a_module_that_somebody_hands_over(tmp_path):
    for kind in ("", "pre_"):
        result = analysed(tmp_path, {"program.py": HOOKED.format(kind=kind)})
        assert sorted(found(result), key=lambda place: place[1]) == [("BRK401", 5), ("BRK201", 17)]


NUMBER = """\
import math

import torch


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, order, mask):
        if order == 2:
            x = x * math.sqrt(order)
        return x[mask.unsqueeze(0) > 0]
"""


def test_what_else_an_autograd_function_is_given_may_be_a_number(tmp_path):
    assert seen(analysed(tmp_path, {"program.py": NUMBER})) == [("BRK302", 11)]


SCHEDULER = """\
import torch
from torch import Tensor


class Scheduler:
    def __init__(self):
        self.sigmas = torch.linspace(0, 1, 10)

    def add_noise(self, x: Tensor, noise: Tensor):
        return x + noise * self.sigmas.max().item()

    def plotted(self, x: Tensor, name: str):
        return x.max().item()

    def _hidden(self, x: Tensor, noise: Tensor):
        return x.max().item()
"""


def test_methods_on_tensors_of_a_class_that_the_library_hands_out(tmp_path):
    files = {"library/schedule.py": SCHEDULER, "library/__init__.py": ""}
    assert seen(analysed(tmp_path, files)) == []
    files["library/__init__.py"] = "from .schedule import Scheduler\n"
    assert seen(analysed(tmp_path, files)) == [("BRK201", 10)]


@pytest.mark.parametrize(
    ("parent", "is_seen"),
    [("", True), ("(torch.utils.data.Dataset)", False), ("(L.LightningDataModule)", False)],
)
def test_methods_on_tensors_of_what_has_the_data_are_no_regions(parent, is_seen, tmp_path):
    source = SCHEDULER.replace(
        "class Scheduler:", f"import lightning as L\n\nclass Scheduler{parent}:"
    )
    files = {
        "library/schedule.py": source,
        "library/__init__.py": "from .schedule import Scheduler\n",
    }
    assert bool(seen(analysed(tmp_path, files))) is is_seen


TENSOR_CLASS = """\
import torch


class Points(torch.Tensor):
    def plain(self):
        return self.as_subclass(torch.Tensor)

    def length(self):
        return self.plain().norm()

    def _shown(self):
        print(self)
"""


def test_the_methods_that_a_tensor_class_adds(tmp_path):
    result = analysed(tmp_path, {"program.py": TENSOR_CLASS})
    assert seen(result) == [("BRK562", 6)]
    result = analysed(tmp_path, {"program.py": TENSOR_CLASS}, "program.py::Points.length")
    assert found(result) == [("BRK562", 6), ("BRK558", 9)]


SYSTEMS = """\
import torch
from torch.autograd.functional import jacobian


class System(torch.nn.Module):
    def forward(self, x):
        return x + 1


class Linear(System):
    @property
    def A(self):
        return self._A


class {name}(System):
    @property
    def {attribute}(self):
        return jacobian(self.forward, self.state)
"""


def test_properties_that_module_classes_with_one_parent_share(tmp_path):
    shared = SYSTEMS.format(name="Curved", attribute="A")
    assert seen(analysed(tmp_path, {"program.py": shared})) == [("BRK602", 19)]
    alone = SYSTEMS.format(name="Curved", attribute="slope")
    assert seen(analysed(tmp_path / "alone", {"program.py": alone})) == []


TRANSFORM = """\
from abc import abstractmethod

import torch


class Transform(torch.nn.Module):
    {decorator}
    def undo(self, x):
        return x


class Scale(Transform):
    def undo(self, x):
        if x.abs().max() > 1:
            return x / 2
        return x
"""


def test_methods_that_a_parent_leaves_abstract(tmp_path):
    required = TRANSFORM.format(decorator="@abstractmethod")
    assert seen(analysed(tmp_path, {"program.py": required})) == [("BRK101", 14)]
    for around in (
        "fit",
        "save",
        "plot_scale",
        "render",
        "merge",
        "count_parameters",
        "check_range",
    ):  # no region calls what is called so
        named = required.replace("undo", around)
        assert seen(analysed(tmp_path / around, {"program.py": named})) == []
    announced = TRANSFORM.format(decorator="@torch.jit.export")
    announced += "\n    undo.__doc__ = Transform.undo.__doc__\n"
    for error in ("NotImplementedError('undo')", "NoInverse()"):
        raised = announced.replace("return x\n", f"raise {error}\n", 1)
        assert seen(analysed(tmp_path / error[:4], {"program.py": raised})) == [("BRK101", 14)]
    own = TRANSFORM.format(decorator="")
    assert seen(analysed(tmp_path / "own", {"program.py": own})) == []


def test_a_hook_that_calls_a_function_for_each_module(tmp_path):
    source = """\
import torch


class Watch:
    def __init__(self, model: torch.nn.Module):
        self.model = model
        model.register_forward_hook(self.hook)

    def hook(self, module, given, made):
        self.model.apply(self.note)

    def note(self, module):
        print(module)
"""
    assert seen(analysed(tmp_path, {"program.py": source})) == [("BRK401", 13)]


CONVERTER = """\
import torch
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = nn.Parameter(scale)

    def forward(self, x):
        return x * self.scale


def converted(model, scale: Tensor):
    print("converting")
    return {value}
"""


@pytest.mark.parametrize(
    "made", ["Net(scale)", "(3, Net(scale))", "lambda x: x * scale", "(Net, 3)"]
)
def test_a_function_that_makes_a_model_or_a_function_is_not_compiled(made, tmp_path):
    files = {"library/__init__.py": "from .convert import converted\n"}
    files["library/convert.py"] = CONVERTER.format(value=made)
    assert found(analysed(tmp_path, files)) == []
    files["library/convert.py"] = CONVERTER.format(value="scale * 2")
    assert found(analysed(tmp_path, files)) == [("BRK401", 15)]
    files["library/convert.py"] = CONVERTER.format(
        value="nn.utils.parametrize.register_parametrization(model, 'scale', Net(scale))"
    )
    assert found(analysed(tmp_path, files)) == []
    files["library/convert.py"] = CONVERTER.format(value="nn.Linear(3, 3)(scale)")
    assert seen(analysed(tmp_path, files)) == []


TOKENIZER = """\
from abc import abstractmethod
from typing import Optional

import torch


class Reader(torch.nn.Module):
    @abstractmethod
    def read(self, source):
        ...


class Lines(Reader):
    def read(self, source{annotation}{others}, more: Optional[int] = None):
        print(source)
        return source
"""


@pytest.mark.parametrize("others", [", *", ", *others"])
@pytest.mark.parametrize(
    ("annotation", "entered"),
    [(": str", False), (": Optional[str] = None", False), (": torch.Tensor", True), ("", True)],
)
def test_a_method_that_is_given_texts_and_numbers_only_is_not_compiled(
    annotation, entered, others, tmp_path
):
    source = TOKENIZER.format(annotation=annotation, others=others)
    assert seen(analysed(tmp_path, {"program.py": source})) == [("BRK401", 15)] * entered


DOCUMENTED = '''\
import torch


def cut(x, rank):
    """Cut `x` to its first rows.

    {written}
    """
    x = x.relu()
    if rank > 0.5:
        return x + rank
    return x
'''


@pytest.mark.parametrize(
    ("written", "is_tensor"),
    [
        ("rank : int", False),
        ("rank : Union[int, List[int]]", False),
        ("rank (int): how many", False),
        ("rank (int, optional): how many", False),
        (":param int rank: how many", False),
        (":type rank: int or None", False),
        ("rank : tensor", True),
        ("rank : int tensor", True),
        ("rank : list of arrays", True),
        ("rank is an int", True),
        ("", True),
    ],
)
def test_a_docstring_says_that_a_parameter_is_no_tensor(written, is_tensor, tmp_path):
    files = {
        "library/__init__.py": "from .cutting import cut\n",
        "library/cutting.py": DOCUMENTED.format(written=written),
    }
    codes = {code for code, _ in found(analysed(tmp_path, files))}
    assert ("BRK101" in codes) == is_tensor


WRAPPER = """\
import torch


class Wrapper({base}):
    def __init__(self, loss, transform):
        super().__init__()
        self.loss, self.transform = loss, transform

    def forward(self, x, y):
        return self.loss(*self.transform(x, y))


class Masked:
    def __call__(self, x{annotation}, y{annotation}):
        return x[y > 0], y
"""


@pytest.mark.parametrize(
    ("base", "annotation", "entered"),
    [
        ("torch.nn.Module", ": torch.Tensor", True),
        ("torch.nn.Module", "", False),
        ("torch.nn.Module", ": dict", False),
        ("dict", ": torch.Tensor", False),
    ],
)
def test_what_is_called_with_tensors_beside_a_module(base, annotation, entered, tmp_path):
    source = WRAPPER.format(base=base, annotation=annotation)
    assert seen(analysed(tmp_path, {"program.py": source})) == [("BRK302", 15)] * entered


LOSSES = """\
import torch
from torch import Tensor

__all__ = ["read", "Loss", "Named"]


class Loss:
    def __call__(self, x: Tensor):
        return x.max().item()


class Named:
    def __call__(self, name):
        return name.upper()


def read(x: Tensor):
    return x.min().item()


def spread(x):
    return x.std().item()


def kept(names, depth):
    return depth if names else 0
"""


@pytest.mark.parametrize(
    ("front", "lines"),
    [
        ("from .losses import *\n", [9, 18]),
        ("from . import losses\n", [9, 18, 22]),
        ("from library import losses as ways\n", [9, 18, 22]),
        ("from .losses import Named\n", []),
        ("", []),
    ],
)
def test_what_a_library_hands_out_with_a_star_or_as_a_namespace(front, lines, tmp_path):
    """Of that only what shows that it takes tensors; objects that are called with them, too."""
    files = {"library/losses.py": LOSSES, "library/__init__.py": front}
    assert [line for _, line in seen(analysed(tmp_path, files))] == lines


PICTURES = """\
class Shown:
    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, picture{annotation}):
        return [picture, self.mode]
"""


@pytest.mark.parametrize(("annotation", "regions"), [("", 0), (": torch.Tensor", 1)])
def test_an_object_is_no_tensor_for_an_attribute_that_tensors_have(annotation, regions, tmp_path):
    source = f"import torch\n\n\n{PICTURES.format(annotation=annotation)}"
    files = {"library/pictures.py": source, "library/__init__.py": "from .pictures import *\n"}
    assert analysed(tmp_path, files).regions == regions


DISTRIBUTION = """\
import torch


class Clipped(torch.distributions.{base}):
    def __init__(self, base, floor):
        super().__init__()
        self.base, self.floor = base, floor

    def {name}(self, value):
        value = value if value.min() > 0 else value.abs()
        return self.base.{name}(value)
"""


@pytest.mark.parametrize(
    ("base", "name", "is_seen"),
    [
        ("Distribution", "log_prob", True),
        ("Distribution", "plot", False),
        ("transforms.Transform", "_call", True),
        ("constraints.Constraint", "check", True),
    ],
)
def test_methods_of_a_distribution_and_its_parts(base, name, is_seen, tmp_path):
    source = DISTRIBUTION.format(base=base, name=name)
    assert seen(analysed(tmp_path, {"program.py": source})) == [("BRK101", 10)] * is_seen


REQUIRED = """\
import abc

import torch


class Environment(torch.nn.Module):
    @staticmethod
    @abc.abstractmethod
    def _step(x): ...

    @abc.abstractmethod
    def _named(self, name): ...


class Maze(Environment):
    @staticmethod
    def _step(x: torch.Tensor):
        return x if x.all() else x + 1

    def _named(self, name):
        return name if name.all() else 1
"""


def test_a_private_method_that_a_parent_leaves_abstract(tmp_path):
    assert seen(analysed(tmp_path, {"program.py": REQUIRED})) == [("BRK101", 18)]


FIGURES = """\
import numpy as np
import torch


class Error:
    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, wanted: {kind}, given: np.ndarray):
        return float(np.mean(wanted - given)) * self.scale
"""


@pytest.mark.parametrize(
    ("kind", "lines"), [("np.ndarray", []), ("np.ndarray | torch.Tensor", [10])]
)
def test_an_object_that_is_called_with_arrays_is_no_region(kind, lines, tmp_path):
    front = "from .figures import Error\n"
    files = {"library/figures.py": FIGURES.format(kind=kind), "library/__init__.py": front}
    assert [line for _, line in seen(analysed(tmp_path, files))] == lines


@pytest.mark.parametrize(("annotation", "lines"), [("Net", []), ("str", [9])])
def test_what_is_handed_a_model_is_no_region(annotation, lines, tmp_path):
    files = {
        "pkg/__init__.py": "from .decoding import decode\n",
        "pkg/decoding.py": f"""\
            import torch


            class Net(torch.nn.Module):
                def forward(self, x):
                    return x + 1

            def decode(model: "{annotation}", x: torch.Tensor):
                return model, x.tolist()
            """,
    }
    assert [line for _, line in found(analysed(tmp_path, files))] == lines


@pytest.mark.parametrize(
    ("annotation", "lines"), [("str | torch.Tensor", []), ("torch.Tensor", [6])]
)
def test_what_is_handed_a_tensor_or_the_name_of_a_file_is_no_region(annotation, lines, tmp_path):
    source = f"""\
        import torch


        class Reader(torch.nn.Module):
            def __call__(self, source: {annotation}):
                return source.tolist()
        """
    assert [line for _, line in found(analysed(tmp_path, {"reader.py": source}))] == lines


@pytest.mark.parametrize(
    ("parameters", "last", "lines"),
    [
        ("self", "torch.utils.data.DataLoader([1])", []),
        ("self", "None", []),
        ("self", "self.weight.sum()", [13]),
        ("self, x: torch.Tensor", "None", [13]),
    ],
)
def test_a_method_that_is_given_nothing_and_hands_out_no_tensor_is_no_region(
    parameters, last, lines, tmp_path
):
    source = f"""\
        import torch


        class Base(torch.nn.Module):
            def fold(self, *given):
                raise NotImplementedError


        class Net(Base):
            weight = torch.ones(3)

            def fold({parameters}):
                print("folds")
                return {last}
        """
    assert [line for _, line in seen(analysed(tmp_path, {"net.py": source}))][:1] == lines


@pytest.mark.parametrize(
    ("uses", "lines"),
    [
        ("normalize(x.numpy())", []),
        ("next(iter(DataLoader([x])))", []),
        ("x.numpy(); import pandas", []),
        ("x.numpy()", [8]),
    ],
)
def test_a_function_of_a_package_without_tensors_is_no_region(uses, lines, tmp_path):
    source = f"""\
        import torch
        from sklearn.preprocessing import normalize
        from torch.utils.data import DataLoader


        def judged(x: torch.Tensor) -> torch.Tensor:
            rows = {uses}
            if x.sum() > 0:
                return x
            return torch.from_numpy(rows)
        """
    files = {"library/__init__.py": "from .judging import judged\n", "library/judging.py": source}
    assert [line for _, line in found(analysed(tmp_path, files))] == lines


HEARD = """\
import torch


def heard(x: torch.Tensor, found: list):
    largest = x.abs().max().item()
    {end}
"""


@pytest.mark.parametrize(
    ("end", "entered"),
    [
        ("open_window(x, largest)", False),
        ("return", False),
        ("x.mul_(largest)", True),
        ("x /= largest", True),
        ("x[0] = largest", True),
        ("found.append(largest)", True),
        ("return x / largest", True),
    ],
)
def test_a_function_that_gives_nothing_and_changes_nothing_is_not_compiled(end, entered, tmp_path):
    files = {
        "library/__init__.py": "from .hearing import heard\n",
        "library/hearing.py": HEARD.format(end=end),
    }
    assert found(analysed(tmp_path, files)) == [("BRK201", 5)] * entered


@pytest.mark.parametrize(
    ("first", "lines"),
    [
        ("model.train()", []),
        ("optimizer.zero_grad()", []),
        ("weights = list(model.parameters())", []),
        ("optimizer.step = None", [6]),
        ("Own().train()", [6]),
    ],
)
def test_a_function_that_trains_a_model_or_goes_over_its_parameters_is_not_compiled(
    first, lines, tmp_path
):
    source = f"""\
        from library.own import Own


        def one_pass(model, optimizer, x: torch.Tensor):
            {first}
            return model(x) / x.sum().item()
        """
    files = {
        "library/__init__.py": "from .passes import one_pass\n",
        "library/own.py": "class Own:\n    def train(self):\n        return self\n",
        "library/passes.py": "import torch\n"
        + source.replace("        ", "", 1).replace("\n        ", "\n"),
    }
    assert [line for _, line in found(analysed(tmp_path, files))] == [n + 1 for n in lines]


AGENT = """\
import torch
from torch import nn


class Agent({base}):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(4, 2)

    def act(self, x):
        return x * self.scale(x)

    def scale(self, x):
        return x.sum().item()

    def unused(self, x):
        return x.tolist()


{calls}
"""


@pytest.mark.parametrize(
    ("base", "calls", "lines"),
    [
        ("nn.Module", "agent = Agent()\nagent.act(torch.ones(4))", [14]),
        ("nn.Module", "agent = Agent()", []),
        ("nn.Linear", "agent = Agent()\nagent.act(torch.ones(4))", []),
        ("object", "agent = Agent()\nagent.act(torch.ones(4))", []),
    ],
)
def test_methods_that_a_file_calls_of_a_module_without_a_forward(base, calls, lines, tmp_path):
    files = {"agents.py": AGENT.format(base=base, calls=calls)}
    assert [line for _, line in seen(analysed(tmp_path, files))] == lines


def test_a_function_that_makes_a_data_set_is_not_compiled(tmp_path):
    source = """\
        from pathlib import Path

        import torchvision


        class Pictures(torchvision.datasets.CocoDetection):
            pass


        def build(image_set, args):
            root = Path(args.path)
            assert root.exists()
            return {made}
        """
    for made, lines in (("Pictures(root)", []), ("root, image_set + 1", [12])):
        front = "from .pictures import build\n"
        files = {"data/__init__.py": front, "data/pictures.py": source.format(made=made)}
        assert [line for _, line in found(analysed(tmp_path / made[:4], files))] == lines


@pytest.mark.parametrize(("call", "lines"), [("self.flow(z, reverse=True)", [8]), ("z", [])])
def test_a_flag_of_which_the_file_names_the_other_value(call, lines, tmp_path):
    source = f"""\
        import torch
        from torch import nn


        class Flow(nn.Module):
            def forward(self, z, reverse=False):
                if reverse:
                    return z / z.sum().item()
                return z


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.flow = Flow()

            def forward(self, z):
                return self.flow(z)

            def sample(self, z):
                return {call}
        """
    assert [line for _, line in found(analysed(tmp_path, {"flows.py": source}))] == lines


OF_SPARSE = """\
import torch


def {name}(x: torch.Tensor):
    if x.layout == torch.{layout}:
        x = x * 2
    return x[x > 0]
"""


@pytest.mark.parametrize(
    ("name", "layout", "is_shown"),
    [
        ("sparse_positive", "sparse_coo", False),
        ("positive", "sparse_coo", True),
        ("sparse_positive", "strided", True),
    ],
)
def test_a_function_that_may_be_given_a_sparse_tensor(name, layout, is_shown, tmp_path):
    """Dynamo leaves each frame to Python that touches one."""
    files = {
        "net/__init__.py": f"from .positive import {name}\n",
        "net/positive.py": OF_SPARSE.format(name=name, layout=layout),
    }
    result = analysed(tmp_path, files)
    assert seen(result) == [("BRK302", 7)]
    assert found(result) == ([("BRK302", 7)] if is_shown else [])
