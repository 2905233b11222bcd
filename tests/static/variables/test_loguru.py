"""Calls of loguru's logger, which Dynamo enters and does not come through."""

from programs import analysed, found, marked

MODELS = """
    import torch
    from loguru import logger

    named = logger.bind(name="model")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.log = logger
            logger.info("made")

        def forward(self, x):
            logger.debug("shape {}", x.shape)  # BRK402
            named.info("x")  # BRK402
            logger.opt(lazy=True).trace("x")  # BRK402
            self.log.success("x")  # BRK402
            bound = logger.bind(step=1)
            return x + 1
"""


def test_a_call_of_the_logger_ends_the_graph(tmp_path):
    result = analysed(tmp_path, {"models.py": MODELS})
    assert set(found(result)) == marked((tmp_path / "models.py").read_text())
    assert {f.confidence for f in result.findings} == {"likely"}
