"""A call of a function that Dynamo does not trace ends the graph.

Dynamo follows Python source and knows torch. It cannot look into functions written in C (the
standard library's and those of extensions), and it skips whole modules on purpose: threads,
subprocesses, sockets, the data loader, much of `torch.utils` and `torch.jit`. At such a call it
ends the graph, calls the function eagerly and starts a new graph.

The names come from a table that was measured: each function was called in a small program under
Dynamo (`rules/knowledge/`). An extension module is known by its file, a `.so` or `.pyd` without
source, or since the program builds or loads it (`torch.utils.cpp_extension.load`, `ctypes.CDLL`): calling any function
or class of it ends the graph. The functions of SciPy, scikit-image, librosa, OpenCV and
pyplot are Python around such code and around arrays, and end it somewhere inside, also when they are called on
numbers. So do objects that a module keeps of them (`self.tree.query(...)`, what `interp1d` made), of faiss, h5py, RDKit
and sentencepiece, and the tokenizers of `transformers`, `tokenizers` and tiktoken. Where a rule with a lower code speaks of
the same call, this one is silent.

Do the work outside the region, once, where you can: in `__init__`, in the data loader, or on the
result. A function that must stay in the middle can be wrapped with `torch.library.custom_op` (it
then stands in the graph as one node).
"""

import argparse
import os
import statistics

import numpy as np
import torch

from breakscope.knowledge import kind, load
from breakscope.rulekit.events import Call
from breakscope.rulekit.library_names import NUMBA
from breakscope.rulekit.rule import Rule

# The ids of calls that are not traced, whatever the data; ids of data-dependent operators belong to
# other rules.
IDS = tuple(
    """
    GB0007 GB0008 GB0055 GB0059 GB0090 GB0107 GB0116 GB0117 GB0134 GB0142 GB0147 GB0150 GB0156
    GB0157 GB0158 GB0208 GB0249 GB0262 GB0264 GB0294 GB0299 GB0467 GB0811 GB4695 GB6215
    """.split()
)
# Those that torch gave, or will give, to such calls in versions other than the one that the
# examples run under.
OTHER_IDS = tuple("GB0023 GB0187 GB0191 GB0179 GB0270 GB0364 GB5687 GB7312 GB9193 unnamed".split())

# of functions that few programs call
UNSHOWN = ("GB0116", "GB0150", "GB0249", "GB0299", "GB0811")

rule = Rule(
    "BRK599", "untraced-call", dynamo=tuple(f"{gb_id}: ." for gb_id in IDS), unshown=UNSHOWN
)


# which tensors break; of the others of this kind rules of their own speak
BUILTINS = frozenset({"pow", "complex"})
FUNCTION = "do it outside the compiled region, or wrap it with `torch.library.custom_op`"
# an operator takes and gives tensors: it makes no object, and does not go over one
OBJECT = "do it outside the compiled region, and pass in the tensors that come of it"
# Rules with higher codes speak of these.
TRAINING = (
    "torch.autograd.",
    "torch.optim.",
    "torch.nn.Module.",
    "torch.GradScaler.",
    "torch.amp.",
    "torch.cuda.amp.",
)


# what breaks depends on what kind of container it is, whether there are parameters, or where the function
# was made that is given the other's name, which the tables do not say
OF_OTHER_RULES = {"copy.copy", "torch.nn.LayerNorm", "functools.update_wrapper"}


def names() -> set[str]:
    """Whose call broke in every variant; of library functions and a few builtins also those that
    broke in some."""
    found = load().names(*IDS, *OTHER_IDS, always=False)
    some = {name for name in found if "." in name or name in BUILTINS or load().call(name).always}
    return {name for name in some - OF_OTHER_RULES if not name.startswith(TRAINING)}


@rule.on(Call, names)
def check(event):
    fact = load().call(event.name)
    if fact is None or fact.never:
        return
    if event.name in BUILTINS:
        if any(value.is_tensor for value in event.args):
            yield event.problem(
                f"Dynamo does not trace Python's `{event.name}` of tensors, so the graph ends at `{event.shown}`",
                help="write the operator or the torch function: `x ** 2`, `torch.pow(x, y)`, `torch.complex(a, b)`",
            )
        return
    kinds, named = (
        [kind(value) for value in event.args],
        {name: kind(value) for name, value in event.kwargs.items()},
    )
    if not fact.always and any(word.startswith("?") for word in (*kinds, *named.values())):
        return
    verdict = fact.verdict(tuple(kinds), named)
    if verdict.breaks[:1] == ("GB0157",) and not any(value.is_tensor for value in event.args):
        return  # it was an array's attribute that was not traced, and none is here
    if verdict.breaks and verdict.breaks[0] in (*IDS, *OTHER_IDS):
        yield event.problem(
            f"Dynamo does not trace `{event.name}`, so the graph ends at `{event.shown}`",
            help=OBJECT if event.name.rpartition(".")[2][:1].isupper() else FUNCTION,
            certainty=None if verdict.certain else "possible",
        )


