"""`summarize` for people who read tables of juries, ranks and bounds, and who draw them."""

import csv
import io
import json
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from agent.cli.summarize import summarize
from agent.errors import ConfigError
from agent.store import Seat
from agent.store.releases import LeaderboardCell
from agent.vocabulary import Reason, Unscored
from tests.agent.service.filled_site import FilledSite, case, filled_site, graded, unscored

JUDGES = [
    ["site/llama", "meta/llama-3.3-70b-instruct", "llama"],
    ["site/qwen", "qwen/qwen2.5-72b-instruct", "qwen"],
    ["site/phi", "microsoft/phi-4", "phi"],
]
CRITERIA = ("accuracy", "completeness", "clarity")


def jury_metric(judges: list[list[str]] = JUDGES) -> dict[str, Any]:
    jury = {"judges": judges, "quorum": None, "scale": [1, 5], "criteria": dict.fromkeys(CRITERIA, "?")}
    return {
        **{"name": "jury_score", "metric": "jury_score", "display_name": "Jury score", "helm_name": "jury_score"},
        **{"low": 1, "high": 5, "binary": False, "scoring": "intramural", "whole_run": False, "options": {}},
        "jury": jury | {"fields": {}, "prompt": "", "gold_shown": True},
    }


def judged_run(
    filled: FilledSite,
    model: str,
    level: float,
    n: int = 40,
    judges: list[list[str]] = JUDGES,
    benchmark: str = "mtsamples_replicate",
    **details: Any,
) -> None:
    """A run that three judges graded: the third failed on every fifth answer, the second on the first."""
    chance = random.Random(model)
    cases, kept = [], []
    for number in range(n):
        seats = [Seat(at, dict.fromkeys(CRITERIA, level + chance.choice((-0.5, 0, 0.5))), None) for at in range(3)]
        if number % 5 == 0:
            seats[2] = Seat(2, None, "no_json", repaired=True)
        if number == 0:
            seats[1] = Seat(1, None, Reason.TIMEOUT)
        valid = [sum(seat.grades.values()) / 3 for seat in seats if seat.grades]
        score = sum(valid) / len(valid) if len(valid) > 1 else Unscored(Reason.NOT_JUDGED)
        cases.append(case(number, score=score))
        kept += [(number, "jury_score", seat) for seat in seats]
    run_id = filled.add(cases, entry=f"{benchmark}:model={model}", **{"metrics": [jury_metric(judges)], **details})
    with filled.site.store() as store:
        store.scores.keep(run_id, [], [], kept)


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    filled = filled_site(tmp_path)
    judged_run(filled, "meta/llama-3.1-8b-instruct", 3)
    judged_run(filled, "google/gemma-3-27b-it", 4)
    filled.add([*graded(60, 100), *map(unscored, range(100, 120))], entry="pubmed_qa:model=google/gemma-3-27b-it")
    filled.add(graded(0, 120), entry="pubmed_qa:model=meta/llama-3.1-8b-instruct")
    return filled


def summarized(filled: FilledSite, *words: str) -> Result:
    done = CliRunner().invoke(summarize, ["--suite", "november", *words], obj=filled.site)
    if isinstance(done.exception, Exception):
        raise done.exception
    return done


def row(table: str, *words: str) -> str:
    return next(line for line in table.splitlines() if all(word in line for word in words))


def test_a_jurys_seats_failures_criteria_and_family_stand_below_the_scores(
    filled: FilledSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "140")
    told = summarized(filled).stdout
    juries = told.partition("Juries, each on its own scale")[2]
    heading = row(juries, "Without family")
    assert heading.split()[-3:] == ["Accuracy", "Completeness", "Clarity"]
    assert " - " in row(juries, "mtsamples_replicate", "gemma")  # nobody of its family judged it
    assert "(" in row(juries, "mtsamples_replicate", "llama")
    seats = told.partition("Seats of the juries")[2]
    assert "111 of 120" in row(seats, "mtsamples_replicate", "llama")
    assert "8 no_json, 1 timeout" in row(seats, "mtsamples_replicate", "llama")
    assert "Of the family of meta/llama-3.1-8b-instruct: llama." in told
    assert "a judge is of the judged model's family" in told


