"""The probes measure what the shipped tables say, under the installed torch."""

import pytest

torch = pytest.importorskip("torch")

from breakscope import knowledge
from breakscope.knowledge.build import capture, inputs, snippets

INSTALLED = torch.__version__.partition("+")[0]


def measured(topic, wanted):
    for snippet in snippets.read(topic):
        if snippet.whole or snippet.source.partition("\n")[0] not in wanted:
            continue
        names = tuple(dict.fromkeys(("x", *snippet.parameters)))
        named = snippets.identify(snippet, inputs.make(names))
        yield snippet, named, capture.run(snippet.function(), tuple(inputs.make(names).values()))


@pytest.mark.skipif(INSTALLED not in knowledge.shipped(), reason="no table for the installed torch")
@pytest.mark.parametrize(
    ("topic", "wanted"),
    [
        ("builtin/functions", {"print(t)", "int(t)", "int(p)", "len(x)", "pow(x, 2)"}),
        (
            "tensor_methods",
            {"t.item()", "x.nonzero()", "x.dim()", "x.retain_grad()", "x.repeat_interleave(2, 0)"},
        ),
        ("stdlib/clocks", {"time.time()", "time.sleep(0)", "random.random()", "uuid.uuid4()"}),
    ],
)
def test_probes_agree_with_the_tables(topic, wanted):
    facts = knowledge.load(INSTALLED)
    found = 0
    for snippet, named, verdict in measured(topic, wanted):
        fact = facts.call(named.name)
        assert fact is not None, named.name
        assert verdict.breaks in [v.breaks for v in fact.variants], snippet.source
        found += 1
    assert found >= 3


def test_every_probe_file_is_readable_and_names_its_inputs():
    for topic in snippets.topics():
        found = snippets.read(topic)
        assert found
        for snippet in found:
            inputs.make(snippet.parameters)


def test_a_break_is_seen_and_a_clean_function_is_clean():
    def clean(x):
        return x.sin() + 1

    def broken(x):
        y = x.sin()
        print("text")
        return y.cos()

    assert capture.run(clean, (torch.rand(3),)) == capture.Verdict((), 1, "", "")
    verdict = capture.run(broken, (torch.rand(3),))
    assert verdict.breaks == ("GB0059",) and verdict.graphs == 2 and not verdict.lost


def test_a_frame_given_up_is_lost():
    def broken(x):
        for _ in range(2):
            x = x + 1
            print("text")
        return x

    verdict = capture.run(broken, (torch.rand(3),))
    assert verdict.lost and "GB0059" in verdict.breaks


def test_asking_never_runs_what_breaks():
    ran = []

    def noisy(x):
        print(ran.append(1))
        return x + 1

    assert capture.trace(noisy, (torch.rand(3),)).breaks == ("GB0059",)
    assert ran == []
