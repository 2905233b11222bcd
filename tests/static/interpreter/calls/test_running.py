"""Functions of libraries, for how many kinds of arguments they are followed."""

from programs import TORCH, analysed, write

from breakscope import limits
from breakscope.static import StaticOptions, analyze
from breakscope.static.interpreter.calls import running


def test_a_function_of_a_library_is_followed_for_so_many_kinds_of_objects(tmp_path, monkeypatch):
    """Each gives something else; behind that, the most similar arguments answer."""
    kinds = 3 * limits.MOST_ANALYSES_ELSEWHERE
    classes = "".join(
        f"class Kind{n}:\n    def __init__(self, x):\n        self.x, self.name = x, 'kind {n}'\n\n"
        for n in range(kinds)
    )
    read = "def name_of(part, x):\n    x.sum().item()\n    return part.name\n"
    lines = [f"        x = x + len(kinds.name_of(kinds.Kind{n}(x), x))\n" for n in range(kinds)]
    write(
        tmp_path,
        {
            "site-packages/kinds-1.0.dist-info/METADATA": "Name: kinds\n",
            "site-packages/kinds/__init__.py": f"import torch\n\n{classes}{read}",
            "model.py": "import torch, kinds\n\nclass Model(torch.nn.Module):\n"
            f"    def forward(self, x):\n{''.join(lines)}        return x\n",
        },
    )
    followed = []
    run = running.run_function

    def counted(machine, function, args, *rest):
        followed.append(function.info.name)
        return run(machine, function, args, *rest)

    monkeypatch.setattr(running, "run_function", counted)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    result = analyze([tmp_path / "model.py"], StaticOptions(torch=TORCH))
    assert {f.line for f in result.findings} == {5 + n for n in range(kinds)}
    assert followed.count("name_of") == limits.MOST_ANALYSES_ELSEWHERE


def test_a_function_of_a_library_that_calls_itself_is_followed_for_a_new_kind(
    tmp_path, monkeypatch
):
    """While the first call of its kind is being followed, it has no outcome to repeat."""
    write(
        tmp_path,
        {
            "site-packages/deep-1.0.dist-info/METADATA": "Name: deep\n",
            "site-packages/deep/__init__.py": "import torch\n\nclass End:\n    pass\n\n"
            "def depth(n, x, other):\n    if n > 0:\n        return depth(n - 1, x, other) + 1\n"
            "    return x.sum().item()\n",
            "model.py": "import torch, deep\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
            "        x = x + deep.depth(x.shape[0], x, deep.End())\n"
            "        return deep.depth(x.shape[0], x, x)\n",
        },
    )
    monkeypatch.setattr(limits, "MOST_ANALYSES_ELSEWHERE", 1)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    result = analyze([tmp_path / "model.py"], StaticOptions(torch=TORCH))
    assert [f.line for f in result.findings] == [5, 6]
    assert not result.gaps


def test_functions_that_call_each_other_around_a_region_are_followed_to_their_end(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(limits, "MOST_REGION_STATEMENTS", 4_000)
    names = ["first", "second", "third", "fourth", "fifth", "sixth"]
    source = "import torch\n\n@torch.compile\ndef step(x):\n    return x + 1\n\n"
    source += "class Tree:\n    def __init__(self):\n        self.seen = 0\n"
    for name in names:
        source += f"\ndef {name}(tree, parts):\n    for key in parts:\n        for part in key:\n"
        source += "            tree.seen = part\n"
        source += "".join(f"            {n}(tree, part)\n" for n in names if n != name)
    source += "\ndef run(x, parts):\n    first(Tree(), parts)\n    return step(x)\n\n"
    source += "if __name__ == '__main__':\n    run(torch.ones(2), input())\n"
    assert analysed(tmp_path, {"program.py": source}).gaps == ()
