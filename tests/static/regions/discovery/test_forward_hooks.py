"""Functions that are registered as forward hooks are traced with the module that they are put on.
Dynamo of torch 2.13.0 breaks at the marked lines when they are put on a layer of a compiled model."""

import pytest
from programs import analysed, found, seen

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
    assert sorted(seen(result), key=lambda place: place[1]) == wanted


MADE = """
import functools
import torch

LAST = {{}}


def keep(name):
    def hook(module, args, made):
        if isinstance(made, tuple):
            made = made[0]
        LAST[name] = made.mean().item()  # made
    return hook


def named(name, module, args, made, *, more=None):
    print(name)  # named


def counts(module, args, made):
    module.total += int(made.sum())  # table


TABLE = {{torch.nn.Linear: counts}}


class Watch:
    def make(self, name):
        def hook(module, args, made):
            self.last = made.tolist()  # method
        return hook

    def attach(self, model):
        for name, part in model.named_modules():
            if type(part) in TABLE:
                {register}
"""


@pytest.mark.parametrize(
    ("register", "mark"),
    [
        ("part.register_forward_hook(keep(name))", "made"),
        ("hook = keep(name); part.register_forward_hook(hook)", "made"),
        ("part.register_forward_hook(functools.partial(named, name))", "named"),
        ("part.register_forward_hook(functools.partial(named, name, more=1))", "named"),
        ("part.register_forward_hook(TABLE[type(part)])", "table"),
        ("part.register_forward_hook(TABLE.get(type(part)))", "table"),
        ("part.register_forward_hook(self.make(name))", "method"),
        ("part.register_forward_hook(lambda m, a, made: print(made))", "lambda"),
        ("self.hooks = [keep, named, TABLE[type(part)], self.make]", None),
        ("part.register_forward_hook(name)", None),
    ],
)
def test_a_hook_that_is_made_or_taken_out_of_a_table_is_a_region(register, mark, tmp_path):
    source = MADE.format(register=register + "  # lambda" * (mark == "lambda"))
    lines = source.splitlines()
    wanted = [n for n, line in enumerate(lines, 1) if mark and line.endswith(f"# {mark}")]
    findings = analysed(tmp_path, {"watch.py": source}).findings
    assert [f.line for f in findings if f.kind == "break"] == wanted


CLOSURE = """
import threading
import torch


def watch(model):
    seen, order = {{}}, []
    lock = threading.Lock()

    def hook(module, args, made):
        def back(gradient):
            {body}  # marked
        {entered}

    model.register_forward_hook(hook)
    return seen, order
"""


@pytest.mark.parametrize(
    ("body", "entered", "wanted"),
    [
        ("seen[gradient.device] = gradient", "made.register_hook(back)", [("BRK613", 12)]),
        ("order.append(gradient)", "made.register_hook(back)", [("BRK613", 12)]),
        ("return gradient * 2", "made.register_hook(back)", []),
        ("pass", "with lock: made.sum()", [("BRK508", 13)]),
    ],
)
def test_a_hook_sees_what_the_function_around_it_made(body, entered, wanted, tmp_path):
    """Each breaks so under torch 2.13.0 when it is put on a layer."""
    source = CLOSURE.format(body=body, entered=entered)
    result = analysed(tmp_path, {"watch.py": source})
    assert seen(result) == wanted


NAMED = """
import torch
from typing import Dict


class Rule:
    kept: Dict[torch.device, torch.Tensor] = {{}}

    def {name}({parameters}):
        def back(gradient):
            self.kept[gradient.device] = gradient
        for value in {last}:
            value.register_hook(back)
"""


