"""The names in a function, which fixes look for."""

import ast

from programs import region

from breakscope.rulekit import patch
from breakscope.rulekit.walking import walk

BRANCHES = 20


def test_a_function_is_not_read_again_for_each_fix_in_it(tmp_path, monkeypatch):
    read = []

    def counted(node):
        read.append(node)
        return walk(node)

    monkeypatch.setattr(patch, "walk", counted)
    body = "".join(f"n{n} = x\nif x.sum() > {n}:\n    n{n} = x + 1\n" for n in range(BRANCHES))
    result = region(tmp_path, body)
    assert sum(finding.fix is not None for finding in result.findings) == BRANCHES
    assert 0 < len([node for node in read if isinstance(node, ast.FunctionDef)]) < BRANCHES / 2
