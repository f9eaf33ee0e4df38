"""What pages show, what they must never show, and that every link leads somewhere."""

import json
import posixpath
import re
import sqlite3
from urllib.parse import unquote

import pytest

from agent.errors import StoreError
from agent.redaction import Redactor
from agent.redaction.gateway.cases import Redacting
from agent.service.pages import PageFile, SitePages, suite_slug
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.leaky_texts import CANARIES, LEAKY, Markup, leak
from tests.agent.service.pages_read import draw_html


def test_planted_identifiers_are_on_no_page_and_in_no_twin(
    filled: FilledSite, open_pages: OpenPages
):
    leak(filled, LEAKY)
    shown = b"".join(
        path.encode() + page.content for path, page in open_pages(filled.site).draw_all()
    )
    assert b"[MRN-1]" in shown
    assert [canary for canary in CANARIES if canary.encode() in shown] == []


def test_every_link_leads_to_a_page_of_the_same_folder(pages: SitePages):
    known = dict(pages.draw_all())
    for path, page in known.items():
        if path.endswith(".html"):
            for target in Markup(page.content.decode()).targets:
                if not target.startswith("#"):
                    assert (
                        posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
                        in known
                    )


def test_no_page_asks_another_host_or_runs_anything(pages: SitePages):
    for _, page in pages.draw_all():
        content = page.content.decode()
        assert not re.search(r"(?:src|href|url\()\s*=?\s*[\"']?(?:[a-z]+:)?//", content)
        assert "<script" not in content
        assert "style=" not in content


def strip_links(page: PageFile) -> str:
    """The page without what only a server has: the answers of two runs side by side."""
    content = page.content.decode().replace('"has_answers": true', '"has_answers": false')
    content = re.sub(r': <a href="[^"]*">answers side by side</a>', "", content)
    return content.replace("What differs, and the answers", "What differs")


def read_cases(page: PageFile) -> list[object]:
    """The cases of a JSON page, or the texts of an HTML page."""
    if page.media_type == "application/json":
        return list(json.loads(page.content)["cases"])
    return re.findall(r'<div class="text".*?</div>', page.content.decode(), re.DOTALL)


@pytest.mark.parametrize(
    "path",
    [
        "", "index", "index.htm", "index.html/", "../index.html", "runs/RUN/../RUN/index.html", "runs/none/index.html",
        "runs/RUN/instances-0.html", "runs/RUN/instances--1.html", "runs/RUN/instances-99999999999.html",
        "suites/none/index.html", "templates/style.css", "style.css.html", "runs/RUN/instances-1.html.json",
        "runs/RUN/instances-odd-1.html", "runs/RUN/instances-unscored-none-1.html", "runs/RUN/instance-0.html",
        "runs/RUN/instance-46.html", "suites/november/benchmarks/none.html", "suites/november/none.html",
    ],
)  # fmt: skip
def test_there_is_no_page_at_other_paths(pages: SitePages, run_id: str, path: str):
    assert pages.draw_page(path.replace("RUN", run_id)) is None


def test_suite_names_of_any_kind_have_paths_of_their_own():
    names = [
        "a",
        "a b",
        "a-b",
        "a/b",
        "../..",
        "..",
        "\u00e9",
        "e",
        "A" * 200,
        "A" * 201,
        "con",
        "",
    ]
    slugs = [suite_slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,90}", slug) for slug in slugs)


def test_text_that_skipped_redaction_stops_the_page(
    november: FilledSite, open_pages: OpenPages, redactor: Redactor, run_id: str
):
    class Forgetful(Redacting):
        def clear_records(self, records, which, subjects=(), published=()):  # type: ignore[no-untyped-def]
            return [list(record) for record in records]

    with pytest.raises(TypeError, match="without redaction"):
        open_pages(november.site, Forgetful(redactor)).draw_page(f"runs/{run_id}/instances-1.html")


def test_revealing_shows_text_and_ids_after_an_entry_in_the_audit_log_of_the_store(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = leak(filled, LEAKY)
    pages = open_pages(filled.site, reveal=True)
    pages.draw_page(f"runs/{run_id}/index.html")
    pages.draw_page("suites/november/index.html")
    assert filled.audited() == []
    page = draw_html(pages, f"runs/{run_id}/instances-1.html")
    assert filled.audited() == [f"view run={run_id} instances=0-0"]
    assert f"{LEAKY}-0</span>" in page  # the dataset's own id
    assert "Original text." in page


def test_a_redacted_page_has_no_id_and_leaves_no_entry(
    pages: SitePages, november: FilledSite, run_id: str
):
    page = draw_html(pages, f"runs/{run_id}/instances-1.html")
    assert "patient-" not in page
    assert "unit-" not in page
    assert november.audited() == []


def test_nothing_is_revealed_when_the_audit_log_cannot_be_written(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = leak(filled, LEAKY)
    pages = open_pages(filled.site, reveal=True)
    with sqlite3.connect(filled.site.directory / "store" / "site.sqlite3") as other:
        other.execute("DROP TABLE audit_events")
    with pytest.raises(StoreError):
        pages.draw_page(f"runs/{run_id}/instances-1.html")


def test_a_withheld_text_is_counted_on_its_page(filled: FilledSite, open_pages: OpenPages):
    run_id = leak(filled, "caf\ufffd")
    pages = open_pages(filled.site)
    for _ in range(2):  # the count is the page's own, not that of all pages so far
        page = draw_html(pages, f"runs/{run_id}/instances-1.html")
        assert "4 texts on this page are withheld" in page
    assert "[WITHHELD: undecodable]" in page


def test_the_twin_holds_what_the_page_shows(pages: SitePages):
    twin = pages.draw_page("suites/november/index.json")
    assert twin is not None
    first = json.loads(twin.content)["leaderboard"]["boards"][0]["rows"][0]["main"]
    assert first["metric"]["metric"] == "exact_match"
    assert first["metric"]["mean"]["n"] == 44
    assert first["metric"]["mean"]["value"] == 1.0
    assert first["metric"]["unscored"] == {"timeout": 1}
    assert first["unscored"] == 1


def test_the_export_and_the_server_draw_the_same(pages: SitePages):
    drawn = dict(pages.draw_all())
    assert len(drawn) == 1 + 2 * pages.count_pages()
    for path, page in drawn.items():
        served = pages.draw_page(path)
        if "instances-" in path:  # without the lists and pages that only a server has
            assert served is not None
            assert read_cases(served) == read_cases(page)
        elif "/compare/" in path:  # without links to answers side by side
            assert served is not None
            assert strip_links(served) == strip_links(page)
        else:
            assert served == page
