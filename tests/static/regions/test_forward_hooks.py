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


INNER = """
import torch


class Compressor:
    def __init__(self, ratio: int):
        self.ratio = ratio

    def unpack(self, model: torch.nn.Module):
        for name, parameter in model.named_parameters():
            print(name)

    def attach(self, model: torch.nn.Module):
        def hook(module, args):
            self.unpack(module)

        model.register_forward_pre_hook({hook})


def watch(model, log):
    def hook(module, args, made):
        log.append(made.mean().item())

    return {returned}
"""


@pytest.mark.parametrize(
    ("hook", "returned", "wanted"),
    [
        ("hook", "model.register_forward_hook(hook)", [("BRK401", 11), ("BRK201", 22)]),
        ("self.unpack", "hook", [("BRK401", 11)]),
        ("None", "hook", []),
    ],
)
def test_what_is_defined_where_it_is_registered_is_a_region(hook, returned, wanted, tmp_path):
    """Both break under torch 2.13.0 when `attach` and `watch` are given a compiled model."""
    result = analysed(tmp_path, {"net.py": INNER.format(hook=hook, returned=returned)})
    assert sorted(found(result), key=lambda place: place[1]) == wanted
