"""A library's code around a region, which the file's own code calls."""

import pytest
from programs import analysed

from breakscope import limits
from breakscope.static.interpreter.calls import running

LIBRARY = """\
class Part:
    def __init__(self, whole):
        self.whole = whole
        self.more = list(map(self.part, range(3)))

    def part(self, number):
        return Part(self)


class Box:
    def __init__(self):
        self.count = 0


def boxed(number):
    return Box()
"""
PROGRAM = """\
import torch
{more}

def step(x):
    return x + 1


def main():
    run = torch.compile(step)
    for number in range(4):
        run(torch.ones(2))
        {call}


main()
"""
OWN = "class Box:\n    def __init__(self):\n        self.count = 0\n\n\ndef boxed(number):\n    return Box()\n"


@pytest.fixture
def followed(monkeypatch):
    """The names of the functions that are followed, each time."""
    names, run = [], running.run_function

    def counted(machine, function, *rest):
        names.append(function.info.qualname)
        return run(machine, function, *rest)

    monkeypatch.setattr(running, "run_function", counted)
    return names


@pytest.mark.parametrize("more", ["from library import boxed", OWN])
def test_only_the_files_own_code_makes_another_object_in_each_turn(more, followed, tmp_path):
    program = PROGRAM.format(more=more, call="box = boxed(number)")
    analysed(tmp_path, {"library.py": LIBRARY, "program.py": program})
    assert (followed.count("Box.__init__") > 1) == (more == OWN)


def test_objects_that_make_their_like_are_followed_a_few_times(followed, tmp_path):
    program = PROGRAM.format(more="from library import Part", call="Part(number), Part(run)")
    result = analysed(tmp_path, {"library.py": LIBRARY, "program.py": program})
    assert not result.gaps
    assert 1 < followed.count("Part.part") <= 3 * limits.MOST_INSIDE_ITSELF
