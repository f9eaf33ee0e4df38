"""Macro and micro F1 of runs: their intervals are over patients, each rule computes its own, and a purge keeps them."""

from pathlib import Path

import pytest

from agent.metrics import AnswerParser, MetricUse
from agent.results.summarize import summarise_suite
from agent.scoring.measures import Rules
from agent.scoring.whole_run import compute_run_scores
from agent.site.directory import Site, create_site
from agent.vocabulary import Instance, Message, Reference, Response
from tests.agent.fault_server import Asked, FaultServer, Status
from tests.agent.fault_server import Message as Reply
from tests.agent.runs.suites import run, write_benchmark

MACRO, MICRO = "classification_macro_f1", "classification_micro_f1"


def rules(name: str, scoring: str = "intramural") -> Rules:
    return Rules.of([MetricUse(name)], scoring, AnswerParser("text"), "l")  # type: ignore[arg-type]


def answered(gold: str, given: str, unit: str, number: int) -> tuple[Instance, Response]:
    asked = Instance(f"i{number}", unit, (Message("user", "?"),), (Reference(gold, True),))
    return asked, Response(given, "", "stop", None, None, 0.0)


def test_sixty_patients_asked_five_times_each_are_sixty_and_not_three_hundred():
    """Each patient's five rows are alike, so five times the rows say nothing more."""
    once = [("yes" if n % 2 else "no", "yes" if n % 3 else "no", n) for n in range(60)]
    fives = [row for row in once for _ in range(5)]
    (single,) = compute_run_scores(
        rules(MACRO),
        (answered(gold, given, f"p{who}", n) for n, (gold, given, who) in enumerate(once)),
    )
    (repeated,) = compute_run_scores(
        rules(MACRO),
        (answered(gold, given, f"p{who}", n) for n, (gold, given, who) in enumerate(fives)),
    )
    assert (single.n, single.units, repeated.n, repeated.units) == (60, 60, 300, 60)
    assert repeated.value == pytest.approx(single.value)
    width, same = single.high - single.low, repeated.high - repeated.low  # type: ignore[operator]
    assert same == pytest.approx(
        width, rel=0.15
    )  # of 300 independent rows it would be less than half as wide


def test_the_twin_beside_our_figure_is_helms():
    """A label that is never gold costs precision by our rules; HELM forgets it: 2 * 1 / (2 + 1)."""
    pairs = [answered("a", "a", "p1", 1), answered("b", "z", "p2", 2)]
    ours, helms = compute_run_scores(rules(MICRO, "both"), pairs)
    assert (ours.metric, ours.value) == (MICRO, 0.5)
    assert (helms.metric, helms.value) == (f"{MICRO}@helm", pytest.approx(2 / 3))


def test_a_figure_of_texts_that_were_purged_is_not_replaced_by_one_of_the_few_that_are_left(
    tmp_path: Path,
):
    site: Site = create_site(tmp_path / "site", "Test")
    rows = [{"note": f"invented note {n}.", "gold": "yes" if n % 2 else "no"} for n in range(20)]
    more = "gold: {column: gold}\nmetrics:\n  - name: classification_macro_f1\n"
    write_benchmark(site, "own", rows, more)

    def says(asked: Asked) -> Reply | Status | None:
        _, found, rest = asked.prompt.partition("invented note ")
        number = rest.partition(".")[0]
        if found and number == "7" and failing:
            return Status(400)
        return (
            Reply(
                {"role": "assistant", "content": "yes" if number in ("3", "5", "6", "7") else "no"}
            )
            if found
            else None
        )

    failing = True
    with FaultServer(models=["a/b"], fault=says) as server:
        (first,) = run(site, server.url, "own:model=a/b")
        assert (first.failed, first.summary.main.mean.n) == (1, 19)
        with site.store() as store:
            store.purge(0)
        failing = False
        (second,) = run(site, server.url, "own:model=a/b")  # asks the one that failed
    assert second.asked == 1
    with site.store() as store:
        (summary,) = summarise_suite(store, "s")
    assert (summary.main.mean.n, summary.main.mean.value) == (19, first.summary.main.mean.value)
