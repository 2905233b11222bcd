"""A program that watches blocks of itself, and prints as JSON what each block saw and what it left changed."""

import copy
import gc
import json
import logging
import os
import random
import sys
import warnings

import numpy
import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor.config
from torch._logging import _internal, structured

import breakscope
from breakscope.report.model import from_json, to_json


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.steps = 0
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen += 1
        if x.sum() > 0:  # breaks
            x = x + torch.rand(4)
        return self.layer(x) * self.steps  # recompiles


def loggers():
    every = [logging.getLogger(), *(logging.getLogger(name) for name in sorted(logging.root.manager.loggerDict))]
    return {log.name: (log.level, log.disabled, log.propagate, list(map(id, log.handlers)),
                       [h.level for h in log.handlers], list(map(id, log.filters))) for log in every
            if not log.name.startswith(("asyncio", "concurrent"))}  # which the first import of a library makes


def settings():
    """What no block may change, whatever it compiles."""
    return {
        "dynamo config": repr(sorted(torch._dynamo.config.get_config_copy().items())),
        "inductor config": repr(sorted(torch._inductor.config.get_config_copy().items())),
        "functorch config": repr(sorted(torch._functorch.config.get_config_copy().items())),
        "environment": dict(os.environ),
        "loggers": loggers(), "torch's handlers": len(_internal.handlers), "log state": repr(vars(_internal.log_state)),
        "handlers of logging": sorted(map(str, filter(None, (ref() for ref in logging._handlerList)))),
        "trace handler": repr(vars(_internal.LOG_TRACE_HANDLER)) if not os.environ.get("TORCH_TRACE") else "writes",
        "file names": dict(structured.INTERN_TABLE) if not os.environ.get("TORCH_TRACE") else "told",
        "sys": (list(sys.path), sys.getrecursionlimit(), gc.isenabled(), sys.gettrace(), sys.getprofile(), sys.excepthook),
        "warnings": list(warnings.filters), "folder": os.getcwd(),
        "torch": (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads(), torch.is_autocast_enabled("cpu")),
    }


def state(net):
    """What a block changes by itself: to compare with the same block unwatched."""
    code = Net.forward.__code__
    return {
        "weights": {name: value.tolist() for name, value in net.state_dict().items()}, "steps": net.steps,
        "random": (random.getstate(), numpy.random.get_state()[1].tolist(), torch.get_rng_state().tolist()),
        "counters": copy.deepcopy({k: dict(v) for k, v in torch._dynamo.utils.counters.items() if v}),
        "cached": len(torch._dynamo.eval_frame._debug_get_cache_entry_list(code)),
        "compile ids": copy.copy(torch._dynamo.convert_frame.FRAME_COUNTER),
        "hooks": [len(hooks) for module in net.modules() for hooks in (module._forward_hooks, module._forward_pre_hooks)],
    }


def fresh():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)
    net = Net()
    return net, torch.compile(net, backend=os.environ.get("WATCHED_BACKEND", "eager"))


def steps(net, compiled):
    for net.steps in (1, 2, 3):
        compiled(torch.ones(2, 4)).sum().backward()
    random.random(), numpy.random.rand()


def plain(net, compiled):
    with breakscope.watch() as report:
        steps(net, compiled)
    return [report]


def raising(net, compiled):
    try:
        with breakscope.watch() as report:
            steps(net, compiled)
            raise ValueError("the block's own")
    except ValueError as problem:
        assert str(problem) == "the block's own"
    else:
        raise AssertionError("the exception is lost")
    return [report]


def nested(net, compiled):
    with breakscope.watch() as outer:
        with breakscope.watch() as inner:
            steps(net, compiled)
    return [outer, inner]


def again(net, compiled):
    """Two blocks behind each other, the second of which compiles nothing."""
    with breakscope.watch() as first:
        steps(net, compiled)
    before = state(net)
    with breakscope.watch() as second:
        pass
    assert state(net) == before
    return [first, second]


def seen(report):
    assert from_json(to_json(report)) == report
    return {
        "status": report.run.status, "errors": [error.message for error in report.errors], "notes": list(report.run.notes),
        "graphs": len(report.run.graphs), "torch": report.torch, "target": report.run.target,
        "breaks": [[f.line, f.count, f.evidence, list(f.dynamo)] for f in report.breaks],
        "recompiles": [[f.line, f.count, list(f.dynamo)] for f in report.recompiles],
        "costs": [f.cost is not None and f.cost.compile_seconds > 0 for f in report.findings], "text": breakscope.as_text(report),
    }


def differences(before, after):
    return [f"{name}: {before[name]!r} -> {after[name]!r}"[:2000] for name in before if before[name] != after[name]]


def main():
    with breakscope.watch():  # so that all is imported
        pass
    net, compiled = fresh()
    steps(net, compiled)
    wanted, told = state(net), {}
    if os.environ.get("LAZY_HANDLER"):  # that of a process that has compiled nothing yet
        _internal.trace_log.addHandler(_internal.LOG_TRACE_HANDLER)
    for block in (plain, raising, nested, again):
        net, compiled = fresh()
        before = settings()
        reports = block(net, compiled)
        changed = differences(before, settings())
        told[block.__name__] = {
            "seen": [seen(report) for report in reports], "changed": changed, "differs": differences(wanted, state(net))}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
