"""Optimizers, schedulers, scalers and backward passes inside a compiled function."""
# ruff: noqa

import torch
import torch.amp
import torch.nn as nn
import torch.optim

model = nn.Linear(3, 3)
for parameter in model.parameters():
    parameter.grad = torch.zeros_like(parameter)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
momentum = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
adam = torch.optim.Adam(model.parameters())
adamw = torch.optim.AdamW(model.parameters())
fused = torch.optim.Adam(model.parameters(), fused=True)
rmsprop, adagrad = torch.optim.RMSprop(model.parameters()), torch.optim.Adagrad(model.parameters())
adadelta, adamax, nadam = (
    torch.optim.Adadelta(model.parameters()),
    torch.optim.Adamax(model.parameters()),
    torch.optim.NAdam(model.parameters()),
)
radam, asgd, rprop = (
    torch.optim.RAdam(model.parameters()),
    torch.optim.ASGD(model.parameters()),
    torch.optim.Rprop(model.parameters()),
)
lbfgs = torch.optim.LBFGS(model.parameters())
muon = torch.optim.Muon([model.weight])
other = torch.optim.SGD(nn.Linear(3, 3).parameters(), lr=0.1)
third = torch.optim.SGD(nn.Linear(3, 3).parameters(), lr=0.1)
step_lr = torch.optim.lr_scheduler.StepLR(sgd, 1)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(sgd, 10)
lambda_lr = torch.optim.lr_scheduler.LambdaLR(other, lambda e: 1.0)
one_cycle = torch.optim.lr_scheduler.OneCycleLR(third, 0.1, total_steps=1000)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(sgd)
scaler = torch.amp.GradScaler("cpu")
ema = torch.optim.swa_utils.AveragedModel(model)


def closure():
    return model(torch.zeros(1, 3)).sum()


def cases_optimizers(x):
    sgd.step()
    momentum.step()
    adam.step()
    adamw.step()
    fused.step()
    rmsprop.step()
    adagrad.step()
    adadelta.step()
    adamax.step()
    nadam.step()
    radam.step()
    asgd.step()
    rprop.step()
    lbfgs.step(closure)
    muon.step()
    sgd.zero_grad()
    sgd.zero_grad(set_to_none=False)
    adam.zero_grad()
    sgd.state_dict()
    sgd.param_groups
    sgd.param_groups[0]["lr"]  # as: torch.optim.Optimizer lr read
    sgd.param_groups[0]["lr"] = 0.2  # as: torch.optim.Optimizer lr store
    sgd.add_param_group({"params": [nn.Parameter(torch.zeros(2))]})
    torch.optim.SGD(model.parameters(), lr=0.1)
    torch.optim.Adam(model.parameters())
    step_lr.step()
    step_lr.get_last_lr()
    cosine.step()
    lambda_lr.step()
    one_cycle.step()
    plateau.step(1.0)
    scaler.scale(x.sum())
    scaler.step(sgd)  # raises
    scaler.update()  # raises
    scaler.unscale_(sgd)  # raises
    scaler.get_scale()
    ema.update_parameters(model)


def cases_backward(x, w):
    model(x).sum().backward()
    (w * 2).sum().backward()
    torch.autograd.grad(model(x).sum(), model.parameters())
    torch.autograd.backward([model(x).sum()])
    model.zero_grad()
    model.zero_grad(set_to_none=False)
    model.weight.grad  # as: parameter grad read
    model.weight.grad = None  # as: parameter grad store
    [p.grad for p in model.parameters()]  # as: gradients of parameters
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def program_train_step(x):
    """forward, loss, backward and optimizer step in one compiled function"""
    loss = model(x).square().mean()
    loss.backward()
    sgd.step()
    sgd.zero_grad()
    return loss.detach()


def program_ema_update(x):
    """exponential moving average of parameters under no_grad"""
    with torch.no_grad():
        for a, b in zip(ema.module.parameters(), model.parameters()):
            a.mul_(0.9).add_(b, alpha=0.1)
    return x + 1
