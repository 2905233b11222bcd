"""The successive calls that a file's `calls()` lists: what differs between them, and what each leaves on the objects."""

import pytest
from programs import analysed, found

MODEL = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = torch.zeros(0, 4)
        self.last = torch.zeros(2, 4)

    def forward(self, x, n=1):
        {body}


def make():
    return Model(), (torch.ones(2, 4),), {{}}


def calls():
    {calls}
"""
OF_NUMBERS = "for n in (1, 2, 3):\n        "
LISTED = {
    "yielded": OF_NUMBERS + "yield (torch.ones(2, 4), n)",
    "yielded by another": "yield from [(torch.ones(2, 4), n) for n in (1, 2, 3)]",
    "appended": "rows = []\n    "
    + OF_NUMBERS
    + "rows.append((torch.ones(2, 4), n))\n    return rows",
}


@pytest.mark.parametrize("name", LISTED)
def test_calls_may_be_listed_in_any_way(name, tmp_path):
    source = MODEL.format(body="return x * n", calls=LISTED[name])
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert [code for code, _ in found(result)] == ["BRK708"]


def test_the_same_calls_yielded(tmp_path):
    calls = "for _ in (1, 2, 3):\n        yield (torch.ones(2, 4), 2)"
    source = MODEL.format(body="return x * n", calls=calls)
    assert found(analysed(tmp_path, {"program.py": source}, "program.py::make")) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.keys = torch.cat([self.keys, x])\n        return self.keys.sum()", ["BRK712"]),
        ("self.keys = torch.cat([self.keys, x])\n        return x * 2", ["BRK712"]),
        ("y = x + self.last\n        self.last = x.detach()\n        return y", []),
        ("self.keys = torch.cat([x, x])\n        return self.keys.sum()", []),
    ],
)
def test_what_a_call_leaves_on_the_object(body, expected, tmp_path):
    calls = "return [(torch.ones(2, 4),) for _ in range(3)]"
    source = MODEL.format(body=body, calls=calls)
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert [code for code, _ in found(result)] == expected


def test_an_object_that_is_called(tmp_path):
    source = """\
        import torch
        class Step:
            def __call__(self, x, rate):
                return x * rate
        def make():
            return Step(), (torch.ones(4), 0.1), {}
        def calls():
            for rate in (0.1, 0.2, 0.3):
                yield torch.ones(4), rate
        """
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert found(result) == [("BRK709", 4)]


@pytest.mark.parametrize("listed", ["[(torch.tensor(n),) for n in range(3)]", "numbers()"])
def test_tensors_of_other_numbers(listed, tmp_path):
    source = f"""\
        import torch
        def region(i):
            return torch.ones(10, 4)[i] * 2
        def make():
            return region, (torch.tensor(0),), {{}}
        def numbers():
            for n in range(3):
                yield (torch.tensor(n),)
        def calls():
            return {listed}
        """
    result = analysed(tmp_path, {"program.py": source}, "program.py::make")
    assert found(result) == [("BRK733", 3)]


def test_functions_of_one_text_whose_closures_differ(tmp_path):
    source = """
    import torch

    def toward(target):
        return lambda x: target - x

    def f(x, guide):
        return x + guide(x)

    def make():
        return f, (torch.ones(3), toward(0.0)), {}

    def calls():
        for target in (0.0, 0.5):
            yield torch.ones(3), toward(target)
    """
    result = found(analysed(tmp_path, {"program.py": source}, "program.py::make"))
    assert [code for code, _ in result] == ["BRK720"]
    same = source.replace("(0.0, 0.5)", "(0.0, 0.0)")
    assert found(analysed(tmp_path, {"program.py": same}, "program.py::make")) == []
