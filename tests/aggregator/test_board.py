"""A published board: what it shows, that it repeats, and that no change of it goes unseen."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from aggregator.board.figures import in_range, roughly
from aggregator.board.publish import publish
from aggregator.board.tables import COLUMNS, without_formula
from aggregator.cli import cli
from aggregator.home import Home, today_day
from aggregator.intake import accept
from protocol.registry import Model
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.aggregator.federation import (
    CARD,
    GROUPED,
    MODELS,
    challenge_of,
    new_home,
    put_in_force,
    ready,
    registry_of,
    scores,
    scores_of_groups,
    submit,
)

HOSTILE = Model("evil/model", '<script>alert("x")</script>', '=HYPERLINK("javascript:x")', True)


def fill(home: Home) -> None:
    """Two named sites and three pooled ones report on every model; the first one twice."""
    sites = [ready(home, name) for name in ("St. Elsewhere", "{{7*7}} & <b>Co</b>")]
    sites += [ready(home, f"Hidden Hospital {number}", "pooled") for number in range(3)]
    models = [model.name for model in registry_of(home).models.values()]
    for number, site in enumerate(sites):
        for seed, model in enumerate([*models, models[0]] if number == 0 else models):
            result = site.result(
                registry_of(home), scores(10 * number + seed, right=0.5 + 0.08 * seed), model=model
            )
            envelope = site.sign(result)
            accept(home, envelope, today_day=today_day())
            site.accepted(envelope)


def publish_from(home: Home, out: Path) -> None:
    publish(home, out)


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = new_home(tmp_path_factory.mktemp("federation") / "aggregator", models=(*MODELS, HOSTILE))
    fill(home)
    return home


@pytest.fixture(scope="module")
def published(federation: Home, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("published") / "board"
    publish_from(federation, out)
    return out


@pytest.fixture
def board(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "copy"))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_same_log_gives_the_same_bytes(
    federation: Home, published: Path, tmp_path: Path
) -> None:
    publish_from(federation, tmp_path / "again")
    assert bytes_of(tmp_path / "again") == bytes_of(published)


def test_names_from_the_registry_are_only_text(published: Path) -> None:
    index, sites = (published / "index.html").read_text(), (published / "sites.html").read_text()
    assert 'alert("x")' not in index
    assert "&lt;script&gt;alert(" in index
    assert "<script" not in index
    assert "{{7*7}} &amp; &lt;b&gt;Co&lt;/b&gt;" in sites
    assert ">49 " not in sites


def csv_lines(board: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((board / "board.csv").read_text("utf-8"), newline="")))


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@pytest.mark.parametrize("start", FORMULA_STARTS)
@pytest.mark.parametrize("before", ["", " ", "   ", "\u00a0", "\u3000", "\t "])
def test_text_that_a_spreadsheet_takes_for_a_formula_is_quoted(start: str, before: str) -> None:
    text = f"{before}{start}cmd|' /C calc'!A0"
    assert without_formula(text) == "'" + text


@pytest.mark.parametrize(
    "text",
    ["", "Ward notes", "a=b", "'", "1-2", "Größe", " led by a space", "−1 (a minus sign)", "#x"],
)
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert without_formula(text) == text


def test_a_spreadsheet_finds_no_formula_in_any_column(tmp_path: Path) -> None:
    """Every text that the registry lets begin as it likes; identifiers cannot begin with a sign."""
    card = Scorecard(
        "signs",
        1,
        (BenchmarkEntry("notes", "=1+1", "@SUM(A1)", "5" * 64),),
        (Cell("notes", "exact_match", None, "private", True, 0, 1),),
    )
    home = new_home(
        tmp_path / "aggregator", scorecards=[card], models=[Model("a/b", "+1", "＝1", True)]
    )
    site = ready(home, card=card)
    result = site.result(registry_of(home), scores(1, card=card), model="a/b", card=card)
    accept(home, site.sign(result), today_day=today_day())
    publish_from(home, tmp_path / "board")
    (line,) = csv_lines(tmp_path / "board")
    assert (line["category"], line["display_name"], line["organization"]) == (
        "'@SUM(A1)",
        "'+1",
        "'＝1",
    )
    assert not [field for field in line.values() if field.startswith(FORMULA_STARTS)]


def test_the_csv_twin_has_a_line_for_every_cell(published: Path) -> None:
    content = json.loads((published / "board.json").read_bytes())["scorecards"][0]
    lines = csv_lines(published)
    assert len(lines) == 4 * 3
    assert lines[0].keys() == set(COLUMNS)
    for line in lines:
        (model,) = [model for model in content["models"] if model["name"] == line["model"]]
        cell = model["cells"][
            "/".join(filter(None, (line["benchmark"], line["metric"], line["subgroup"])))
        ]
        assert line["value"] == f"{cell['value'] / 1000:.3f}"
        assert (line["sites"], line["sites_left_out"]) == (
            str(cell["sites"]),
            str(cell["sites_left_out"]),
        )


def overview_of(index: str) -> dict[str, str]:
    """Return the overview's rows as text by the model's name."""
    rows = index.split("</thead>")[1].split("</table>", maxsplit=1)[0].split("<tr>")[1:]
    by_model = {}
    for row in rows:
        name = re.search(r'<a href="[^"]*models/[^"]*">([^<]+)</a>', row)
        assert name is not None
        by_model[name[1]] = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", row)).strip()
    return by_model


def ranks_of(index: str) -> list[str]:
    """Return the overview's first column."""
    return [row.split(" ", 1)[0] for row in overview_of(index).values()]


