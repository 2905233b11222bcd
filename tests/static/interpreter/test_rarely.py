"""What only runs while a program is debugged, profiled or exported, or for a tensor without elements, is possible."""

import ast
import textwrap

import pytest
from programs import analysed, found, seen

from breakscope.static.interpreter.rarely import is_rare


def model(folder, body, before=""):
    head = f"import torch\nfrom torch import nn\n\n\n{before}class Net(nn.Module):\n"
    head += "    def forward(self, x: torch.Tensor, debug: bool = False):\n"
    body = textwrap.indent(f"{body}return x\n", " " * 8)
    return analysed(folder, {"net.py": head + body})


@pytest.mark.parametrize(
    ("test", "when_true", "when_false"),
    [
        ("debug", True, False),
        ("self.metrics.record_misses", True, False),
        ("report_fn is not None", True, False),
        ("fdir1 is not None and fdir2 is None", True, False),
        ("loss_dir is not None", False, False),
        ("isinstance(image, Image.Image)", True, False),
        ("isinstance(image, tv_tensors.Image)", False, False),
        ("self.config.verbose", True, False),
        ("not DEBUG", False, True),
        ("verbose > 1 and x.ndim == 3", True, False),
        ("a or debug", False, False),
        ("not (debug or profiling)", False, True),
        ("self.cfg.debug.steps > 0", True, False),
        ("torch.is_anomaly_enabled()", True, False),
        ("self.log_probs", False, False),
        ("self._if_calib", True, False),
        ("logger.isEnabledFor(logging.DEBUG)", True, False),
        ("torch.autograd._profiler_enabled()", True, False),
        ("self.profiler is not None", True, False),
        ("self.profiler is None", False, True),
        ("self.exporting is False", False, True),
        ("mode == 'debug'", True, False),
        ("mode != 'export'", False, True),
        ("x.dtype == torch.float16", True, False),
        ("self.training", False, False),
        ("self.debugger_name", False, False),
        ("hasattr(self, 'export_handler')", False, False),
        ("a < verbose < b", False, False),
        ("isinstance(source, str)", True, False),
        ("isinstance(source, (str, pathlib.Path)) and source", True, False),
        ("isinstance(source, (str, torch.Tensor))", False, False),
        ("torch.isnan(x).any()", True, False),
        ("torch.any(x.isinf())", True, False),
        ("torch.isfinite(x).all()", False, True),
        ("(~torch.isfinite(x)).any()", True, False),
        ("not x.isnan().any()", False, True),
        ("not torch.isfinite(norm)", False, False),
        ("self.output_path is not None", True, False),
        ("save_dir", True, False),
        ("self.write_chunk_logs", True, False),
        ("self.path is not None", False, False),
        ("self.outputs", False, False),
    ],
)
def test_outcomes_that_are_rare(test, when_true, when_false):
    node = ast.parse(test, mode="eval").body
    assert (is_rare(node, True), is_rare(node, False)) == (when_true, when_false)


@pytest.mark.parametrize(
    "body",
    [
        "if debug:\n    x.item()\n",
        "if not debug:\n    pass\nelse:\n    x.item()\n",
        "if not debug:\n    return x\nx.item()\n",
        "y = x.item() if debug else 0\n",
        "if x.ndim == 1 and debug:\n    x.item()\n",
    ],
)
def test_a_break_behind_one_is_possible(tmp_path, body):
    result = model(tmp_path, body)
    assert found(result) == []
    assert [c for c, _ in found(result, ("possible",))] == ["BRK201"]


def test_what_else_the_function_does_is_as_sure_as_before(tmp_path):
    body = "if debug:\n    pass\nelse:\n    x.item()\nprint(x)\n"
    result = model(tmp_path, body)
    assert [c for c, _ in found(result)] == ["BRK201", "BRK401"]


HELPER = "def log(x):\n    print(x)\n    return x\n\n\n"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("if debug:\n    log(x)\n", []),
        ("if not debug:\n    return x\nlog(x)\n", []),
        # as a wrapper around a model that may watch it
        ("if debug:\n    x = log(x)\nelse:\n    x = log(x)\n", ["BRK401"]),
    ],
)
def test_what_is_called_behind_one_is_possible(tmp_path, body, codes):
    result = model(tmp_path, body, HELPER)
    assert [c for c, _ in found(result)] == codes
    assert [c for c, _ in found(result, ("certain", "likely", "possible"))] == ["BRK401"]


