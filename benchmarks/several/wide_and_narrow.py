"""One break splits pointwise work on a large tensor that would be one kernel, the other stands among small tensors."""

import torch


def work(x, wide, narrow):
    y = x * 1.5 + 0.5
    if wide:
        print(end="")  # break 1
    y = (y.relu() * y + 1).rsqrt()
    total = y.mean(0)
    if narrow:
        print(end="")  # break 2
    return total.tanh() * 2


def broken():
    return (lambda x: work(x, True, True)), (torch.randn(2000, 512),)


def without_1():
    return (lambda x: work(x, False, True)), (torch.randn(2000, 512),)


def without_2():
    return (lambda x: work(x, True, False)), (torch.randn(2000, 512),)
