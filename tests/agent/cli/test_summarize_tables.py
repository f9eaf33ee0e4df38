"""Tables of juries and of standings: who judged, how much, and how sure that is."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.summarize import summarize
from agent.site.directory import Site, create_site
from agent.store.releases import LeaderboardCell
from tests.agent.cli.bold_and_shy import BOLD, SHY, asked, shown, write
from tests.agent.cli.judged_suite import (
    JUDGES,
    judged_run,
    judged_site,
    jury_metric,
    row,
    summarized,
)
from tests.agent.service.filled_site import FilledSite, filled_site


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return judged_site(tmp_path)


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
    assert "Judges of the same family as meta/llama-3.1-8b-instruct: llama." in told
    assert "a judge is of the judged model's family" in told


@pytest.mark.full
def test_who_judged_stands_below_the_seats_and_two_juries_of_one_benchmark_are_told_apart(
    filled: FilledSite,
):
    told = summarized(filled).stdout
    assert "Judges of mtsamples_replicate: llama, qwen, phi." in told
    judged_run(filled, "b/two", 4, judges=[*JUDGES[:2], ["site/lenient", "lenient/l", "lenient"]])
    told = summarized(filled).stdout
    models = "google/gemma-3-27b-it, meta/llama-3.1-8b-instruct"
    assert f"Judges of mtsamples_replicate ({models}): llama, qwen, phi." in told
    assert "Judges of mtsamples_replicate (b/two): llama, qwen, lenient." in told
    assert "1: another jury" in told


@pytest.mark.full
def test_scale_quorum_and_each_judges_seats_and_mean_stand_with_the_score(filled: FilledSite):
    told = summarized(filled).stdout
    assert "1-5" in row(told.partition("Juries, each")[2], "mtsamples_replicate", "gemma")
    assert "A score needs valid verdicts from 2 of 3." in told
    judges = told.partition("Judges, over all models")[2]
    assert "64 of 80" in row(judges, "mtsamples_replicate", "phi", "16 no_json")
    assert "78 of 80" in row(judges, "mtsamples_replicate", "qwen", "2 timeout")
    found = json.loads(summarized(filled, "--format", "json").stdout)
    jury = next(one["jury"] for one in found if one["jury"])
    assert (jury["scale"], jury["quorum"]) == ({"low": 1, "high": 5}, 2)
    assert [one["judge"] for one in jury["each"]] == jury["judges"] == ["llama", "qwen", "phi"]
    assert sum(one["filled"] for one in jury["each"]) == jury["filled"]
    phi = jury["each"][2]
    assert (phi["seats"], phi["filled"], phi["repaired"], phi["faults"]) == (
        40,
        32,
        0,
        {"no_json": 8},
    )
    assert 3.5 < phi["mean"] < 4.5
    lines = csv.DictReader(io.StringIO(summarized(filled, "--format", "csv").stdout))
    graded_by_jury = [one for one in lines if one["judges"]]
    assert [
        (one["quorum"], one["jury_scale_high"], one["judges_filled"]) for one in graded_by_jury
    ] == [("2", "5", "40; 39; 32")] * 2


@pytest.mark.full
def test_tables_leave_to_files_what_does_not_fit_a_hundred_columns(filled: FilledSite):
    told = summarized(filled).stdout
    tables, _, _ = told.partition("Judges of ")
    assert max(len(line.rstrip()) for line in tables.splitlines() if "mtsamples" in line) <= 100
    assert "Shown in a wider terminal, and with --format csv or json: " in tables
    assert "n 32" in row(told.partition("Juries, each")[2], "mtsamples_replicate", "llama")


def test_each_benchmark_names_its_own_judges_of_the_family(filled: FilledSite):
    big = [["site/big", "meta/llama-405b", "big"], *JUDGES[1:]]
    judged_run(filled, "meta/llama-3.1-8b-instruct", 3, judges=big, benchmark="medication_qa")
    told = summarized(filled).stdout
    assert "Judges of the same family as meta/llama-3.1-8b-instruct in medication_qa: big." in told
    assert (
        "Judges of the same family as meta/llama-3.1-8b-instruct in mtsamples_replicate: llama."
        in told
    )


def test_the_score_without_the_family_says_how_many_answers_it_is_over_and_what_it_is_not(
    filled: FilledSite,
):
    told = summarized(filled).stdout
    # phi failed on every fifth answer of 40, and one of the two others is no majority of them
    assert ", n 32" in row(told.partition("Juries, each")[2], "mtsamples_replicate", "llama")
    assert "those judges may be more lenient or stricter with every model" in told
    lines = csv.DictReader(io.StringIO(summarized(filled, "--format", "csv").stdout))
    assert [one["without_family_n"] for one in lines if one["family_judges"]] == ["32"]


def test_names_of_criteria_and_judges_take_no_terminal_over_and_are_no_markup(tmp_path: Path):
    filled = filled_site(tmp_path)
    metric = jury_metric([["d", "google/gemma\x1b[2J", ""], *JUDGES])
    metric["jury"]["criteria"] = {"[/bold]\x1b[2Jtrue": "?"}
    judged_run(filled, "google/gemma-3", 3, metrics=[metric])
    assert "\x1b" not in summarized(filled, "--plot", "-").stdout
    told = summarized(filled).stdout
    assert "\x1b" not in told
    assert "[/bold]" in told
    assert "Judges of the same family as google/gemma-3: google/gemma" in told


@pytest.mark.full
def test_the_published_table_has_its_published_standings_and_nobody_knows_how_sure_they_are(
    filled: FilledSite,
):
    paper = json.loads(
        (Path(__file__).parents[2] / "aggregator" / "paper_scores.json").read_text("utf-8")
    )
    cells = [
        LeaderboardCell(
            benchmark,
            benchmark,
            model,
            "jury_score" if max(row.values()) > 1 else "exact_match",
            "",
            value,
            None,
        )
        for benchmark, row in paper["scores"].items()
        for model, value in row.items()
    ]
    with filled.site.store() as store:
        store.releases.keep_leaderboard(
            "paper", {"release": "paper", "date": "", "digest": ""}, cells
        )
    words = ["--suites", "paper", "--release", "R"]
    told = CliRunner().invoke(summarize, words, obj=filled.site).stdout
    table = told.partition("Mean win rate")[2].partition("Win rates and macro-averages")[0]
    found = {cells[0]: cells[1:] for line in table.splitlines() if len(cells := line.split()) == 8}
    rates = {model: f"{rate:.3f}" for model, rate in paper["mean_win_rates"]["37"].items()}
    assert {model: figures[1] for model, figures in found.items()} == rates
    assert (found["o3-mini"][4], found["gemini-1.5-pro"][4]) == ("0.773", "0.675")
    assert all(figures[place] == "-" for figures in found.values() for place in (0, 2, 3, 5, 6))
    assert "over 37 columns of comparable results" in told


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_models_without_a_benchmark_in_common_have_no_win_rate_and_the_reason(site: Site):
    write(site, range(10))
    write(site, range(10), "other")
    asked(site, f"own:model={BOLD}", f"other:model={SHY}")
    table = shown(site)
    assert "There is no win rate, because no two models have comparable results." in table
    assert (
        "Not part of any rank or win rate: 2 results (2: no other model has a valid result for this benchmark)."
        in table
    )


@pytest.mark.full
def test_results_of_another_sample_are_left_out_and_counted(site: Site):
    write(site, range(20))
    asked(site, f"own:model={BOLD}")
    asked(site, f"own:model={SHY}", more=["-m", "5"])
    assert "Not part of any rank or win rate: 2 results (2: another sample)." in shown(site)
