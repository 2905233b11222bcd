"""Twenty tensors are alive where the graph breaks: each leaves the first part and enters the second."""

import torch


def work(x, talk):
    a, b, c, d = x + 1, x + 2, x + 3, x + 4
    e, f, g, h = a * b, b * c, c * d, d * a
    i, j, k, m = e.relu(), f.relu(), g.relu(), h.relu()
    n, o, p, q = i - a, j - b, k - c, m - d
    r, s, t, u = n * 2, o * 2, p * 2, q * 2
    if talk:
        print(end="")
    first = a * e + b * f + c * g + d * h
    return first + i * n + j * o + k * p + m * q + r + s + t + u


def broken():
    return work, (torch.randn(100, 100), True)


def fixed():
    return work, (torch.randn(100, 100), False)