@pytest.mark.parametrize(
    ("name", "parameters", "is_hook"),
    [
        ("forward_hook", "self, module, inputs, outputs", True),
        ("_hook_fn", "self, _, inp, out", True),
        ("pre_hook", "self, module, args", True),
        ("hook", "self, module, args, kwargs, output", True),
        ("backward_hook", "self, module, grad_input, grad_output", False),
        ("init_hook", "self, module", False),
        ("trace", "self, module, inputs, outputs", False),
    ],
)
def test_a_method_with_the_name_and_parameters_of_a_hook_is_one(
    name, parameters, is_hook, tmp_path
):
    last = parameters.rpartition(" ")[2]
    source = NAMED.format(name=name, parameters=parameters, last=last)
    result = analysed(tmp_path, {"rules.py": source})
    assert seen(result) == ([("BRK613", 11)] if is_hook else [])


TAKEN_OFF = """
import torch


class Sizes:
    def __init__(self):
        self.sizes = []

    def of(self, model, x):
        def hook(module, args, made):
            self.sizes.append(made.shape)

        handle = model.register_forward_hook(hook)
        model(x)
        {last}
        return self.sizes
"""


@pytest.mark.parametrize(
    ("last", "wanted"), [("handle.remove()", []), ("self.handle = handle", [("BRK703", 11)])]
)
def test_a_hook_that_is_taken_off_again_grows_nothing_from_call_to_call(last, wanted, tmp_path):
    assert seen(analysed(tmp_path, {"sizes.py": TAKEN_OFF.format(last=last)})) == wanted


HANDLE = """\
import torch
from torch.utils.hooks import RemovableHandle


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def forward(self, x: torch.Tensor):
        handle = RemovableHandle(self.seen)
        return x * 2, handle
"""


def test_a_handle_that_the_region_makes(tmp_path):
    assert ("BRK608", 11) in found(analysed(tmp_path, {"program.py": HANDLE}))


def test_lists_that_a_hook_of_a_program_fills_by_name_grow(tmp_path):
    source = """\
import collections
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)


class Stats:
    def __init__(self):
        self.data = collections.defaultdict(list)

    def hook(self, name):
        def note(module, inputs, output):
            self.data[name].append(output.detach().mean())

        return note


net, stats = Net(), Stats()
for name, module in net.named_modules():
    if isinstance(module, nn.Linear):
        module.register_forward_hook(stats.hook(name))
fast = torch.compile(net)
for _ in range(4):
    fast(torch.randn(6, 3))
"""
    assert found(analysed(tmp_path, {"run.py": source})) == [("BRK703", 21)]


PAIRED = """\
import torch

depth = []
names = []


def before(module, given):
    names.append(module)
    depth.append([])


def behind(module, given, made):
    depth.pop()


def attach(layers):
    for layer in layers:
        layer.register_forward_pre_hook(before)
        layer.register_forward_hook(behind)
"""


def test_what_one_hook_fills_and_another_empties_does_not_grow(tmp_path):
    assert seen(analysed(tmp_path, {"depth.py": PAIRED})) == [("BRK703", 8)]


BASE = """
import torch


class Recorder:
    def __init__(self):
        self.most = torch.ones(())

    def attach(self, layer):
        layer.register_forward_hook(self.behind)
        layer.forward = self.around(layer.forward)

    def behind(self, module, given, made):
        return self.clipped(made)

    def around(self, forward):
        def inner(x):
            return self.stored(forward(x))

        return inner

    def clipped(self, made):
        return made

    def stored(self, made):
        return made
"""
DERIVED = """
{head}
class Clipping(Recorder):
    def attach(self, layer):
        layer.register_forward_hook(self.behind)
        layer.forward = self.around(layer.forward)

    def clipped(self, made):
        return made * 2 if self.most > 1 else made

    def stored(self, made):
        return made * made.max().item()
"""


@pytest.mark.parametrize("is_apart", [True, False])
def test_an_inherited_hook_calls_what_the_subclass_has(is_apart, tmp_path):
    if is_apart:
        files = {"base.py": BASE, "more.py": DERIVED.format(head="from base import Recorder\n\n")}
        result = analysed(tmp_path, files)
    else:
        result = analysed(tmp_path, {"more.py": BASE + DERIVED.format(head="")})
    lines = (tmp_path / "more.py").read_text().split("\n")
    assert [(f.code, lines[f.line - 1].strip()) for f in result.findings] == [
        ("BRK101", "return made * 2 if self.most > 1 else made"),
        ("BRK201", "return made * made.max().item()"),
    ]