@pytest.mark.parametrize(
    "body",
    [
        "if x.numel() == 0:\n    x.item()\n",
        "if x.shape[0]:\n    pass\nelse:\n    x.item()\n",
        "if not len(x):\n    x.item()\n",
        "if x.size(0) < 1:\n    x.item()\n",
        "n = x.size(0) or int(x.sum())\n",
        "y = x.item() if x.shape[-1] <= 0 else 0\n",
    ],
)
def test_what_runs_for_an_empty_tensor_only_is_possible(tmp_path, body):
    assert not found(model(tmp_path, body))


@pytest.mark.parametrize(
    "body",
    [
        "if x.numel() > 0:\n    x.item()\n",
        "if x.numel() == 0:\n    return x\nx.item()\n",
        "if x.shape[0] % 2:\n    x.item()\n",
        "if x.shape[0] == 1:\n    x.item()\n",
        "n = x.shape[0] - 1 or int(x.sum())\n",
    ],
)
def test_what_runs_for_others_is_claimed(tmp_path, body):
    assert len(found(model(tmp_path, body))) == 1


def test_what_runs_only_where_a_number_is_none_is_possible(tmp_path):
    result = model(tmp_path, "if torch.isnan(x).any():\n    print('odd')\n")
    assert {f.code: f.confidence for f in result.findings}["BRK401"] == "possible"


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("log.warning('`mask` is deprecated, use `masks`')", []),
        ("log.warning('`mask` is empty')", ["BRK402"]),
        ("warnings.warn('`mask` is empty')", []),
    ],
)
def test_a_warning_of_what_is_deprecated_is_possible(tmp_path, call, shown):
    body = f"if x.shape[0] % 2:\n    {call}\n"
    source = model(
        tmp_path, body, "import logging, warnings\n\nlog = logging.getLogger(__name__)\n\n\n"
    )
    assert [code for code, _ in found(source)] == shown


def test_the_message_of_an_error_that_ends_the_program_is_possible(tmp_path):
    error = "raise ValueError(f'{int(x.max())} of 3')\n"
    assert not found(model(tmp_path, f"if x.dim() > 3:\n    {error}"))
    caught = f"try:\n    {error}except ValueError:\n    pass\n"
    assert [code for code, _ in found(model(tmp_path, caught))] == ["BRK202"]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if x.shape[0] > 3:\n    print(1)\n    raise ValueError\n", []),
        ("if x.shape[0] > 3:\n    x = x + 1\nelse:\n    print(1)\n    raise ValueError\n", []),
        ("if x.shape[0] > 3:\n    print(1)\n    raise ValueError\n    x = x + 1\n", []),
        ("if x.shape[0] > 3:\n    print(1)\n", [8]),
        (
            "try:\n    if x.shape[0] > 3:\n        print(1)\n        raise ValueError\n"
            "except ValueError:\n    x = x + 1\n",
            [9],
        ),
    ],
)
def test_what_is_said_before_the_program_ends_in_an_error(body, lines, tmp_path):
    assert found(model(tmp_path, body)) == [("BRK401", line) for line in lines]


AMOUNT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, rate: float = 0.0, noisy: bool = False):
        super().__init__()
        self.rate, self.noisy = rate, noisy

    def forward(self, x):
        if {test} and torch.rand(1).item() < self.rate:
            return x * 2
        return x
"""


@pytest.mark.parametrize(
    ("test", "is_shown"),
    [("self.training and self.rate > 0", True), ("self.rate != 0.0", True), ("self.noisy", False)],
)
def test_an_amount_that_is_nothing_by_default_is_used_with_one(test, is_shown, tmp_path):
    """As it is where the draw stands in an `if` of its own."""
    result = analysed(tmp_path, {"net.py": AMOUNT.format(test=test)})
    assert found(result) == ([("BRK201", 11)] if is_shown else [])


REPLACED = """\
import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return x * 2


def load(name):
    print("loads", name)
    return Inner(), {{}}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {made}
        self.keeps = False

    def forward(self, x):
        if {test}:
            self.inner, self.config = load("net")
        return x
"""


@pytest.mark.parametrize(
    ("made", "test", "is_shown"),
    [
        ("self.inner, self.config = load('net')", "self.inner.training and not self.keeps", False),
        ("self.inner, self.config = load('net')", "self.training", True),
        ("self.inner, self.config = None, None", "self.inner is None", True),
    ],
)
def test_a_module_that_is_put_in_the_place_of_one_in_another_state(made, test, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": REPLACED.format(made=made, test=test)})
    assert ("BRK401", 10) in seen(result)
    assert (("BRK401", 10) in found(result)) is is_shown


SCATTER = """\
import torch


def scatter(x, index, size{default}):
    if size is None:
        size = int(index.max()) + 1
    return x.new_zeros(size).scatter_add(0, index, x)


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, index: torch.Tensor, data, size=None):
        return scatter(x, index{handed})
