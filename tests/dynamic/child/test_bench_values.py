"""Outputs and gradients against eager's, and the step as one graph."""

import time
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from breakscope import limits
from breakscope.dynamic.child.bench import compare, one_graph, side_by_side
from breakscope.dynamic.child.bench.clock import Clock
from breakscope.dynamic.child.bench.metrics import Spans, made_at_runtime
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.load import TargetError

NAN, INF = float("nan"), float("inf")


def status(a, b):
    return compare.difference({"output 0": a}, {"output 0": b})["status"]


@pytest.mark.parametrize(
    ("dtype", "error", "found"),
    [
        (torch.float32, 1e-6, "equal"),
        (torch.float32, 1e-2, "different"),
        (torch.float64, 1e-6, "different"),
        (torch.bfloat16, 1e-2, "equal"),
        (torch.bfloat16, 0.5, "different"),
    ],
)
def test_the_tolerance_is_the_dtypes(dtype, error, found):
    a = torch.linspace(1, 2, 8, dtype=torch.float64)
    assert status(a.to(dtype), (a * (1 + error)).to(dtype)) == found


def test_what_is_no_number_must_stand_in_the_same_places():
    a = torch.tensor([1.0, NAN, INF])
    assert status(a, a.clone()) == "equal"
    assert status(a, torch.tensor([1.0, NAN, -INF])) == "different"
    assert status(a, torch.tensor([1.0, 2.0, INF])) == "different"
    assert (
        status(torch.ones(2), torch.ones(3))
        == status(torch.ones(2), torch.ones(2).double())
        == "different"
    )
    assert status(torch.tensor([1, 2]), torch.tensor([1, 3])) == "different"
    assert status(torch.empty(0), torch.empty(0)) == "equal"


def test_rounding_in_a_gradient_that_is_nothing_beside_the_others_is_no_difference():
    eager = {"weight": torch.ones(4), "bias": torch.tensor([1e-9])}
    assert (
        compare.difference(eager, {"weight": torch.ones(4), "bias": torch.tensor([-1e-9])})[
            "status"
        ]
        == "equal"
    )
    assert compare.difference(eager, {"weight": torch.ones(4)})["status"] == "different"


def test_random_numbers_are_not_compared(tmp_path):
    first, other = (
        {"outputs": {"output 0": torch.tensor([v])}, "gradients": {}} for v in (1.0, 2.0)
    )
    compare.save(tmp_path / "eager.pt", first, first, other)
    assert compare.with_reference(tmp_path / "eager.pt", other)["outputs"]["status"] == "random"
    assert compare.with_reference(tmp_path / "eager.pt", first)["outputs"]["status"] == "equal"
    assert (
        compare.with_reference(tmp_path / "absent.pt", first)["outputs"]["status"] == "not compared"
    )


def stepper(function, *args, leaves=()):
    return Stepper(function, [(args, {})], torch.device("cpu"), True, dict(leaves))


def masked(x):
    if x.sum().item() > 0:
        x = x * 2
    print(end="")
    kept = x[x > 1]
    rows = (x > 2).nonzero()
    return kept * kept.sum().item(), x[rows.flatten()] * int(x.max())


def test_the_step_as_one_graph_gives_the_same_values_and_gradients():
    x = torch.tensor([0.2, 0.7, 1.5], requires_grad=True)
    graph = one_graph.traced(stepper(masked, x), masked).function
    breaks = []
    torch._dynamo.reset()
    compiled = torch.compile(graph, backend=lambda module, inputs: breaks.append(module) or module)
    found = compiled(x)
    assert len(breaks) == 1
    for one, two in zip(found, masked(x), strict=False):
        torch.testing.assert_close(one, two)
    gradients = [
        torch.autograd.grad(sum(part.sum() for part in outputs), x)[0]
        for outputs in (compiled(x), masked(x))
    ]
    torch.testing.assert_close(*gradients)


