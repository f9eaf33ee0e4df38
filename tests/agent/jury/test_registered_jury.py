"""Grades enter a cell only from the jury that its scorecard registers: real runs, judged by a scripted server."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark, load_benchmark
from agent.catalog.judges import read_jury
from agent.disclosure.collect import collect
from agent.disclosure.findings import Finding
from agent.disclosure.scorecard import draft_scorecard
from agent.errors import DisclosureError
from agent.jury.registered_jury import describe_other_jury, register_jury, rubric_digest
from agent.metrics import Judge, MetricUse, Scale
from agent.site.directory import Site, create_site
from agent.vocabulary import Reason
from protocol.scorecard import Scorecard
from tests.agent.fault_server import FaultServer
from tests.agent.judging.juries import NOTE, deploy, judge_server, says, verdict, write_jury
from tests.agent.runs.suites import run, write_benchmark

ENTRY = "open:model=m"
NAMED = "unit_column: patient\nmax_tokens: 64\ngold: {column: gold}\nmetrics:\n  - name: jury_score\n    criteria:\n"
CRITERIA = "      accuracy: Is it right?\n      clarity: Is it plain?\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


@pytest.fixture
def model() -> Iterator[FaultServer]:
    with FaultServer(models=["m"], answer="An answer") as server:
        yield server


@pytest.fixture(autouse=True)
def judges(site: Site) -> Iterator[FaultServer]:
    """One server that plays the judges a, b and c."""
    with judge_server(says(verdict(4, 5))) as server:
        deploy(site, dict.fromkeys("abc", server.url))
        yield server


def define(site: Site, criteria: str = CRITERIA) -> Benchmark:
    rows = [{"note": f"{NOTE} {i}.", "gold": f"right {i}", "patient": f"p{i}"} for i in range(6)]
    return load_benchmark(write_benchmark(site, "open", rows, NAMED + criteria))


def register(benchmark: Benchmark, jury: Path) -> Scorecard:
    return draft_scorecard("judged", 1, [benchmark], jury=read_jury(jury))


def collect_findings(site: Site, scorecard: Scorecard) -> Sequence[Finding]:
    limits = {entry.definition: 64 for entry in scorecard.benchmarks}
    with site.store() as store:
        return collect(store, "s", scorecard, token_limits=limits)["m"]


def test_grades_of_the_registered_jury_are_taken(site: Site, model: FaultServer) -> None:
    scorecard = register(define(site), write_jury(site.judges, "abc"))
    run(site, model.url, ENTRY)
    (finding,) = collect_findings(site, scorecard)
    (cell,) = scorecard.cells
    assert (cell.metric, cell.low, cell.high, cell.jury) == ("jury_score", 1, 5, "open")
    assert (finding.low, finding.high, finding.binary) == (1, 5, False)
    assert finding.instance_values() == [4.5] * 6


def test_the_order_of_the_seats_does_not_matter(
    site: Site, model: FaultServer, tmp_path: Path
) -> None:
    benchmark = define(site)
    write_jury(site.judges, "abc")
    run(site, model.url, ENTRY)
    assert collect_findings(site, register(benchmark, write_jury(tmp_path / "turned.yaml", "cab")))


def test_grades_of_other_judges_are_refused_by_name(
    site: Site, model: FaultServer, tmp_path: Path
) -> None:
    benchmark = define(site)
    write_jury(site.judges, "ab")
    run(site, model.url, ENTRY)
    with pytest.raises(DisclosureError, match="open: it was not graded by the jury") as caught:
        collect_findings(site, register(benchmark, write_jury(tmp_path / "registered.yaml", "abc")))
    assert "its judges were test/a, test/b instead of test/a, test/b, test/c" in str(caught.value)
    assert "judge --suite s --judges FILE --replace" in caught.value.advice


def test_grades_by_another_rubric_are_refused(site: Site, model: FaultServer) -> None:
    jury = write_jury(site.judges, "abc")
    scorecard = register(define(site), jury)
    benchmark = define(
        site, "      accuracy: Is it right, in your view?\n      clarity: Is it plain?\n"
    )
    run(site, model.url, ENTRY)
    swapped = replace(scorecard.benchmarks[0], definition=benchmark.digest)
    with pytest.raises(DisclosureError, match="its rubric was different"):
        collect_findings(site, replace(scorecard, benchmarks=(swapped,)))


def test_grades_that_needed_fewer_verdicts_are_refused(site: Site, model: FaultServer) -> None:
    benchmark = define(site)
    jury = write_jury(site.judges, "abc")
    run(site, model.url, ENTRY)
    jury.write_text(jury.read_text() + "quorum: 3\n")
    with pytest.raises(DisclosureError, match="it required 2 valid verdicts instead of 3"):
        collect_findings(site, register(benchmark, jury))


def test_answers_that_no_judge_has_graded_leave_the_cell_unrun(
    site: Site, model: FaultServer, tmp_path: Path
) -> None:
    benchmark = define(site)
    run(site, model.url, ENTRY)
    assert (
        collect_findings(site, register(benchmark, write_jury(tmp_path / "jury.yaml", "abc"))) == []
    )


def test_a_jury_that_was_stopped_makes_the_figure_a_part(site: Site, model: FaultServer) -> None:
    benchmark = define(site)
    jury = write_jury(site.judges, "abc")
    run(site, model.url, ENTRY)
    (finding,) = collect_findings(site, register(benchmark, jury))
    assert finding.whole
    graded, *rest = finding.scores
    stopped = replace(
        finding, scores=[replace(graded, value=None, reason=Reason.NOT_JUDGED), *rest]
    )
    assert not stopped.whole


def test_every_term_of_a_jury_is_in_the_digest_of_its_rubric() -> None:
    use = MetricUse("jury_score", criteria={"accuracy": "Is it right?", "clarity": "Is it plain?"})
    others = [
        replace(use, criteria={"accuracy": "Is it right?"}),
        replace(use, criteria={"accuracy": "Is it right?", "clarity": "Is it clear?"}),
        replace(use, fields={"accuracy": ("explanation", "quotation")}),
        replace(use, scale=Scale(0, 5)),
        replace(use, gold_shown=False),
        replace(
            use, prompt='{RESPONSE} <rubric_criteria>{"accuracy": ["score"]}</rubric_criteria>'
        ),
    ]
    assert len({rubric_digest(one) for one in (use, *others)}) == 7
    turned = replace(use, criteria=dict(reversed(use.criteria.items())), scale=Scale(1.0, 5.0))
    assert rubric_digest(turned) == rubric_digest(use)


def test_grades_sampled_with_a_seed_or_temperature_are_of_another_jury() -> None:
    plain = Judge("local/a", "maker/a")
    use = MetricUse("jury_score", criteria={"accuracy": "Is it right?"}, judges=(plain,))
    registered = register_jury("jury-a", use, use.judges, None)
    assert registered.rubric == rubric_digest(use)
    assert describe_other_jury(use, registered) == ""
    for judge in (replace(plain, seed=7), replace(plain, temperature=0.5)):
        assert "seeds and temperatures" in describe_other_jury(
            replace(use, judges=(judge,)), registered
        )
