"""Functions that are registered as forward hooks are traced with the module that they are put on.
Dynamo of torch 2.13.0 breaks at the marked lines when they are put on a layer of a compiled model."""

import pytest
from programs import analysed, found

REGISTERED = """
import torch


def scale(module, given, made):
    module.scale = made.abs().max().item()  # function


def loose(module, given, made):
    return made.item()


class Recorder:
    def __init__(self, model):
        self.handles = []
        self.attach(model)

    def attach(self, model):
        for layer in model.modules():
            {register}

    def before(self, module, given):
        if given[0].sum() > 0:  # method
            return (given[0] + 1,)

    def behind(self, module, given, made):
        if module == self.handles:
            print(made)  # text
        self.handles[0].remove()  # removal
        module.register_forward_hook(made.fill_)  # registration
        return made

    def other(self, module, given, made):
        return made.item()
"""


@pytest.mark.parametrize(
    ("register", "marks"),
    [
        ("layer.register_forward_hook(scale)", {"function": "BRK201"}),
        ("layer.register_forward_pre_hook(self.before)", {"method": "BRK101"}),
        ("layer.register_forward_pre_hook(hook=self.before)", {"method": "BRK101"}),
        ("register_module_forward_pre_hook(self.before)", {"method": "BRK101"}),
        (
            "layer.register_forward_hook(self.behind)",
            {"text": "BRK401", "removal": "BRK608", "registration": "BRK608"},
        ),
        ("layer.register_full_backward_hook(scale)", {}),
        ("layer.register_parameter(scale)", {}),
    ],
)
def test_hooks_of_a_file_are_regions(register, marks, tmp_path):
    source = REGISTERED.format(register=register)
    lines = source.splitlines()
    wanted = sorted(
        (code, number)
        for mark, code in marks.items()
        for number, line in enumerate(lines, 1)
        if line.endswith(f"# {mark}")
    )
    result = analysed(tmp_path, {"recorder.py": source})
    assert sorted(found(result, ("likely",))) == wanted