def test_baselines_have_no_rank_and_push_no_model_down(published: Path) -> None:
    index = (published / "index.html").read_text()
    ranks = ranks_of(index)
    assert sorted(ranks) == ["1", "2", "3", "–"]
    assert ranks != ["1", "2", "3", "–"], (
        "the baseline must not be the last one, or this shows nothing"
    )


def test_baselines_are_marked_as_no_language_models(published: Path) -> None:
    rows = overview_of((published / "index.html").read_text())
    assert [name for name, row in rows.items() if "not a language model" in row] == ["First choice"]


def test_a_board_of_baselines_alone_says_so(published: Path, tmp_path: Path) -> None:
    home = new_home(tmp_path / "aggregator", models=[MODELS[2]])
    site = ready(home)
    accept(
        home,
        site.sign(site.result(registry_of(home), scores(1), model=MODELS[2].name)),
        today_day=today_day(),
    )
    publish_from(home, tmp_path / "board")
    index = (tmp_path / "board/index.html").read_text()
    assert "No language model has been reported" in index
    assert ranks_of(index) == ["–"]
    assert "No language model has been reported" not in (published / "index.html").read_text()


def test_a_result_that_leaves_questions_out_is_marked(tmp_path: Path) -> None:
    home = new_home(tmp_path / "aggregator", models=MODELS[:2])
    site = ready(home)
    for model, outcome in ((MODELS[0], "complete"), (MODELS[1], "partial")):
        result = site.result(registry_of(home), scores(1), model=model.name)
        envelope = site.sign(replace(result, outcome=outcome))
        accept(home, envelope, today_day=today_day())
        site.accepted(envelope)
    publish_from(home, tmp_path / "board")
    rows = overview_of((tmp_path / "board/index.html").read_text())
    assert "partial" in rows[MODELS[1].display_name]
    assert "partial" not in rows[MODELS[0].display_name]
    said = {
        line["model"]: line["sites_with_partial_results"] for line in csv_lines(tmp_path / "board")
    }
    assert said == {MODELS[0].name: "0", MODELS[1].name: "1"}
    (card,) = json.loads((tmp_path / "board/board.json").read_bytes())["scorecards"]
    assert {model["name"]: str(model["counts"]["partial"]) for model in card["models"]} == said


def test_sites_that_publish_pooled_are_named_nowhere(published: Path, federation: Home) -> None:
    everything = b"".join(bytes_of(published).values())
    assert b"Hidden Hospital" not in everything
    assert b"3 sites contribute" in everything
    hidden = [
        site
        for site, entry in registry_of(federation).sites.items()
        if entry.publication == "pooled"
    ]
    pages = b"".join(path.read_bytes() for path in published.glob("*.*"))
    assert len(hidden) == 3
    assert not [site for site in hidden if site.encode() in pages]


def test_the_json_twin_says_what_the_page_says(published: Path) -> None:
    content = json.loads((published / "board.json").read_bytes())
    index = (published / "index.html").read_text()
    card = content["scorecards"][0]
    for model in card["models"]:
        assert f"{model['mean_win_rate'] / 1000:.3f}" in index
        for benchmark in card["benchmarks"]:
            cell = model["cells"][benchmark["main"]]
            assert cell["state"] == "value"
            page = (published / f"cards/pilot-1/benchmarks/{benchmark['id']}.html").read_text()
            assert f"{cell['low'] / 1000:.3f} to {cell['high'] / 1000:.3f}" in page
            assert f">.{cell['value']:03d}</td>" in index
    assert len(content["results_of_named_sites"]) == 2 * 4


def test_figures_are_written_in_the_metrics_own_range() -> None:
    share, rating = (
        Cell("b", "m", None, "public", True, 0, 1),
        Cell("b", "m", None, "public", False, 1, 5),
    )
    assert [in_range(value, share) for value in (0, 5, 735, 1000)] == [
        "0.000",
        "0.005",
        "0.735",
        "1.000",
    ]
    assert [in_range(value, rating) for value in (0, 250, 333, 1000)] == [
        "1.00",
        "2.00",
        "2.33",
        "5.00",
    ]
    assert in_range(None, share) == ""
    assert in_range(250, Cell("b", "m", None, "public", False, -1, 1)) == "-0.50"
    assert [roughly(units) for units in (7, 58, 493, 1068, 15_500)] == [
        "7",
        "58",
        "490",
        "1,100",
        "16,000",
    ]


