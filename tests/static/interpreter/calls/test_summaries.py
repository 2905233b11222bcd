"""What the analyzer remembers of one model must not change what it says of the next."""

import textwrap

from programs import TORCH, write

from breakscope import limits
from breakscope.static import StaticOptions, analyze
from breakscope.static.interpreter.calls import running

FRAMEWORK = """
    import torch

    class Base(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config

    def scaled(config, x):
        if config.scale > 0:
            x = x * config.scale
        return x

    def documented(cls):
        cls.__doc__ = "text"
        return cls
"""
MODEL = """
    import torch
    from library.framework import Base, documented, scaled

    class Config:
        def __init__(self):
            self.scale = {scale}

    @documented
    class Model(Base):
        def __init__(self):
            super().__init__(Config())
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x: torch.Tensor):
            if self.config.scale > 0:
                x = x + 1
            return scaled(self.config, self.layer(x))
"""
MODELS = 16
ODD = 13  # comes when all the others have shown that nothing breaks


def sites(*paths):
    result = analyze([str(path) for path in paths], StaticOptions(torch=TORCH))
    assert result.errors == () and result.gaps == ()
    return {(f.path.rpartition("/")[2], f.line, f.code) for f in result.findings}


def test_the_last_of_many_models_is_judged_by_its_own_configuration(tmp_path):
    files = {
        f"library/model_{n:02}.py": MODEL.format(scale="torch.tensor(1.0)" if n == ODD else "1.0")
        for n in range(MODELS)
    }
    write(tmp_path, {"library/__init__.py": "", "library/framework.py": FRAMEWORK, **files})
    model = textwrap.dedent(MODEL).splitlines()
    wanted = {
        (f"model_{ODD}.py", model.index("        if self.config.scale > 0:") + 1, "BRK101"),
        (
            "framework.py",
            textwrap.dedent(FRAMEWORK).splitlines().index("    if config.scale > 0:") + 1,
            "BRK101",
        ),
    }
    alone = sites(tmp_path / f"library/model_{ODD}.py")
    assert {site for site in wanted if "model" in site[0]} <= alone
    together = sites(tmp_path)
    assert wanted <= together
    assert {site[0] for site in together} == {f"model_{ODD}.py", "framework.py"}


MODES = [
    "0",
    "1.5",
    "'a'",
    "None",
    "True",
    "b'x'",
    "(1, 2)",
    "[1]",
    "{'a': 1}",
    "(1.5,)",
    "['a']",
    "('a', 2)",
    "[None]",
    "{}",
]
CALLER = """
    import torch
    from library.framework import scaled

    class Config:
        def __init__(self):
            self.scale = {scale}

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.config = Config()

        def forward(self, x: torch.Tensor):
            return scaled(self.config, x, {mode})
"""


def callers(folder, odd):
    framework = FRAMEWORK.replace("def scaled(config, x):", "def scaled(config, x, mode):")
    files = {
        f"library/model_{n:02}.py": CALLER.format(scale="1.0", mode=mode)
        for n, mode in enumerate(MODES)
    }
    files["library/odd.py"] = CALLER.format(scale=odd, mode="{'b': 2}")
    write(folder, {"library/__init__.py": "", "library/framework.py": framework, **files})


def count_analyses(monkeypatch):
    """The arguments with which `scaled` was followed."""
    followed = []
    run = running.run_function

    def counted(machine, function, args, *rest):
        if function.info.name == "scaled":
            followed.append(args)
        return run(machine, function, args, *rest)

    monkeypatch.setattr(running, "run_function", counted)
    return followed


def test_a_function_that_showed_nothing_new_for_many_arguments_is_not_followed_for_similar_ones(
    tmp_path, monkeypatch
):
    """What is remembered of it is of one file: others must not decide what this one shows."""
    callers(tmp_path, odd="2.0")
    one_file = tmp_path / "library/all.py"
    one_file.write_text(
        "\n".join(
            textwrap.dedent(CALLER.format(scale="1.0", mode=mode)).replace("Model(", f"Model{n}(")
            for n, mode in enumerate(MODES)
        )
    )
    followed = count_analyses(monkeypatch)
    assert sites(one_file) == set()
    assert limits.MOST_ANALYSES <= len(followed) < len(MODES)


def test_an_object_with_a_tensor_is_not_similar_to_one_without(tmp_path):
    callers(tmp_path, odd="torch.tensor(2.0)")
    assert {site[0] for site in sites(tmp_path)} == {"framework.py"}


