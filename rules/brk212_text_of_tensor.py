"""`str`, `repr` and `%` of a tensor print its values, and the graph ends.

A tensor's text holds its values, so it must be computed first. torch 2.13 reports GB0059 for
`str(t)`, GB0569 for `repr(t)`; it skips the whole function for `"%.3f" % t` (GB0033), `"%s" % t`
(GB0208), `"%d %s" % (n, t)` (GB0088) and `f"{t!r}"`. It is the same with a list, a tuple or a dict in which a tensor or an object is. A plain f-string or `.format` of a tensor is deferred and costs nothing,
with or without a format spec; as the key of a dict it skips the function in torch before 2.13. What needs its letters ends the
graph: `len(text)`, `text + "."`, `text == "1"`, `text[:5]`, a method (GB0088, GB3934, GB9648, GB4880,
GB0156). The same holds of a text with an object or a module in it, `f"{self.scale}"`, but not of
`f"{self.scale!s}"` and `str(self.scale)`.

Format outside the compiled function: return the tensor, or guard a debug line with `if not
torch.compiler.is_compiling():`. To say what a tensor is, `x.shape`, `x.dtype` and `x.device` are
free.

The rewrite turns `str(t)` into `f"{t}"`. It is unsafe since the text of a 0-d tensor differs:
`tensor(1.)` against `1.0`.
"""

import ast

import torch

from breakscope.knowledge import since
from breakscope.rulekit.events import Format
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.values import holds_tensor

rule = Rule(
    "BRK212",
    "text-of-tensor",
    dynamo=("GB0059: `str`", "GB0569"),
    shares=("GB0033", "GB0208", "GB0088", "GB0156", "GB3934", "GB4411", "GB4880", "GB9648"),
    fix="unsafe",
)


@rule.on(Format, construct=("str", "repr", "percent"))
def check(event):
    is_percent = event.construct == "percent"
    if holds_tensor(event.value):
        needs = "needs the tensor's values as text"
        help = "format outside the compiled code, or use an f-string without `!r`, which is traced since 2.13"
    else:
        needs = "needs the text of an object, which Dynamo does not make beside others"
        help = "write an f-string, or format outside the compiled code"
    yield event.graph_break(
        f"`{event.source}` {needs}",
        help=help,
        fixable=event.value.is_tensor,
        skips="call" if is_percent else "",
    )


@rule.on(Format, construct="fstring")
def check_conversion(event):
    fields = [part for part in getattr(event.node, "values", ()) if hasattr(part, "conversion")]
    if (
        event.value.is_tensor
        and fields
        and all(part.conversion in (ord("r"), ord("s")) for part in fields)
    ):
        yield event.graph_break(
            f"`!r` or `!s` in `{event.source}` needs the tensor's values as text",
            help="drop the conversion: a plain `{tensor}` is deferred since 2.13",
        )


@rule.on(Format, construct="key")
def check_key(event):
    if not since("2.13"):
        yield event.problem(
            f"a key of `{event.shown}` is the text of a tensor, which cannot be hashed while torch before 2.13 traces",
            help="take a number or a name that Python knows for the key",
            fixable=False,
            skips="call",
            dynamo=("GB0365",) if since("2.10") else ("GB0088",),
        )


@rule.on(Format, construct="used")
def check_use(event):
    if since("2.13"):
        of_object = event.value.source == "object"
        yield event.graph_break(
            f"`{event.shown}` needs the letters of {'an object' if of_object else 'a tensor'}'s text, which Dynamo leaves for later",
            help="write `!s` behind the object in the f-string, or `str(...)` around it: that text is made at once"
            if of_object
            else "put the text together in one f-string, and use it outside the compiled code",
            fixable=False,
            skips="" if can_resume(event.node) else "call",
        )


def can_resume(node):
    """True for a method, `==` and an item: Dynamo takes up the function again behind them, and
    behind no other use."""
    if isinstance(node, ast.Compare):
        return all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops)
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_method or isinstance(node, ast.Subscript)


@rule.rewrite
def rewrite(node, problem):
    import libcst as cst

    from breakscope.rulekit import rewriting as rw

    found = rw.find_in_line(node, problem)
    if not isinstance(found, cst.Call) or rw.dotted(found.func) != "str" or len(found.args) != 1:
        return None
    text = rw.code(found.args[0].value)
    return None if set(text) & set("\"'{}\\") else rw.swap(node, found, f'f"{{{text}}}"')


@rule.example(lambda: (torch.ones(2),), lambda: (torch.full((2,), torch.nan),), dynamo=("GB0059",))
def bad(x):
    label = str(x.cos())  # BRK212
    return x + 1, label


@rule.becomes
def good(x):
    label = f"{x.cos()}"
    return x + 1, label


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0033",))
def bad_percent(x):
    label = "%.3f" % x.sum()  # BRK212
    return x + 1, label


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0088",))
def bad_percent_of_several(x):
    label = "%d: %.3f" % (1, x.sum())  # BRK212
    return x + 1, label


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0059",))
def bad_list(x):
    label = str([x.cos(), 1])  # BRK212
    return x + 1, len(label)


class Unit:
    pass


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0088",))
def bad_percent_of_an_object(x):
    label = "%s: %d" % (Unit(), 1)  # BRK212
    return x + 1, label


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0059",))
def bad_list_of_objects(x):
    label = str([Unit()])  # BRK212
    return x + 1, len(label)


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0569",))
def bad_repr(x):
    y = x.cos()
    label = repr(y)  # BRK212
    return x + 1, len(label)


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0088",))
def bad_length(x):
    label = f"{x.sum()}"
    return x * len(label)  # BRK212


@rule.example(lambda: (torch.ones(2),), dynamo=("GB3934",))
def bad_longer(x):
    label = f"mean {x.mean()}"
    return x + 1, label + "."  # BRK212


@rule.example(lambda: (torch.ones(2),), dynamo=("GB9648",))
def bad_comparison(x):
    label = f"{x.argmax()}"
    return x * (label == "0")  # BRK212


@rule.example(lambda: (torch.ones(2),), dynamo=("GB4880",))
def bad_part(x):
    label = f"{x.sum()}"
    return x + 1, label[:6]  # BRK212


@rule.example(lambda: (torch.ones(2),), dynamo=("GB4411",))
def bad_search(x):
    label = f"{x.sum()}"
    return x + ("nan" in label)  # BRK212


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0156",))
def bad_method(x):
    label = f"{x.sum()}"
    return x + 1, label.strip()  # BRK212


class Scale:
    def __str__(self):
        return "twice"


SCALE = Scale()


@rule.example(lambda: (torch.ones(2),), fixed=False, dynamo=("GB3934",))
def bad_text_of_object(x):
    label = f"scale {SCALE}"
    return x + 1, label + "."  # BRK212


@rule.becomes
def good_text_of_object(x):
    label = f"scale {SCALE!s}"
    return x + 1, label + "."


@rule.example(lambda: (torch.ones(2),), dynamo=("GB0156",))
def bad_joined(x):
    parts = [f"{x.sum()}", "b"]
    return x + 1, ", ".join(parts)  # BRK212