def test_who_judged_stands_below_the_seats_and_two_juries_of_one_benchmark_are_told_apart(filled: FilledSite):
    told = summarized(filled).stdout
    assert "Judges of mtsamples_replicate: llama, qwen, phi." in told
    judged_run(filled, "b/two", 4, judges=[*JUDGES[:2], ["site/lenient", "lenient/l", "lenient"]])
    told = summarized(filled).stdout
    models = "google/gemma-3-27b-it, meta/llama-3.1-8b-instruct"
    assert f"Judges of mtsamples_replicate ({models}): llama, qwen, phi." in told
    assert "Judges of mtsamples_replicate (b/two): llama, qwen, lenient." in told
    assert "1: another jury" in told


def test_scale_quorum_and_each_judges_seats_and_mean_stand_with_the_score(filled: FilledSite):
    told = summarized(filled).stdout
    assert "1-5" in row(told.partition("Juries, each")[2], "mtsamples_replicate", "gemma")
    assert "A score takes valid verdicts of 2 of 3." in told
    judges = told.partition("Judges, over all models")[2]
    assert "64 of 80" in row(judges, "mtsamples_replicate", "phi", "16 no_json")
    assert "78 of 80" in row(judges, "mtsamples_replicate", "qwen", "2 timeout")
    found = json.loads(summarized(filled, "--format", "json").stdout)
    jury = next(one["jury"] for one in found if one["jury"])
    assert (jury["scale"], jury["quorum"]) == ({"low": 1, "high": 5}, 2)
    assert [one["judge"] for one in jury["each"]] == jury["judges"] == ["llama", "qwen", "phi"]
    assert sum(one["filled"] for one in jury["each"]) == jury["filled"]
    phi = jury["each"][2]
    assert (phi["seats"], phi["filled"], phi["repaired"], phi["faults"]) == (40, 32, 0, {"no_json": 8})
    assert 3.5 < phi["mean"] < 4.5
    lines = csv.DictReader(io.StringIO(summarized(filled, "--format", "csv").stdout))
    graded_by_jury = [one for one in lines if one["judges"]]
    assert [(one["quorum"], one["jury_scale_high"], one["judges_filled"]) for one in graded_by_jury] == [
        ("2", "5", "40; 39; 32")
    ] * 2


def test_tables_leave_to_files_what_does_not_fit_a_hundred_columns(filled: FilledSite):
    told = summarized(filled).stdout
    tables, _, _ = told.partition("Judges of ")
    assert max(len(line.rstrip()) for line in tables.splitlines() if "mtsamples" in line) <= 100
    assert "Shown in a wider terminal, and with --format csv or json: " in tables
    assert "n 32" in row(told.partition("Juries, each")[2], "mtsamples_replicate", "llama")


