"""The shipped tables: how they are read, and that they agree with each other."""

import subprocess
import sys

import pytest

from breakscope import knowledge
from breakscope.knowledge.measured import CallFact, Measured, Verdict
from breakscope.rulekit.values import Const, Py, Scalar, Sequence, Tensor

NEWEST = knowledge.shipped()[-1]
MEASURED = "2.13.0"  # whose facts the tests below name
TABLES = (
    "calls",
    "contexts",
    "modules",
    "attributes",
    "statements",
    "classes",
    "ops",
    "results",
    "shapes",
    "skips",
    "registry",
)


@pytest.fixture(scope="module")
def facts():
    return knowledge.load(MEASURED)


def test_every_shipped_version_has_every_table():
    for version in knowledge.shipped():
        for table in TABLES:
            assert getattr(knowledge.load(version), table) or (table, version) == (
                "registry",
                "2.6.0",
            ), (version, table)


def test_reading_them_imports_no_torch():
    code = "import sys; from breakscope.knowledge import load; load().call('print')"
    code += "; assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_nearest_older_version_is_taken():
    assert knowledge.load("99.1").version == NEWEST
    assert knowledge.load(NEWEST + "+cu128").version == NEWEST
    assert knowledge.load(".".join(NEWEST.split(".")[:2])).version == NEWEST
    assert knowledge.load("1.0").version == knowledge.shipped()[0]


def test_what_is_no_version_is_named():
    with pytest.raises(ValueError, match="'newest' is no torch version"):
        knowledge.load("newest")


def test_what_the_tensors_of_a_result_look_like(facts):
    (only,) = facts.shape("Tensor.relu").results
    assert (only.ndim, only.dtype) == ("shape", "same")
    topk = facts.shape("torch.topk", "arguments")
    assert topk.container == "tuple" and [part.dtype for part in topk.results] == ["same", "int"]
    assert str(facts.shape("Tensor.split")) == "[same same]"
    assert facts.shape("Tensor.dim") is facts.shape("torch.nowhere") is None


def test_they_hang_on_how_the_call_is_written(facts):
    assert str(facts.shape("Tensor.max")) == "0 same"
    assert str(facts.shape("Tensor.max", "arguments")) == "(reduced same, reduced int)"
    assert str(facts.shape("Tensor.max", "tensor")) == "broadcast promoted"
    assert str(facts.shape("Tensor.nonzero", "arguments")) == str(facts.shape("Tensor.nonzero"))
    assert facts.shape("Tensor.nonzero", "as_tuple").container == "list"
    assert facts.shape("Tensor.nonzero", "as_other") is None


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("time.time", "GB0007"),
        ("print", "GB0059"),
        ("Tensor.item", "GB0124"),
        ("Tensor.backward", "GB0123"),
        ("logging.Logger.info", "GB0291"),
        ("torch.nn.LSTM.forward", "GB0014"),
        ("torch.optim.SGD.zero_grad", "GB0008"),
        ("numpy.random.beta", "GB0294"),
        ("torch.nonzero", "GB0036"),
        ("torch.allclose", "GB0033"),
        ("copy.copy", "GB0208"),
        ("torch.cpu._is_avx2_supported", "GB0007"),  # skipped, and known without a probe
        ("torch.export.export", "GB0007"),
    ],
)
def test_calls_that_break(facts, name, first):
    assert first in facts.call(name).breaks


@pytest.mark.parametrize(
    "name",
    [
        "math.prod",
        "len",
        "isinstance",
        "torch.sin",
        "Tensor.register_hook",
        "torch.nn.Linear.forward",
        "itertools.chain",
        "os.getenv",
    ],
)
def test_calls_that_never_break(facts, name):
    assert facts.call(name).never


def test_the_arguments_decide(facts):
    fact = facts.call("int")
    assert fact.verdict((knowledge.kind(Tensor(dtype="float", ndim=0)),)) == Verdict(
        ("GB0124",), certain=True
    )
    assert fact.verdict((knowledge.kind(Py("float")),)) == Verdict((), certain=True)
    assert fact.verdict((knowledge.kind(Tensor()),)).breaks == ("GB0124",)
    unknown = fact.verdict(("?",))
    assert unknown.breaks == ("GB0124",) and not unknown.certain


def test_kinds_of_values():
    assert knowledge.kind(Tensor(dtype="bool", ndim=2)) == "nd bool tensor"
    assert knowledge.kind(Const(None)) == "none"
    assert knowledge.kind(Sequence("list", [Const(1), Const(2)])) == "list of int"
    assert knowledge.kind(Scalar()) == "int"


def test_a_lost_frame_is_told_from_a_break(facts):
    assert facts.context("threading.Lock").skips
    assert facts.call("torch.nn.LSTM.forward").skips
    assert not facts.call("print").skips


def test_names_for_rules(facts):
    clocks = facts.names("GB0007", prefix="time.")
    assert {"time.time", "time.sleep", "time.perf_counter"} <= clocks
    assert all(name.startswith("time.") for name in clocks)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Tensor.dim", "int"),
        ("torch.is_tensor", "bool"),
        ("torch.isnan", "bool tensor"),
        ("torch.argmax", "int tensor"),
        ("torch.topk", "(tensor, int tensor)"),
        ("torch.nn.Linear.forward", "tensor"),
        ("time.time", "float"),
        ("torch.get_default_dtype", "dtype"),
        ("torch.split", "[tensor]"),
        ("Tensor.backward", "none"),
    ],
)
def test_results(facts, name, word):
    assert facts.returns(name) == word


def test_trace_wins_over_skip(facts):
    assert facts.module_skipped("torch.jit._script") is True
    assert facts.module_skipped("torch.nn.modules.linear") is False
    assert facts.module_skipped("my_project.model") is None


def test_every_id_stands_in_the_registry(facts):
    for table in ("calls", "contexts", "modules", "attributes"):
        for name in getattr(facts, table):
            fact = {"contexts": facts.context, "attributes": facts.attribute}.get(
                table, facts.call
            )(name)
            assert [i for i in fact.breaks if i not in facts.registry] == [], name


def test_operators_with_a_condition_have_mixed_verdicts(facts):
    for name, entry in facts.ops.items():
        if "when" in entry:
            fact = facts.call(name)
            assert not fact.always and not fact.never, name


def test_a_keyword_that_breaks_counts_only_where_it_may_be_given():
    fact = knowledge.load("2.13.0").call("torch.rand")
    assert fact.verdict(("int", "?"), {"device": "?"}).breaks == ()
    assert fact.verdict(("int",), {"generator": "?"}).breaks == ("GB0055",)
    only_so = CallFact("f", (Measured("f(1, k=2)", ("int",), (("k", "int"),), ("GB0001",)),))
    assert only_so.verdict(("int",)).breaks == ("GB0001",)  # nothing shows that it is the keyword


def test_what_a_getter_does_not_give_now_it_may_give_elsewhere(facts):
    assert facts.call("torch._guards.detect_fake_mode").breaks == ("GB0208",)
    assert not facts.returns("torch._guards.detect_fake_mode")
