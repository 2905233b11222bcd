"""The fake tensor mode of a run: torch's, with answers where torch's has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils.weak import WeakTensorKeyDictionary

from breakscope import limits
from breakscope.dynamic.child.fake.answers import Answers
from breakscope.dynamic.child.fake.packed import PACK, packed_places
from breakscope.dynamic.child.fake.values import Shared, Values, tensors_in, written

SCALAR = torch.ops.aten._local_scalar_dense.default
PIN = torch.ops.aten._pin_memory.default
LIFTS = (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default)
NO_KERNEL = "no fake impl registered for"
# their results are those of other ranks
COMMUNICATION = ("c10d", "_c10d_functional", "_c10d_functional_autograd", "symm_mem", "_dtensor")


class RunMode(FakeTensorMode):
    """Fake tensors that carry values where these are small, and stand-ins for what is asked of the
    others. `unfakeable(op, how)` hears of every op that has no fake kernel."""

    def __init__(self, values: Values, answers: Answers, unfakeable: Callable) -> None:
        super().__init__(
            shape_env=ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True),
            static_shapes=True,
            allow_non_fake_inputs=True,
        )
        self.values, self.answers, self._unfakeable = values, answers, unfakeable
        self._taken = WeakTensorKeyDictionary()
        self._depth = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            return super().__torch_dispatch__(func, types, args, kwargs)
        self._depth += 1
        try:
            return self._answer(func, types, args, kwargs)
        finally:
            self._depth -= 1

    def _answer(self, func, types, args, kwargs):
        if func in LIFTS and type(args[0]) is torch.Tensor:
            return self._lifted(func, types, args, kwargs)
        if any(not isinstance(t, FakeTensor) for t in tensors_in((args, kwargs))):
            if not self._take_in((args, kwargs)):
                return super().__torch_dispatch__(func, types, args, kwargs)
            known = self._fakes(args), self._fakes(kwargs)
            real = list(written(func, args, kwargs))
            if not all(_is_plain(t) for t in tensors_in((args, kwargs))):
                types, (args, kwargs) = (), known  # torch's mode leaves subclasses to them
        else:
            known, real = (args, kwargs), []
        if func is SCALAR:
            return self._scalar(args[0])
        if func is PIN:  # where the memory lies is all that it changes
            func, args, kwargs = torch.ops.aten.clone.default, args[:1], {}
        if func is PACK:
            padded, lengths, batch_first = self._fakes(args)
            rows, sizes = packed_places(self.values, self.answers, padded, lengths, batch_first)
            with self:
                return padded.flatten(0, 1).index_select(0, rows), sizes
        if torch.Tag.data_dependent_output in func.tags:
            return self._data_dependent(func, types, args, kwargs)
        if torch.Tag.dynamic_output_shape in func.tags and not _is_indexing(func):
            return self._dynamic_shape(func, types, args, kwargs)
        viewed = self.values.of(known[0][0]) if torch.Tag.inplace_view in func.tags else None
        outputs = self._faked(func, types, args, kwargs)
        if self._depth > 1 or outputs is NotImplemented:
            return outputs
        if any(t._has_symbolic_sizes_strides for t in tensors_in(outputs)):
            return self._dynamic_shape(func, types, args, kwargs)  # torch has no tag on it
        if viewed is not None:  # `squeeze_` and others: its numbers take the new shape too
            func(viewed.real, *self.values.real(known[0][1:]), **self.values.real(known[1]))
        elif func.namespace in COMMUNICATION:
            # most of their schemas do not say what they write to; they give it back
            self.values.forget([*tensors_in(outputs)] or known)
        else:
            if _is_discrete(func, args, kwargs, outputs):
                self._draw_inputs(args, kwargs)
            self.values.run(func, *known, outputs)
            self._write(real)
        return outputs

    def _faked(self, func, types, args, kwargs):
        """What the fake kernel gives, or the op itself on small values where there is none."""
        try:
            return super().__torch_dispatch__(func, types, args, kwargs)
        except UnsupportedOperatorException:
            return self._without_fake_kernel(func, args, kwargs)
        except RuntimeError as problem:
            if NO_KERNEL in str(problem):  # of an op made by `torch.library.custom_op`
                return self._without_fake_kernel(func, args, kwargs)
            if type(problem) is not RuntimeError or func._schema.is_mutable:
                raise
            return self._refused(func, args, kwargs, problem)

    def _refused(self, func, args, kwargs, problem: RuntimeError) -> Any:
        """What an op gives for values that its fake kernel refuses: some of them, such as that of
        `_grouped_mm`, are written after the GPU's and stricter than what runs on the CPU."""
        args, kwargs = self._fakes(args), self._fakes(kwargs)
        fakes = list(tensors_in((args, kwargs)))
        if any(t.device.type != "cpu" or t.numel() > limits.MOST_DRAWN_ELEMENTS for t in fakes):
            raise problem
        assumed = self._draw_inputs(args, kwargs, limits.MOST_DRAWN_ELEMENTS)
        try:
            real = func(*self.values.real(args), **self.values.real(kwargs))
        except Exception:
            raise problem from None
        return torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda leaf: self.from_value(leaf, leaf.device, assumed), real
        )

    def _write(self, real: list[torch.Tensor]) -> None:
        """Real tensors that an op wrote to get their numbers, which may be read where no op is."""
        for tensor in real:
            value = None if isinstance(tensor, FakeTensor) else self.values.of(self._fake(tensor))
            if value is not None:
                with torch._C.DisableTorchFunctionSubclass():
                    tensor.detach().copy_(value.real)

    def _take_in(self, arguments: Any) -> bool:
        """Real tensors, as those of numpy or made before the run, become fake ones with their values;
        False when there are others, whose own rules decide."""
        for tensor in tensors_in(arguments):
            if isinstance(tensor, FakeTensor):
                continue
            if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
                return False
            fake = self._fake(tensor)
            if self.values.of(fake) is None and tensor.numel() <= limits.MOST_KNOWN_ELEMENTS:
                if tensor.device.type == "cpu":
                    with torch._C.DisableTorchFunctionSubclass():
                        self.values.give(fake, tensor.detach().clone())
        return True

    def _lifted(self, func, types, args, kwargs):
        """What `torch.tensor` makes: a constant."""
        real = args[0]
        keep = real.clone() if real.numel() <= limits.MOST_KNOWN_ELEMENTS else None
        fake = super().__torch_dispatch__(func, types, args, kwargs)
        if keep is not None and keep.device.type == "cpu":
            self.values.give(fake, keep)
        return fake

    def _scalar(self, tensor: torch.Tensor) -> Any:
        tensor = self._fake(tensor)
        value = self.values.drawn(tensor, 1)
        if value is None:  # of a kind that has no plain values
            return self.answers.answer("number", 1, True)
        number = value.real.item()
        kind = "bool" if isinstance(number, bool) else "number"
        return self.answers.answer(kind, number, value.shared.assumed)

    def _data_dependent(self, func, types, args, kwargs):
        """An op that gives a Python value, such as `torch.equal`."""
        assumed = self._draw_inputs(args, kwargs, limits.MOST_DRAWN_ELEMENTS)
        try:
            value = func(*self.values.real(self._fakes(args)), **self.values.real(kwargs))
        except Exception:
            try:
                return super().__torch_dispatch__(func, types, args, kwargs)
            except DataDependentOutputException:
                value, assumed = False, True
        kind = "bool" if isinstance(value, bool) else "number"
        return self.answers.answer(kind, value, assumed)

    def _dynamic_shape(self, func, types, args, kwargs):
        """An op whose output has as many elements as the values say."""
        args, kwargs = self._fakes(args), self._fakes(kwargs)
        assumed = self._draw_inputs(args, kwargs, limits.MOST_DRAWN_ELEMENTS)
        try:
            real = func(*self.values.real(args), **self.values.real(kwargs))
        except Exception:
            return self._assumed_sizes(func, types, args, kwargs)
        sizes = [list(t.shape) for t in tensors_in(real)]
        wanted = self.answers.answer("size", sizes[0][0] if sizes and sizes[0] else 1, assumed)
        device = next((t.device for t in tensors_in((args, kwargs))), torch.device("cpu"))

        def fake(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            if leaf.dim() and wanted == 0:
                leaf = leaf[:0]
            return self.from_value(leaf, device, assumed)

        return torch.utils._pytree.tree_map(fake, real)

    def from_value(self, real: torch.Tensor, device: torch.device, assumed: bool) -> torch.Tensor:
        """A fake tensor with these numbers."""
        with self:
            fake = torch.empty_strided(real.shape, real.stride(), dtype=real.dtype, device=device)
        if real.numel() <= limits.MOST_DRAWN_ELEMENTS:
            self.values.give(fake, real, Shared(assumed=assumed))
        return fake

    def _assumed_sizes(self, func, types, args, kwargs):
        """Its fake kernel's outputs, with a number for each size that only the values decide."""
        try:
            outputs = super().__torch_dispatch__(func, types, args, kwargs)
        except DynamicOutputShapeException:
            first = next(tensors_in(args))
            size = self.answers.answer("size", max(1, first.numel() // 2), True)
            with self:
                return torch.empty(size, dtype=first.dtype, device=first.device)
        return torch.utils._pytree.tree_map(self._with_plain_sizes, outputs)

    def _with_plain_sizes(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.SymInt):
            return self.answers.answer("size", self._assumed(leaf), True)
        if not isinstance(leaf, torch.Tensor) or not leaf._has_symbolic_sizes_strides:
            return leaf
        symbolic = next(size for size in leaf.shape if isinstance(size, torch.SymInt))
        wanted = self.answers.answer("size", self._assumed(symbolic), True)
        shape = [wanted if isinstance(size, torch.SymInt) else size for size in leaf.shape]
        with self:
            return torch.empty(shape, dtype=leaf.dtype, device=leaf.device)

    def _assumed(self, size: torch.SymInt) -> int:
        """Half of what it may be."""
        bounds = self.shape_env.bound_sympy(size.node.expr)
        try:
            return max(1, int(bounds.upper) // 2)
        except (TypeError, ValueError, OverflowError):  # without a bound
            return limits.ASSUMED_SIZE

    def _without_fake_kernel(self, func, args, kwargs):
        """Run an op that has no fake kernel on values, known or drawn, to see what it gives."""
        args, kwargs = self._fakes(args), self._fakes(kwargs)
        self._unfakeable(str(func), "")
        assumed = self._draw_inputs(args, kwargs, limits.MOST_DRAWN_ELEMENTS)
        fakes = list(tensors_in((args, kwargs)))
        device = fakes[0].device if fakes else torch.device("cpu")
        reals = {id(self.values.of(t).real): t for t in fakes if self.values.of(t)}
        try:
            real = func(*self.values.real(args), **self.values.real(kwargs))
        except Exception as problem:
            raise UnsupportedOperatorException(func) from problem

        def fake(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            return (
                reals.get(id(leaf)) if id(leaf) in reals else self.from_value(leaf, device, assumed)
            )

        return torch.utils._pytree.tree_map(fake, real)

    def _draw_inputs(self, args: Any, kwargs: Any, most: int = 0) -> bool:
        """Give every tensor argument a value where it is small enough; whether one is assumed."""
        fakes = [self._fake(t) for t in tensors_in((args, kwargs))]
        drawn = [self.values.drawn(t, most or limits.MOST_KNOWN_ELEMENTS) for t in fakes]
        return any(value is None or value.shared.assumed for value in drawn)

    def _fake(self, tensor: torch.Tensor) -> torch.Tensor:
        if isinstance(tensor, FakeTensor):
            return tensor
        if tensor not in self._taken:  # torch itself lets go of it, and of its value
            self._taken[tensor] = self.fake_tensor_converter.from_real_tensor(self, tensor)
        return self._taken[tensor]

    def _fakes(self, arguments: Any) -> Any:
        return torch.utils._pytree.tree_map_only(torch.Tensor, self._fake, arguments)


def _is_plain(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, FakeTensor) or type(tensor) in (torch.Tensor, torch.nn.Parameter)


def _is_indexing(func) -> bool:
    """These ask `nonzero` of a mask, and that is answered."""
    return func.name().startswith(("aten::index", "aten::_unsafe_index"))


def _is_discrete(func, args, kwargs, outputs) -> bool:
    """Comparisons, `argmax`, `topk`: from real numbers to those that decide something."""
    made = list(tensors_in(outputs))
    return (
        bool(made)
        and any(not (t.is_floating_point() or t.is_complex()) for t in made)
        and any(t.is_floating_point() for t in tensors_in((args, kwargs)))
        and not func._schema.is_mutable
        and not func.name().startswith(("aten::empty", "aten::new_", "aten::zeros_like"))
    )
