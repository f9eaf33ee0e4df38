"""Releases and imported leaderboards: later suites win, imported figures are marked and never mixed with ours."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.leaderboard import import_leaderboard
from agent.exchange.releases import make_release, release_summaries
from agent.results.summarize import Note, compare_summaries
from agent.site.directory import Site
from tests.agent.exchange.conftest import DATA
from tests.agent.service.filled_site import MODEL, FilledSite, graded

RELEASE = DATA / "helm_release"
BASELINE = "baseline/first-choice"


@pytest.fixture
def joined(filled: FilledSite) -> FilledSite:
    """Two suites with one run in both, and an imported leaderboard."""
    filled.add(graded(10, 40))
    filled.add(graded(20, 40), entry="med_mcqa:model=a/b")
    filled.add(graded(30, 40), suite="december")
    import_leaderboard(filled.site, RELEASE, "medhelm")
    return filled


def run(site: Site, *words: str) -> str:
    done = CliRunner().invoke(intramural, ["--site", str(site.directory), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def edit(path: Path, change: Any) -> None:
    value = json.loads(path.read_text("utf-8"))
    change(value)
    path.write_text(json.dumps(value), "utf-8")


def test_the_later_suite_wins_with_a_note(joined: FilledSite):
    (note,) = make_release(joined.site, ["november", "december"], "R1")
    assert "the one of december stands" in note
    means = {s.run.benchmark: s.main.mean.value for s in release_summaries(joined.site, "R1")}
    assert means == {"pubmed_qa": 0.75, "med_mcqa": 0.5}
    assert make_release(joined.site, ["december", "november"], "R1") != [note]
    means = {s.run.benchmark: s.main.mean.value for s in release_summaries(joined.site, "R1")}
    assert means == {"pubmed_qa": 0.25, "med_mcqa": 0.5}


def test_a_release_shows_what_its_suites_hold_now(joined: FilledSite):
    make_release(joined.site, ["november"], "R1")
    before = len(release_summaries(joined.site, "R1"))
    joined.add(graded(1, 40), entry="med_qa:model=a/b")
    assert len(release_summaries(joined.site, "R1")) == before + 1


@pytest.mark.parametrize(
    ("suites", "release", "told"),
    [
        (["november", "nowhere"], "R1", "no suite or imported leaderboard nowhere .*december.*medhelm"),
        (["november", "november"], "R1", "names a suite twice: november"),
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


def test_a_leaderboards_figures_are_those_of_its_files_marked_and_without_intervals(joined: FilledSite):
    make_release(joined.site, ["medhelm"], "R1")
    found = {(s.run.benchmark, s.run.model): s for s in release_summaries(joined.site, "R1")}
    (table,) = json.loads((RELEASE / "groups" / "pubmed_qa.json").read_text("utf-8"))
    first = {row[0]["value"]: row[1]["value"] for row in table["rows"]}
    assert {model: s.main.mean.value for (name, model), s in found.items() if name == "pubmed_qa"} == first
    summary = found["pubmed_qa", BASELINE]
    assert (summary.main.metric, summary.main.mean.low, summary.main.mean.method) == ("exact_match", None, "none")
    assert {Note.IMPORTED, Note.HELM} <= set(summary.notes(summary.main))
    assert summary.run.details.category == "Medical Research Assistance"
    assert found["medec", BASELINE].main.metric == "medec_error_flag_accuracy"


def test_what_was_measured_here_is_not_averaged_with_what_was_imported(joined: FilledSite):
    joined.add(graded(40, 40), entry=f"pubmed_qa:model={BASELINE}", suite="december", language_model=False)
    make_release(joined.site, ["december", "medhelm"], "R1")
    rates = compare_summaries(release_summaries(joined.site, "R1")).rates
    assert rates[BASELINE] is not None
    assert rates[BASELINE] > rates["baseline/random"]  # type: ignore[operator]
    # The imported 0.56 would put it below the 0.75 of the other model.
    pubmed = [s for s in release_summaries(joined.site, "R1") if s.run.benchmark == "pubmed_qa"]
    assert compare_summaries(pubmed).rates[BASELINE] == 1.0
    assert compare_summaries(pubmed).rates[MODEL] == 0.0


def test_the_same_leaderboard_again_is_the_same_as_once(joined: FilledSite):
    with joined.site.store() as store:
        before = store.releases.read_leaderboard_cells("medhelm")
    import_leaderboard(joined.site, RELEASE, "medhelm")
    with joined.site.store() as store:
        assert store.releases.read_leaderboard_cells("medhelm") == before
        assert len(store.releases.read_leaderboards()) == 1


def test_a_leaderboard_never_takes_the_name_of_a_suite(joined: FilledSite):
    with pytest.raises(ConfigError, match="there is a suite of the name november"):
        import_leaderboard(joined.site, RELEASE, "november")


def test_many_jury_scores_under_one_heading_are_not_mistaken_for_each_other(joined: FilledSite, tmp_path: Path):
    board = shutil.copytree(RELEASE, tmp_path / "release")

    def two_of_one_heading(schema: Any) -> None:
        other = {"name": "aci_bench_accuracy", "display_name": "x", "short_display_name": "EM"}
        schema["metrics"].insert(0, other)

    edit(board / "schema.json", two_of_one_heading)
    import_leaderboard(joined.site, board, "medhelm")
    with joined.site.store() as store:
        metrics = {
            cell.metric for cell in store.releases.read_leaderboard_cells("medhelm") if cell.benchmark == "pubmed_qa"
        }
    assert metrics == {"exact_match"}


def test_a_benchmark_that_is_not_known_here_keeps_its_name(joined: FilledSite, tmp_path: Path):
    board = shutil.copytree(RELEASE, tmp_path / "release")
    edit(
        board / "schema.json",
        lambda schema: [group.update(name="airways") for group in schema["run_groups"] if group["name"] == "pubmed_qa"],
    )
    (board / "groups" / "pubmed_qa.json").rename(board / "groups" / "airways.json")
    import_leaderboard(joined.site, board, "medhelm")
    make_release(joined.site, ["medhelm"], "R1")
    assert "airways" in {s.run.benchmark for s in release_summaries(joined.site, "R1")}


def no_schema(board: Path) -> None:
    (board / "schema.json").unlink()


def cut(board: Path) -> None:
    path = board / "groups" / "pubmed_qa.json"
    path.write_bytes(path.read_bytes()[:700])


def nan(board: Path) -> None:
    edit(board / "groups" / "pubmed_qa.json", lambda t: t[0]["rows"][0][1].update(value=float("nan")))


def text_for_number(board: Path) -> None:
    edit(board / "groups" / "pubmed_qa.json", lambda t: t[0]["rows"][0][1].update(value="SECRETWORD"))


def short_row(board: Path) -> None:
    edit(board / "groups" / "pubmed_qa.json", lambda t: t[0]["rows"][0].pop())


def path_trick(board: Path) -> None:
    edit(board / "schema.json", lambda s: s["run_groups"][-1].update(name="../../secret"))


def link(board: Path) -> None:
    (board / "groups" / "pubmed_qa.json").unlink()
    (board / "groups" / "pubmed_qa.json").symlink_to("/etc/passwd")


def control(board: Path) -> None:
    edit(board / "groups" / "pubmed_qa.json", lambda t: t[0]["rows"][0][0].update(value="\x1b[31mmodel"))


def empty(board: Path) -> None:
    shutil.rmtree(board / "groups")


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (no_schema, "schema.json: the file is missing"),
        (cut, "pubmed_qa.json: not JSON at line"),
        (nan, "pubmed_qa.json: a number that is none"),
        (text_for_number, r"pubmed_qa.json \[0\].rows\[0\]\[1\].value: expected a number"),
        (short_row, r"pubmed_qa.json \[0\].rows\[0\]: expected \d cells"),
        (path_trick, "schema.json run_groups.*name: expected a name without /"),
        (link, "pubmed_qa.json: expected a plain file, not a link"),
        (control, r"rows\[0\]\[0\].value: expected a name"),
        (empty, "no table of groups/ holds a figure"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_spoilt_leaderboard_is_refused_by_place_and_nothing_is_kept(
    filled: FilledSite, tmp_path: Path, spoil: Any, where: str
):
    board = shutil.copytree(RELEASE, tmp_path / "release")
    spoil(board)
    with pytest.raises(BenchmarkError, match=where) as refused:
        import_leaderboard(filled.site, board)
    assert "SECRETWORD" not in str(refused.value)
    with filled.site.store() as store:
        assert store.releases.read_leaderboards() == []


def test_the_commands_join_show_and_view_a_release(joined: FilledSite, tmp_path: Path):
    shown = run(joined.site, "summarize", "--suites", "november", "december", "medhelm", "--release", "winter")
    assert "Release winter" in shown
    assert "imported from HELM" in shown
    assert "is in several suites" in shown
    rows = json.loads(run(joined.site, "summarize", "--release", "winter", "--format", "json"))
    imported = [row for row in rows if "imported from HELM" in row["notes"]]
    assert {row["model"] for row in imported} == {BASELINE, "baseline/random"}
    assert {row["low"] for row in imported} == {None}
    done = run(joined.site, "view", "--release", "winter", "--export", str(tmp_path / "pages"))
    assert "open releases/winter/index.html there" in done
    assert "Release winter" in (tmp_path / "pages" / "releases" / "winter" / "index.html").read_text("utf-8")


def test_a_release_that_is_not_there_is_told_by_every_command(joined: FilledSite):
    make_release(joined.site, ["november"], "R1")
    for words in (["summarize", "--release", "R2"], ["view", "--release", "R2"]):
        with pytest.raises(ConfigError, match=r"there is no release R2 \(releases here: R1\)"):
            CliRunner().invoke(
                intramural,
                ["--site", str(joined.site.directory), *words],
                catch_exceptions=False,
                standalone_mode=False,
            )


def test_the_import_commands_say_what_was_kept_and_what_comes_next(filled: FilledSite):
    said = run(filled.site, "import", "helm", str(DATA / "helm_output"))
    assert "airways:model=simple_model1: 4 instances into suite real" in said
    assert "not in this catalogue" in said
    assert "--suites SUITE medhelm" in run(
        filled.site, "import", "helm-leaderboard", str(RELEASE), "--release", "medhelm"
    )
