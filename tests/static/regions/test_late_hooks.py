"""Hooks that a program puts on its modules before and behind the first compiled call, each measured under torch 2.13."""

import textwrap

import pytest
from programs import analysed, found, marked

HEAD = """\
import torch

layer = torch.nn.Linear(2, 2)
net = torch.nn.Sequential(layer, torch.nn.ReLU())
compiled = torch.compile(net)
seen = []

"""
PROGRAMS = {
    "behind the first call": """
        compiled(torch.ones(1, 2))
        layer.register_forward_hook(lambda module, args, output: seen.append(1))  # BRK837
        compiled(torch.ones(1, 2))
    """,
    "on each of several": """
        for _ in range(2):
            compiled(torch.ones(1, 2))
        for name, part in net.named_modules():
            if isinstance(part, torch.nn.Linear):
                part.register_forward_pre_hook(lambda module, args: None)  # BRK837
        compiled(torch.ones(1, 2))
    """,
    "on a module that a function has by name": """
        @torch.compile
        def run(x):
            return layer(x).relu()

        run(torch.ones(1, 2))
        layer.register_full_backward_hook(lambda module, before, after: None)  # BRK837
        run(torch.ones(1, 2))
    """,
    "between two calls": """
        compiled(torch.ones(1, 2))
        handle = layer.register_forward_hook(lambda module, args, output: output * 2)  # BRK837
        compiled(torch.ones(1, 2))
        handle.remove()
        compiled(torch.ones(1, 2))
    """,
    "one of the compiled module itself, of torch's, that is taken off": """
        own = net.register_forward_hook(lambda module, args, output: output * 2)
        compiled(torch.ones(1, 2))
        own.remove()
        compiled(torch.ones(1, 2))  # BRK732
    """,
    "before the first call": """
        layer.register_forward_hook(lambda module, args, output: output * 2)
        compiled(torch.ones(1, 2))
        compiled(torch.ones(1, 2))
    """,
    "where the module itself is called": """
        compiled(torch.ones(1, 2))
        layer.register_forward_hook(lambda module, args, output: seen.append(1))
        net(torch.ones(1, 2))
    """,
    "on what torch.compile returned": """
        compiled(torch.ones(1, 2))
        compiled.register_forward_hook(lambda module, args, output: seen.append(1))
        compiled(torch.ones(1, 2))
    """,
    "where the later call is compiled anew": """
        compiled(torch.ones(1, 2))
        layer.register_forward_hook(lambda module, args, output: output * 2)
        with torch.no_grad():
            compiled(torch.ones(1, 2))  # BRK718
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    source = HEAD + textwrap.dedent(PROGRAMS[name])
    result = analysed(tmp_path, {"m.py": source})
    assert found(result) == sorted(marked(source), key=lambda place: place[1])
