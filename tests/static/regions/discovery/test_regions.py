"""Which code counts as compiled, how imports are followed, and what the calls of a program show."""

import subprocess
import sys

import pytest
from programs import TORCH, analysed, found, seen, write

from breakscope import limits
from breakscope.static import StaticOptions, analyze

HELPER = "import torch\ndef read(x):\n    return x.item()\n"


def model(imports, call):
    return f"import torch\n{imports}\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return {call}\n"


IMPORTS = {
    "beside": ({"helper.py": HELPER, "model.py": model("from helper import read", "read(x)")}),
    "as a module": ({"helper.py": HELPER, "model.py": model("import helper as h", "h.read(x)")}),
    "star": ({"helper.py": HELPER, "model.py": model("from helper import *", "read(x)")}),
    "relative": (
        {
            "pkg/__init__.py": "",
            "pkg/helper.py": HELPER,
            "pkg/model.py": model("from .helper import read", "read(x)"),
        }
    ),
    "relative to the parent": (
        {
            "pkg/__init__.py": "",
            "pkg/helper.py": HELPER,
            "pkg/sub/__init__.py": "",
            "pkg/sub/model.py": model("from ..helper import read", "read(x)"),
        }
    ),
    "through a package": (
        {
            "pkg/__init__.py": "from .helper import read\n",
            "pkg/helper.py": HELPER,
            "model.py": model("import pkg", "pkg.read(x)"),
        }
    ),
    "src layout": (
        {
            "src/pkg/__init__.py": "",
            "src/pkg/helper.py": HELPER,
            "src/pkg/model.py": model("from pkg.helper import read", "read(x)"),
        }
    ),
    "only while type checking": (
        {
            "helper.py": HELPER.replace("def", "def other(x): pass\ndef"),
            "model.py": model(
                "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from helper import other as "
                "read\nelse:\n    from helper import read",
                "read(x)",
            ),
        }
    ),
    "inside the function": (
        {
            "helper.py": HELPER,
            "model.py": model("", "read(x)").replace(
                "        return", "        from helper import read\n        return"
            ),
        }
    ),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_an_imported_function_is_followed(name, tmp_path):
    result = analysed(tmp_path, IMPORTS[name])
    (finding,) = result.findings
    assert finding.path.endswith("helper.py") and finding.source[-1].strip() == "return x.item()"
    # what a package hands out by name is a region of its own, and that chain is the shorter one
    chain = [] if name == "through a package" else ["model.py"]
    assert [link.path.rpartition("/")[2] for link in finding.chain] == chain


PROGRAM = """\
import torch
class Base(torch.nn.Module):
    def forward(self, x):
        return self.work(x)
    def work(self, x):
        raise NotImplementedError
class Real(Base):
    def work(self, x):
        return x.item()
class Plain:
    def forward(self, x):
        return x.item()
def loose(x):
    return x.sum().item()
@torch.compile
def decorated(x):
    return x.sum().item()
@torch.compile(fullgraph=False)
def decorated_with(x):
    return x.sum().item()
def called(x):
    return x.sum().item()
fast = torch.compile(called)
def stepped(x):
    return x.sum().item()
def train():
    return torch.compile(stepped, mode="default")
def make():
    return loose, (torch.ones(3),), {}
def make_model():
    return Real(), (torch.ones(3),), {}
"""
WITHOUT_ENTRY = {9, 17, 20, 22, 25}
ENTRIES = {
    "make": {14},
    "make_model": {9},
    "make*": {9, 14},
    "loose": {14},
    "Real": {9},
    "Plain": set(),
    "called": {22},
    "nothing": set(),
    "*called": {22},
}


def lines_with(folder, *entries):
    return {f.line for f in analysed(folder, {"program.py": PROGRAM}, *entries).findings}


def test_regions_without_an_entry(tmp_path):
    assert lines_with(tmp_path) == WITHOUT_ENTRY


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_names_regions(entry, tmp_path):
    assert lines_with(tmp_path, f"program.py::{entry}") == ENTRIES[entry]


def test_globs_over_files_and_several_entries(tmp_path):
    assert lines_with(tmp_path, "*.py::make") == {14}
    assert lines_with(tmp_path, "program.py::make", "program.py::called") == {14, 22}
    assert lines_with(tmp_path, "other.py::make") == set()


def test_a_function_named_as_entry_takes_tensors(tmp_path):
    source = "import torch\ndef step(x, y, scale=1.0, names=None):\n    if x > y:\n        return x\n    return y * scale\n"
    assert found(analysed(tmp_path, {"program.py": source}, "program.py::step")) == [("BRK101", 3)]


LIBRARY = {
    "pkg/__init__.py": "from .steps import clip, read, pair as both, _private\nfrom pkg.more import scale\nfrom .deep import shift\n",
    "pkg/steps.py": HELPER
    + "def clip(x: torch.Tensor):\n    return x if x.sum() > 0 else read(x)\n"
    "def pair(x, y):\n    return x.isnan().any().item()\ndef _private(x):\n    return x.isnan().any().item()\n"
    "def kept(x):\n    return x.isnan().any().item()\ndef named(name):\n    return name.upper()\n",
    "pkg/more.py": "import torch\ndef scale(x: torch.Tensor):\n    return x * x.item()\n",
    "pkg/deep/__init__.py": "from .shifts import shift\n",
    "pkg/deep/shifts.py": "import torch\ndef shift(x: torch.Tensor):\n    return x * x.item()\n",
}


def test_functions_that_a_library_hands_out_by_name_are_regions(tmp_path):
    places = {(f.path.rpartition("/")[2], f.line) for f in analysed(tmp_path, LIBRARY).findings}
    assert places == {
        ("steps.py", 3),
        ("steps.py", 5),
        ("steps.py", 7),
        ("more.py", 3),
        ("shifts.py", 3),
    }


@pytest.mark.parametrize(
    ("front", "is_seen"),
    [
        ("import pkg.deep\n", True),
        ("import pkg.deep as ways\n", True),
        ("from . import deep\n", True),
        ("from pkg import deep, more\n", True),
        ("import pkg.deeper\n", False),
        ("import other.deep\n", False),
        ("def load():\n    from . import deep\n", False),
        ("from .deep import unknown\n", False),
        ("", False),
    ],
)
def test_functions_that_a_package_inside_hands_out_are_regions_too(front, is_seen, tmp_path):
    files = {
        "pkg/__init__.py": front,
        "pkg/deep/__init__.py": LIBRARY["pkg/deep/__init__.py"],
        "pkg/deep/shifts.py": LIBRARY["pkg/deep/shifts.py"]
        + "def kept(x: torch.Tensor):\n    return x * x.item()\n",
    }
    result = analysed(tmp_path, files)
    assert seen(result) == ([("BRK201", 3)] if is_seen else [])


@pytest.mark.parametrize(
    ("first", "is_seen"), [("import torch", True), ("# see https://download.pytorch.org", False)]
)
def test_functions_of_a_file_that_does_not_use_torch_are_no_regions(first, is_seen, tmp_path):
    files = {
        "pkg/__init__.py": "from .more import share\n",
        "pkg/more.py": f"{first}\ndef share(x):\n    return x.isnan().any().item()\n",
    }
    assert found(analysed(tmp_path, files)) == ([("BRK201", 3)] if is_seen else [])


@pytest.mark.parametrize(("name", "is_seen"), [("output", True), ("output_dims", False)])
def test_a_parameter_named_as_dims_is_no_tensor(name, is_seen, tmp_path):
    source = f"import torch\ndef step(x, {name}):\n    return x if {name} > 0.5 else x.abs()\n"
    result = analysed(tmp_path, {"program.py": source}, "program.py::step")
    assert found(result) == ([("BRK101", 3)] if is_seen else [])


def test_a_function_handed_out_that_a_model_of_another_file_calls_is_seen_by_itself_too(tmp_path):
    """Whatever else is checked: alone, its file gives the same finding."""
    files = LIBRARY | {"pkg/model.py": model("from .more import scale", "scale(2)")}
    together = [f for f in analysed(tmp_path, files).findings if f.path.endswith("more.py")]
    options = StaticOptions(torch=TORCH)
    assert together == list(analyze([tmp_path / "pkg/more.py"], options).findings) != []


def test_a_function_handed_out_that_another_calls_is_seen_by_itself_too(tmp_path):
    more = "import torch\ndef scale(x: torch.Tensor, deep=None):\n    if deep is not None:\n        return x.item()\n    return x\n"
    before = (
        "import torch\nfrom .more import scale\ndef all_of(x: torch.Tensor):\n    return scale(x)\n"
    )
    files = {
        "pkg/__init__.py": "from .before import all_of\nfrom .more import scale\n",
        "pkg/before.py": before,
        "pkg/more.py": more,
    }
    assert [code for code, _ in found(analysed(tmp_path, files))] == ["BRK201"]


CHAIN = {
    "pkg/__init__.py": "from ._impl import solve as run\n",
    "pkg/_impl/__init__.py": "from .solver import solve, other\n",
    "pkg/_impl/solver.py": "import torch\ndef solve(x):\n    return torch.abs(x).item()\n"
    "def other(x):\n    return torch.abs(x).tolist()\n",
}


def test_what_a_package_hands_out_by_way_of_another_is_seen(tmp_path):
    assert found(analysed(tmp_path, CHAIN)) == [("BRK201", 3)]
    assert found(analysed(tmp_path / "front", CHAIN | {"pkg/__init__.py": ""})) == []


@pytest.mark.parametrize("front", ["from pkg._impl.solver", "from ._impl.solver"])
@pytest.mark.parametrize("inner", ["", "from .solver import other\n"])
def test_what_a_package_hands_out_past_those_between_is_seen(front, inner, tmp_path):
    files = CHAIN | {"pkg/__init__.py": f"{front} import solve\n", "pkg/_impl/__init__.py": inner}
    assert found(analysed(tmp_path, files)) == [("BRK201", 3)]


def test_a_forward_that_is_a_lambda_is_a_region(tmp_path):
    source = """\
        import torch

        class Set(torch.nn.Module):
            def forward(self, x):
                return x

        Set.forward = lambda self, x: x.sum().item()

        class Own(torch.nn.Module):
            forward = lambda self, x: x.sum().item()
        """
    assert found(analysed(tmp_path, {"model.py": source})) == [("BRK201", 7), ("BRK201", 10)]


def test_a_parameter_used_like_no_tensor_is_none(tmp_path):
    source = "import torch\ndef step(batch):\n    if batch.keys():\n        return batch['x']\n    return batch.items()\n"
    assert analysed(tmp_path, {"program.py": source}, "program.py::step").findings == ()


@pytest.mark.parametrize("decorator", ["handed", "handed_by(2)", "wrapped"])
def test_decorators_of_the_source(decorator, tmp_path):
    source = f"""\
        import functools
        import torch
        def handed(f):
            f.marked = True
            return f
        def handed_by(n):
            def deco(f):
                return f
            return deco
        def wrapped(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner
        class M(torch.nn.Module):
            @{decorator}
            def forward(self, x):
                return x.item()
        """
    assert found(analysed(tmp_path, {"program.py": source})) == [("BRK201", 18)]


@pytest.mark.parametrize(
    ("mark", "codes"), [("__script_if_tracing_wrapper", []), ("seen", ["BRK523"])]
)
def test_a_wrapper_that_scripts_while_tracing_is_replaced_by_what_it_wraps(mark, codes, tmp_path):
    """Seen with torch 2.13.0: the wrapper's own code is not traced."""
    source = f"""\
        import functools
        import torch
        def scripted(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                if not torch._C._is_tracing():
                    return f(*args, **kwargs)
                return torch.jit.script(wrapper.__original_fn)(*args, **kwargs)
            wrapper.__original_fn = f
            wrapper.{mark} = True
            return wrapper
        @scripted
        def double(x):
            return x * 2
        class M(torch.nn.Module):
            def forward(self, x):
                return double(x) + 1
        """
    assert [code for code, _ in found(analysed(tmp_path, {"program.py": source}))] == codes


HAZARDS = """\
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.drop = 1.0, torch.nn.Dropout(0.1)
    def forward(self, x, n=1):
        return self.drop(x * n * self.scale)
def make():
    return Model(), (torch.ones(4),), {}
"""
CALLS = {
    "the same calls": (
        "def calls():\n    return [(torch.ones(4), 2), (torch.zeros(4), 2)]\n",
        set(),
    ),
    "another number": (
        "def calls():\n    return [(torch.ones(4), n) for n in (1, 2, 3)]\n",
        {"BRK708"},
    ),
    "another float": (
        "def calls():\n    return [(torch.ones(4), n) for n in (0.1, 0.2)]\n",
        {"BRK709"},
    ),
    "set from outside": (
        "def drive(call, model):\n    for s in (1.0, 0.5):\n        model.scale = s\n        call(torch.ones(4))\n",
        {"BRK702"},
    ),
    "set on a layer": (
        "def drive(call, model):\n    for p in (0.1, 0.2):\n        model.drop.p = p\n        call(torch.ones(4))\n",
        {"BRK702"},
    ),
    "frozen on the way": (
        "def drive(call, model):\n    call(torch.ones(4))\n    for p in model.parameters():\n        p.requires_grad = False\n"
        "    call(torch.ones(4))\n",
        {"BRK718"},
    ),
    "only called": (
        "def drive(call, model):\n    for _ in range(3):\n        call(torch.ones(4))\n",
        set(),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_the_calls_of_a_program_change(name, tmp_path):
    more, wanted = CALLS[name]
    result = analysed(tmp_path, {"program.py": HAZARDS + more}, "program.py::make")
    assert {f.code for f in result.findings} == wanted
    assert {f.kind for f in result.findings} <= {"recompile"}


@pytest.mark.parametrize("name", ["model.part.scale", "model.options.scale"])
def test_what_a_driver_sets_on_what_the_model_holds(name, tmp_path):
    source = f"""\
        import types
        import torch
        class Part(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = 0.5
            def forward(self, x):
                return x * self.scale
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.part, self.options = Part(), types.SimpleNamespace(scale=0.5)
            def forward(self, x):
                return self.part(x) * self.options.scale
        def make():
            return Model(), (torch.ones(4),), {{}}
        def drive(call, model):
            for scale in (0.1, 0.2, 0.3):
                {name} = scale
                call(torch.ones(4))
        """
    assert found(analysed(tmp_path, {"program.py": source}, "program.py::make")) == [
        ("BRK702", 14 if "options" in name else 8)
    ]


def test_a_driver_may_set_a_dict_that_holds_itself(tmp_path):
    source = """\
        import torch
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.extras = {"scale": 0.5}
            def forward(self, x):
                return x * self.extras["scale"]
        def make():
            return Model(), (torch.ones(4),), {}
        def drive(call, model):
            for scale in (0.1, 0.2, 0.3):
                extras = {"scale": scale}
                extras["all"] = extras
                model.extras = extras
                call(torch.ones(4))
        """
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert result.gaps == () and {f.code for f in result.findings} == {"BRK702"}


def test_a_region_that_takes_too_much_work_is_cut_short_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_REGION_STATEMENTS", 100)
    body = "".join(f"        x = x + {i}\n" for i in range(200))
    source = (
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        x = self.long(x)\n"
        f"        return x.item()\n    def long(self, x):\n{body}        return x\n"
    )
    result = analysed(tmp_path, {"program.py": source})
    assert [(f.code, f.line) for f in result.findings] == [("BRK401", 4), ("BRK201", 6)]
    assert [(g.line, g.function) for g in result.gaps] == [(5, "M.forward")]


def test_source_analysis_imports_no_torch(tmp_path):
    write(tmp_path, {"program.py": PROGRAM})
    script = (
        "import sys\nfrom breakscope.static import StaticOptions, analyze\n"
        f"result = analyze([{str(tmp_path)!r}], StaticOptions(torch={TORCH!r}))\n"
        "assert len(result.findings) == 5\nprint(sorted(m for m in ('torch', 'numpy', 'transformers') if m in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_checked_program_does_not_run(tmp_path):
    write(tmp_path, {"program.py": PROGRAM + "raise SystemExit('run')\nopen('made', 'w')\n"})
    assert analyze([str(tmp_path)], StaticOptions(torch=TORCH)).errors == ()
    assert [p.name for p in tmp_path.iterdir()] == ["program.py"]


@pytest.mark.parametrize("inherited", ["super().__call__(", "nn.Module.__call__(self, "])
def test_a_module_with_its_own_call_takes_the_arguments_of_that(inherited, tmp_path):
    file = tmp_path / "own_call.py"
    file.write_text(
        "from torch import nn\n\n"
        "class Net(nn.Module):\n"
        "    def __call__(self, x, prior=False):\n"
        "        if prior:\n"
        "            return x\n"
        f"        return {inherited}x, x)\n\n"
        "    def forward(self, x, weights):\n"
        "        if weights.sum() > 0:\n"
        "            return x * weights\n"
        "        return x\n"
    )
    result = analyze([file], StaticOptions(torch="2.13.0"))
    assert [(f.line, f.code) for f in result.findings] == [(10, "BRK101")]


def test_a_factory_may_return_the_module_alone(tmp_path):
    """Its forward is the region then, and what it builds is no part of it."""
    text = (
        model("", "self.fc(x) if x.sum() > 0 else x").replace(
            "    def forward",
            "    def __init__(self):\n"
            "        super().__init__()\n        self.fc = torch.nn.Linear(4, 4)\n    def forward",
        )
        + "def make():\n    net = M()\n    return net\n"
    )
    (tmp_path / "model.py").write_text(text)
    path = str(tmp_path / "model.py")
    result = analyze([path], StaticOptions(entries=(f"{path}::make",)))
    assert [(f.code, f.function) for f in result.findings] == [("BRK101", "M.forward")]


def test_a_factory_whose_product_the_source_does_not_show_is_no_region(tmp_path):
    """What it does to make it runs before anything is compiled."""
    (tmp_path / "model.py").write_text(
        "import importlib\nimport torch\n\ndef make():\n    print('loading')\n"
        "    module = importlib.import_module(open('name').read())\n    return module.Model(), (torch.ones(3),), {}\n\n"
        "def step():\n    print('step')\n    return torch.ones(3), torch.ones(3)\n"
    )
    path = str(tmp_path / "model.py")
    result = analyze([path], StaticOptions(entries=(f"{path}::*",)))
    assert [(f.code, f.function) for f in result.findings] == [
        ("BRK401", "step")
    ] and result.regions == 2


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_types_by_statement_and_type_parameters(tmp_path):
    """`type Name = ...` at the top and in a function; an annotation that says the name is asked for
    what it stands for."""
    (tmp_path / "model.py").write_text(
        "import torch\n\ntype Maybe = torch.Tensor | None\ntype Pair[T] = tuple[T, T]\n\n"
        "class Model[T](torch.nn.Module):\n    def forward[S](self, x: torch.Tensor, sizes: Pair[int], kept: Maybe = None):\n"
        "        type Own = int\n        height, width = sizes\n        if height > width:\n            x = x * 2\n"
        "        if kept is not None:\n            if kept.sum() > 0:\n                x = x + kept\n        return x\n"
    )
    result = analyze([tmp_path / "model.py"])
    assert ([(f.line, f.code) for f in result.findings], result.gaps) == ([(13, "BRK101")], ())


SHARED_DECORATOR = """\
import functools

import torch


def checked(function):
    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    return wrapper


class Inner(torch.nn.Module):
    @checked
    def features(self, x: torch.Tensor):
        return x * 2

    @checked
    def forward(self, x: torch.Tensor):
        return x * x.max().item()


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor):
        return self.inner.{method}(x)
"""


@pytest.mark.parametrize("method", ["features", "forward"])
def test_a_decorated_forward_is_a_region_whatever_else_is_decorated_so(method, tmp_path):
    result = analysed(tmp_path, {"program.py": SHARED_DECORATOR.format(method=method)})
    assert found(result) == [("BRK201", 21)]


LEFT_OUT = """\
import torch


class Inner(torch.nn.Module):
    def forward(self, x, count, mask=None):
        if count > 2:
            x = x + 1
        if mask is not None:
            x = x[mask.bool()]
        return x


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor):
        return self.inner(x, x.shape[0])
"""


def test_a_module_is_looked_at_with_what_its_caller_leaves_out(tmp_path):
    """What the caller does give is known by that."""
    result = analysed(tmp_path, {"program.py": LEFT_OUT})
    assert found(result) == [("BRK302", 9)]


def test_a_method_with_a_default_is_entered_and_not_called_before(tmp_path):
    source = """\
import torch


class Lazy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = None

    def forward(self, x, deep=True):
        if self.inner is None:
            self.inner = torch.nn.Linear(4, 4)
        return self.inner(x)


step = Lazy().forward
"""
    result = analysed(tmp_path, {"program.py": source}, "program.py::step")
    assert ("BRK517", 11) in found(result)


@pytest.mark.parametrize(
    ("parameters", "is_region"),
    [("scores", True), ("model_name", False), ("config_path", False), ("profile", True)],
)
def test_a_function_handed_out_whose_parameter_is_named_like_no_tensor(
    parameters, is_region, tmp_path
):
    files = {
        "pkg/__init__.py": "from .front import score\n",
        "pkg/front.py": f"import torch\ndef score({parameters}):\n    print({parameters})\n"
        "    return torch.zeros(3)\n",
    }
    assert bool(analysed(tmp_path, files).regions) is is_region


AROUND = {
    "def step(x):\n    return torch.abs(x).item()": True,
    "def step(x: Tensor) -> Tensor:\n    return x * x.sum().item()": True,
    "def step(x: Tensor, module: 'Scale') -> Tensor:\n    return x * x.sum().item()": True,
    # what drives a model
    "def step(model: nn.Module, x: Tensor):\n    return model(x * x.sum().item())": False,
    "def step(x: Tensor, model: Optional[torch.nn.Module] = None):\n    return x.sum().item()": False,
    # what is no tensor any more
    "def step(x: Tensor) -> float:\n    return x.sum().item()": False,
    "def step(x: Tensor) -> 'np.ndarray':\n    return x[x > 0].numpy()": False,
    # arrays of NumPy's
    "def step(x: np.ndarray):\n    return x.max().item()": False,
    "def step(xs: list[np.ndarray], n: int):\n    return xs[0].max().item()": False,
    "def step(x):\n    return np.cov(x.T).max().item()": False,
    "def step(x):\n    return torch.abs(x).item() + np.pi": True,
    # data
    "def step(dataset, seed=None):\n    print(seed)\n    return torch.zeros(len(dataset))": False,
}


@pytest.mark.parametrize("source", AROUND)
def test_what_stands_around_a_model_is_no_region(source, tmp_path):
    head = "from typing import Optional\nimport numpy as np\nimport torch\nfrom torch import Tensor, nn\n"
    files = {"pkg/front.py": head + source, "pkg/__init__.py": "from .front import step\n"}
    assert bool(found(analysed(tmp_path, files))) is AROUND[source]


def test_a_lambda_that_is_handed_out_costs_no_other_region(tmp_path):
    source = "import torch\ntwice = lambda x: torch.add(x, x)\ndef step(x):\n    return torch.abs(x).item()\n"
    files = {"pkg/front.py": source, "pkg/__init__.py": "from .front import step, twice\n"}
    result = analysed(tmp_path, files)
    assert (found(result), result.gaps) == ([("BRK201", 4)], ())


@pytest.mark.parametrize(
    ("name", "is_region"),
    [
        ("steps", True),
        ("plotters_of_steps", True),
        ("plot", False),
        ("plotting/steps", False),
        ("flops_counter", False),
    ],
)
def test_a_file_that_draws_or_counts_hands_out_no_region(name, is_region, tmp_path):
    front = "".join(f"from .{name.replace('/', '.')} import step\n")
    files = {f"pkg/{name}.py": "import torch\ndef step(x):\n    return torch.abs(x).item()\n"}
    if "/" in name:
        files[f"pkg/{name.partition('/')[0]}/__init__.py"] = "from .steps import step\n"
    result = analysed(tmp_path, files | {"pkg/__init__.py": front})
    assert bool(found(result)) is is_region


def test_what_fits_an_estimator_is_no_region(tmp_path):
    body = "(self, x: torch.Tensor, y: torch.Tensor):\n        return x[y > 0]\n"
    files = {
        "pkg/__init__.py": "from .front import Scores\n",
        "pkg/front.py": f"import torch\nclass Scores:\n    def fit{body}    def score{body}",
    }
    assert seen(analysed(tmp_path, files)) == [("BRK302", 6)]


def test_a_module_with_a_call_of_its_own_in_place_of_forward_is_a_region(tmp_path):
    source = """\
        import torch


        class Base(torch.nn.Module):
            def __call__(self, x):
                return self.run(x).sum().item()


        class Net(Base):
            def run(self, x: torch.Tensor):
                if x.sum() > 0:
                    return x
                return x * 2
        """
    result = analysed(tmp_path, {"model.py": source})
    assert found(result) == [("BRK201", 6), ("BRK101", 11)]
