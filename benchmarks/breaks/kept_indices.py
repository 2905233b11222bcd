"""Rows are picked by `nonzero`, whose size depends on values; fixed: a mask weighs all rows."""

import torch


def broken_work(x):
    y = (x * 1.5).relu() + x
    rows = (y.sum(-1) > 0).nonzero().squeeze(1)
    return (y[rows] * 2 + 1).sum(0)


def fixed_work(x):
    y = (x * 1.5).relu() + x
    keep = (y.sum(-1) > 0).unsqueeze(1)
    return ((y * 2 + 1) * keep).sum(0)


def broken():
    return broken_work, (torch.randn(800, 256),)


def fixed():
    return fixed_work, (torch.randn(800, 256),)