# Groups, plans and withdrawals.


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with subgroups: of two models, one planned and withdrawn once; its site has been reset since."""
    home = new_home(tmp_path_factory.mktemp("grouped") / "aggregator", scorecards=[CARD, GROUPED])
    site = ready(home, card=GROUPED)
    mistaken = site.result(registry_of(home), scores_of_groups(1, right=0.9), card=GROUPED)
    submit(home, site, site.withdraw(registry_of(home), submit(home, site, mistaken)))
    plan = site.sign(site.plan(registry_of(home), card=GROUPED))
    accept(home, plan, today_day=today_day())
    digest, challenge = site.accepted(plan), challenge_of(home, plan)
    planned = site.result(registry_of(home), scores_of_groups(2), card=GROUPED)
    submit(home, site, replace(planned, plan=digest, challenge=challenge))
    request = site.reset(registry_of(home))
    put_in_force(home, request)
    site.accepted(request)
    small = site.result(
        registry_of(home), scores_of_groups(3, right=0.5), card=GROUPED, model=MODELS[1].name
    )
    submit(home, site, small)
    out = tmp_path_factory.mktemp("grouped-board") / "board"
    publish_from(home, out)
    return out


def test_a_board_with_every_kind_of_statement_is_identical(grouped: Path) -> None:
    done = CliRunner().invoke(cli, ["verify", "--board", str(grouped)])
    assert done.exit_code == 0, done.output


def table_of(page: str, caption: str) -> str:
    """Return the table with this caption."""
    return page[page.index(f"<span>{caption}") :].split("</table>", maxsplit=1)[0]


def test_a_published_group_stands_beside_a_suppressed_one_with_the_words_why(grouped: Path) -> None:
    page = (grouped / "cards/wards-1/benchmarks/discharge.html").read_text()
    assert "under 40" in table_of(page, "Discharge letters by age")
    table = table_of(page, "Discharge letters by sex")
    assert re.search(r'<span class="score">0\.\d+</span>', table)
    mark = re.search(r'suppressed</span><a class="state-note" href="#(note-[^"]+)"', table)
    assert mark is not None
    note = re.search(rf'<li id="{mark[1]}">.*?</li>', page)
    assert note is not None
    assert "could be found by subtraction" in note[0]


def test_a_metric_that_never_leaves_has_no_column_among_the_groups(grouped: Path) -> None:
    page = (grouped / "cards/wards-1/benchmarks/discharge.html").read_text()
    assert "rouge l" in table_of(page, "Other metrics of the same answers")
    assert "A site releases only the first figure" in page
    assert "rouge l" not in table_of(page, "Discharge letters by age")


def test_the_twins_say_why_a_figure_is_suppressed(grouped: Path) -> None:
    (card,) = json.loads((grouped / "board.json").read_bytes())["scorecards"]
    for model in card["models"]:
        cells = model["cells"]
        assert cells["discharge/rouge_l"]["why_suppressed"] == "another metric"
        assert "why_suppressed" not in cells["discharge/exact_match"]
        assert cells["discharge/exact_match/sex.other"]["why_suppressed"] == "small group"
    for line in csv_lines(grouped):
        assert (line["state"] == "suppressed") == (line["why_suppressed"] != "")


def test_a_withdrawn_result_is_off_the_board_and_in_the_log(grouped: Path) -> None:
    content = json.loads((grouped / "board.json").read_bytes())
    assert content["withdrawn_results"] == [
        {"log_position": 2, "reason": "data_error", "withdrawn_at": 3}
    ]
    assert [line["log_position"] for line in content["results_of_named_sites"]] == [5, 7]
    sites = (grouped / "sites.html").read_text()
    assert "Log entry 2, withdrawn in entry 3: an error in the data." in sites
    assert len((grouped / "log/entries/000.p/8").read_bytes().splitlines()) == 8


def test_a_result_without_a_plan_is_marked(grouped: Path) -> None:
    rows = overview_of((grouped / "index.html").read_text())
    assert " planned" in rows[MODELS[0].display_name]
    assert "unplanned" in rows[MODELS[1].display_name]
    content = json.loads((grouped / "board.json").read_bytes())
    unplanned = {
        model["name"]: model["counts"]["unplanned"] for model in content["scorecards"][0]["models"]
    }
    assert unplanned == {MODELS[0].name: 0, MODELS[1].name: 1}
    assert {line["model"]: line["planned"] for line in content["results_of_named_sites"]} == {
        MODELS[0].name: True,
        MODELS[1].name: False,
    }
    assert "Without a plan, a site may have tried" in (grouped / "methods.html").read_text()
