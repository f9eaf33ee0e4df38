"""`summarize` for people who read tables of juries, ranks and bounds, and who draw them."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from agent.cli.summarize import show_summaries, summarize
from agent.results.summarize import MetricSummary, RunSummary
from agent.site.directory import Site, create_site
from agent.statistics.intervals import Mean
from agent.store import Run, RunDetails, Seat
from agent.vocabulary import Reason, Unscored
from tests.agent.cli.bold_and_shy import BOLD, SHY, asked, shown, write
from tests.agent.cli.judged_suite import CRITERIA, JUDGES, judged_site, jury_metric, row, summarized
from tests.agent.service.filled_site import FilledSite, case, filled_site


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return judged_site(tmp_path)


@pytest.mark.full
def test_verdicts_that_wait_for_another_judge_are_seen_before_there_is_a_score(filled: FilledSite):
    cases = [case(number, score=Unscored(Reason.NOT_JUDGED)) for number in range(4)]
    rouge = {
        **jury_metric(JUDGES),
        "name": "rouge_1",
        "display_name": "ROUGE-1",
        "low": 0,
        "high": 1,
    }
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
        not in summarized(filled)
        .stdout.partition("Seats of the juries")[2]
        .partition("Judges, over")[0]
    )
    given = [
        (number, "jury_score", Seat(0, dict.fromkeys(CRITERIA, 4.0), None)) for number in range(4)
    ]
    with filled.site.store() as store:
        store.scores.keep(run_id, [], [], given)
    told = summarized(filled).stdout
    assert "no jury has graded" not in told
    assert "judges have yet to reply" in told
    assert "4 of 12" in row(
        told.partition("Seats of the juries")[2], "medication_qa", "8 not_judged"
    )
    assert "4.000" in row(told.partition("Judges, over all models")[2], "medication_qa", "llama")
    found = json.loads(summarized(filled, "--format", "json").stdout)
    (one,) = [one for one in found if one["benchmark"] == "medication_qa"]
    assert (one["metric"], one["mean"], one["jury"]["metric"], one["jury"]["mean"]) == (
        "rouge_1",
        0.5,
        "jury_score",
        None,
    )


def test_a_jury_that_gives_everything_the_same_middle_grade_is_a_warning(tmp_path: Path):
    filled = filled_site(tmp_path)
    for n in (29, 30):
        cases = [case(number, score=3.0) for number in range(n)]
        filled.add(
            cases, entry="mtsamples_replicate:model=a/a", suite=str(n), metrics=[jury_metric()]
        )
    said = [
        CliRunner().invoke(summarize, ["--suite", str(n)], obj=filled.site).stdout for n in (29, 30)
    ]
    assert ["every answer scored the same" in told for told in said] == [False, True]


@pytest.mark.full
@pytest.mark.parametrize("more", [["--plot", "-"], ["--runs"]])
def test_tables_fit_a_terminal_of_120_columns(filled: FilledSite, more: list[str]):
    told = summarized(filled, *more).stdout
    assert max(len(line.rstrip()) for line in told.splitlines()) <= 120


def test_warnings_ranks_and_bounds_stand_where_they_matter(
    filled: FilledSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "140")
    told = summarized(filled).stdout
    assert "every answer scored the same" in told
    assert "more than 5 % unscored" in told
    gemma, llama = row(told, "pubmed_qa", "gemma"), row(told, "pubmed_qa", "llama")
    assert "0.50-0.67" in gemma
    assert (gemma.split()[5], llama.split()[5]) == ("1", "2")
    assert "Bounds: the mean if every unscored instance were wrong, or right" in told


def test_a_leaderboard_is_drawn_into_a_file_the_same_each_time(filled: FilledSite, tmp_path: Path):
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    assert "Plot written to one.svg" in summarized(filled, "--plot", str(one)).stderr
    summarized(filled, "--plot", str(other), "--format", "json")
    assert one.read_bytes() == other.read_bytes()
    root = ElementTree.parse(one).getroot()
    words = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"PubMedQA", "MTSamples", "google/gemma-3-27b-it"} <= words


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


@pytest.mark.full
def test_a_board_with_a_shy_model_has_floors_and_wins_by_them(site: Site):
    write(site, range(40))
    asked(site, f"own:model={BOLD}", f"own:model={SHY}")
    table = shown(site)
    assert "Floor" in table.splitlines()[1] + table.splitlines()[2]
    assert (
        "Floor: the mean if answers that the model left unscored (empty, unparsed, length" in table
    )
    assert (
        "Win rates and macro-averages use the floor, over 1 column of comparable results." in table
    )
    of_models = table.partition("Mean win rate")[2].splitlines()
    stand = {words[0]: words[1:] for line in of_models if len(words := line.split()) == 8}
    assert (stand[BOLD][:2], stand[SHY][:2]) == (["1", "1.000"], ["2", "0.000"])
    assert (stand[BOLD][4], stand[SHY][4]) == ("0.600", "0.250")
    rows = {row["model"]: row for row in json.loads(shown(site, "--format", "json"))}
    assert (rows[SHY]["mean"], rows[SHY]["floor"]) == (1.0, 0.25)
    assert (rows[BOLD]["mean"], rows[BOLD]["floor"]) == (0.6, 0.6)
    in_csv = {
        row["model"]: row for row in csv.DictReader(shown(site, "--format", "csv").splitlines())
    }
    assert in_csv[SHY]["floor"] == "0.25"


def test_where_all_is_answered_there_is_no_column_of_floors(site: Site):
    write(site, range(10))
    asked(site, f"own:model={BOLD}")
    assert "Floor" not in shown(site)
    assert json.loads(shown(site, "--format", "json"))[0]["floor"] == 1.0


def test_what_is_known_of_the_data_stands_below_the_table(capsys: pytest.CaptureFixture[str]):
    small = "the published database holds 7 patients"

    def summary(known: str, problem: str) -> RunSummary:
        data = {"known": known, "digest": "d", "instances": 1, "problems": [problem]}
        details = RunDetails.from_json(
            {"data": data, "scoring": "intramural", "language_model": True}
        )
        run = Run("r", "s", f"{known}:model=a", known, "a", "local/m", details, "ended", 0, 0)
        return RunSummary(
            run, (MetricSummary("m", "M", 0, 1, Mean(1, 1, 0.5, None, None, "none"), {}),)
        )

    show_summaries(
        [summary("official", small), summary("sample", "a sample")], False, "table", "Suite s"
    )
    assert f"Data of official: {small}\n" in (said := capsys.readouterr().out)
    assert "Data of sample" not in said
