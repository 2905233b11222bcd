"""Pointwise work on a large tensor, cut in the middle: the tensor is written and read once more."""

import torch


def work(x, talk):
    x = (x * 1.01).abs() + 1
    x = x * 0.5 - x * x
    if talk:
        print(end="")
    x = (x + 2).relu() * 1.5
    return x * x - 3


def broken():
    return work, (torch.randn(1500, 1000), True)


def fixed():
    return work, (torch.randn(1500, 1000), False)
