"""Outputs and gradients against eager's, and the step as one graph."""

import pytest

torch = pytest.importorskip("torch")

from breakscope.dynamic.child.bench import compare, one_graph
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.load import TargetError

NAN, INF = float("nan"), float("inf")


def status(a, b):
    return compare.difference({"output 0": a}, {"output 0": b})["status"]


@pytest.mark.parametrize(
    ("dtype", "error", "said"),
    [(torch.float32, 1e-6, "equal"), (torch.float32, 1e-2, "different"), (torch.float64, 1e-6, "different"),
     (torch.bfloat16, 1e-2, "equal"), (torch.bfloat16, 0.5, "different")],
)
def test_the_tolerance_is_the_dtypes(dtype, error, said):
    a = torch.linspace(1, 2, 8, dtype=torch.float64)
    assert status(a.to(dtype), (a * (1 + error)).to(dtype)) == said


def test_what_is_no_number_must_stand_in_the_same_places():
    a = torch.tensor([1.0, NAN, INF])
    assert status(a, a.clone()) == "equal"
    assert status(a, torch.tensor([1.0, NAN, -INF])) == "different"
    assert status(a, torch.tensor([1.0, 2.0, INF])) == "different"
    assert status(torch.ones(2), torch.ones(3)) == status(torch.ones(2), torch.ones(2).double()) == "different"
    assert status(torch.tensor([1, 2]), torch.tensor([1, 3])) == "different"
    assert status(torch.empty(0), torch.empty(0)) == "equal"


def test_rounding_in_a_gradient_that_is_nothing_beside_the_others_is_no_difference():
    eager = {"weight": torch.ones(4), "bias": torch.tensor([1e-9])}
    assert compare.difference(eager, {"weight": torch.ones(4), "bias": torch.tensor([-1e-9])})["status"] == "equal"
    assert compare.difference(eager, {"weight": torch.ones(4)})["status"] == "different"


def test_random_numbers_are_not_compared(tmp_path):
    first, other = ({"outputs": {"output 0": torch.tensor([v])}, "gradients": {}} for v in (1.0, 2.0))
    compare.save(tmp_path / "eager.pt", first, first, other)
    assert compare.with_reference(tmp_path / "eager.pt", other)["outputs"]["status"] == "random"
    assert compare.with_reference(tmp_path / "eager.pt", first)["outputs"]["status"] == "equal"
    assert compare.with_reference(tmp_path / "absent.pt", first)["outputs"]["status"] == "not compared"


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
    graph = one_graph.traced(stepper(masked, x)).function
    breaks = []
    torch._dynamo.reset()
    compiled = torch.compile(graph, backend=lambda module, inputs: breaks.append(module) or module)
    found = compiled(x)
    assert len(breaks) == 1
    for one, two in zip(found, masked(x), strict=True):
        torch.testing.assert_close(one, two)
    gradients = [torch.autograd.grad(sum(part.sum() for part in outputs), x)[0] for outputs in (compiled(x), masked(x))]
    torch.testing.assert_close(*gradients)


def test_a_step_that_cannot_be_traced_says_so():
    def unfit(x):
        return torch.masked_select(x, x > 0)

    with pytest.raises(TargetError, match="masked_select"):
        one_graph.traced(stepper(unfit, torch.ones(3, requires_grad=True)))
    two = Stepper(masked, [((torch.ones(2),), {}), ((torch.ones(3),), {})], torch.device("cpu"), True, {})
    with pytest.raises(TargetError, match="calls differ"):
        one_graph.traced(two)
