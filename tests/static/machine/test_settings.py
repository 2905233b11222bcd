"""What functions of a module set for their callers is open, and by default what its top level sets."""

import pytest
from programs import analysed, found

PROGRAM = """import torch

{settings}


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if {test}:
            return x * x.sum().item()
        return x * x.max().item()
"""
SETTER = "def use(wanted):\n    global FAST\n    FAST = {value}"
ITEMS = "def use({given}):\n    {loop}OPTIONS[{key}] = {value}"


def findings(settings, test, tmp_path):
    result = analysed(tmp_path, {"net.py": PROGRAM.format(settings=settings, test=test)})
    return [(f.code, f.condition) for f in result.findings]


@pytest.mark.parametrize("default", ["True", "False"])
def test_a_variable_with_a_function_that_sets_it(default, tmp_path):
    settings = f"FAST = {default}\n\n\n" + SETTER.format(value="wanted")
    wanted = [("BRK201", "FAST"), ("BRK201", "not FAST")]
    assert findings(settings, "FAST", tmp_path) == wanted


def test_a_variable_that_is_only_ever_set_to_one_value(tmp_path):
    settings = "FAST = True\n\n\n" + SETTER.format(value="True")
    assert findings(settings, "FAST", tmp_path) == [("BRK201", "")]


@pytest.mark.parametrize(
    ("given", "loop", "key"),
    [("value", "", "'mode'"), ("**given", "for name, value in given.items():\n        ", "name")],
)
def test_items_of_a_dict_that_a_function_sets(given, loop, key, tmp_path):
    settings = "OPTIONS = dict(mode='script', level=1)\n\n\n"
    settings += ITEMS.format(given=given, loop=loop, key=key, value="value")
    wanted = [
        ("BRK201", "OPTIONS['mode'] == 'script'"),
        ("BRK201", "OPTIONS['mode'] != 'script'"),
    ]
    assert findings(settings, "OPTIONS['mode'] == 'script'", tmp_path) == wanted


def test_a_dict_of_what_is_defined(tmp_path):
    settings = "OPTIONS = {'mode': 'script'}\n\n\ndef use(name):\n    OPTIONS[name] = compute()"
    result = PROGRAM.format(settings=settings, test="OPTIONS['mode'] == 'script'")
    assert [code for code, _ in found(analysed(tmp_path, {"net.py": result}))] == ["BRK201"]


def test_what_an_installed_package_sets_is_as_its_top_level_says(tmp_path, monkeypatch):
    packages = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(packages))
    (packages / "fastlib").mkdir(parents=True)
    setter = ITEMS.format(given="value", loop="", key="'mode'", value="value")
    (packages / "fastlib/__init__.py").write_text(
        f"import torch\n\nOPTIONS = dict(mode='eager')\n\n\n{setter}\n"
    )
    (packages / "fastlib-1.0.dist-info").mkdir()
    (packages / "fastlib-1.0.dist-info/METADATA").write_text("Name: fastlib\n")
    (tmp_path / "project").mkdir()
    test = "fastlib.OPTIONS['mode'] == 'script'"
    source = "import fastlib\n" + PROGRAM.format(settings="", test=test)
    result = analysed(tmp_path / "project", {"net.py": source})
    assert [(f.code, f.condition) for f in result.findings] == [("BRK201", "")]


FIRST = """import torch

FIRST = {default}


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        global FIRST
        if {test}:
            print("first")
        {then}
        return x
"""


@pytest.mark.parametrize(
    ("default", "test", "then", "condition"),
    [
        ("True", "FIRST", "FIRST = False", "FIRST"),
        ("False", "not FIRST", "FIRST = True", "not FIRST"),
        ("True", "FIRST", "pass", ""),
        ("True", "FIRST", "FIRST = True", ""),
        ("True", "FIRST", "FIRST = x.ndim > 1", ""),
    ],
)
def test_a_flag_that_functions_turn_is_what_it_was_in_the_first_call(
    default, test, then, condition, tmp_path
):
    source = FIRST.format(default=default, test=test, then=then)
    result = analysed(tmp_path, {"net.py": source})
    found = [(f.code, f.condition) for f in result.findings if f.kind == "break"]
    assert found == [("BRK401", condition)]
