import torch
from torch.autograd import Variable


def region(x, y):
    weighted = x * y
    state = Variable(torch.zeros(3))
    kept = Variable(torch.Tensor(1, 3)).zero_()
    mean = Variable(weighted * 2, requires_grad=False)
    given = Variable(x)
    given.add_(1)
    with torch.no_grad():
        state += weighted.numel()
    return weighted + mean + kept[0], state, given


def make():
    return region, (torch.ones(3), torch.ones(3))
