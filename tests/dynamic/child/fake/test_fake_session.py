"""A fake run leaves the process as it was; the answers of tensors inside it."""

from __future__ import annotations

import os
import random

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from breakscope.dynamic.child.fake.session import Session, faking


class Nothing:
    """A progress log that nobody reads."""

    def note(self, event, **facts):
        pass


def job(device=None, world_size=1):
    return {"device": device, "fake": {"world_size": world_size, "rank": 0}}


def state():
    import torch.distributed as dist

    cuda = torch.cuda
    return (
        torch.get_rng_state().tolist(),
        random.getstate(),
        torch.get_default_device(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        list(_get_current_dispatch_mode_stack()),
        {name: vars(FakeTensor).get(name) for name in dir(FakeTensor)},
        torch.nn.Module._apply,
        (cuda.is_available(), cuda.device_count(), cuda.is_initialized(), cuda.get_rng_state),
        dict(os.environ),
        (dist.is_initialized(), dist.init_process_group, dist.Reducer),
    )


@pytest.mark.parametrize("given", [{}, {"device": "cuda"}, {"world_size": 8}])
def test_the_process_is_as_before(given):
    before = state()
    with faking(job(**given), Nothing()):
        torch.manual_seed(3)
        torch.rand(3)
        random.random()
        torch.set_default_device("meta")
        torch.nn.Linear(2, 2).half()
    assert state() == before


def test_it_is_as_before_when_the_program_raises():
    before = state()
    with pytest.raises(ValueError), faking(job(), Nothing()):
        raise ValueError
    assert state() == before


@pytest.fixture
def fake():
    with faking(job(), Nothing()) as session:
        yield session


def test_small_tensors_carry_their_numbers(fake: Session):
    x = torch.arange(6).view(2, 3)
    assert isinstance(x, FakeTensor)
    assert (x[1].tolist(), int(x.max())) == ([3, 4, 5], 5)
    assert x.T.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    x[0, 0] = 9
    assert x.max().item() == 9  # written in place, read through another view
    assert torch.zeros(2, x[0, 1], 3).shape == (2, 1, 3)
    assert [len(part) for part in torch.ones(6).split(torch.tensor([4, 2]).tolist())] == [4, 2]


def test_values_are_drawn_once_and_alike_in_every_call(fake: Session):
    weight = torch.nn.Linear(1024, 1024)

    def call():
        fake.begin_call()
        y = weight(torch.ones(1, 1024))
        assert (y.mean() > 0) == (y.mean() > 0)
        return float(y.max()), y[y > 0].shape

    assert call() == call()


def test_a_parameter_made_anew_from_its_attributes_is_one(fake: Session):
    made = torch.nn.Linear(2, 2).weight
    other = type(made)(made.to("meta"), requires_grad=True, **vars(made))
    assert isinstance(other, torch.nn.Parameter) and other.requires_grad