@rule.on(Call, "call of an extension module")
def check_extension(event):
    module, _, name = event.receiver.name.rpartition(".")
    yield event.problem(
        f"`{name}` is compiled code of the extension module `{module}`, which Dynamo does not trace, so the graph ends at "
        f"`{event.shown}`",
        help=OBJECT if name[:1].isupper() else FUNCTION,
    )


@rule.on(Call, "call of a kept method")
def check_kept_method(event):
    owner, _, method = event.receiver.name.rpartition(".")
    yield event.problem(
        f"`{owner}.{method}` was put into a variable before, and Dynamo does not trace it as such, so the graph ends at "
        f"`{event.shown}`",
        help=f"call the method itself (`value.{method}(...)`), or keep a function that does: `lambda value: value.{method}()`",
        dynamo=("GB0007",),
    )


@rule.on(Call, {f"{name}.__call__" for name in NUMBA})
def check_numba(event):
    compiler = event.name.removesuffix(".__call__")
    yield event.problem(
        f"what `{compiler}` compiled is an object in C, which Dynamo does not trace, so the graph ends at `{event.shown}`",
        help="write it with torch, or wrap it with `torch.library.custom_op`",
        dynamo=("GB0006", "GB0007", "GB0156", "GB4347"),
    )


# where Dynamo gives the Python code of such packages up
INSIDE = tuple(
    "GB0007 GB0033 GB0036 GB0055 GB0087 GB0112 GB0142 GB0156 GB0157 GB0158 GB0170 GB0208 GB0290 GB0294 GB4841".split()
)


@rule.on(Call, "call of a function that is entered and given up")
def check_given_up(event):
    yield event.problem(
        f"Dynamo does not come through `{event.receiver.name}`, so the graph ends at `{event.shown}`",
        help=FUNCTION,
        dynamo=INSIDE,
    )


def untraced_attributes() -> frozenset[str]:
    """The attributes that end the graph wherever they are read."""
    return load().names("GB0157", table="attributes")


@rule.on(Call, untraced_attributes)
def check_attribute(event):
    owner = event.name.rpartition(".")[0]
    yield event.problem(
        f"Dynamo does not trace `{event.name}`, so the graph ends at `{event.shown}`",
        help=f"decide by it outside the compiled region, or use a torch tensor in place of the `{owner}`",
        skips="call",
    )


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    y = x * 2
    cores = os.cpu_count()  # BRK599
    return y, cores


CORES = os.cpu_count()


@rule.becomes
def good(x):
    y = x * 2
    return y, CORES


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0090",))
def bad_nested(x):
    torch.nested.nested_tensor([x, x[:2]])  # BRK599
    return x + 1


@rule.becomes
def good_nested(x):
    torch.stack([x, x.roll(1)])
    return x + 1


@rule.example(lambda: (torch.ones(4),), equal=False, dynamo=("GB0107",))
def bad_random(x):
    noise = x.clone().random_(3)  # BRK599
    return x + noise


@rule.becomes
def good_random(x):
    noise = torch.randint_like(x, 3)
    return x + noise


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0134",))
def bad_mean(x):
    return x * statistics.mean([1.0, 2.0])  # BRK599


@rule.becomes
def good_mean(x):
    numbers = [1.0, 2.0]
    return x * (sum(numbers) / len(numbers))


@rule.example(lambda: (torch.ones(4),), module=True, dynamo=("GB0156",))
def bad_parser():
    def model(x):
        parser = argparse.ArgumentParser()  # BRK599
        return x + 1, parser

    return model


@rule.becomes
def good_parser():
    parser = argparse.ArgumentParser()

    def model(x):
        return x + 1, parser

    return model


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059",))
def bad_power(x):
    y = pow(x, 2)  # BRK599
    return y + 1


@rule.becomes
def good_power(x):
    y = x**2
    return y + 1


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0158",))
def bad_bytes(x):
    packed = x.numpy().tobytes()  # BRK599
    return x * len(packed)


@rule.becomes
def good_bytes(x):
    return x * (x.numel() * x.element_size())


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0157",))
def bad_dtype(x):
    array = x.numpy()
    return x * 2 if array.dtype == np.float32 else x  # BRK599


@rule.becomes
def good_dtype(x):
    return x * 2 if x.dtype == torch.float32 else x