def test_what_a_constructor_is_given_as_rest_counts(tmp_path):
    """An object that it gives an attribute, then a number: the second is not the first's kind."""
    framework = """
        import torch

        class Base(torch.nn.Module):
            def __init__(self, *rest):
                super().__init__()
                for part in rest:
                    part.owner = "base"
    """
    model = """
        class Model{n}(Base):
            def __init__(self):
                super().__init__({given})

            def forward(self, x):
                return x.item()
    """
    head = """
        import torch
        from library.framework import Base

        class Part:
            def __init__(self, n):
                self.n = n
    """
    # the last ones are followed first
    models = [model.format(n=n, given="3" if n < 4 else f"Part({n})") for n in range(8)]
    write(
        tmp_path,
        {
            "library/__init__.py": "",
            "library/framework.py": framework,
            "library/models.py": "".join([head, *models]),
        },
    )
    assert len(sites(tmp_path)) == 8


WRAPPING = """
    import functools
    import torch

    class Metric(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.update = self.wrap(self.update)

        def wrap(self, update):
            @functools.wraps(update)
            def wrapped(*args, **kwargs):
                return update(*args, **kwargs)
            return wrapped

        def update(self, *args):
            raise NotImplementedError

        def forward(self, *args):
            return self.update(*args)
"""
METRIC = """
    import torch
    from library.framework import Metric

    class Own(Metric):
        def update(self, x: torch.Tensor):
            return x.{read}()
"""


def test_a_wrapper_that_an_inherited_constructor_makes_is_of_each_object(tmp_path):
    files = {
        f"library/metric_{n}.py": METRIC.format(read="item" if n == 4 else "relu") for n in range(6)
    }
    write(tmp_path, {"library/__init__.py": "", "library/framework.py": WRAPPING, **files})
    assert sites(tmp_path) == {("metric_4.py", 7, "BRK201")}


def test_a_counter_that_other_models_set_back_is_still_one(tmp_path):
    counting = (
        "class Counting(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.calls = 0\n\n"
        "    def forward(self, x):\n        self.calls += 1\n        return x * 2\n"
    )
    model = (
        "class Model{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = Counting()\n\n"
        "    def forward(self, x):\n        {first}\n        return self.inner(x)\n\n\n"
    )
    models = model.format(n=0, first="pass") + "".join(
        model.format(n=n, first="self.inner.calls = 0") for n in (1, 2, 3, 4)
    )
    head = "import torch\nfrom torch import nn\n"
    write(
        tmp_path,
        {
            "counting.py": head + counting,
            "models.py": f"{head}from counting import Counting\n\n\n{models}",
        },
    )
    result = analyze([str(tmp_path)], StaticOptions(torch=TORCH))
    assert [(f.code, f.line) for f in result.findings] == [("BRK701", 9)]


TREE = """
    import torch

    class Tree:
        def __init__(self, parts, shape):
            self.parts = parts
            self.shape = shape

        def moved(self, x):
            if x.dim() < 2:
                return self
            if x.dim() < 3:
                print(x)
            kept = Tree([self], x.shape)
            one = Tree([kept.moved(x)], x.shape)
            two = Tree([one.moved(x), kept], x.shape)
            three = Tree([two.moved(x), one, kept], x.shape)
            four = Tree([three.moved(x), two, one, kept], x.shape)
            return Tree([four.moved(x)], x.shape)

    class Model(torch.nn.Module):
        def forward(self, x):
            tree = Tree([], x.shape).moved(x)
            if x.sum() > 0:
                x = x + 1
            return x
"""


def test_a_function_that_calls_itself_for_each_part_of_a_tree_does_not_multiply(
    tmp_path, monkeypatch
):
    """Each call is of another object; what stands behind it is followed too."""
    monkeypatch.setattr(limits, "MOST_REGION_STATEMENTS", 1_000)
    write(tmp_path, {"net.py": TREE})
    found = {
        site for site in sites(tmp_path / "net.py") if site[2] != "BRK558"
    }  # the calls between
    assert found == {("net.py", 13, "BRK401"), ("net.py", 24, "BRK101")}


MADE = """
    import torch

    def reader(name):
        def read(x):
            return getattr(x, name)()
        return read

    names = {made}
    last = reader({last!r})

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor):
            return last(x)
"""


def test_each_function_that_a_call_makes_keeps_its_constants(tmp_path):
    others = ", ".join(f"reader({name!r})" for name in "cos sin tan exp log abs neg".split())
    for last, expected in (("tolist", {("net.py", 6, "BRK204")}), ("sqrt", set())):
        write(tmp_path, {"net.py": MADE.format(made=f"[{others}]", last=last)})
        assert sites(tmp_path / "net.py") == expected
