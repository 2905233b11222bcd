"""Source analysis and a run see what each sample does wrong, and nothing in its clean twin."""

import os

import pytest
from expected import EXPECTED, SAMPLES, TWINS, line_of
from on_demand import OnDemand


def predicted(file):
    """The findings that a user is shown, of this file alone."""
    from breakscope.static import StaticOptions, analyze

    path = str(SAMPLES / file)
    result = analyze([path], StaticOptions(entries=(f"{path}::make",)))
    assert not result.errors
    return [f for f in result.findings if f.confidence != "possible"]


@pytest.mark.parametrize("file", EXPECTED)
def test_source_analysis_finds_the_breaks(file):
    sample = EXPECTED[file]
    found = {f.line: f.code for f in predicted(file) if f.kind == "break"}
    wanted = {line_of(file, b.text): b.code for b in sample.breaks if not b.only_run}
    allowed = {line_of(file, text) for text in sample.behind} | {line_of(file, b.text) for b in sample.breaks}
    assert {line: found.get(line) for line in wanted} == wanted
    assert set(found) <= allowed


@pytest.mark.parametrize("file", EXPECTED)
def test_source_analysis_finds_the_recompiles(file):
    found = {(f.code, f.line) for f in predicted(file) if f.kind == "recompile"}
    assert found == {(code, line_of(file, text)) for code, text in EXPECTED[file].hazards}


@pytest.mark.parametrize("file", TWINS)
def test_source_analysis_is_quiet_about_the_twin(file):
    assert [(f.line, f.code, f.message) for f in predicted(file)] == []


def most_nightly(files):
    """The first two as they are; the tests of the pages run others."""
    return [*list(files)[:2], *(pytest.param(f, marks=pytest.mark.nightly) for f in list(files)[2:])]


@pytest.fixture(scope="module")
def runs():
    """The result of running each sample and twin, by file name."""
    pytest.importorskip("torch")
    from breakscope.dynamic import RunOptions, run_target

    def run(file):
        options = RunOptions(file=str(SAMPLES / file), name="make", vary=False, device="cpu", explain=False)
        result = run_target(options)
        assert not result.errors
        assert result.run.status == "ok"
        assert result.run.capture_checked
        return result

    return OnDemand((*EXPECTED, *TWINS), run)


@pytest.mark.parametrize("file", most_nightly(EXPECTED))
def test_a_run_sees_the_breaks(runs, file):
    result = runs[file]
    found = {}
    for finding in result.findings:
        if finding.kind == "break":
            assert os.path.basename(finding.path) == file
            found.setdefault(finding.line, set()).update(finding.dynamo)
    wanted = {line_of(file, b.text): b.dynamo for b in EXPECTED[file].breaks}
    assert set(found) == set(wanted)
    assert all(wanted[line] in found[line] for line in wanted)
    assert {r.family for r in result.run.recompiles} == EXPECTED[file].recompiles


@pytest.mark.parametrize("file", most_nightly(TWINS))
def test_a_run_of_the_twin_is_one_graph(runs, file):
    result = runs[file]
    assert result.findings == ()
    assert result.run.recompiles == ()
    assert result.run.lost_frames == ()
    assert len(result.run.graphs) == 1
