"""One step of the target, timed: forward, and backward where something requires gradients."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch.profiler import record_function
from torch.utils import _pytree as pytree

from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.bench.clock import Clock
from breakscope.dynamic.child.calls import Plan, build
from breakscope.dynamic.child.load import Target, argument_tuples

LOSS = "breakscope: the loss"
Values = dict[str, torch.Tensor]


@dataclass
class Stepper:
    """`function` is called with `sequence`'s arguments in turn; gradients are dropped after each
    step.

    A target that calls `backward` itself, as a whole training step does, keeps its gradients for
    itself.
    """

    function: Callable
    sequence: list[tuple[tuple, dict]]
    device: torch.device
    backward: bool
    leaves: dict[str, torch.Tensor]  # parameters and inputs that require gradients
    made: int = 0
    went_backward: bool = False
    clock: Clock = field(default_factory=Clock)

    @classmethod
    def build(cls, module: ModuleType, plan: Plan) -> Stepper:
        """A fresh target with the same weights and inputs every time."""
        target = build(module, plan)
        return cls.of(
            target,
            argument_tuples(module, plan.calls) if plan.calls else [(target.args, target.kwargs)],
            plan,
        )

    @classmethod
    def of(cls, target: Target, sequence: list[tuple[tuple, dict]], plan: Plan) -> Stepper:
        """Steps of a target that is there already."""
        sequence = [tensors.move_values(call, plan.device) for call in sequence]
        owner = (
            target.function
            if isinstance(target.function, torch.nn.Module)
            else getattr(target.function, "__self__", None)
        )
        leaves = dict(owner.named_parameters()) if isinstance(owner, torch.nn.Module) else {}
        inputs = [
            v
            for v in pytree.tree_leaves(sequence)
            if isinstance(v, torch.Tensor) and v.is_leaf and v.requires_grad
        ]
        leaves |= {f"input {number}": value for number, value in enumerate(inputs)}
        return cls(target.function, sequence, plan.device, plan.backward, leaves)

    @property
    def turn(self) -> int:
        """The number of steps that go once through all calls."""
        return len(self.sequence)

    def timed(self) -> tuple[float, float]:
        """One step; its wall seconds, and those of its own: by device events on a GPU (with the
        host's waiting in between), else by the clock, which leaves out other processes where it
        can."""
        wall, own, _ = self._step()
        self._drop_gradients()
        return wall, own

    def untimed(self) -> None:
        """One step with nothing of ours around it that waits for the device."""
        args, kwargs = self.sequence[self.made % len(self.sequence)]
        self.made += 1
        self._work(args, kwargs)
        self._drop_gradients()

    def first(self, seed: int) -> tuple[float, dict[str, Values]]:
        """A step under a seed of its own: its wall seconds, and copies of its outputs and
        gradients."""
        torch.manual_seed(seed)
        seconds, _, output = self._step()
        outputs = {
            f"output {i}": v.detach().clone().cpu()
            for i, v in enumerate(tensors.tensors_of(output))
        }
        gradients = {
            name: leaf.grad.detach().clone().cpu()
            for name, leaf in self.leaves.items()
            if leaf.grad is not None
        }
        self._drop_gradients()
        return seconds, {"outputs": outputs, "gradients": gradients if self.went_backward else {}}

    def _step(self) -> tuple[float, float, Any]:
        args, kwargs = self.sequence[self.made % len(self.sequence)]
        self.made += 1
        if self.device.type != "cuda":
            return self.clock.time(lambda: self._work(args, kwargs))
        torch.compiler.cudagraph_mark_step_begin()
        torch.cuda.synchronize(self.device)
        with torch.cuda.device(self.device):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            output = self._work(args, kwargs)
            end.record()
        end.synchronize()
        seconds = start.elapsed_time(end) / 1000
        return seconds, seconds, output

    def _work(self, args: tuple, kwargs: dict) -> Any:
        output = self.function(*args, **kwargs)
        if self.backward:
            with record_function(LOSS) if torch.autograd._profiler_enabled() else nullcontext():
                loss = tensors.form_loss(output)
                if loss is not None:
                    loss.backward()
                    self.went_backward = True
        return output

    def _drop_gradients(self) -> None:
        if self.went_backward:
            for leaf in self.leaves.values():
                leaf.grad = None
