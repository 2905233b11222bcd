"""What only runs while a program is debugged, profiled or exported is possible."""

import ast
import textwrap

import pytest
from programs import analysed, found

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
        ("self.config.verbose", True, False),
        ("not DEBUG", False, True),
        ("verbose > 1 and x.ndim == 3", True, False),
        ("a or debug", False, False),
        ("not (debug or profiling)", False, True),
        ("self.cfg.debug.steps > 0", True, False),
        ("torch.is_anomaly_enabled()", True, False),
        ("self.log_probs", False, False),
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
        ("a < verbose < b", False, False),
        ("isinstance(source, str)", True, False),
        ("isinstance(source, (str, pathlib.Path)) and source", True, False),
        ("isinstance(source, (str, torch.Tensor))", False, False),
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
