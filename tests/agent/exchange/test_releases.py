"""Releases and imported leaderboards: later suites win, imported figures are marked and never mixed with ours."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.exchange.helm.leaderboard import import_leaderboard
from agent.exchange.releases import make_release, summarise_release
from agent.results.summarize import Note, compare_summaries
from agent.site.directory import Site
from tests.agent.exchange.conftest import DATA, RELEASE
from tests.agent.service.filled_site import MODEL, FilledSite, graded

BASELINE = "baseline/first-choice"


def run(site: Site, *words: str) -> str:
    done = CliRunner().invoke(
        intramural, ["--site", str(site.directory), *words], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return done.output


def test_the_later_suite_wins_with_a_note(joined: FilledSite):
    (note,) = make_release(joined.site, ["november", "december"], "R1")
    assert "the run from december is used" in note
    means = {s.run.benchmark: s.main.mean.value for s in summarise_release(joined.site, "R1")}
    assert means == {"pubmed_qa": 0.75, "med_mcqa": 0.5}
    assert make_release(joined.site, ["december", "november"], "R1") != [note]
    means = {s.run.benchmark: s.main.mean.value for s in summarise_release(joined.site, "R1")}
    assert means == {"pubmed_qa": 0.25, "med_mcqa": 0.5}


def test_a_release_shows_what_its_suites_hold_now(joined: FilledSite):
    make_release(joined.site, ["november"], "R1")
    before = len(summarise_release(joined.site, "R1"))
    joined.add(graded(1, 40), entry="med_qa:model=a/b")
    assert len(summarise_release(joined.site, "R1")) == before + 1


@pytest.mark.parametrize(
    ("suites", "release", "told"),
    [
        (
            ["november", "nowhere"],
            "R1",
            "no suite or imported leaderboard nowhere .*december.*medhelm",
        ),
        (["november", "november"], "R1", "names november more than once"),
        ([], "R1", "at least one suite"),
        (["november"], "../R1", "a release's name has"),
    ],
)
def test_a_release_of_nothing_or_of_a_wrong_name_is_refused(
    joined: FilledSite, suites: list[str], release: str, told: str
):
    with pytest.raises(ConfigError, match=told):
        make_release(joined.site, suites, release)
    with joined.site.store() as store:
        assert store.releases.read_all() == []


def test_a_leaderboards_figures_are_those_of_its_files_marked_and_without_intervals(
    joined: FilledSite,
):
    make_release(joined.site, ["medhelm"], "R1")
    found = {(s.run.benchmark, s.run.model): s for s in summarise_release(joined.site, "R1")}
    (table,) = json.loads((RELEASE / "groups" / "pubmed_qa.json").read_text("utf-8"))
    first = {row[0]["value"]: row[1]["value"] for row in table["rows"]}
    assert {
        model: s.main.mean.value for (name, model), s in found.items() if name == "pubmed_qa"
    } == first
    summary = found["pubmed_qa", BASELINE]
    assert (summary.main.metric, summary.main.mean.low, summary.main.mean.method) == (
        "exact_match",
        None,
        "none",
    )
    assert {Note.IMPORTED, Note.HELM} <= set(summary.notes(summary.main))
    assert summary.run.details.category == "Medical Research Assistance"
    assert found["medec", BASELINE].main.metric == "medec_error_flag_accuracy"


def test_what_was_measured_here_is_not_averaged_with_what_was_imported(joined: FilledSite):
    joined.add(
        graded(40, 40), entry=f"pubmed_qa:model={BASELINE}", suite="december", language_model=False
    )
    make_release(joined.site, ["december", "medhelm"], "R1")
    rates = compare_summaries(summarise_release(joined.site, "R1")).rates
    assert rates[BASELINE] is not None
    assert rates[BASELINE] > rates["baseline/random"]  # type: ignore[operator]
    # The imported 0.56 would put it below the 0.75 of the other model.
    pubmed = [s for s in summarise_release(joined.site, "R1") if s.run.benchmark == "pubmed_qa"]
    assert compare_summaries(pubmed).rates[BASELINE] == 1.0
    assert compare_summaries(pubmed).rates[MODEL] == 0.0


def test_the_commands_join_show_and_view_a_release(joined: FilledSite, tmp_path: Path):
    shown = run(
        joined.site,
        "summarize",
        "--suites",
        "november",
        "december",
        "medhelm",
        "--release",
        "winter",
    )
    assert "Release winter" in shown
    assert "imported from HELM" in shown
    assert "is in several suites" in shown
    rows = json.loads(run(joined.site, "summarize", "--release", "winter", "--format", "json"))
    imported = [row for row in rows if "imported from HELM" in row["notes"]]
    assert {row["model"] for row in imported} == {BASELINE, "baseline/random"}
    assert {row["low"] for row in imported} == {None}
    done = run(joined.site, "view", "--release", "winter", "--export", str(tmp_path / "pages"))
    assert "open releases/winter/index.html there" in done
    assert "Release winter" in (
        tmp_path / "pages" / "releases" / "winter" / "index.html"
    ).read_text("utf-8")


def test_a_release_that_is_not_there_is_told_by_every_command(joined: FilledSite):
    make_release(joined.site, ["november"], "R1")
    for words in (["summarize", "--release", "R2"], ["view", "--release", "R2"]):
        with pytest.raises(ConfigError, match=r"there is no release R2 \(existing: R1, medhelm\)"):
            CliRunner().invoke(
                intramural,
                ["--site", str(joined.site.directory), *words],
                catch_exceptions=False,
                standalone_mode=False,
            )


def test_the_import_commands_say_what_was_kept_and_what_comes_next(filled: FilledSite):
    said = run(filled.site, "import", "helm", str(DATA / "helm_output"))
    assert "airways:model=simple_model1: 4 instances into suite real" in said
    assert "a benchmark that this site does not have" in said
    assert "--suites SUITE medhelm" in run(
        filled.site, "import", "helm-leaderboard", str(RELEASE), "--release", "medhelm"
    )


def test_an_imported_leaderboard_is_shown_under_its_own_name_without_joining_anything(
    joined: FilledSite, tmp_path: Path
):
    import_leaderboard(joined.site, RELEASE)  # under HELM's own name, v9
    shown = run(joined.site, "summarize", "--release", "v9")
    assert "Release v9" in shown
    assert "each a separate unit" not in shown
    rows = json.loads(run(joined.site, "summarize", "--release", "v9", "--format", "json"))
    assert {row["n"] for row in rows if row["benchmark"] == "pubmed_qa"} == {25}
    assert {row["units"] for row in rows} == {None}
    done = run(joined.site, "view", "--release", "v9", "--export", str(tmp_path / "pages"))
    assert "open releases/v9/index.html there" in done
    page = (tmp_path / "pages" / "releases" / "v9" / "index.html").read_text("utf-8")
    assert "PubMedQA" in page
    assert not (tmp_path / "pages" / "suites").exists()


def test_a_release_of_suites_hides_the_leaderboard_whose_name_it_takes(joined: FilledSite):
    make_release(joined.site, ["november", "medhelm"], "medhelm")
    models = {summary.run.model for summary in summarise_release(joined.site, "medhelm")}
    assert MODEL in models
    assert BASELINE in models
