"""Pages compare models with the figures of the command, and show the answers of two runs side by side."""

import json
import re

from agent.results.compare_models import compare_models
from agent.results.paired_models import pair_models
from agent.service.comparison_views import MAX_WRITTEN_MODELS
from agent.service.pages import suite_slug
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, case, failed, graded
from tests.agent.service.leaky_texts import CANARIES, LEAKY, leak
from tests.agent.service.pages_read import draw_html

A, B = "a/good", "b/fair"
PAIR = f"suites/november/compare/{suite_slug(A)}/{suite_slug(B)}"


def fill(filled: FilledSite) -> tuple[str, str]:
    """Two models that differ in four of 40 answers; return the ids of their runs on the same questions."""
    good = filled.add(graded(30, 40), entry=f"pubmed_qa:model={A}")
    fair = filled.add(graded(26, 40), entry=f"pubmed_qa:model={B},temperature=0.5")
    filled.add(graded(30, 40), entry=f"med_qa:model={A}")
    return good, fair


def test_two_models_are_compared_as_by_the_command(filled: FilledSite, open_pages: OpenPages):
    fill(filled)
    with filled.site.store() as store:
        comparison = compare_models(pair_models(store, ["november"], A, B))
    (line,) = comparison.benchmarks
    pages = open_pages(filled.site)
    page = " ".join(re.sub(r"<.*?>", " ", draw_html(pages, f"{PAIR}.html")).split())
    assert (
        f"{line.difference.value:.3f} {line.difference.low:.3f} to {line.difference.high:.3f}"
        in page
    )
    assert line.describe() in page
    assert "MedQA: " in page  # was not asked of both
    assert "Temperature 0 0.5" in page
    view = pages.draw_page(f"{PAIR}.json")
    assert view is not None
    assert json.loads(view.content)["lines"][0]["difference"]["n"] == line.difference.n


def test_every_pair_has_a_link_and_a_model_is_not_compared_with_itself(
    filled: FilledSite, open_pages: OpenPages
):
    fill(filled)
    pages = open_pages(filled.site)
    assert 'href="compare.html"' in draw_html(pages, "suites/november/index.html")
    page = draw_html(pages, "suites/november/compare.html")
    assert f'href="compare/{suite_slug(A)}/{suite_slug(B)}.html"' in page
    assert pages.draw_page(f"suites/november/compare/{suite_slug(A)}/{suite_slug(A)}.html") is None
    assert pages.draw_page("suites/november/compare/none/none.html") is None


def test_a_model_of_several_deployments_is_compared_by_deployment(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(graded(9, 10), entry=f"pubmed_qa:model={A}")
    filled.add(graded(8, 10), entry=f"pubmed_qa:model={A}", server="http://127.0.0.1:10/v1")
    page = draw_html(open_pages(filled.site), "suites/november/compare.html")
    assert page.count('href="compare/') == 1
    assert "server-" in page


def test_answers_stand_side_by_side_those_that_differ_first(
    filled: FilledSite, open_pages: OpenPages
):
    good, fair = fill(filled)
    pages = open_pages(filled.site)
    view = pages.draw_page(f"runs/{good}/instances-beside-{fair}-1.json")
    assert view is not None
    beside = json.loads(view.content)
    assert (beside["instances"], beside["differing"], beside["pages"]) == (40, 4, 2)
    assert [pair["a"]["case"]["position"] for pair in beside["pairs"]][:5] == [26, 27, 28, 29, 0]
    assert all(pair["a"]["case"]["key"] == pair["b"]["case"]["key"] for pair in beside["pairs"])
    page = draw_html(pages, f"runs/{good}/instances-beside-{fair}-1.html")
    assert "4 of the 40 instances" in page
    assert pages.draw_page(f"runs/{good}/instances-beside-{fair}-3.html") is None
    assert pages.draw_page(f"runs/{good}/instances-beside-none-1.html") is None


def test_an_instance_that_only_one_model_scored_differs_most(
    filled: FilledSite, open_pages: OpenPages
):
    one = filled.add([case(0), case(1), case(2)], entry=f"pubmed_qa:model={A}")
    two = filled.add([case(0), case(1, score=0.0), failed(2)], entry=f"pubmed_qa:model={B}")
    view = open_pages(filled.site).draw_page(f"runs/{one}/instances-beside-{two}-1.json")
    assert view is not None
    pairs = json.loads(view.content)["pairs"]
    assert [pair["a"]["case"]["position"] for pair in pairs] == [2, 1, 0]


def test_runs_of_two_benchmarks_have_no_page_side_by_side(
    filled: FilledSite, open_pages: OpenPages
):
    one = filled.add([case(0)], entry=f"pubmed_qa:model={A}")
    other = filled.add([case(0)], entry=f"med_qa:model={B}")
    assert open_pages(filled.site).draw_page(f"runs/{one}/instances-beside-{other}-1.html") is None


def test_planted_identifiers_are_not_beside_each_other_either(
    filled: FilledSite, open_pages: OpenPages
):
    one = leak(filled, LEAKY, entry=f"pubmed_qa:model={A}")
    two = leak(filled, LEAKY, entry=f"pubmed_qa:model={B}")
    page = draw_html(open_pages(filled.site), f"runs/{one}/instances-beside-{two}-1.html")
    assert page.count('<details class="case">') == 1
    assert [canary for canary in CANARIES if canary in page] == []


def test_pairs_of_many_models_are_not_written_as_files(filled: FilledSite, open_pages: OpenPages):
    for number in range(MAX_WRITTEN_MODELS + 1):
        filled.add([case(0)], entry=f"pubmed_qa:model=m/{number}")
    pages = open_pages(filled.site)
    drawn = dict(pages.draw_all())
    assert len(drawn) == 1 + 2 * pages.count_pages()
    assert not [path for path in drawn if "/compare/" in path]
    assert 'href="compare/' not in drawn["suites/november/compare.html"].content.decode()
