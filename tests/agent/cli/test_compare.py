"""What `compare` says of two models, and what it refuses to say."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from agent.cli.compare import compare
from agent.cli.run import run
from agent.errors import ConfigError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.import_runs import import_helm
from agent.site.directory import Site, create_site
from agent.vocabulary import Reason, Unscored
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import write_benchmark

METRICS = (
    "parser: option_letter\nchoices: [yes, no]\ngold: {column: "
    "gold, form: text}\nmetrics:\n  - name: exact_match\n"
)
GOOD, POOR = "test/good", "test/poor"
Answers = Callable[[str, int], str]


def right_below(**limits: int) -> Answers:
    """Each model knows the answers to the questions below its limit, and is wrong about the others."""
    return lambda model, number: "A" if number < limits[model] else "B"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def write(
    site: Site, notes: Sequence[int], name: str = "own", patients: int = 0, metrics: str = METRICS
) -> None:
    rows = [
        {"note": f"invented note {n}.", "gold": "yes"}
        | ({"patient": f"p{n % patients}"} if patients else {})
        for n in notes
    ]
    folder = write_benchmark(
        site, name, rows, metrics + ("unit_column: patient\n" if patients else "")
    )
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")


def asked(
    site: Site, *entries: str, answers: Answers, more: Sequence[str] = (), suite: str = "s"
) -> None:
    def says(one: Asked) -> Message | None:
        _, found, rest = one.prompt.partition("invented note ")
        said = answers(one.body["model"], int(rest.partition(".")[0])) if found else ""
        return Message({"role": "assistant", "content": said}) if found else None

    with FaultServer(models=["good", "poor"], fault=says) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n"
            + "".join(
                f"  - name: {name}\n    model_name: {model}\n"
                f"    client_spec: {{class_name: VLLMChatClient, args: {{base_url: '{server.url}', "
                f"vllm_model_name: {model.partition('/')[2]}}}}}\n"
                for name, model in (
                    ("local/good", GOOD),
                    ("local/poor", POOR),
                    ("other/good", GOOD),
                )
            )
        )
        words = [word for entry in entries for word in ("-r", entry)]
        done = CliRunner().invoke(run, [*words, "--suite", suite, "--quiet", *more], obj=site)
    assert done.exit_code == 0, (done.output, done.exception)


def both(name: str = "own", more: str = "") -> list[str]:
    return [
        f"{name}:{more}model={GOOD},model_deployment=local/good",
        f"{name}:{more}model={POOR},model_deployment=local/poor",
    ]


def compared(site: Site, *words: str, models: tuple[str, str] = (GOOD, POOR)) -> Result:
    return CliRunner().invoke(
        compare, [*models, *(words if "--suites" in words else ("--suite", "s", *words))], obj=site
    )


def rows(site: Site, *words: str, models: tuple[str, str] = (GOOD, POOR)) -> list[dict]:
    done = compared(site, *words, "--format", "json", models=models)
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def test_a_better_model_is_better_with_figures_that_can_be_computed_by_hand(site: Site):
    write(site, range(40))
    asked(site, *both(), answers=right_below(good=32, poor=20))
    (row,) = rows(site)
    assert (row["n"], row["mean_a"], row["mean_b"]) == (40, 0.8, 0.5)
    assert row["difference"] == pytest.approx(0.3)
    assert (row["better_a"], row["better_b"]) == (12, 0)
    assert row["exact_p"] == pytest.approx(2 * 0.5**12)
    assert row["p"] == row["holm_p"] == pytest.approx(0.5**12)
    assert (row["test"], row["interval"], row["words"]) == ("mcnemar mid-p", "newcombe", "A better")
    assert 0 < row["low"] < 0.3 < row["high"]
    (turned,) = rows(site, models=(POOR, GOOD))
    assert (turned["difference"], turned["low"]) == (
        -row["difference"],
        pytest.approx(-row["high"]),
    )
    assert turned["words"] == "B better"
    table = compared(site).stdout
    assert f"A is {GOOD}, B is {POOR}" in table
    assert "<0.001" in table
    assert "Holm" not in table  # one benchmark is one test


def test_a_few_questions_show_no_difference_and_what_could_have_been_seen(site: Site):
    write(site, range(12))
    asked(site, *both(), answers=right_below(good=7, poor=6))
    (row,) = rows(site)
    assert (row["words"], row["p"]) == ("no difference seen", 0.5)
    assert row["detectable"] > 0.2
    assert row["units_needed"] > 12
    assert "MDD: four in five such comparisons" in compared(site).stdout


@pytest.mark.full
def test_a_model_that_answers_only_what_it_knows_is_not_compared_by_the_rest_and_the_reader_is_told(
    site: Site,
):
    write(site, range(40))
    shy = "I would rather not say."
    asked(
        site,
        *both(),
        answers=lambda model, n: (
            "A" if n < (25 if model == "good" else 10) else "B" if model == "good" else shy
        ),
    )
    (row,) = rows(site)
    assert (row["n"], row["difference"], row["words"]) == (10, 0.0, "all scores equal")
    assert (row["unscored_a"], row["unscored_b"]) == ({}, {"unparsed": 30})
    assert (row["floor"]["n"], row["floor"]["difference"]) == (40, pytest.approx(15 / 40))
    assert (row["bounds"]["low"], row["bounds"]["high"]) == (
        pytest.approx((15 - 30) / 40),
        pytest.approx(15 / 40),
    )
    table = compared(site).stdout
    assert "own: unscored 30 of B (30 unparsed)" in table
    assert "if answers left unscored by a model count as the lowest" in table


@pytest.mark.full
def test_a_finding_that_unanswered_questions_would_undo_says_so(site: Site):
    write(site, range(60))

    def answers(model: str, n: int) -> str:
        if model == "good":
            return "A" if n < 20 else "I would rather not say."
        return "B" if n < 10 else "A"

    asked(site, *both(), answers=answers)
    (row,) = rows(site)
    assert (row["n"], row["difference"]) == (20, 0.5)
    assert row["words"] == (
        "A better; not if unanswered questions count as wrong; unscored answers could reverse it"
    )


def test_a_finding_of_one_benchmark_is_weaker_among_many(site: Site):
    names = [f"own{n}" for n in range(6)]
    for name in names:
        write(site, range(20), name)
    asked(
        site, *(one for name in names for one in both(name)), answers=right_below(good=12, poor=12)
    )
    write(site, range(20, 40), "seventh")
    asked(site, *both("seventh"), answers=right_below(good=32, poor=26))
    found = {row["benchmark"]: row for row in rows(site)}
    assert len(found) == 8
    seventh = found["seventh"]
    assert (seventh["p"], seventh["holm_p"]) == (pytest.approx(0.5**6), pytest.approx(7 * 0.5**6))
    assert seventh["words"] == "A better here, but not after correction for several benchmarks"
    overall = found["all together"]
    assert (overall["benchmarks"], overall["difference"]) == (7, pytest.approx(0.3 / 7))
    table = compared(site).stdout
    assert "Holm p: corrected for all benchmarks shown" in table
    assert "All together: the mean difference over 7 benchmarks" in table


def test_questions_of_one_patient_are_no_independent_pairs(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    write(site, range(60), patients=12)
    asked(site, *both(), answers=right_below(good=50, poor=30))
    (row,) = rows(site)
    assert (row["n"], row["units"]) == (60, 12)
    assert (row["test"], row["interval"], row["exact_p"]) == ("bootstrap", "bca", None)
    monkeypatch.setenv("COLUMNS", "140")
    assert "Units" in compared(site).stdout
    monkeypatch.setenv("COLUMNS", "80")
    assert (
        "Shown in a wider terminal, and with --format csv or json: Units" in compared(site).stdout
    )


def test_a_sample_meets_the_whole_in_what_both_were_asked(site: Site):
    write(site, range(30))
    asked(site, both()[0], answers=right_below(good=20, poor=0))
    asked(site, both()[1], answers=right_below(good=0, poor=10), more=["-m", "12"])
    (row,) = rows(site)
    assert (row["n"], row["only_a"], row["only_b"]) == (12, 18, 0)
    assert "asked of one model only: 18 of A, 0 of B" in compared(site).stdout


def test_runs_on_other_data_are_not_paired_and_the_reason_is_given(site: Site):
    write(site, range(20))
    asked(site, both()[0], answers=right_below(good=10, poor=10))
    write(site, range(21))
    asked(site, both()[1], answers=right_below(good=10, poor=10))
    done = compared(site)
    assert isinstance(done.exception, ConfigError)
    assert "own: other data" in str(done.exception)


def test_a_benchmark_of_one_model_is_left_out_and_named(site: Site):
    write(site, range(20))
    write(site, range(20), "other")
    asked(site, *both(), both("other")[0], answers=right_below(good=10, poor=10))
    assert [row["benchmark"] for row in rows(site)] == ["own"]
    assert "Left out: other: only one of the models ran it" in compared(site).stdout


def test_suites_are_looked_through_together_and_the_last_run_counts(site: Site):
    write(site, range(20))
    asked(site, both()[0], answers=right_below(good=4, poor=0), suite="old")
    asked(site, both()[1], answers=right_below(good=0, poor=10), suite="t")
    (row,) = rows(site, "--suites", "old", "t")
    assert (row["n"], row["mean_a"], row["mean_b"]) == (20, 0.2, 0.5)
    asked(site, both()[0] + ",temperature=0.5", answers=right_below(good=16, poor=0), suite="t")
    (row,) = rows(site, "--suites", "old", "t")
    assert row["mean_a"] == 0.8
    assert "temperature=0.5" in row["runs_a"][0]
    assert "earlier runs left out: 1" in compared(site, "--suites", "old", "t").stdout


def test_a_model_of_two_deployments_must_be_named_by_one(site: Site):
    write(site, range(10))
    other = f"own:model={GOOD},model_deployment=other/good"
    asked(site, *both(), other, answers=right_below(good=8, poor=5))
    refused = compared(site)
    assert "test/good is served by several deployments: local/good, other/good" in str(
        refused.exception
    )
    (row,) = rows(site, models=("local/good", "other/good"))
    assert (row["n"], row["difference"]) == (10, 0.0)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("models", "words", "why"),
    [
        ((GOOD, "test/absent"), (), "there is no run of test/absent"),
        ((GOOD, GOOD), (), "are the same model"),
        ((GOOD, "local/good"), (), "are the same model"),
        ((GOOD, POOR), ("--metric", "rouge_9"), "no metric of that name"),
        ((GOOD, POOR), ("--suites", "s", "absent"), "there is no suite absent"),
        ((GOOD, POOR), ("--plot", "chart.png"), "--plot writes SVG"),
        ((GOOD, POOR), ("--plot", "-", "--format", "json"), "both write to standard output"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(site: Site, models, words, why):
    write(site, range(10))
    asked(site, *both(), answers=right_below(good=8, poor=5))
    done = compared(site, *words, models=models)
    assert isinstance(done.exception, ConfigError)
    assert why in str(done.exception)


def test_a_figure_of_whole_runs_is_compared_by_its_labels(site: Site):
    more = "gold: {column: gold}\nmetrics:\n  - name: classification_macro_f1\n"
    notes = [{"note": f"invented note {n}.", "gold": "yes" if n % 2 else "no"} for n in range(40)]
    write_benchmark(site, "own", notes, more)

    def answers(model: str, n: int) -> str:
        right = n < (34 if model == "good" else 20)
        return "yes" if right == bool(n % 2) else "no"

    asked(site, *both(), answers=answers)
    (row,) = rows(site)
    assert (row["n"], row["mean_a"], row["mean_b"]) == (40, pytest.approx(0.85), pytest.approx(0.5))
    assert row["low"] < row["difference"] < row["high"]
    assert (row["interval"], row["test"], row["words"]) == ("percentile", "bootstrap", "A better")
    with site.store() as store:
        store.purge(0)
    assert "whose answers were purged" in str(compared(site).exception)


def test_a_model_that_leaves_hard_questions_out_is_doubted_by_figures_of_whole_runs_too(site: Site):
    more = "gold: {column: gold}\nmetrics:\n  - name: classification_macro_f1\n"
    notes = [{"note": f"invented note {n}.", "gold": "yes" if n % 2 else "no"} for n in range(60)]
    write_benchmark(site, "own", notes, more)

    def answers(model: str, n: int) -> str:
        if model == "good":
            return ("yes" if n % 2 else "no") if n < 36 else " "
        return "yes" if (n % 3 > 0) == bool(n % 2) else "no"

    asked(site, *both(), answers=answers)
    (row,) = rows(site)
    assert (row["n"], row["mean_a"], row["unscored_a"]) == (36, 1.0, {"empty": 24})
    assert row["floor"]["n"] == 60
    # by hand: 18 of 30 right of each class, none wrong: precision 1, recall 0.6
    assert row["floor"]["mean_a"] == pytest.approx(2 * 0.6 / 1.6)
    assert row["words"] == "A better; not if unanswered questions count as wrong"


def test_what_a_metric_says_nothing_of_by_a_models_own_choice_is_counted(tmp_path: Path):
    from tests.agent.service.filled_site import case, filled_site

    filled = filled_site(tmp_path)
    chosen = Unscored(Reason.NOT_APPLICABLE)
    filled.add(
        [case(n, score=chosen if n < 30 else 1.0) for n in range(40)],
        entry="pubmed_qa:model=a/shy",
        suite="s",
    )
    filled.add(
        [case(n, score=chosen if n > 37 else 0.0) for n in range(40)],
        entry="pubmed_qa:model=b/bold",
        suite="s",
    )
    (row,) = rows(filled.site, models=("a/shy", "b/bold"))
    assert (row["n"], row["inapplicable_a"], row["inapplicable_b"]) == (8, 30, 2)
    table = compared(filled.site, models=("a/shy", "b/bold")).stdout
    assert "left out as not applicable: 30 of A, 2 of B" in table


def test_a_spreadsheet_and_a_drawing_hold_the_same_figures(site: Site, tmp_path: Path):
    write(site, range(40))
    asked(site, *both(), answers=right_below(good=32, poor=20))
    done = compared(site, "--format", "csv", "--plot", str(tmp_path / "two.svg"))
    (row,) = csv.DictReader(done.stdout.splitlines())
    assert float(row["difference"]) == pytest.approx(0.3)
    assert (row["unscored_a"], row["words"]) == ("", "A better")
    drawn = (tmp_path / "two.svg").read_text()
    words = " ".join(ElementTree.fromstring(drawn).itertext())
    assert f"A is {GOOD}, B is {POOR}" in words
    assert "+0.300" in words
    compared(site, "--plot", str(tmp_path / "again.svg"))
    assert (tmp_path / "again.svg").read_text() == drawn
    plain = compared(site, "--plot", "-").stdout
    line = next(line for line in plain.splitlines() if line.startswith("  own") and "|" in line)
    strip = line.split("|")[1]
    assert strip.index("o") > len(strip) // 2  # A is better: right of the middle


def test_runs_that_came_back_from_helm_compare_as_they_did_before(site: Site, tmp_path: Path):
    write(site, range(30))
    asked(site, *both(), answers=right_below(good=20, poor=12))
    export_helm(site, "s", tmp_path / "out", reveal=True)
    import_helm(site, tmp_path / "out", "back")
    (before,), (after,) = rows(site), rows(site, "--suites", "back")
    same = ("n", "mean_a", "mean_b", "difference", "low", "high", "p", "words")
    assert [after[key] for key in same] == [before[key] for key in same]
    refused = compared(site, "--suites", "back", models=(GOOD, "test/absent"))
    assert "there is no run of test/absent" in str(refused.exception)


def test_what_was_run_here_is_not_paired_with_what_was_made_elsewhere(site: Site, tmp_path: Path):
    write(site, range(30))
    asked(site, both()[1], answers=right_below(good=20, poor=12), suite="t")
    export_helm(site, "t", tmp_path / "out", reveal=True)
    import_helm(site, tmp_path / "out", "back")
    asked(site, both()[0], answers=right_below(good=20, poor=12))
    refused = compared(site, "--suites", "s", "back")
    assert "made elsewhere" in str(refused.exception)


def test_a_jury_that_has_yet_to_grade_leaves_the_next_metric_and_says_so(site: Site):
    criteria = "    criteria: {accuracy: Is it right?}\n"
    more = f"gold: {{column: gold}}\nmetrics:\n  - name: jury_score\n{criteria}  - name: quasi_exact_match\n"
    rows_of = [{"note": f"invented note {n}.", "gold": "yes"} for n in range(20)]
    write_benchmark(site, "own", rows_of, more)
    asked(
        site,
        *both(),
        answers=lambda model, n: "yes" if n < (15 if model == "good" else 10) else "no",
    )
    (row,) = rows(site)
    assert (row["metric"], row["stands_in"], row["n"]) == ("quasi_exact_match", True, 20)
    assert (
        "The main metric has not been judged or measured yet, so another metric is shown: own"
        in compared(site).stdout
    )
    assert "no instance for which both have a score" in str(
        compared(site, "--metric", "jury_score").exception
    )


def test_models_that_two_juries_graded_are_not_silently_compared_by_the_next_metric(tmp_path: Path):
    from tests.agent.calibration.graded_site import BENCHMARK, JUDGES, MODELS, add_run, cases
    from tests.agent.service.filled_site import filled_site

    filled = filled_site(tmp_path)
    add_run(filled, MODELS[0], cases(MODELS[0], 12), suite="s")
    add_run(filled, MODELS[1], cases(MODELS[1], 12), suite="s", judges=JUDGES[:1], judged=False)
    add_run(filled, MODELS[2], cases(MODELS[2], 12), suite="s", quorum=3)
    for other in MODELS[1:]:
        refused = str(compared(filled.site, models=(MODELS[0], other)).exception)
        assert (
            f"{BENCHMARK}: jury_score graded by another jury; choose another metric with --metric"
            in refused
        )
        refused = str(
            compared(filled.site, "--metric", "jury_score", models=(MODELS[0], other)).exception
        )
        assert f"{BENCHMARK}: graded by another jury" in refused
        assert "no metric of that name" not in refused
        (row,) = rows(filled.site, "--metric", "rouge_l", models=(MODELS[0], other))
        assert (row["metric"], row["stands_in"]) == ("rouge_l", False)


def test_runs_that_were_scored_by_other_rules_say_so(tmp_path: Path):
    from tests.agent.service.filled_site import case, filled_site

    filled = filled_site(tmp_path)
    right = [case(number) for number in range(12)]
    filled.add(right, entry="pubmed_qa:model=a/one", suite="s")
    filled.add(right, entry="pubmed_qa:model=b/two", suite="s", agent_version="0.0.1")
    assert "scored by other rules; choose another metric" in str(
        compared(filled.site, models=("a/one", "b/two")).exception
    )
    assert "no metric of that name" in str(
        compared(filled.site, "--metric", "rouge_9", models=("a/one", "b/two")).exception
    )


def test_nothing_of_a_case_is_said(site: Site):
    write(site, range(20), patients=5)
    asked(site, *both(), answers=right_below(good=15, poor=5))
    said = "".join(compared(site, "--format", form).output for form in ("table", "json", "csv"))
    assert "invented note" not in said
    assert "p1" not in said.replace("mcnemar mid-p", "")