def test_verdicts_that_wait_for_another_judge_are_seen_before_there_is_a_score(filled: FilledSite):
    cases = [case(number, score=Unscored(Reason.NOT_JUDGED)) for number in range(4)]
    rouge = {**jury_metric(JUDGES), "name": "rouge_1", "display_name": "ROUGE-1", "low": 0, "high": 1}
    del rouge["jury"]
    metrics = [jury_metric(JUDGES), rouge]
    run_id = filled.add(cases, entry="medication_qa:model=a/waits", metrics=metrics)
    with filled.site.store() as store:
        store.scores.keep(run_id, [(number, "rouge_1", 0.5) for number in range(4)])
    waits = row(summarized(filled).stdout, "medication_qa", "a/waits")
    assert "0.500" in waits
    assert "no jury has graded" in summarized(filled).stdout
    assert (
        "medication_qa"
        not in summarized(filled).stdout.partition("Seats of the juries")[2].partition("Judges, over")[0]
    )
    given = [(number, "jury_score", Seat(0, dict.fromkeys(CRITERIA, 4.0), None)) for number in range(4)]
    with filled.site.store() as store:
        store.scores.keep(run_id, [], [], given)
    told = summarized(filled).stdout
    assert "no jury has graded" not in told
    assert "seats of the jury are still open" in told
    assert "4 of 12" in row(told.partition("Seats of the juries")[2], "medication_qa", "8 not_judged")
    assert "4.000" in row(told.partition("Judges, over all models")[2], "medication_qa", "llama")
    found = json.loads(summarized(filled, "--format", "json").stdout)
    (one,) = [one for one in found if one["benchmark"] == "medication_qa"]
    assert (one["metric"], one["mean"], one["jury"]["metric"], one["jury"]["mean"]) == (
        "rouge_1",
        0.5,
        "jury_score",
        None,
    )


def test_each_benchmark_names_its_own_judges_of_the_family(filled: FilledSite):
    big = [["site/big", "meta/llama-405b", "big"], *JUDGES[1:]]
    judged_run(filled, "meta/llama-3.1-8b-instruct", 3, judges=big, benchmark="medication_qa")
    told = summarized(filled).stdout
    assert "Of the family of meta/llama-3.1-8b-instruct in medication_qa: big." in told
    assert "Of the family of meta/llama-3.1-8b-instruct in mtsamples_replicate: llama." in told


def test_the_score_without_the_family_says_how_many_answers_it_is_over_and_what_it_is_not(filled: FilledSite):
    told = summarized(filled).stdout
    # phi failed on every fifth answer of 40, and one of the two others is no majority of them
    assert ", n 32" in row(told.partition("Juries, each")[2], "mtsamples_replicate", "llama")
    assert "they may be milder or stricter with every model" in told
    lines = csv.DictReader(io.StringIO(summarized(filled, "--format", "csv").stdout))
    assert [one["without_family_n"] for one in lines if one["family_judges"]] == ["32"]


def test_a_jury_that_gives_everything_the_same_middle_grade_is_a_warning(tmp_path: Path):
    filled = filled_site(tmp_path)
    for n in (29, 30):
        cases = [case(number, score=3.0) for number in range(n)]
        filled.add(cases, entry="mtsamples_replicate:model=a/a", suite=str(n), metrics=[jury_metric()])
    said = [CliRunner().invoke(summarize, ["--suite", str(n)], obj=filled.site).stdout for n in (29, 30)]
    assert ["every answer scored the same" in told for told in said] == [False, True]


def test_names_of_criteria_and_judges_take_no_terminal_over_and_are_no_markup(tmp_path: Path):
    filled = filled_site(tmp_path)
    metric = jury_metric([["d", "google/gemma\x1b[2J", ""], *JUDGES])
    metric["jury"]["criteria"] = {"[/bold]\x1b[2Jtrue": "?"}
    judged_run(filled, "google/gemma-3", 3, metrics=[metric])
    told = summarized(filled, "--plot", "-").stdout
    assert "\x1b" not in told
    assert "[/bold]" in told
    assert "Of the family of google/gemma-3: google/gemma" in told


@pytest.mark.parametrize("more", [["--plot", "-"], ["--runs"]])
def test_tables_fit_a_terminal_of_120_columns(filled: FilledSite, more: list[str]):
    told = summarized(filled, *more).stdout
    assert max(len(line.rstrip()) for line in told.splitlines()) <= 120


def test_warnings_ranks_and_bounds_stand_where_they_matter(filled: FilledSite, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "140")
    told = summarized(filled).stdout
    assert "every answer scored the same" in told
    assert "more than 5 % unscored" in told
    gemma, llama = row(told, "pubmed_qa", "gemma"), row(told, "pubmed_qa", "llama")
    assert "0.50-0.67" in gemma
    assert (gemma.split()[5], llama.split()[5]) == ("1", "2")
    assert "Bounds: the mean, were every unscored instance wrong, or right" in told