OF_ITSELF = """\
import torch
from torch import nn


class Convolution(nn.Conv1d):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.kept = None
        self.{register}(self.clear)

    def clear(self, *args):
        self.kept = None


def convolution(*args):
    made = Convolution(*args)
    made.weight.data.normal_(0, 1)
    return nn.utils.weight_norm(made)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {made}

    def forward(self, x: torch.Tensor):
        x = self.layer(x)
        return x + 1
"""


@pytest.mark.parametrize(
    ("register", "breaks"),
    [
        ("register_backward_hook", True),
        ("register_full_backward_hook", True),
        ("register_load_state_dict_post_hook", False),
    ],
)
@pytest.mark.parametrize(
    "made",
    ["Convolution(3, 3, 1)", "convolution(3, 3, 1)", "nn.Sequential(convolution(3, 3, 1))"],
)
def test_a_layer_that_puts_a_hook_on_itself(made, register, breaks, tmp_path):
    source = OF_ITSELF.format(made=made, register=register)
    expected = [("BRK604", 27)] if breaks else []
    assert found(analysed(tmp_path, {"net.py": source})) == expected


COUNTED = """\
import torch


class Facts:
    def __init__(self):
        self.macs, self.sizes = 0, []

    def add(self, made):
        self.macs += made.shape[0] + self.macs
        self.sizes.append(made.shape)


def put_on(layer, handles):
    facts = Facts()

    def hook(module, args, made):
        facts.add(made)

    handles.append(layer.register_forward_hook(hook))
    return facts


def summary(model, x):
    handles = []
    facts = [put_on(layer, handles) for layer in model.children()]
    model(x)
    {last}
    return facts
"""


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        ("for handle in handles:\n        handle.remove()", []),
        ("model.handles = handles", [("BRK701", 9), ("BRK703", 10)]),
    ],
)
def test_what_counts_in_a_hook_that_the_caller_takes_off_again(last, wanted, tmp_path):
    assert seen(analysed(tmp_path, {"summary.py": COUNTED.format(last=last)})) == wanted


BESIDE_A_HOOK = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, kept=None):
        super().__init__()
        self.kept = kept

    def forward(self, x):
        y = x if self.kept is None else x + self.kept
        self.kept = x * 2
        return y


def double(module, given, made):
    return made * 2


def measure(model, x):
    handle = model.register_forward_hook(double)
    model(x)
    handle.remove()


def main():
    net = torch.compile(Net(torch.ones(2)))
    net.kept = None
    for _ in range(3):
        net(torch.ones(2))


main()
"""


def test_what_a_region_keeps_behind_one_of_a_hook_that_is_taken_off_again(tmp_path):
    """Dynamo recompiles: `self.kept is None`."""
    assert found(analysed(tmp_path, {"train.py": BESIDE_A_HOOK})) == [("BRK707", 12)]


LOOKED_AT = """\
import torch


def {name}(module, args, made):
    print(made.mean())


def watch(model):
    model.register_forward_hook({name})
"""


@pytest.mark.parametrize(
    ("file", "name", "is_region"),
    [
        ("tools.py", "scale_hook", True),
        ("tools.py", "visualize_hook", False),
        ("quantization/observers.py", "scale_hook", False),
        ("calibration.py", "scale_hook", False),
        ("observed.py", "scale_hook", True),
    ],
)
def test_a_hook_that_looks_at_a_model_is_nothing_to_compile(file, name, is_region, tmp_path):
    result = analysed(tmp_path, {file: LOOKED_AT.format(name=name)})
    assert seen(result) == ([("BRK401", 5)] if is_region else [])


MADE_INSIDE = """\
import torch


def {name}(model, x):
    def register(layer):
        def hook(layer, given, made):
            print(made.mean())

        layer.register_forward_hook(hook)

    model.apply(register)
    return model(x)
