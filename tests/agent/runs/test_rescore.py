"""Scoring again, batch by batch: every instance gets its new score, and nothing of an attempt that was killed."""

from pathlib import Path

import pytest

from agent.runs import rescore as module
from agent.runs.rescore import rescore_suite
from agent.site.directory import Site, create_site
from agent.store import Store
from agent.store.scores import Scores
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import run, write_benchmark

CLASSES = "parser: option_letter\nchoices: [yes, no]\ngold: {column: gold, form: text}\n"
METRICS = "metrics:\n  - name: exact_match\n  - name: classification_macro_f1\n"


def says(asked: Asked) -> Message | None:
    return (
        Message({"role": "assistant", "content": "The answer is (A)."})
        if "invented note" in asked.prompt
        else None
    )


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "Test")
    rows = [{"note": f"invented note {n}.", "gold": "yes" if n % 3 else "no"} for n in range(7)]
    folder = write_benchmark(site, "own", rows, CLASSES + METRICS)
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")
    with FaultServer(models=["a/b"], fault=says) as server:
        run(site, server.url, "own:model=a/b")
    return site


def scores(store: Store) -> list[dict[str, object]]:
    (stored,) = store.runs.select("s")
    return [dict(one.scores) for one in store.answers.read_instances(stored.run_id, 0, 99)]


def test_more_instances_than_a_batch_all_have_their_new_scores(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BATCH", 2)
    with site.store() as store:
        before = scores(store)
        (done,) = rescore_suite(store, "s", "both")
        (stored,) = store.runs.select("s")
        after = scores(store)
        counted = store.scores.read_whole_run(stored.run_id, "classification_macro_f1")[0]
    assert [one["exact_match"] for one in after] == [one["exact_match"] for one in before]
    assert [one["exact_match@helm"] for one in after] == [0.0] * 7  # HELM wants the bare letter
    assert {change.metric: change.changed for change in done.changes}["exact_match@helm"] == 7
    assert counted is not None
    assert counted.n == 7


def test_drafts_of_a_killed_attempt_by_more_metrics_are_not_taken_by_the_next(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BATCH", 2)
    real, drafted = Scores.draft, 0

    def killed_in_mid_draft(self: Scores, *given: object) -> None:
        nonlocal drafted
        if drafted == 2:
            raise KeyboardInterrupt
        drafted += 1
        real(self, *given)  # type: ignore[arg-type]

    with site.store() as store:
        before = scores(store)
        with monkeypatch.context() as patch:
            patch.setattr(Scores, "draft", killed_in_mid_draft)
            with pytest.raises(KeyboardInterrupt):
                rescore_suite(store, "s", "both")
        assert scores(store) == before
        rescore_suite(store, "s", "intramural")
        assert scores(store) == before  # no exact_match@helm of the attempt by both rules
