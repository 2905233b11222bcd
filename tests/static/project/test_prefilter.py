"""Which files a look at their bytes leaves out."""

import pytest

from breakscope.static.project.prefilter import may_matter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import re\nWORD = re.compile('a')\n", False),
        ("import re\nWORDS = [re.compile('a'), (re.compile('b'))]\n", False),
        ("import re\nWORD = re.compile('a')\nmodel.compile()\n", True),
        ("self.re.compile(f)\n", True),
        ("more.compile(f)\n", True),
        ("_re.compile(f)\n", True),
        ("torch.compile(f)\n", True),
        ("torch . compile\n", True),
        ("compile(f)\n", False),
        ("f.compiled(1)\n", False),
        ("class Net(Base):\n    pass\n", False),
        ("import torch\nclass Net(Base):\n    pass\n", True),
        ("def forward(x): pass\n", True),
        ("def my_forward(x): pass\n", False),
    ],
)
def test_what_may_hold_a_region(text, expected):
    assert may_matter(text.encode()) is expected