"""


@pytest.mark.parametrize(("name", "is_region"), [("summary", False), ("traced", True)])
def test_a_hook_inside_of_what_looks_at_a_model(name, is_region, tmp_path):
    result = analysed(tmp_path, {"tools.py": MADE_INSIDE.format(name=name)})
    assert seen(result) == ([("BRK401", 7)] if is_region else [])


SESSION = """\
import torch


class Session:
    def __init__(self, model):
        self.model, self.handles = model, []

    def __enter__(self):
        self.handles.append(self.model.register_forward_hook(self.look))
        return self

    def look(self, module, given, made):
        print(made.mean())
        return made

    def close(self):
        {removes}

    def __exit__(self, *problem):
        {leaves}


def look_hook(module, args, output):
    print(output.max())
    return output


def run(session, model, x):
    {with_hook}
"""
TAKES_OFF = "[handle.remove() for handle in self.handles]"
WITHIN = "with session.put_on(model, look_hook):\n        return model(x)"


@pytest.mark.parametrize(
    ("removes", "leaves", "with_hook", "shown"),
    [
        (TAKES_OFF, "self.close()", WITHIN, []),
        ("self.handles = []", "self.close()", WITHIN, [13]),
        ("return self.handles", "self.close()", "model.register_forward_hook(look_hook)", [13, 24]),
        (TAKES_OFF, "self.close()", "session.put_on(model, look_hook)\n    model(x)", [24]),
    ],
)
def test_hooks_of_a_session_are_possible(removes, leaves, with_hook, shown, tmp_path):
    source = SESSION.format(removes=removes, leaves=leaves, with_hook=with_hook)
    prints = [f for f in analysed(tmp_path, {"session.py": source}).findings if f.code == "BRK401"]
    assert [f.line for f in prints] == [13, 24]
    assert [f.line for f in prints if f.confidence != "possible"] == shown


WATCHING = """\
import torch


class Statistics({base}):
    def __init__(self, model):
        self.handle = model.register_forward_hook(self.look)
        self.means = {{}}

    def look(self, module, given, made):
        {look}

    def close(self):
        {close}
"""
READ = "self.means['last'] = made.mean().item()"
REMOVED = "self.handle.remove()"


@pytest.mark.parametrize(
    ("base", "look", "close", "confidence"),
    [
        ("object", READ, REMOVED, "possible"),
        ("object", READ, "self.means = {}", "possible"),
        ("object", f"{READ}\n        setattr(module, 'seen', made)", REMOVED, "likely"),
        ("object", f"{READ}\n        return made * 2", REMOVED, "likely"),
        ("object", f"{READ}\n        made.mul_(2)", REMOVED, "likely"),
        ("object", f"{READ}\n        module.seen = made", REMOVED, "likely"),
        ("torch.nn.Module", READ, REMOVED, "likely"),
        ("torch.nn.Module", f"{READ}\n        {REMOVED}", REMOVED, "possible"),
        ("torch.optim.Optimizer", READ, REMOVED, "likely"),
    ],
)
def test_what_looks_at_the_model_of_somebody_else(base, look, close, confidence, tmp_path):
    source = WATCHING.format(base=base, look=look, close=close)
    (read,) = [f for f in analysed(tmp_path, {"a.py": source}).findings if f.code == "BRK201"]
    assert (read.line, read.confidence) == (10, confidence)


FOREIGN = """\
import {framework}


class State:
    def prepare(self, model):
        model.register_forward_hook(self.note)

    def note(self, module, given, made):
        print(made)
        return made
"""


@pytest.mark.parametrize(("framework", "is_shown"), [("torch", True), ("mytorch", False)])
def test_hooks_on_modules_of_another_framework(framework, is_shown, tmp_path):
    result = analysed(tmp_path, {"state.py": FOREIGN.format(framework=framework)})
    assert ("BRK401", 9) in seen(result)
    assert (("BRK401", 9) in found(result)) == is_shown
