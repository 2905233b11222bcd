"""Write the names that `breakscope.plain` trusts, out of the tables and the rules of every shipped torch version:

    python -m breakscope.knowledge_build.plain_names

A function, method or layer is trusted when torch's tables know it and no rule asks for it; with Python values only,
when the one thing that rules ask is whether a tensor stands where a number must. tests/plain holds the file to this.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import product
from pathlib import Path

from breakscope.events import Call, Event
from breakscope.knowledge import CallFact, Knowledge, judging_by, load, shipped
from breakscope.rule import Handler
from breakscope.rulebook import load_rules
from breakscope.static.library import MODULE_METHODS
from breakscope.static.tensors import READS, SCALAR_ATTRIBUTES, TENSOR_ONLY
from breakscope.values import UNKNOWN, Const, Tensor, Value

FILE = Path(__file__).resolve().parents[1] / "plain" / "names.py"
OWNERS = ("Tensor", "torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
# Rules that speak of a call only for an argument that the look does not let through: a tensor as a number, a generator,
# a sparse tensor, `requires_grad=`.
NUMBERS = frozenset({"BRK208", "BRK209"})
MILD = NUMBERS | {"BRK505", "BRK507", "BRK599", "BRK605"}
PYTHON = frozenset({"int", "bool", "shape", "dtype", "device", "shape | int", "tuple | int"})
# Whatever the tables say: these look into a list, read values, or leave the world of plain tensors.
NEVER = READS.keys() | frozenset(
    """
    numpy where storage untyped_storage register_hook requires_grad_ data_ptr cond vmap is_tensor apply_ type backward
    retain_grad index
    """.split()
)
MOVING = frozenset("cuda cpu xpu ipu mtia npu mps to qscheme reinforce grad_dtype".split())  # no table has all of them
FIELDS = frozenset(  # of the named tuples that functions give, https://docs.pytorch.org/docs/stable/linalg.html
    """
    values indices Q R U S V Vh L P LU LD pivots info sign logabsdet eigenvalues eigenvectors solution residuals rank
    singular_values mantissa exponent hist bin_edges min max a tau result cloned_coefficient logits mean variance
    """.split()
)
CONTAINERS = frozenset(
    "Module ModuleList ModuleDict Sequential ParameterList ParameterDict Parameter DataParallel Container".split()
)
UNPLAIN = ("tensor", "Generator", ".item()", ".tolist()")
KEYWORDS = ("attn_mask", "mask", "weight", "bias", "other", "input", "target", "query", "key", "value", "index", "src",
            "tensor1", "tensor2", "mat1", "mat2", "size", "p")
MOST_ARGUMENTS = 8
OTHERS = (UNKNOWN, Const(1), Tensor("int", 0))
NAMED: tuple[dict[str, Value], ...] = ({}, {"min": Const(0)}, {"max": Const(1)}, {"dim": Const(0)})
TENSORS = tuple(Tensor(dtype, ndim) for dtype in ("int", "float", None) for ndim in (0, None))


def build() -> dict[str, frozenset[str] | dict[str, int]]:
    """Every table of `breakscope/plain/names.py`, by name."""
    versions = []
    for version in shipped():
        with judging_by(version):
            versions.append(_of_version(load()))
    found: dict[str, frozenset[str] | dict[str, int]] = {}
    for table in versions[0]:
        kept = set.intersection(*(set(v[table]) for v in versions))
        if table == "FIRST":
            loose = set.intersection(*(v["FIRST"].keys() | v["FREE"] for v in versions)) - set.intersection(
                *(v["FREE"] for v in versions))
            found[table] = {n: min(v["FIRST"].get(n, MOST_ARGUMENTS) for v in versions) for n in loose}
        else:
            found[table] = frozenset(kept)
    for table in ("SPOKEN_OF", "TENSOR_NAMES", "SEVERAL"):
        found[table] = frozenset().union(*(v[table] for v in versions))
    return found


def _tops(facts: Knowledge, asked: dict[str, list]) -> set[str]:
    """The packages, or parts of a package, of which tables or rules name something, and those that Dynamo skips."""
    tables = (facts.calls, facts.contexts, facts.modules, facts.classes, facts.ops, facts.results, asked)
    names = (name.split(".") for table in tables for name in table)
    tops = {".".join(parts[: 1 if len(parts) < 3 else 2]) for parts in names if parts[0].isidentifier() and parts[1:]}
    return tops.union(name for name in facts.skips if "." not in name)


def _tensor_names(facts: Knowledge, asked: dict[str, list]) -> set[str]:
    """What tensors have, or rules ask for as if they had it."""
    tables = (facts.calls, facts.attributes, facts.ops, facts.results, asked)
    names = {name.split(".")[1] for table in tables for name in table if name.startswith("Tensor.")}
    names |= READS.keys() | SCALAR_ATTRIBUTES.keys() | TENSOR_ONLY | MOVING | FIELDS
    return {name for name in names if name.isidentifier() and not name.startswith("_")}


def _of_version(facts: Knowledge) -> dict:
    asked: dict[str, list] = defaultdict(list)
    for rule in load_rules(()):
        for handler in map(Handler.settled, rule.handlers):
            for name in handler.names:
                asked[name].append((rule.code, handler))
    known = {n for n in (*facts.results, *facts.ops) if n.rpartition(".")[0] in OWNERS and _is_plain(n)}
    tensors = {n for n in known if "tensor" in (facts.returns(n) or "tensor")}
    traced = {n for n in known if "depends" not in (facts.op(n) or {}) and ((f := facts.call(n)) is None or f.never)}
    free = {n for n in tensors & traced if _asks_little(n, asked, MILD - NUMBERS - {"BRK599"})}
    mild = {n for n in tensors - free if asked.get(n) and _asks_little(n, asked, MILD - {"BRK599"})}
    mild |= {n for n in tensors - free if _asks_little(n, asked, MILD) and _is_traced_with_numbers(facts.call(n))}
    layers = {n for n in (*facts.classes, *(m.removesuffix(".forward") for m in facts.modules)) if _is_layer(n, facts)}
    contexts = {n for n in facts.contexts if n.startswith("torch.") and n.replace(".", "").isidentifier()}
    numbers = [(name, handler) for name in mild for code, handler in asked[name] if code in NUMBERS]
    return {
        "FREE": free,
        "FIRST": {n: _leading(n, [handler for name, handler in numbers if name == n]) for n in mild},
        "SEVERAL": {n for n in tensors if not set(facts.returns(n) or "[").isdisjoint("([")},
        "TENSOR_KEYWORDS": {k for k in KEYWORDS
                            if not any(_speaks(h, n, [], {k: t}) for n, h in numbers for t in TENSORS)},
        "PYTHON_RESULTS": {n for n in traced - tensors if n not in asked and facts.returns(n) in PYTHON},
        "LAYERS": {n for n in layers if f"{n}.forward" not in asked},
        "MADE": {n for n in layers if f"{n}.forward" not in asked and n not in asked},
        "SPOKEN_OF": _tops(facts, asked),
        "MODULE_METHODS": MODULE_METHODS,
        "TENSOR_ONLY": TENSOR_ONLY | {"tolist"},
        "TENSOR_NAMES": _tensor_names(facts, asked),
        "CONTEXTS": {n for n in contexts if "._" not in n and facts.context(n).never} | {"torch.no_grad"},
    }


def _is_plain(name: str) -> bool:
    """True for the name of a function or method of ordinary tensors."""
    last = name.rpartition(".")[2]
    return not (last.startswith("_") or last in NEVER or last[:1].isupper() or "sparse" in last)


def _is_traced_with_numbers(fact: CallFact | None) -> bool:
    """True when calls were traced, and those that were not had a tensor, what was read from one, or a generator among
    their arguments."""
    return fact is not None and all(
        any(word in text for text in (v.code, *v.args, *(k for _, k in v.kwargs)) for word in UNPLAIN)
        for v in fact.variants if v.is_trouble)


def _asks_little(name: str, asked: dict[str, list], mild: frozenset[str]) -> bool:
    """True when rules ask only about some arguments."""
    return {code for code, _ in asked.get(name, ())} <= mild


def _is_layer(name: str, facts: Knowledge) -> bool:
    head, _, last = name.rpartition(".")
    return head == "torch.nn" and last[:1].isupper() and last not in CONTAINERS and (
        f"{name}.forward" in facts.modules or "torch.nn.Module" in _bases(name, facts))


def _bases(name: str, facts: Knowledge) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for base in facts.classes.get(waiting.pop(), ()):
            base = "torch.nn.Module" if base == "torch.nn.modules.module.Module" else base
            if base not in found:
                found.add(base)
                waiting.append(base)
    return found


def _leading(name: str, handlers: list[Handler]) -> int:
    """How many of the first positional arguments may be tensors (a method's own tensor is not counted)."""
    for at in range(MOST_ARGUMENTS):
        for tensor, other, named in product(TENSORS, OTHERS, NAMED):
            if any(_speaks(handler, name, [other] * at + [tensor], named) for handler in handlers):
                return at
    return MOST_ARGUMENTS


def _speaks(handler: Handler, name: str, args: list, named: dict[str, Value]) -> bool:
    node = ast.parse("f(x)", mode="eval").body
    event: Event = Call(node=node, source="f(x)", name=name, args=tuple(args), kwargs=named, receiver=Tensor("float"))
    return bool(list(handler.check(event) or ()))


def text() -> str:
    """The file."""
    tables = build()
    parts = [HEAD]
    for name, comment in COMMENTS.items():
        table = tables[name]
        words = table if name != "FIRST" else {f'"{n}": {k},' for n, k in table.items()}
        written = _wrapped(" ".join(sorted(words)))
        made = f"{{\n{written}\n}}" if name == "FIRST" else f'frozenset(\n    """\n{written}\n    """.split()\n)'
        parts.append(f"\n# {comment}\n{name} = {made}\n")
    return "".join(parts)


def _wrapped(words: str) -> str:
    import textwrap

    return textwrap.fill(words, 116, initial_indent="    ", subsequent_indent="    ", break_long_words=False,
                         break_on_hyphens=False)


HEAD = '''"""Names that are safe in a compiled region, whatever the torch version. Written by
`python -m breakscope.knowledge_build.plain_names` from rules/knowledge and the rules; do not edit."""
'''
COMMENTS = {
    "FREE": "functions and methods that make tensors of any arguments",
    "FIRST": "those of which only so many first arguments may be tensors (a method's own not counted)",
    "SEVERAL": "those that may give several tensors",
    "TENSOR_KEYWORDS": "keywords of these under which a tensor may be passed",
    "PYTHON_RESULTS": "those that give a Python value",
    "LAYERS": "modules that may be called",
    "MADE": "those that may be made in a region, too",
    "SPOKEN_OF": "packages, and parts of a package, of which some rule or table speaks",
    "MODULE_METHODS": "methods of every module",
    "TENSOR_ONLY": "what is called by one of these is a tensor",
    "TENSOR_NAMES": "attributes of tensors, and what rules ask for as if it were one",
    "CONTEXTS": "context managers that may be entered",
}

if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
