"""Real models: forward and backward of seven transformers architectures under Dynamo."""

import pytest
from running import TARGETS, run_all

pytest.importorskip("torch")
pytest.importorskip("transformers")

CLEAN = ("llama", "gpt2", "bert", "t5", "vit", "mixtral")


@pytest.fixture(scope="module")
def runs():
    file = str(TARGETS / "transformer_models.py")
    return run_all({name: {"file": file, "timeout": 300.0} for name in (*CLEAN, "segformer")})


@pytest.mark.parametrize(
    "name", [CLEAN[0], *(pytest.param(name, marks=pytest.mark.nightly) for name in CLEAN[1:])]
)
def test_clean_models(runs, name):
    run = runs[name].run
    assert (runs[name].errors, run.status, run.capture_checked) == ((), "ok", True)
    assert [f for f in runs[name].findings if f.kind == "break"] == []
    assert run.backward and run.calls == 3
    assert len(run.graphs) >= 1
    assert sum(graph.ops for graph in run.graphs) > 20
    assert {"linear", "addmm"} & set(run.graphs[0].op_names)
    assert any("transformers" in path for path in runs[name].traced)


def test_breaks_inside_the_library(runs):
    """Segformer takes a lock and installs hooks when it runs: the lines named are those of
    transformers."""
    breaks = {f.dynamo: f for f in runs["segformer"].findings if f.kind == "break"}
    lock = breaks[("GB0142",)]
    assert lock.path.endswith("transformers/utils/output_capturing.py")
    assert "with _hook_installation_lock" in "".join(lock.source)
    assert lock.lost == "with"
    assert "SegformerForSemanticSegmentation.forward" in [link.function for link in lock.chain]
    assert any(frame.why == "with" for frame in runs["segformer"].run.lost_frames)