"""


@pytest.mark.parametrize(
    ("default", "handed", "is_shown"),
    [
        ("=None", "", True),
        ("=None", ", None", True),
        ("=None", ", size", True),
        ("=None", ", data.num_nodes", False),
        ("=None", ", size=data.num_nodes", False),
        ("", ", data.num_nodes", False),
        ("=None", ", x.shape[0] if data.whole else data.num_nodes", False),
        ("=None", ", None if data.whole else data.num_nodes", True),
    ],
)
def test_who_has_nothing_for_a_parameter_hands_over_none(default, handed, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": SCATTER.format(default=default, handed=handed)})
    assert ("BRK202", 6) in seen(result)
    assert (("BRK202", 6) in found(result)) == is_shown


ASKED = """\
import torch


class Net(torch.nn.Module):
    def prepare(self, rows):
        self.{name} = rows

    def forward(self, x):
        if hasattr(self, "rows"):
            print(x.shape)
        if not hasattr(self, "rows"):
            x = x * 2
        return x
"""


@pytest.mark.parametrize(("name", "is_shown"), [("rows", True), ("others", False)])
def test_an_attribute_that_nothing_sets(name, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": ASKED.format(name=name)})
    assert ("BRK401", 10) in seen(result)
    assert (("BRK401", 10) in found(result)) == is_shown


LOGGED = """\
import logging

import torch

logger = logging.getLogger(__name__)


class Net(torch.nn.Module):
    def forward(self, x, lengths: torch.Tensor):
        if (lengths < 1).any():
            {logged}
        return x * 2
"""


@pytest.mark.parametrize(
    ("logged", "is_shown"),
    [
        ("logger.error('too short: %s', lengths)", False),
        ("logging.error('too short')", False),
        ("logging.warning('too short')", False),
        ("log = logging.getLogger('of this')\n            log.warning('too short')", False),
        ("logger.info('short: %s', lengths)", True),
        ("x = x + 1\n            logger.error('too short')", True),
        ("x = x + 1\n            logger.warning('too short')", True),
    ],
)
def test_what_only_logs_an_error_or_a_warning(logged, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": LOGGED.format(logged=logged)})
    assert "BRK402" in [code for code, _ in seen(result)]
    assert ("BRK402" in [code for code, _ in found(result)]) == is_shown
    assert ("BRK101", 10) in found(result)


PICTURES = """\
import torch


class Detector(torch.nn.Module):
    def found(self, boxes, images):
        if isinstance(boxes, torch.Tensor):
            return boxes
        return boxes[0][boxes[0] > 0]

    def forward(self, images, sizes=None):
        if isinstance({asked}, torch.Tensor):
            return images * 2
        x = torch.stack([torch.from_numpy(image) for image in images])
        return x[x > 0]
"""


@pytest.mark.parametrize(("asked", "is_shown"), [("images", False), ("sizes", True)])
def test_a_region_whose_input_is_no_tensor(asked, is_shown, tmp_path):
    """What is compiled of a wrapper that takes pictures stands further in."""
    result = analysed(tmp_path, {"detector.py": PICTURES.format(asked=asked)})
    assert ("BRK302", 14) in seen(result)
    assert (("BRK302", 14) in found(result)) is is_shown


LOADED = """\
import torch

KERNEL = None
MODELS = {{}}


def kept(name):
    global KERNEL
    KERNEL = {made}
    return KERNEL


class Net(torch.nn.Module):
    def forward(self, x, name: str):
        global KERNEL
        if {test}:
            {body}
            print(name)
        return x * 2
"""


@pytest.mark.parametrize(
    ("made", "test", "body", "is_shown"),
    [
        ("torch.load('kernel')", "KERNEL is None", "kept('kernel')", False),
        ("torch.load('kernel')", "KERNEL is None", "kept(name)", True),
        ("torch.load('kernel')", "KERNEL is None", "print('kernel')", True),
        ("torch.load(name)", "name not in MODELS", "MODELS[name] = kept(name)", False),
        ("torch.load(name)", "MODELS[name] is None", "MODELS[name] = kept(name)", False),
        ("torch.ones(3)", "name not in MODELS", "MODELS[name] = kept(name)", True),
        ("torch.load(name)", "name not in MODELS", "MODELS['any'] = kept(name)", True),
    ],
)
def test_what_the_first_call_loads(made, test, body, is_shown, tmp_path):
    result = analysed(tmp_path, {"net.py": LOADED.format(made=made, test=test, body=body)})
    assert ("BRK401", 18) in seen(result)
    assert (("BRK401", 18) in found(result)) is is_shown
