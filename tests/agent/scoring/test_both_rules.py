"""What a suite shows: both rules side by side, figures of a whole run, parts as one benchmark, a jury that waits."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.score import rescore
from agent.cli.summarize import summarize
from agent.results.summarize import Note, compare_summaries, summarise_benchmarks, summarise_suite
from agent.runs.outcomes import RunOutcome
from agent.runs.rescore import rescore_suite
from agent.scoring.whole_run import compute_stored_run_scores
from agent.site.directory import Site, create_site
from agent.store import RunOrigin
from agent.store.run_details import write_details
from agent.store.scores import Scores
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import plan, run, write_benchmark

CLASSES = "parser: option_letter\nchoices: [yes, no, maybe]\ngold: {column: gold, form: text}\n"
BOTH = CLASSES + "metrics:\n  - name: exact_match\n"
JURY = (
    "gold: {column: gold}\nmetrics:\n  - name: jury_score\n  "
    "  criteria: {accuracy: Is it right?}\n  - name: rouge_l\n"
)
MACRO = CLASSES + "metrics:\n  - name: classification_macro_f1\n  - name: exact_match\n"
GOLD = ("yes", "no", "maybe", "yes", "no", "yes")
SAID = ("Answer: A", "B", "B", "", "not that I know", "(A)")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def rows(count: int = len(GOLD)) -> list[dict[str, str]]:
    return [{"note": f"invented note {n}.", "gold": GOLD[n % len(GOLD)]} for n in range(count)]


def says(asked: Asked) -> Message | None:
    _, found, rest = asked.prompt.partition("invented note ")
    return (
        Message({"role": "assistant", "content": SAID[int(rest.partition(".")[0]) % len(SAID)]})
        if found
        else None
    )


def write(site: Site, more: str, count: int = len(GOLD)) -> None:
    write_benchmark(
        site, "own", rows(count), more.replace("metrics:", "prompt_file: prompt.txt\nmetrics:", 0)
    )
    folder = site.directory / "benchmarks" / "own"
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")


def ask(site: Site, *entries: str, **options: object) -> list[RunOutcome]:
    with FaultServer(models=["a/b"], fault=says) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n  - name: local/b\n    model_name: a/b\n    client_spec:\n"
            "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
            f"      args: {{base_url: '{server.url}', vllm_model_name: a/b}}\n"
        )
        return run(site, None, *(entries or ("own:model=a/b",)), **options)  # type: ignore[arg-type]


def shown(site: Site, *words: str) -> Result:
    done = CliRunner().invoke(summarize, ["--suite", "s", *words], obj=site)
    assert done.exit_code == 0, done.output
    return done


def test_both_rules_stand_side_by_side(site: Site):
    write(site, BOTH)
    (outcome,) = ask(site, scoring="both")
    (row,) = json.loads(shown(site, "--format", "json").stdout)
    assert (row["mean"], row["n"], row["unscored_reasons"]) == (
        0.75,
        4,
        {"empty": 1, "unparsed": 1},
    )
    assert (row["helm"]["n"], row["helm"]["unscored"]) == (6, 0)
    assert row["helm"]["mean"] < row["mean"]
    assert outcome.summary.main.twin is not None
    table = shown(site).stdout
    assert "HELM's mean" in table
    assert f"{row['helm']['mean']:.3f}" in table
    with site.store() as store:
        (stored,) = store.runs.select("s")
        assert [m.name for m in stored.details.metrics] == ["exact_match", "exact_match@helm"]
        assert [m.scoring for m in stored.details.metrics] == ["intramural", "helm"]


def test_a_suite_of_one_rule_has_no_column_of_the_other(site: Site):
    write(site, BOTH)
    ask(site)
    assert "HELM" not in shown(site).stdout
    assert json.loads(shown(site, "--format", "json").stdout)[0]["helm"] is None


def test_a_metric_of_the_whole_run_counts_what_could_not_be_read(site: Site):
    write(site, MACRO, 60)
    (outcome,) = ask(site)
    main = outcome.summary.main
    # 50 answers of 60 are there, of which 10 say nothing: A A B B A against yes yes no maybe yes
    assert (main.metric, main.mean.n, main.unscored) == (
        "classification_macro_f1",
        40,
        {"empty": 10, "unparsed": 10},
    )
    assert main.mean.method == "percentile"
    assert main.mean.low is not None
    assert main.mean.high is not None
    assert main.mean.value is not None
    assert main.mean.low < main.mean.value < main.mean.high
    with site.store() as store:
        (stored,) = store.runs.select("s")
        assert (
            compute_stored_run_scores(store, stored.run_id, plan(site, "own:model=a/b").rules)[
                0
            ].value
            == main.mean.value
        )
        store.purge(0)
        (after,) = summarise_suite(store, "s")
        assert after.main == main  # what was computed stays
        (left,) = rescore_suite(store, "s")
        assert "purged" in left.left


def test_a_run_with_nothing_but_a_metric_of_the_whole_run_is_settled_and_needs_no_server(
    site: Site,
):
    write(site, CLASSES + "metrics:\n  - name: classification_micro_f1\n")
    (first,) = ask(site)
    (again,) = run(site, None, "own:model=a/b")  # type: ignore[arg-type]
    assert (again.asked, again.kept, again.failed) == (0, 6, 0)
    assert again.summary.main == first.summary.main


def test_a_jurys_metric_waits_and_the_next_one_stands_in_with_a_note(site: Site):
    write_benchmark(
        site,
        "own",
        rows(),
        JURY,
    )
    (outcome,) = ask(site)
    assert outcome.summary.main.unscored == {"not_judged": 5, "empty": 1}
    assert outcome.summary.shown.metric == "rouge_l"
    assert Note.NOT_MAIN in outcome.summary.notes(outcome.summary.shown)
    (row,) = json.loads(shown(site, "--format", "json").stdout)
    assert row["metric"] == "rouge_l"
    assert str(Note.NOT_MAIN) in row["notes"]
    assert compare_summaries([outcome.summary]).rates == {"a/b": None}


def test_answers_that_say_nothing_are_not_hidden_behind_another_metric(site: Site):
    metrics = (
        "gold: {column: gold}\nmetrics:\n  - name: medcalc_bench_accuracy\n  - name: rouge_l\n"
    )
    extra = "extra_columns: {category: gold, lower_limit: gold, upper_limit: gold}\n"
    write_benchmark(site, "own", rows(), extra + metrics)
    (outcome,) = ask(site)
    assert outcome.summary.main.mean.n == 0
    assert outcome.summary.shown is outcome.summary.main


PARTS = "arguments:\n  ward: {values: [north, south], required: true}\n" + BOTH


def write_parts(site: Site, south_begins: int = 6) -> None:
    folder = write_benchmark(site, "own", rows(), PARTS)
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")
    whole = (folder / "benchmark.yaml").read_text()
    data = "data:\n  loader: csv\n  files:\n    - {name: '{ward}.csv'}\n"
    (folder / "benchmark.yaml").write_text(whole.replace("dataset_file: data.csv\n", "") + data)
    for ward, begins in (("north", 0), ("south", south_begins)):
        place = site.data / "own"
        place.mkdir(exist_ok=True)
        lines = [f"invented note {n}.,{GOLD[n % len(GOLD)]}" for n in range(begins, begins + 6)]
        (place / f"{ward}.csv").write_text("\n".join(["note,gold", *lines]) + "\n")


ENTRIES = ("own:model=a/b,ward=north", "own:model=a/b,ward=south")


def test_the_parts_of_a_benchmark_are_one_row_over_all_instances(site: Site):
    write_parts(site)
    ask(site, *ENTRIES)
    with site.store() as store:
        (pooled,) = summarise_benchmarks(store, "s")
    assert (pooled.main.mean.n, pooled.main.mean.units, pooled.main.mean.value) == (8, 8, 0.75)
    assert len(pooled.runs) == 2
    (row,) = json.loads(shown(site, "--format", "json").stdout)
    assert (row["run"], len(row["runs"]), row["n"]) == (
        "own:model=a/b,model_deployment=local/b",
        2,
        8,
    )
    assert [row["n"] for row in json.loads(shown(site, "--runs", "--format", "json").stdout)] == [
        4,
        4,
    ]
    assert "Runs" in shown(site).stdout


def test_parts_that_share_an_instance_are_not_counted_twice(site: Site):
    write_parts(site, south_begins=3)
    ask(site, *ENTRIES)
    assert len(json.loads(shown(site, "--format", "json").stdout)) == 2


def test_runs_that_differ_in_more_than_their_part_stay_apart(site: Site):
    write_parts(site)
    ask(site, ENTRIES[0], ENTRIES[1] + ",temperature=0.5")
    assert len(json.loads(shown(site, "--format", "json").stdout)) == 2


def test_scoring_again_asks_nobody_and_says_what_changed(site: Site):
    write(site, BOTH)
    ask(site)
    done = CliRunner().invoke(
        rescore, ["--suite", "s", "--scoring", "helm", "--format", "json"], obj=site
    )
    assert done.exit_code == 0, done.output
    (change,) = json.loads(done.stdout)
    assert (change["before"], change["instances"]) == (0.75, 6)
    assert change["after"] < 0.75
    assert change["changed"] >= 2
    assert "no model was asked" in done.stderr
    with site.store() as store:
        (stored,) = store.runs.select("s")
        assert stored.details.scoring == "helm"
    # The same command with those rules finds nothing left to do, though no server is there.
    (again,) = run(site, None, "own:model=a/b", scoring="helm")  # type: ignore[arg-type]
    assert (again.asked, again.kept) == (0, 6)
    assert again.summary.main.mean.value == change["after"]
    with site.store() as store:
        (back,) = rescore_suite(store, "s", "both")
    assert [c.metric for c in back.changes] == ["exact_match", "exact_match@helm"]
    assert back.changes[0].after == 0.75


def test_a_run_scored_again_by_the_same_rules_is_what_it_was(site: Site):
    write(site, MACRO)
    (before,) = ask(site, scoring="both")
    with site.store() as store:
        (done,) = rescore_suite(store, "s")
        (after,) = summarise_suite(store, "s")
    assert after.metrics == before.summary.metrics
    assert [change.changed for change in done.changes] == [0] * 4


def test_imported_and_purged_runs_are_left_as_they_are(site: Site):
    write(site, BOTH)
    ask(site)
    with site.store() as store:
        (stored,) = store.runs.select("s")
        before = store.scores.read_units(stored.run_id, "exact_match")
        store.database.connection.execute(
            "UPDATE runs SET details = ?",
            (write_details(replace(stored.details, origin=RunOrigin(kind="helm"))),),
        )
        (imported,) = rescore_suite(store, "s", "helm")
        assert "imported" in imported.left
        store.database.connection.execute(
            "UPDATE runs SET details = ?", (write_details(stored.details),)
        )
        store.purge(0)
        (purged,) = rescore_suite(store, "s", "helm")
        assert purged.left == "the texts of 6 instances were purged"
        assert store.scores.read_units(stored.run_id, "exact_match") == before


def test_scoring_again_that_is_killed_leaves_the_old_scores(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    write(site, BOTH)
    ask(site)
    with site.store() as store:
        (stored,) = store.runs.select("s")
        before = store.scores.read_units(stored.run_id, "exact_match")

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Scores, "put_draft_in_place", killed)
            with pytest.raises(KeyboardInterrupt):
                rescore_suite(store, "s", "helm")
        assert store.scores.read_units(stored.run_id, "exact_match") == before
        (done,) = rescore_suite(store, "s", "helm")
        assert done.changes[0].changed >= 2
        assert [row.reason for row in store.scores.read_units(stored.run_id, "exact_match")] == [
            None
        ] * 6


def test_an_imported_run_is_not_replaced_by_asking(site: Site):
    write(site, BOTH)
    ask(site)
    with site.store() as store:
        (stored,) = store.runs.select("s")
        details = replace(stored.details, origin=RunOrigin(kind="helm"))
        store.database.connection.execute("UPDATE runs SET details = ?", (write_details(details),))
        (summary,) = summarise_suite(store, "s")
        assert Note.IMPORTED in summary.notes(summary.main)
    with pytest.raises(Exception, match="already contains an imported"):
        ask(site)
