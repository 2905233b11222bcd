"""Items of a dict or a list that are set between calls: Dynamo guards those that the region looks up, and the
length where the region goes over it."""

import pytest
from programs import analysed, found

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        {body}


def main():
    config = {given}
    run = torch.compile(Net(config))
    for epoch in range(4):
        {step}
        run(torch.ones(3))


main()
"""
DICT = '{"scale": 2.0, "epoch": 0, "log": []}'
SCALED = 'return x * self.config["scale"]'
SUMMED = 'return x * self.config["scale"] + sum(1 for key in self.config)'


@pytest.mark.parametrize(
    ("body", "given", "step", "is_hazard"),
    [
        (SCALED, DICT, 'config["epoch"] = epoch', False),
        (SCALED, DICT, 'config["new"] = epoch', False),
        (SCALED, DICT, 'config["log"].append(epoch)', False),
        (SCALED, DICT, 'config["scale"] = 1.0 + epoch', True),
        (SUMMED, DICT, 'config[f"k{epoch}"] = epoch', True),
        ("return x * self.config[0]", "[1.0, 2.0]", "config[1] = 1.0 * epoch", False),
        ("return x * self.config[0]", "[1.0, 2.0]", "config[0] = 1.0 * epoch", True),
    ],
)
def test_what_is_set_between_calls(body, given, step, is_hazard, tmp_path):
    source = PROGRAM.format(body=body, given=given, step=step)
    codes = [code for code, _ in found(analysed(tmp_path, {"program.py": source}))]
    assert codes == ["BRK702"] * is_hazard
