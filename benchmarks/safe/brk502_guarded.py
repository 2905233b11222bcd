import torch


def checked(x, y):
    if x.shape != y.shape:
        torch._dynamo.graph_break()
    else:
        x = torch.where(x > 0, x, y)
        torch._dynamo.graph_break()
    with torch.no_grad():
        shift = torch.rand_like(y.float())
        torch._dynamo.graph_break()
    return x * y, shift


def region(x, y):
    try:
        return checked(x, y)
    finally:
        torch._dynamo.graph_break()
        x.add_(1)


def make():
    return region, (torch.ones(3), torch.ones(3))
