"""Targets that eager runs and whose compile raises."""

import torch


@torch.library.custom_op("breakscope_tests::scale", mutates_args=())
def scale(x: torch.Tensor, times: int) -> torch.Tensor:
    return x * times


def scaled(x):
    print("before")  # a break of the same frame
    return scale(x, 3) + 1


def falls_back(x):
    try:
        return x @ torch.ones(5, 5)
    except RuntimeError:
        return x


def fails(graph, inputs):
    raise ValueError("no such device")


torch._dynamo.register_backend(fails, name="failing")


def plain(x):
    return x * 2


def make_scaled():
    return scaled, (torch.ones(2, 4),), {}


def make_falls_back():
    return falls_back, (torch.ones(2, 4),), {}


def make_plain():
    return plain, (torch.ones(2, 4),), {}
