"""Globals, attributes of modules, and work done in place."""
# ruff: noqa

import functools
import torch
import torch.nn as nn

COUNT = 0
SEEN = []
CACHE = {}
CONSTANT = torch.ones(3)


class Counter:
    total = 0

    def __init__(self):
        self.n = 0

    def bump(self):
        self.n += 1

    @property
    def double(self):
        return self.n * 2

    @functools.cached_property
    def cached(self):
        return self.n + 1

    @staticmethod
    def static(x):
        return x + 1

    @classmethod
    def made(cls):
        return cls()

    def __call__(self, x):
        return x + self.n

    def __getattr__(self, name):
        if name == "dynamic":
            return 1
        raise AttributeError(name)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __len__(self):
        return 2

    def __getitem__(self, key):
        return key

    def __iter__(self):
        return iter([1, 2])

    def __contains__(self, key):
        return True

    def __bool__(self):
        return True


counter = Counter()


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


def program_delete_global_item(x):
    """del of a global dict's item"""
    CACHE["a"] = 1
    del CACHE["a"]
    return x + 1


def program_global_counter(x):
    """global integer incremented"""
    global COUNT
    COUNT += 1
    return x + COUNT


def program_global_list_append(x):
    """append to a global list"""
    SEEN.append(1)
    return x + 1


def program_global_list_append_tensor(x):
    """append a tensor to a global list"""
    SEEN.append(x)
    return x + 1


def program_global_dict_store(x):
    """store into a global dict"""
    CACHE["b"] = x
    return x + 1


def program_nonlocal(x):
    """nonlocal counter"""
    n = 0

    def inner():
        nonlocal n
        n += 1

    inner()
    return x + n


def program_object_mutated(x):
    """attribute of a global object incremented"""
    counter.bump()
    return x + counter.n


def program_class_attribute_store(x):
    """class attribute incremented"""
    Counter.total += 1
    return x + 1


def program_module_counter(x):
    """integer attribute of a module incremented"""
    module.steps += 1
    return x + 1


def program_module_float_store(x):
    """float attribute of a module set"""
    module.scale = 2.5
    return x * module.scale


def program_module_history_append(x):
    """tensor appended to a module's list"""
    module.history.append(x.detach())
    return x + 1


def program_module_last_tensor(x):
    """tensor stored on a module"""
    module.last = x.detach()
    return x + 1


def program_module_item_store(x):
    """.item() stored on a module"""
    module.last = x.sum().item()
    return x + 1


def program_module_buffer_update(x):
    """buffer of a module updated in place"""
    module.total += x.sum()
    return x + module.total


def program_buffer_branch(x):
    """if on a module's buffer"""
    return x + 1 if module.total > 0 else x


def program_training_branch(x):
    """if self.training"""
    return x + 1 if module.training else x


def program_inplace_on_input(x):
    """input changed in place"""
    x.add_(1)
    x[0] = 0
    return x


def program_out_argument(x):
    """out= argument"""
    out = torch.empty_like(x)
    torch.add(x, 1, out=out)
    return out


def program_global_tensor_inplace(x):
    """global tensor changed in place"""
    CONSTANT.add_(1)
    return x + CONSTANT
