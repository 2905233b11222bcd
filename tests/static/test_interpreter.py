from __future__ import annotations

import pytest

from breakscope.static.interpreter import Interpreter


@pytest.mark.parametrize("part", Interpreter.__mro__[:-1], ids=lambda part: part.__name__)
def test_no_part_gives_the_interpreter_a_dict(part):
    assert "__dict__" not in vars(part), f"{part.__name__} needs `__slots__ = ()`: see the docstring of Interpreter"
