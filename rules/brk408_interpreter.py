"""Asking the interpreter about itself ends the graph.

Frames, stacks, the garbage collector, object sizes and the global namespace belong to the running
interpreter. Dynamo traces bytecode without running it, so it must stop for `inspect.stack()`,
`sys._getframe()`, `traceback.print_stack()`, `gc.collect()`, `sys.getsizeof()`, `globals()`,
`dir(tensor)` and `exec(...)`. (`locals()`, `inspect.signature`, `name in sys.modules` are traced,
`sys.version_info >= ...` from torch 2.13 on.)

Such lines are for debugging or for a lookup by name. Put debugging under `if not
torch.compiler.is_compiling():`; replace `globals()[name]` by a dict of functions at the module's
top, looked up in `__init__`. `gc.collect()` belongs between steps, in the training loop.

The guard counts as unsafe because the compiled code no longer runs the line: nothing is collected,
and nothing is shown.
"""

import gc

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Call
from breakscope.rulekit.rule import Rule

rule = Rule(
    "BRK408",
    "interpreter-state",
    fix="unsafe",
    dynamo=(
        r"GB0007: builtin `(gc|sys|_tracemalloc|faulthandler|resource)\.",
        "GB0007: _patched_getfile",
        "GB0059: operator `(globals|dir|exec|eval|compile)`",
    ),
)

DEBUGGING = frozenset(
    """
    inspect.stack inspect.currentframe inspect.trace inspect.getsource inspect.getfile
    inspect.getsourcefile inspect.getsourcelines sys._getframe sys.getsizeof sys.getrefcount
    sys.gettrace sys.settrace sys.setrecursionlimit sys.getdefaultencoding traceback.print_stack
    traceback.format_stack traceback.extract_stack traceback.print_exc tracemalloc.start
    tracemalloc.take_snapshot faulthandler.enable resource.getrusage dir
    """.split()
)
COLLECTOR = {
    f"gc.{name}"
    for name in "collect disable enable isenabled freeze get_objects get_count get_referrers get_stats".split()
}


@rule.on(Call, DEBUGGING)
def check(event):
    if event.name != "dir" or (event.args and event.args[0].is_tensor):
        yield event.graph_break(
            f"`{event.shown}` reads the state of the running interpreter",
            help="put it under `if not torch.compiler.is_compiling():`, or outside the compiled region",
        )


@rule.on(Call, COLLECTOR)
def check_collector(event):
    yield event.graph_break(
        f"`{event.shown}` drives the garbage collector",
        help="call it between steps, outside the compiled region",
    )


@rule.on(Call, "globals", "exec", "eval")
def check_namespace(event):
    alone = event.name == "eval" and len(event.args) == 1 and not event.kwargs
    if alone and since("2.13") and _is_literal(event.args[0]):
        return
    yield event.problem(
        f"Dynamo does not trace `{event.name}`, so the graph ends at `{event.shown}`",
        help="look the function up in a dict of your own, in `__init__`",
    )


def _is_literal(text):
    """True for a text that names nothing, "(2, 3)" or "1 + 1": Dynamo computes it."""
    import ast

    if not text.is_const or not isinstance(text.value, str):
        return False
    try:
        parts = list(ast.walk(ast.parse(text.value.strip(), mode="eval").body))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.List, ast.Tuple, ast.Dict, ast.Set)
    return all(
        isinstance(part, (*plain, ast.operator, ast.USub, ast.UAdd, ast.Load)) for part in parts
    )


@rule.on(Call, "sys.version_info.__lt__")
def check_version(event):
    if not since("2.13"):
        yield event.graph_break(
            f"Dynamo does not trace the comparison `{event.shown}` before torch 2.13",
            help="compare once, at the module's top, and keep the answer",
            fixable=False,
            skips="call",
            dynamo=("GB0088",),
        )


@rule.rewrite
def rewrite(node, problem, place):
    from breakscope.rulekit.guarding import skip_while_compiling

    name = getattr(problem.node.func, "id", "")
    if name == "globals":
        return _looked_up_once(node, problem, place)
    if getattr(problem.node.func, "attr", "") in ("currentframe", "_getframe"):
        return _name_of_function(node, problem, place)
    # what runs in there may matter to the rest
    if name not in ("exec", "eval"):
        return skip_while_compiling(node, problem)


def _looked_up_once(node, problem, place):
    """`globals()[name]` as an attribute that `__init__` sets."""
    import libcst as cst

    from breakscope.rulekit import rewriting as rw
    from breakscope.rulekit.rewrites.hoisting import asked_once

    found = rw.find(node, problem)
    for part in rw.parts(node):
        if isinstance(part, cst.Subscript) and part.value is found:
            return asked_once(node, part, place, "chosen")
    return None


def _name_of_function(node, problem, place):
    """The name itself for `inspect.currentframe().f_code.co_name`."""
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find(node, problem)
    if place.function is None or problem.node.args or problem.node.keywords:
        return None
    if any(isinstance(part, cst.Lambda | cst.BaseComp) for part in rw.walk(node)):
        return None  # which have a name of their own
    for part in rw.parts(node):
        if isinstance(part, cst.Attribute) and part.attr.value == "co_name":
            code = part.value
            if isinstance(code, cst.Attribute) and code.value is found:
                return rw.swap(node, part, f'"{place.function.name}"')
    return None


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0007",))
def bad(x):
    y = x * 2
    gc.collect()  # BRK408
    return y + 1


@rule.becomes
def good(x):
    y = x * 2
    if not torch.compiler.is_compiling():
        gc.collect()
    return y + 1


def twice(x):
    return x * 2


@rule.example(lambda: (torch.ones(4),), dynamo=("GB0059",))
def bad(x):
    function = globals()["twice"]  # BRK408
    return function(x) + 1
