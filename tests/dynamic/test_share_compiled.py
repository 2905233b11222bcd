"""run says which share of op time lies inside graphs, once nothing compiles any more."""

import pytest
from running import TARGETS, run_all

pytest.importorskip("torch")


def test_share_of_a_run():
    file = str(TARGETS / "costs.py")
    found = run_all({name: {"file": file} for name in ("broken", "mended")} | {
        "other backend": {"file": file, "name": "mended", "backend": "aot_eager"}})
    assert found["mended"].run.share_compiled == 1.0
    assert 0 < found["broken"].run.share_compiled < 1
    assert found["other backend"].run.share_compiled is None  # not measured, so not told