def test_a_step_that_cannot_be_traced_is_noted():
    def unfit(x):
        return torch.masked_select(x, x > 0)

    with pytest.raises(TargetError, match="masked_select"):
        one_graph.traced(stepper(unfit, torch.ones(3, requires_grad=True)), unfit)
    two = Stepper(
        masked, [((torch.ones(2),), {}), ((torch.ones(3),), {})], torch.device("cpu"), True, {}
    )
    with pytest.raises(TargetError, match="calls differ"):
        one_graph.traced(two, masked)


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x):
        y = self.inner(x)
        return y * 2 if y.sum().item() > 1e9 else y


def test_the_graph_reads_weights_where_the_module_has_them_and_computes_what_was_read():
    module, x = Scaled(), torch.ones(1, 2)
    graph = one_graph.traced(stepper(module, x), module).function
    assert isinstance(graph, torch.nn.Module)
    module.inner.weight = torch.nn.Parameter(torch.zeros(2, 2))
    output, read = graph(x)
    torch.testing.assert_close(output, module.inner.bias.unsqueeze(0))
    torch.testing.assert_close(read, output.sum())
    assert output.requires_grad and not read.requires_grad


def test_a_size_that_depends_on_values_inside_of_an_op_and_marks_for_the_profiler_leave_one_graph():
    def step(x):
        with torch.profiler.record_function("a stretch"):
            rows, _ = torch.where(x > 0)
            return x[rows] * 2 + torch.masked_select(x, x > 1).shape[0]

    x, breaks = torch.tensor([[0.5, -1.0], [-2.0, 3.0]]), []
    graph = one_graph.traced(stepper(step, x), step).function
    torch._dynamo.reset()
    found = torch.compile(graph, backend=lambda module, inputs: breaks.append(module) or module)(x)
    assert len(breaks) == 1
    torch.testing.assert_close(found[0], step(x))


def test_forms_step_in_turns():
    order = []
    sides = [stepper(lambda x, name=name: order.append(name), torch.ones(1)) for name in "ab"]
    rounds = side_by_side.in_turns(sides, time.time() + 60)
    assert len(rounds) == limits.MOST_NEAR_ROUNDS and all(
        len(r) == 2 and min(r) > 0 for r in rounds
    )
    turns = [name for name, previous in zip(order[1:], order, strict=False) if name != previous]
    assert (
        turns.count("a") <= limits.MOST_NEAR_ROUNDS
    )  # a b, b a, a b: the same form twice in a row


def test_a_wait_is_told_and_another_process_is_not():
    clock = Clock()
    wall, own, found = clock.time(lambda: time.sleep(0.01) or "done")
    assert found == "done" and own == wall >= 0.01
    clock.kind = "cpu"
    clock_of_work = clock.time(lambda: sum(range(1000)))
    assert 0 < clock_of_work[1] <= clock_of_work[0] * 1.01 + 1e-5


def test_dynamos_whole_work_on_a_frame_is_seen():
    spans = Spans([(1.0, 9.0), (2.0, 5.0)])
    assert spans.around(3.0, 4.0) == (2.0, 5.0) and spans.around(1.0, 6.0) == (1.0, 9.0)
    assert spans.around(10.0, 11.0) == (10.0, 11.0)


@pytest.mark.parametrize(
    ("facts", "made"),
    [
        ({}, ""),
        ({"is_runtime": False, "runtime_triton_autotune_time_us": 9}, ""),
        ({"is_runtime": True}, "CUDA graphs"),  # where torch reports no more
        ({"is_runtime": True, "runtime_cudagraphify_time_us": 9}, "CUDA graphs"),
        ({"is_runtime": True, "runtime_triton_autotune_time_us": 9}, "autotuning"),
        (
            {
                "is_runtime": True,
                "runtime_cudagraphify_time_us": 9,
                "runtime_triton_autotune_time_us": 4,
            },
            "CUDA graphs",
        ),
    ],
)
def test_what_is_made_while_a_graph_runs(facts, made):
    assert made_at_runtime(SimpleNamespace(**facts)) == made
