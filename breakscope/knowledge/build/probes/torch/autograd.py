"""Autograd, torch.func and checkpointing inside the region."""
# ruff: noqa

import torch
import torch.autograd
import torch.autograd.forward_ad
import torch.autograd.functional
import torch.func
import torch.nn as nn
import torch.utils.checkpoint

linear = nn.Linear(3, 3)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        return 2 * a * grad


class SquareWithSetup(torch.autograd.Function):
    @staticmethod
    def forward(a):
        return a * a

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        return 2 * a * grad


class Itemizing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.scale = a.sum().item()
        return a * ctx.scale

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale


class Marked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_non_differentiable(a)
        return a.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        a.add_(1)
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx, grad):
        return grad


def square(a):
    return (a * a).sum()


def cases_autograd(x, w, leaf, param):
    torch.autograd.grad(w.sum(), w)
    torch.autograd.grad((w * w).sum(), [w], create_graph=True)
    torch.autograd.backward((w * w).sum())
    torch.autograd.functional.jacobian(square, x)
    torch.autograd.functional.hessian(square, x)
    torch.autograd.functional.vjp(square, x)
    torch.autograd.functional.jvp(square, x, x)
    torch.autograd.forward_ad.dual_level()
    torch.autograd.gradcheck(square, (w.double().detach().requires_grad_(),))
    torch.autograd.Variable(x)
    torch.autograd.graph.save_on_cpu()
    torch.autograd.graph.saved_tensors_hooks(abs, abs)
    torch.autograd.graph.increment_version(x)
    Square.apply(x)  # as: torch.autograd.Function.apply
    Square.apply(w)  # as: torch.autograd.Function.apply
    SquareWithSetup.apply(w)  # as: torch.autograd.Function.apply with setup_context
    Itemizing.apply(w)  # as: torch.autograd.Function.apply with item in forward
    Marked.apply(w)  # as: torch.autograd.Function.apply with mark_non_differentiable
    Dirty.apply(x)  # as: torch.autograd.Function.apply with mark_dirty
    torch.func.grad(square)(x)  # as: torch.func.grad called
    torch.func.vmap(square)(x)  # as: torch.func.vmap called
    torch.func.jacrev(square)(x)  # as: torch.func.jacrev called
    torch.func.jacfwd(square)(x)  # as: torch.func.jacfwd called
    torch.func.hessian(square)(x)  # as: torch.func.hessian called
    torch.func.vjp(square, x)
    torch.func.jvp(square, (x,), (x,))
    torch.func.grad_and_value(square)(x)  # as: torch.func.grad_and_value called
    torch.func.functional_call(linear, dict(linear.named_parameters()), (x,))
    torch.func.linearize(square, x)
    torch.func.stack_module_state([linear, linear])
    torch.func.functionalize(square)(x)  # as: torch.func.functionalize called
    torch.utils.checkpoint.checkpoint(square, x, use_reentrant=False)
    torch.utils.checkpoint.checkpoint(square, w, use_reentrant=False)
    torch.utils.checkpoint.checkpoint(square, w, use_reentrant=True)
    torch.utils.checkpoint.checkpoint(linear, w, use_reentrant=False)
