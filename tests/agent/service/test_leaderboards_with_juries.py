"""What pages show beside the means: juries, ranks, bounds, win rates with intervals, and drawings."""

import html
import json
import re
from pathlib import Path

import pytest

from agent.exchange.shown_names import ShownNames
from agent.redaction.gateway.cases import Redacting
from agent.service.pages import SitePages
from tests.agent.cli.judged_suite import JUDGES, judged_run
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, failed, filled_site, graded, unscored

SUITE = "suites/november/index.html"
FREE = "judge of Dr Anna Kowalska"


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    filled = filled_site(tmp_path)
    judged_run(filled, "meta/llama-3.1-8b-instruct", 3)
    judged_run(filled, "google/gemma-3-27b-it", 4)
    filled.add(
        [*graded(60, 100), *map(unscored, range(100, 120))],
        entry="pubmed_qa:model=google/gemma-3-27b-it",
    )
    filled.add(graded(20, 120), entry="pubmed_qa:model=meta/llama-3.1-8b-instruct")
    return filled


def shown(pages: SitePages, path: str = SUITE) -> str:
    page = pages.draw_page(path)
    assert page is not None
    return re.sub(r"\s+", " ", page.content.decode())


def test_the_suite_page_shows_ranks_bounds_and_what_each_jury_did(
    filled: FilledSite, open_pages: OpenPages
):
    pages = open_pages(filled.site)
    page = shown(pages, "suites/november/benchmarks/pubmed_qa.html")
    assert "bounds 0.500 to 0.667" in page
    assert "rank 1<" in page
    juries = shown(pages, "suites/november/juries.html")
    assert "111 of 120" in juries
    assert "8 no json, 1 timed out" in juries
    assert "32 answers, without llama" in juries
    assert "accuracy 3." in juries
    front = shown(pages).partition('<tbody class="front">')[2].partition("</tbody>")[0]
    assert front.count("<tr>") == 3
    assert "Macro-average" in front


def test_the_suite_page_says_what_is_in_no_rank_and_why(filled: FilledSite, open_pages: OpenPages):
    filled.add([*graded(3, 3), *map(failed, range(3, 120))], entry="pubmed_qa:model=b/lucky")
    page = shown(open_pages(filled.site))
    reason = "more than 5 % without a score for reasons other than the model's own"
    assert f"Not in any rank or win rate: 1 result ({reason})." in html.unescape(page)


def test_a_run_page_shows_its_jury_too(filled: FilledSite, open_pages: OpenPages):
    with filled.site.store() as store:
        run = next(
            run for run in store.runs.select("november") if run.benchmark == "mtsamples_replicate"
        )
    assert "Seats filled" in shown(open_pages(filled.site), f"runs/{run.run_id}/index.html")


def test_drawings_on_the_page_are_the_figures_of_its_json(
    filled: FilledSite, open_pages: OpenPages
):
    pages = open_pages(filled.site)
    page = pages.draw_page("suites/november/index.json")
    assert page is not None
    chart = json.loads(page.content)["leaderboard"]["chart"]
    drawn = shown(pages, "suites/november/charts.html")
    for panel in chart["panels"]:
        assert f">{panel['title']}</text>" in drawn
        for point in panel["points"]:
            assert f">{point['said']}</text>" in drawn
    assert drawn.count('role="img"') == 2
    assert drawn.count('tabindex="0"') == 2
    assert " style=" not in drawn  # the pages' own rules let no inline style in


def test_a_model_whose_name_is_markup_is_text_in_a_drawing(
    filled: FilledSite, open_pages: OpenPages
):
    name = "<script>alert(1)</script>"
    with filled.site.store() as store:
        store.database.connection.execute(
            "UPDATE runs SET model = ? WHERE model LIKE 'google%'", (name,)
        )
        store.database.connection.commit()
    page = shown(open_pages(filled.site), "suites/november/charts.html")
    assert "<script" not in page
    assert html.escape(name) in page.partition("</h1>")[2]


def test_exported_pages_call_a_judge_of_free_name_by_a_label(tmp_path: Path, redacting: Redacting):
    filled = filled_site(tmp_path)
    judged_run(
        filled, "microsoft/phi-4", 3, judges=[*JUDGES[:2], ["site/phi", "microsoft/phi-4", FREE]]
    )
    with filled.site.store() as store:
        plain = SitePages("x", store, redacting)
        juries = "suites/november/juries.html"
        assert FREE in shown(plain, juries)
        exported = SitePages("x", store, redacting, names=ShownNames(store))
        for path in (juries, SUITE.replace(".html", ".json")):
            page = shown(exported, path)
            assert FREE not in page
            assert re.search(r"judge_[0-9a-f]{8}", page)
