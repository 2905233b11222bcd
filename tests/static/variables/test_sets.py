"""How many items a set has where some of them may be equal."""

import pytest
from programs import found, region

CASES = [
    ("{x.device, y.device}", True),
    ("{t.shape[0] for t in (x, y)}", True),
    ("set([x.shape[0], y.shape[0]])", True),
    ("frozenset((x.dtype, y.dtype))", True),
    ("set({'x': x.device, 'y': y.device}.values())", True),
    ("{1, 1}", True),
    ("{1, 2}", False),
]


@pytest.mark.parametrize(("items", "goes_on"), CASES)
def test_a_check_that_all_are_equal(items, goes_on, tmp_path):
    body = f"""\
    y = x + 1
    if len({items}) > 1:
        raise ValueError("they differ")
    x = x[torch.nonzero(x)]
    """
    codes = {code for code, _ in found(region(tmp_path, body))}
    assert ("BRK301" in codes) == goes_on
