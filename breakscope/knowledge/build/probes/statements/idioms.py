"""Idioms of models: sampling, masks, metrics, logging, random numbers."""
# ruff: noqa

import logging
import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger("probe")


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


def program_logger_compiling_guard(x):
    """logger behind torch.compiler.is_compiling"""
    if not torch.compiler.is_compiling():
        logger.info("a")
    return x + 1


def program_print_scripting_guard(x):
    """print behind torch.jit.is_scripting"""
    if torch.jit.is_scripting():
        print("a")
    return x + 1


def program_warn_once(x):
    """warning in a branch that is not taken"""
    if x.shape[0] > 100:
        import warnings

        warnings.warn("a")
    return x + 1


def program_topk_sampling(x):
    """top-k filter with masked_fill and multinomial"""
    values, _ = torch.topk(x, 2)
    x = x.masked_fill(x < values[..., -1:], float("-inf"))
    return torch.multinomial(F.softmax(x, -1), 1)


def program_top_p_sampling(x):
    """top-p filter with sort and scatter"""
    ordered, index = torch.sort(x, descending=True)
    remove = ordered.softmax(-1).cumsum(-1) > 0.9
    remove = remove.scatter(1, index, remove)
    return x.masked_fill(remove, float("-inf"))


def program_boolean_mask_mean(x):
    """mean over a boolean mask"""
    return x[x > 0.5].mean()


def program_masked_assign_where(x):
    """masked assignment of a constant"""
    x = x.clone()
    x[x > 0.5] = 0
    return x


def program_one_hot(x):
    """one_hot with the number of classes given"""
    return F.one_hot(x.argmax(-1), 3)


def program_item_used_as_size(x):
    """item used as a size"""
    n = int(x.argmax())
    return torch.zeros(n + 1) + 1


def program_lengths_to_mask(x, i):
    """mask from lengths with arange and max"""
    return torch.arange(i.max())[None] < i[:, None]


def program_lengths_to_mask_fixed(x, i):
    """mask from lengths with a fixed width"""
    return torch.arange(5)[None] < i[:, None]


def program_python_max_of_tensors(x):
    """builtin max and min of 0-d tensors"""
    return max(x.sum(), x.mean()) + min(x.max(), x.min())


def program_sum_of_losses(x):
    """builtin sum of a list of losses"""
    return sum([x.sum(), x.mean()])


def program_dict_of_metrics_items(x):
    """dict of .item() metrics"""
    return {"loss": x.sum().item(), "mean": x.mean().item()}


def program_detached_metrics(x):
    """dict of detached metrics"""
    return {"loss": x.sum().detach()}


def program_cpu_numpy_round_trip(x):
    """numpy round trip"""
    return torch.from_numpy(x.cpu().numpy() * 2)


def program_detach_numpy_item(x):
    """float of a numpy array's element"""
    return x * float(x.numpy()[0, 0])


def program_layer_drop(x):
    """layer drop as written in transformers"""
    dropout = torch.rand([])
    if module.training and dropout < 0.1:
        return x
    return x + 1


def program_tensor_from_list_of_items(x):
    """torch.tensor of a list of .item()"""
    return torch.tensor([x.sum().item(), 1.0])


def program_tensor_from_tensors(x):
    """torch.tensor of a list of 0-d tensors"""
    return torch.tensor([x.sum(), x.mean()])


def program_shape_tensor(x):
    """torch.tensor of a shape"""
    return torch.tensor(x.shape)


def program_scatter_loop(x, i):
    """index_add with an int index"""
    return torch.zeros_like(x).index_add(0, i, x)


def program_returns_none(x):
    """no tensor returned"""
    x.add_(1)
