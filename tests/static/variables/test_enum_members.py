"""Members of enums in the code around a region: their methods give others, and which one it is decides tests."""

import pytest
from programs import analysed, found

PROGRAM = """\
import enum

import torch


class Player(enum.Enum):
    BLACK = 1
    WHITE = -1

    def other(self):
        return Player.WHITE if self is Player.BLACK else Player.BLACK


@torch.compile
def seen(board, player):
    return board * player.value


def main():
    player = Player.BLACK
    for turn in range(4):
        seen(torch.ones(5), player)
        {step}


main()
"""


@pytest.mark.parametrize(
    ("step", "codes"),
    [
        ("player = player.other()", ["BRK710"]),
        ("player = player.other().other()", []),
        ("player = Player.WHITE if player == Player.BLACK else Player.BLACK", ["BRK710"]),
        ("player = Player.WHITE if player != Player.BLACK else player", []),
    ],
)
def test_what_a_method_of_a_member_gives(step, codes, tmp_path):
    result = analysed(tmp_path, {"program.py": PROGRAM.format(step=step)})
    assert [code for code, _ in found(result)] == codes
