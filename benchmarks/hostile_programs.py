"""Hostile programs around true findings: the cases that once silenced findings or took too long, and
their relatives. Lines that must be reported are marked with `# FIND`."""

from __future__ import annotations

from hostile_parts import (
    GROWING,
    GROWING_TEXT,
    ODD_CALLS,
    RANGES,
    RECURSIVE,
    STARTS,
    USES_OF_RECURSIVE,
    around,
    beside,
    chain,
    nested,
)


def named() -> dict[str, str]:
    """All named cases: name -> program."""
    cases = {
        "long_literal": beside(
            "class Long(nn.Module):\n    def forward(self, x):\n        print(0x"
            + "f" * 4_000
            + ")\n        return x\n"
        ),
        "long_literal_used": around(
            "y = 0x"
            + "f" * 4_000
            + '\nz = f"{y}" + str(y)\nq = {y: 1}\nassert x.sum() > 0, y\nprint(y)'
        ),
        "shift": around(
            "s = 1 << 10 ** 9\nt = 1 << 64\nfor i in range(40):\n    t = t * t\n"
            + "t = t << 64\n" * 500
        ),
        "power": around(
            "s = 9 ** 9 ** 9\ns = 2 ** 64\n" + "s = s ** 64\n" * 10 + "s = pow(9, 9 ** 9)"
        ),
        "ranges": around(f"{RANGES}{nested(5)}\n{nested(8)}"),
        "ranges_at_top": around("pass", f"{RANGES}{nested(5)}\n{nested(8)}"),
        "odd_calls": around(ODD_CALLS),
        "call_depth": around(
            "x = f0(x)",
            chain(
                60,
                "def f{i}(x):\n    return f{j}(x)\n",
                "def f{i}(x):\n    if x.sum() > 0:\n        return x\n    return x + 1\n",
            ),
        ),
        "stop_iteration": around(
            "for a in It():\n    x = x + 1",
            "class It:\n    def __iter__(self):\n        return self\n"
            "    def __next__(self):\n        raise StopIteration\n",
        ),
        "counting_iterator": around(
            "for a in It():\n    x = x + 1\ny = [a for a in It()]\nz = list(It())\na, b = It()",
            "class It:\n    n = 0\n    def __iter__(self):\n        return self\n"
            "    def __next__(self):\n        self.n += 1\n        if self.n > 3:\n"
            "            raise StopIteration\n        return self.n\n",
        ),
        "new_iterator": around(
            "for a in It():\n    x = x + 1",
            "class It:\n    def __iter__(self):\n        return It()\n",
        ),
        "recursive_object": around(USES_OF_RECURSIVE, RECURSIVE),
        "union_types": around(
            "pass",
            "A0 = torch.Tensor\n"
            + chain(59, "A{j} = Union[List[A{i}], Dict[A{i}, A{i}]]", "")
            + "class Typed(nn.Module):\n    def forward(self, x: A59) -> A59:\n        return x\n",
        ),
        "tuple_types": around(
            "y = make()\nprint(y)",
            "A0 = torch.Tensor\n"
            + chain(59, "A{j} = Tuple[A{i}, A{i}]", "")
            + "def make() -> A59:\n    return external()\n"
            "class Typed(nn.Module):\n    def forward(self, x: A59):\n        return x\n",
        ),
        "string_types": around("pass", "def f(x: '" + "List[" * 80 + "int" + "]" * 80 + "'): pass"),
        "diamonds": beside(
            "class D0(nn.Module):\n    def forward(self, x):\n        return x\n"
            + chain(
                300,
                "class L{i}(D{i}): pass\nclass R{i}(D{i}): pass\nclass D{j}(L{i}, R{i}): pass",
                "",
            )
        ),
        "diamonds_of_super": beside(
            "class D0(nn.Module):\n    def forward(self, x):\n        return x\n"
            + chain(
                100,
                "class L{i}(D{i}):\n    def forward(self, x):\n        return super().forward(x)\n"
                "class R{i}(D{i}):\n    def forward(self, x):\n        return super().forward(x)\n"
                "class D{j}(L{i}, R{i}): pass",
                "",
            )
        ),
        "long_line_of_bases": beside(
            chain(1_500, "class B{i}: pass", "")
            + f"class Many({', '.join(f'B{i}' for i in range(1_500))}, nn.Module):\n"
            "    def forward(self, x):\n        return x\n"
        ),
        "quotes_in_comment": around(
            "if x.sum() > 0: # breakscope " + "'" + "\\\\a" * 3_000 + "\n    pass"
        ),
        "noqa_codes": around("if x.sum() > 0: # noqa: " + "A1 " * 20_000 + "!\n    pass"),
        "noqa_spaces": around("if x.sum() > 0: # noqa" + " " * 100_000 + "!\n    pass"),
        "hashes": around("if x.sum() > 0: " + "# " * 50_000 + "breakscope\n    pass"),
        "ands": around(
            "y = "
            + " and ".join(["x.sum()"] * 8_000)
            + "\nif "
            + " and ".join(["x.sum() > 1"] * 2_000)
            + ":\n    pass"
        ),
        "sums": around("y = " + " + ".join(["x.sum().item()"] * 2_000)),
        "long_sum": around("y = " + " + ".join(["x"] * 20_000)),
        "parentheses": around("y = " + "(" * 150 + "x.sum().item()" + ")" * 150),
        "brackets": around("y = " + "[" * 90 + "x.sum().item()" + "]" * 90),
        "calls": around("y = x" + ".sum()" * 3_000 + ".item()"),
        "items": around("y = x" + ".item()" * 3_000),
        "attributes": around("y = x" + ".T" * 20_000 + ".item()"),
        "subscripts": around("y = x" + "[0]" * 5_000 + ".item()"),
        "nots": around("if " + "not " * 3_000 + "x.sum() > 0:\n    pass"),
        "minuses": around("y = " + "-" * 3_000 + "x.sum().item()"),
        "lambdas": around("y = " + "lambda: " * 900 + "x.sum().item()"),
        "conditionals": around("y = " + "x if x.sum() > 0 else " * 900 + "x"),
        "adjacent_texts": around("y = " + "'a' " * 8_000 + "\nprint(x, " + "'a' " * 8_000 + ")"),
        "nested_ifs": around(
            "\n".join("    " * i + f"if x.sum() > {i}:" for i in range(90))
            + "\n"
            + "    " * 90
            + "pass"
        ),
        "elifs": around(
            "if x.sum() > 0:\n    pass\n"
            + "\n".join(f"elif x.sum() > {i}:\n    y{i} = 1" for i in range(2_000))
        ),
        "nested_fors": around(
            "\n".join("    " * i + f"for i{i} in range(3):" for i in range(19))
            + "\n"
            + "    " * 19
            + "x = x + 1"
        ),
        "containers_in_nested_fors": around(
            "s = self\n"
            + "\n".join("    " * i + f"for i{i} in range(s):" for i in range(10))
            + "\n"
            + ("    " * 10 + "s = [s, 1] if x.sum() > 3 else (s, 2)\n") * 20
        ),
        "nested_withs": around(
            "\n".join("    " * i + "with torch.no_grad():" for i in range(19))
            + "\n"
            + "    " * 19
            + "x = x + 1"
        ),
        "nested_tries": around(
            "".join("    " * i + "try:\n" for i in range(19))
            + "    " * 19
            + "x = x + 1\n"
            + "".join(
                "    " * i + "except Exception:\n" + "    " * i + "    x = x - 1\n"
                for i in reversed(range(19))
            )
        ),
        "forks": around(
            "x = f0(x, 1, 2)",
            chain(
                30,
                "def f{i}(x, a, b):\n    return f{j}(x, a + 1, (a, b)) + "
                'f{j}(x, b, {{"a": a, "b": [b]}}) + f{j}(x, (b, a), a)\n',
                "def f{i}(x, a, b):\n    return x\n",
            ),
        ),
        "forks_of_configuration": around(
            "x = f0(self, x)",
            chain(
                30,
                "def f{i}(m, x):\n    if m.training:\n        x = f{j}(m, x)\n"
                "    if not m.flag:\n        x = f{j}(m, x)\n    return x\n",
                "def f{i}(m, x):\n    if x.sum() > 0:\n        return x + 1\n    return x\n",
            ),
        ),
        "lambda_forks": around(
            "f0 = lambda v, a: v\n"
            + chain(40, "f{j} = lambda v, a: f{i}(v, (a, 1)) + f{i}(v, [a, 2])", "")
            + "\ny = f39(x, 1)"
        ),
        "names": around(
            "\n".join(f"n{i} = x\nif x.sum() > {i}:\n    n{i} = 1" for i in range(1_200))
        ),
        "many_modules": beside(
            chain(
                400,
                "class C{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.c = C{j}()\n        self.d = C{j}()\n"
                "    def forward(self, x):\n        return self.c(self.d(x))\n",
                "class C{i}(nn.Module):\n    def forward(self, x):\n        return x\n",
            )
        ),
        "empty_docstring": beside(
            "class Empty(nn.Module):\n    def forward(self, x, k):\n"
            + f'        """A tensor.{chr(10) * 200_000}"""\n        return x\n'
        ),
        "many_regions": beside(
            chain(
                1_500,
                "class C{i}(nn.Module):\n    def forward(self, x):\n        return x + f(x, {i})\n",
                "def f(x, n):\n    for a in range(3):\n        x = x + a\n    return x\n",
            )
        ),
        "holds_itself": around(
            's = []\ns.append(s)\nd = {}\nd["d"] = d\nt = (s, d)\ns.append(t)\ns == s\n'
            "def g(a):\n    return a\ng(s)\ng(d)\nself.s = s\nimport copy\ncopy.deepcopy(s)\n"
            "s2 = s + s\nif x.sum() > 3:\n    s = d"
        ),
        "metaclass": around(
            "y: Q[Q[Q]] = x",
            "class M(type):\n    def __getitem__(self, i):\n        return self[i]\n"
            "class Q(metaclass=M):\n    x: 'Q[Q]'\n",
        ),
        "circular_bases": around(
            "Y1(); Y2(); X()", "class X(X): pass\nclass Y1(Y2): pass\nclass Y2(Y1): pass\n"
        ),
        "imports_itself": around(
            "H()", "from . import *\nfrom .program import *\nimport program\n"
        ),
        "long_unicode_line": around("y = 'ä' + f(" + ", ".join(["x.item()"] * 4_000) + ")"),
        "long_messages": around(
            "y = [" + ", ".join(["x.sum().item()"] * 4_000) + "].append(x).item()"
        ),
    }
    for name, step in GROWING_TEXT.items():
        body = "s = 'a'\n" + f"{step}\n" * 60
        cases[f"text_{name}"] = around(body)
        cases[f"text_{name}_at_top"] = around("pass", body)
    for start, value in STARTS.items():
        for name, step in GROWING.items():
            body = f"s = {value}\n" + f"{step}\n" * 60
            cases[f"{start}_{name}"] = around(body)
            cases[f"{start}_{name}_at_top"] = around("pass", f"x = torch.ones(1)\n{body}")
    return cases
