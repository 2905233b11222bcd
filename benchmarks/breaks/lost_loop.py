"""A break inside a loop: Dynamo gives the whole function up, and every op of it runs by itself."""

import torch


def work(x, talk):
    for step in range(8):
        x = (x * 1.01 + step).relu() * 0.5 + x.abs() * 0.25
        if talk:
            print(end="")
    return x


def broken():
    return work, (torch.randn(400, 500), True)


def fixed():
    return work, (torch.randn(400, 500), False)
