"""The page of a release joins suites, and its links lead somewhere."""

import json
import posixpath
import re

from agent.exchange.helm.leaderboard import import_leaderboard
from agent.exchange.releases import make_release
from agent.service.pages import suite_slug
from tests.agent.exchange.conftest import DATA
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, graded
from tests.agent.service.leaky_texts import Markup
from tests.agent.service.pages_read import draw_html, find_matrix_row, find_row


def test_a_release_page_joins_suites_and_marks_what_was_imported(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(graded(10, 40))
    filled.add(graded(30, 40), suite="december")
    import_leaderboard(filled.site, DATA / "helm_release", "medhelm")
    make_release(filled.site, ["november", "december", "medhelm"], "winter.1")
    pages = open_pages(filled.site)
    path = f"releases/{suite_slug('winter.1')}/index.html"
    page = draw_html(pages, path)
    assert f'href="{path}"' in draw_html(pages, "index.html")
    row = find_matrix_row(page, "PubMedQA")
    assert "0.750" in row
    assert "0.250" not in row
    board = draw_html(pages, path.replace("index", "benchmarks/pubmed_qa"))
    assert "0.750" in find_row(board, "qwen/qwen2.5-7b-instruct")
    imported = find_row(board, "baseline/first-choice")
    assert ">imported</span>" in imported
    assert "href=" not in imported
    assert "unknown" in imported
    assert "results were produced elsewhere with HELM" in re.sub(r"\s+", " ", page)
    assert "from december" in page
    assert "Mean win rate" in page
    twin = pages.draw_page(path.replace(".html", ".json"))
    assert twin is not None
    shown = json.loads(twin.content)
    assert shown["suites"] == ["november", "december"]
    assert shown["leaderboards"] == [["medhelm", "v9"]]


def test_every_link_of_a_release_leads_to_a_page(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(10, 40))
    import_leaderboard(filled.site, DATA / "helm_release", "medhelm")
    make_release(filled.site, ["november", "medhelm"], "winter")
    pages = open_pages(filled.site)
    everything = dict(pages.draw_all())
    assert pages.count_pages() == sum(path.endswith(".html") for path in everything)
    for target in Markup(everything["releases/winter/index.html"].content.decode()).targets:
        if not target.startswith("#"):
            assert posixpath.normpath(posixpath.join("releases/winter", target)) in everything
