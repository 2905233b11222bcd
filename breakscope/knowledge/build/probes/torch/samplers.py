"""Objects of torch's own Python that make or keep tensors."""
# ruff: noqa

import torch
import torch.futures
import torch.nn.utils.fusion
import torch.nn.utils.prune
import torch.quasirandom
import torch.utils.data
import torch.utils.weak

engine = torch.quasirandom.SobolEngine(3)
weak = torch.utils.weak.WeakTensorKeyDictionary()
linear = torch.nn.Linear(3, 3)
convolution = torch.nn.Conv2d(1, 1, 3).eval()
norm = torch.nn.BatchNorm2d(1).eval()


def cases_quasirandom(x, y, t, n, m, i, ts):
    torch.quasirandom.SobolEngine(3)
    torch.quasirandom.SobolEngine(3, scramble=True, seed=1)
    engine.draw(4)  # as: torch.quasirandom.SobolEngine.draw
    engine.fast_forward(2)  # as: torch.quasirandom.SobolEngine.fast_forward
    engine.reset()  # as: torch.quasirandom.SobolEngine.reset


def cases_kept(x, y, t, n, m, i, ts):
    torch.utils.weak.WeakTensorKeyDictionary()
    torch.utils.weak.WeakIdKeyDictionary()
    torch.utils.data.default_convert(x)
    torch.futures.Future()


def cases_changed_layers(x, y, t, n, m, i, ts):
    torch.nn.utils.prune.is_pruned(linear)
    torch.nn.utils.fusion.fuse_conv_bn_eval(convolution, norm)
