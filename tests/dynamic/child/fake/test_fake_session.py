"""A fake run leaves the process as it was; the answers of tensors inside it."""

from __future__ import annotations

import os
import random

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.utils import rnn
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


MADE_BEFORE = torch.arange(4)


def test_real_tensors_and_arrays_keep_their_numbers(fake: Session):
    for x in (MADE_BEFORE, torch.from_numpy(numpy.arange(4))):
        assert (x[1:].tolist(), torch.zeros(x[2], 3).shape) == ([1, 2, 3], (2, 3))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_packed_sequences_go_through_recurrent_layers_and_back(fake: Session, kind):
    layer, x = getattr(torch.nn, kind)(8, 4, bidirectional=True), torch.randn(5, 2, 8)
    packed = rnn.pack_padded_sequence(
        x.requires_grad_(), torch.tensor([2, 4]), enforce_sorted=False
    )
    assert packed.batch_sizes.tolist() == [2, 2, 1, 1]
    padded, lengths = rnn.pad_packed_sequence(layer(packed)[0], total_length=6)
    assert (padded.shape, lengths.tolist()) == ((6, 2, 8), [2, 4])
    padded.sum().backward()
    assert x.grad.shape == x.shape


def test_lengths_that_are_assumed_are_possible_ones(fake: Session):
    lengths = (torch.nn.Linear(1024, 1024)(torch.ones(2, 1024)).sum(1) > 1e9).long()
    packed = rnn.pack_padded_sequence(torch.randn(5, 2, 8), lengths)
    assert packed.batch_sizes.tolist() == [2] * 5


class Labelled(torch.Tensor):
    pass


def test_small_subclasses_without_a_dispatch_of_their_own(fake: Session):
    x = torch.arange(4.0).requires_grad_().as_subclass(Labelled)
    y = torch.nn.functional.linear(x, torch.ones(2, 4)) * 2
    assert type(y) is Labelled
    y += 1
    assert (type(y), y.tolist()) == (Labelled, [13.0, 13.0])
    y.sum().backward()  # to where the class was given
    x = x.detach().unsqueeze_(0).squeeze_(0).add_(1)
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_parameter_made_anew_from_its_attributes_is_one(fake: Session):
    made = torch.nn.Linear(2, 2).weight
    other = type(made)(made.to("meta"), requires_grad=True, **vars(made))
    assert isinstance(other, torch.nn.Parameter) and other.requires_grad