def test_whole_values_are_in_json_and_csv(filled: FilledSite):
    rows = {(r["benchmark"], r["model"]): r for r in json.loads(summarized(filled, "--format", "json").stdout)}
    llama = rows["mtsamples_replicate", "meta/llama-3.1-8b-instruct"]
    assert (llama["jury"]["seats"], llama["jury"]["filled"]) == (120, 111)
    assert llama["jury"]["family"] == ["llama"]
    assert llama["jury"]["without_family"]["mean"] is not None
    assert llama["normalised"] == pytest.approx((llama["mean"] - 1) / 4)
    gemma = rows["pubmed_qa", "google/gemma-3-27b-it"]
    assert gemma["bounds"] == {"low": 0.5, "high": pytest.approx(80 / 120), "matters": True}
    assert (gemma["rank"], gemma["standing"]["win_rate"]) == ([1, 1], 1.0)
    told = summarized(filled, "--format", "csv").stdout.splitlines()
    assert {"bound_low", "seats_filled", "without_family_mean", "model_macro", "rank_range"} <= set(told[0].split(","))
    assert "{" not in "".join(told)


def test_a_leaderboard_is_drawn_into_a_file_the_same_each_time(filled: FilledSite, tmp_path: Path):
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    assert "Drawn: one.svg" in summarized(filled, "--plot", str(one)).stderr
    summarized(filled, "--plot", str(other), "--format", "json")
    assert one.read_bytes() == other.read_bytes()
    root = ElementTree.parse(one).getroot()
    words = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"pubmed_qa", "mtsamples_replicate", "google/gemma-3-27b-it"} <= words


def test_the_published_table_has_its_published_standings_and_nobody_knows_how_sure_they_are(filled: FilledSite):
    paper = json.loads((Path(__file__).parents[2] / "aggregator" / "paper_scores.json").read_text("utf-8"))
    cells = [
        LeaderboardCell(
            benchmark, benchmark, model, "jury_score" if max(row.values()) > 1 else "exact_match", "", value, None
        )
        for benchmark, row in paper["scores"].items()
        for model, value in row.items()
    ]
    with filled.site.store() as store:
        store.releases.keep_leaderboard("paper", {"release": "paper", "date": "", "digest": ""}, cells)
    words = ["--suites", "paper", "--release", "R"]
    told = CliRunner().invoke(summarize, [*words, "--plot", "-"], obj=filled.site).stdout
    table = told.partition("Mean win rate")[2].partition("Win rates and macro-averages")[0]
    found = {cells[0]: cells[1:] for line in table.splitlines() if len(cells := line.split()) == 8}
    rates = {model: f"{rate:.3f}" for model, rate in paper["mean_win_rates"]["37"].items()}
    assert {model: figures[1] for model, figures in found.items()} == rates
    assert (found["o3-mini"][4], found["gemini-1.5-pro"][4]) == ("0.773", "0.675")
    assert all(figures[place] == "-" for figures in found.values() for place in (0, 2, 3, 5, 6))
    assert "over 37 columns of results of one kind" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--plot", "x.png"], "--plot writes SVG"),
        (["--plot", "-", "--format", "json"], "both write here"),
        (["--plot", "-", "--subgroups"], "not subgroups"),
        (["--plot", "no/such/folder/x.svg"], "x.svg cannot be written"),
    ],
)
def test_a_plot_that_cannot_be_is_refused_in_words(filled: FilledSite, words: list[str], said: str):
    with pytest.raises(ConfigError, match=said):
        summarized(filled, *words)


def test_a_plot_that_cannot_be_is_refused_before_anything_is_printed(filled: FilledSite):
    done = CliRunner().invoke(summarize, ["--suite", "november", "--plot", "x.png"], obj=filled.site)
    assert done.stdout == ""
