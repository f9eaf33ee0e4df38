"""The first screen of a suite is one table of benchmarks by models."""

import json
import re

from agent.results.summarize import Note
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, case, failed, graded, unscored
from tests.agent.service.pages_read import SUITE, draw_html, find_matrix_row


def test_each_cell_is_a_mean_that_leads_to_its_run_and_has_the_shade_of_its_value(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = filled.add(graded(30, 40), entry="pubmed_qa:model=a/good")
    filled.add(graded(0, 40), entry="pubmed_qa:model=b/poor")
    row = find_matrix_row(draw_html(open_pages(filled.site), SUITE), "PubMedQA")
    assert "Exact match, 0 to 1" in row
    assert f'<td class="h8"><a href="../../runs/{run_id}/index.html">0.750</a>' in row
    assert re.search(r'<td class="h0"><a [^>]*>0\.000</a>', row)


def test_a_cell_without_a_mean_says_what_is_missing(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(30, 40), entry="pubmed_qa:model=a/good")
    filled.add([failed(1)], entry="med_qa:model=b/dead")
    page = draw_html(open_pages(filled.site), SUITE)
    assert "not run" in find_matrix_row(page, "PubMedQA")
    assert ">no score: timed out</a>" in find_matrix_row(page, "MedQA")
    assert "no comparable benchmark" in find_matrix_row(page, "Rank")
    assert ">none<" not in page


def test_one_model_has_no_win_rate_and_the_page_says_why(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(30, 40))
    page = draw_html(open_pages(filled.site), SUITE)
    assert "Mean win rate" not in page
    assert "there is only one here" in page


def test_notes_are_words_at_the_widest_place_where_they_hold(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(graded(30, 40), entry="pubmed_qa:model=a/good")
    filled.add([*graded(30, 40), *map(unscored, range(40, 60))], entry="pubmed_qa:model=b/mute")
    filled.add(graded(1, 5), entry="med_qa:model=a/good")
    filled.add(graded(1, 5), entry="med_qa:model=b/mute")
    page = open_pages(filled.site).draw_page("suites/november/index.json")
    assert page is not None
    matrix = json.loads(page.content)["matrix"]
    assert matrix["notes"] == [Note.SAMPLE]  # of the whole table
    rows = {row["name"]: row for of in matrix["categories"] for row in of["rows"]}
    assert rows["MedQA"]["notes"] == [Note.FEW_UNITS]  # of one benchmark
    cells = {
        model["model"]: cell
        for model, cell in zip(matrix["models"], rows["PubMedQA"]["cells"], strict=True)
    }
    assert [result["notes"] for result in cells["a/good"]] == [[]]
    assert [result["notes"] for result in cells["b/mute"]] == [
        [Note.MANY_UNSCORED]
    ]  # of one result


def test_several_results_of_a_model_share_a_cell(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(30, 40), entry="pubmed_qa:model=a/b")
    filled.add(graded(20, 40), entry="pubmed_qa:model=a/b,temperature=0.5")
    row = find_matrix_row(draw_html(open_pages(filled.site), SUITE), "PubMedQA")
    assert row.count("<a href=") == 3
    assert ">plain</span>" in row
    assert ">temperature=0.5</span>" in row


def test_the_subset_is_in_the_name_of_its_benchmark_on_every_page(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = filled.add([case(0)], entry="med_dialog:subset=icliniq,model=a/b")
    pages = open_pages(filled.site)
    for path in (
        SUITE,
        "suites/november/benchmarks/med_dialog.html",
        "suites/november/charts.html",
        "suites/november/costs.html",
        f"runs/{run_id}/index.html",
        f"runs/{run_id}/instances-1.html",
    ):
        assert "MedDialog (icliniq)" in draw_html(pages, path), path


def test_a_model_on_one_subset_is_marked_beside_one_on_all(
    filled: FilledSite, open_pages: OpenPages
):
    for number, subset in enumerate(("healthcaremagic", "icliniq")):
        cases = [case(10 * number + n) for n in range(4)]
        filled.add(cases, entry=f"med_dialog:subset={subset},model=a/all")
    filled.add([case(10)], entry="med_dialog:subset=icliniq,model=b/part")
    row = find_matrix_row(draw_html(open_pages(filled.site), SUITE), "MedDialog")
    assert row.count("icliniq only") == 1
    assert '<a href="benchmarks/med_dialog.html">1.00</a>' in row  # of two runs
