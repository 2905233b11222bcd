"""Branches, assertions and conditions on tensors."""
# ruff: noqa

import logging
import torch
import torch.nn as nn

logger = logging.getLogger("probe")
config = {"scale": 2.0, "layers": [1, 2]}


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0
        self.scale = 1.5
        self.history = []
        self.last = None
        self.fc = nn.Linear(3, 3)
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        return x


module = Stateful()


def program_branch_on_tensor(x):
    """if on a tensor"""
    if x.sum() > 0:
        x = x + 1
    return x


def program_branch_on_item(x):
    """if on .item()"""
    if x.sum().item() > 0:
        x = x + 1
    return x


def program_assert_constant_message(x):
    """assert of a tensor with a constant message"""
    assert x.sum() > 0, "positive"
    return x + 1


def program_assert_no_message(x):
    """assert of a tensor without a message"""
    assert x.sum() > 0
    return x + 1


def program_assert_formatted_message(x):
    """assert of a tensor whose message formats a tensor"""
    assert x.sum() > 0, f"got {x.sum()}"
    return x + 1


def program_assert_shape_message(x):
    """assert of a tensor whose message formats a shape"""
    assert x.sum() > 0, f"got {x.shape}"
    return x + 1


def program_assert_all(x):
    """assert (x > 0).all()"""
    assert (x > 0).all(), "positive"
    return x + 1


def program_assert_not_nan(x):
    """assert not x.isnan().any()"""
    assert not x.isnan().any(), "nan"
    return x + 1


def program_assert_item(x):
    """assert of an .item()"""
    assert x.sum().item() > 0
    return x + 1


def program_assert_shape(x):
    """assert of a shape"""
    assert x.shape[0] == 4, "four rows"
    return x + 1


def program_assert_allclose(x):
    """assert torch.allclose"""
    assert torch.allclose(x, x), "same"
    return x + 1


def program_raise_on_tensor(x):
    """if on a tensor whose body only raises"""
    if x.sum() < 0:
        raise ValueError("negative")
    return x + 1


def program_raise_on_isnan(x):
    """if on isnan().any() whose body only raises"""
    if torch.isnan(x).any():
        raise ValueError("nan")
    return x + 1


def program_early_return(x):
    """if on a tensor whose body returns"""
    if x.sum() < 0:
        return x
    return x + 1


def program_match_on_tensor(x):
    """match on a tensor against a number"""
    match x.sum():
        case 0:
            return x
        case _:
            return x + 1


def program_match_on_string(x):
    """match on a string"""
    mode = "a"
    match mode:
        case "a":
            return x + 1
        case _:
            return x


def program_match_on_shape(x):
    """match on a shape"""
    match x.shape:
        case (a, b):
            return x + a
        case _:
            return x


def program_tensor_in_list(x, ts):
    """tensor in list of tensors"""
    return x + 1 if ts[0] in ts else x


def program_tensor_equality_branch(x, y):
    """if on torch.equal"""
    return x + 1 if torch.equal(x, y) else x


def program_tensor_or_default(x):
    """x or default on a tensor"""
    t = x.sum()
    return t or x


def program_tensor_if_none(x):
    """if mask is not None"""
    mask = None
    if mask is not None:
        x = x * mask
    return x + 1


def program_len_branch(x):
    """if on a size"""
    return x + 1 if len(x) > 2 else x


def program_numel_branch_after_mask(x):
    """if on the size of a masked tensor"""
    picked = x[x > 0.5]
    if picked.numel() == 0:
        return x
    return picked.sum()


def program_config_branch(x):
    """if on a global dict's value"""
    return x + 1 if config["scale"] > 1 else x


def program_logger_in_branch(x):
    """logger behind a constant false flag"""
    debug = False
    if debug:
        logger.info("a")
    return x + 1


def program_random_branch(x):
    """if on random.random()"""
    import random

    return x + 1 if random.random() > 0.5 else x


def program_torch_rand_branch(x):
    """if on torch.rand(1)"""
    return x + 1 if torch.rand(1) > 0.5 else x


def program_torch_rand_item_branch(x):
    """if on torch.rand(1).item()"""
    return x + 1 if torch.rand(1).item() > 0.5 else x


def program_chained_comparison(x):
    """0 < tensor < 1"""
    return x + 1 if 0 < x.sum() < 1 else x


def program_is_nonzero(x):
    """torch.is_nonzero in a condition"""
    return x + 1 if torch.is_nonzero(x.sum()) else x


def program_isinstance_tensor(x):
    """isinstance of a tensor"""
    return x + 1 if isinstance(x, torch.Tensor) else x


def program_hasattr_module(x):
    """hasattr of a module"""
    return x + 1 if hasattr(module, "fc") else x
