"""`warnings.warn` ends the graph.

The C function behind `warnings.warn` looks at the calling frame and at a global registry, so Dynamo
stops the graph and calls it for real, in every step, also when the warning has been shown before. So
does each call of a function under the decorator `deprecated` of `warnings` and `typing_extensions`.
Changing the filters (`warnings.simplefilter`, `filterwarnings`) ends the graph too; a whole `with
warnings.catch_warnings():` does not.

Warn in `__init__` or in the code around the region where you can. Otherwise guard the line with
`if not torch.compiler.is_compiling():`. A deprecated method of torch's, `sample_n` of distributions, warns in
every call: write `sample((n,))`. That rewrite counts as unsafe because the compiled model no
longer warns.
"""

import warnings

import torch

from breakscope.knowledge import load
from breakscope.rulekit.events import CHOSEN, Call
from breakscope.rulekit.rule import Rule

rule = Rule("BRK403", "warning", fix="unsafe", dynamo=("GB0007: _?warnings",), shares=("GB0092",))


# what parsers and other models of their own recurrent layers call
PERMUTED = "torch.nn.apply_permutation"  # of `torch.nn.modules.rnn`


@rule.on(Call, "warnings.warn", "warnings.warn_explicit")
def check(event):
    # who compiles a model has seen what it warns of: behind an open test it says nothing
    certainty = "possible" if event.undecided == CHOSEN else None
    yield event.problem(
        f"`{event.name}` cannot be traced, so the graph ends here in every call that warns",
        help="warn in `__init__`, or put the call under `if not torch.compiler.is_compiling():`",
        certainty=certainty,
    )


@rule.on(Call, "warnings.simplefilter", "warnings.filterwarnings", "warnings.resetwarnings")
def check_filter(event):
    yield event.graph_break(
        f"`{event.name}` changes the warning filters of the process",
        help="set the filters once, outside the compiled region",
    )


def deprecated():
    """The methods and functions of torch's that warn in each call."""
    methods = {
        f"{name}.sample_n" for name in load().classes if name.startswith("torch.distributions.")
    }
    return methods | {PERMUTED}


@rule.on(Call, deprecated)
def check_deprecated(event):
    yield event.graph_break(
        f"`{event.shown}` warns that it is deprecated",
        help="call `tensor.index_select(dim, permutation)`"
        if event.name == PERMUTED
        else "call `sample((n,))`",
        fixable=False,
    )


@rule.on(Call, "warnings.deprecated")
def check_decorated(event):
    yield event.graph_break(
        f"`{event.shown}` warns that it is deprecated, in every call: its decorator `deprecated` calls `warnings.warn`",
        help="call what its message names instead, or warn where the region is set up",
        fixable=False,
    )


@rule.rewrite
def rewrite(node, problem):
    from breakscope.rulekit.guarding import skip_while_compiling

    return skip_while_compiling(node, problem)


@rule.example(lambda: (torch.ones(2, 3),), dynamo=("GB0007",))
def bad(x):
    y = x.mean(-1)
    warnings.warn("three channels", stacklevel=2)  # BRK403
    return y * 2


@rule.becomes
def good(x):
    y = x.mean(-1)
    if not torch.compiler.is_compiling():
        warnings.warn("three channels", stacklevel=2)
    return y * 2


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007", "GB0092"), equal=False, fixed=False)
def bad_deprecated(x):
    noise = torch.distributions.Normal(x, x + 1)
    return noise.sample_n(3) * 2  # BRK403


@rule.becomes
def good_deprecated(x):
    noise = torch.distributions.Normal(x, x + 1)
    return noise.sample((3,)) * 2


@rule.example(lambda: (torch.randn(2, 3), torch.tensor([2, 0, 1])), module=True, dynamo=("GB0007",))
def bad_permuted():
    from torch.nn.modules.rnn import apply_permutation

    def model(x, order):
        return apply_permutation(x * 2, order) + 1  # BRK403

    return model


@rule.example(lambda: (torch.ones(2, 3),), module=True, dynamo=("GB0007",))
def bad_decorated():
    from typing_extensions import deprecated

    @deprecated("use `double`")
    def twice(x):
        return x * 2

    def model(x):
        return twice(x) + 1  # BRK403

    return model
