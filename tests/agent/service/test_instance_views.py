"""Lists of instances: one line each, filtered by outcome from scores alone, and a page for each instance."""

import json
import re

from agent.service.instance_views import INSTANCES_PER_PAGE
from agent.service.pages import SitePages
from agent.service.reasons import REASONS
from agent.vocabulary import Reason
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import Case, FilledSite, case, failed, graded, unscored
from tests.agent.service.judged import add_judged, verdict
from tests.agent.service.leaky_texts import CANARIES, LEAKY, leak
from tests.agent.service.pages_read import draw_html


def list_positions(pages: SitePages, path: str) -> list[int]:
    page = pages.draw_page(path)
    assert page is not None
    return [shown["case"]["position"] for shown in json.loads(page.content)["cases"]]


def find_summary(page: str, number: int) -> str:
    """The line of an instance, without markup."""
    (summary,) = re.findall(
        rf"<summary>\s*<h2>Instance {number}</h2>(.*?)</summary>", page, re.DOTALL
    )
    return " ".join(re.sub(r"<.*?>", " ", summary).split())


def test_every_reason_has_a_sentence():
    assert set(REASONS) == set(Reason)


def test_an_instance_is_one_line_with_outcome_score_reading_and_first_words(
    filled: FilledSite, open_pages: OpenPages
):
    answer = "The answer is A, since aspirin lowers fever. " + "It also thins the blood. " * 9
    run_id = filled.add([case(0, answer=answer), case(1, score=0.0), failed(2), unscored(3)])
    page = draw_html(open_pages(filled.site), f"runs/{run_id}/instances-1.html")
    line = find_summary(page, 1)
    assert line.startswith("✓ right 1.000 read A The answer is A, since aspirin lowers fever.")
    assert line.endswith("…")
    assert find_summary(page, 2).startswith("✗ wrong 0.000")
    assert find_summary(page, 3) == "unscored: timed out no answer"
    assert find_summary(page, 4).startswith("unscored: unparsed")
    assert page.count('<details class="case">') == 4
    assert "It compares what was read with the reference." in page
    assert "The answer contains nothing that the benchmark&#39;s parser accepts." in page


def test_each_list_holds_the_instances_with_its_outcome(filled: FilledSite, open_pages: OpenPages):
    cases = [case(0), case(1, score=0.0), failed(2), unscored(3), Case(case(4).instance, None)]
    run_id = filled.add([*cases, *map(case, range(5, 50))])
    pages = open_pages(filled.site)
    expected = {
        "instances-wrong-1": [1],
        "instances-unscored-1": [2, 3, 4],
        "instances-unscored-timeout-1": [2],
        "instances-unscored-unparsed-1": [3],
        "instances-unscored-not_asked-1": [4],
        "instances-right-1": [0, *range(5, 24)],
        "instances-right-3": list(range(44, 50)),
    }
    for name, positions in expected.items():
        assert list_positions(pages, f"runs/{run_id}/{name}.json") == positions, name
    assert pages.draw_page(f"runs/{run_id}/instances-right-4.html") is None
    assert pages.draw_page(f"runs/{run_id}/instances-lowest-1.html") is None
    page = draw_html(pages, f"runs/{run_id}/instances-wrong-1.html")
    assert '<a href="instances-wrong-1.html" aria-current="page">Wrong <span' in page
    assert re.search(r'<a href="instances-right-1.html">Right <span class="count">46</span>', page)


def test_graded_instances_are_sorted_by_their_scores(filled: FilledSite, open_pages: OpenPages):
    replies = {n: [[verdict(grade)]] * 3 for n, grade in enumerate((3, 5, 1))}
    cases = [case(0), case(1), case(2), Case(case(3).instance, None)]
    run_id = add_judged(filled, cases, replies)
    pages = open_pages(filled.site)
    assert list_positions(pages, f"runs/{run_id}/instances-lowest-1.json") == [2, 0, 1]
    assert list_positions(pages, f"runs/{run_id}/instances-highest-1.json") == [1, 0, 2]
    assert pages.draw_page(f"runs/{run_id}/instances-right-1.html") is None
    assert "the mean of the judges&#39; valid verdicts" in draw_html(
        pages, f"runs/{run_id}/instances-1.html"
    )


def test_an_instance_has_a_page_between_its_neighbours(filled: FilledSite, open_pages: OpenPages):
    run_id = filled.add(graded(3, 3))
    pages = open_pages(filled.site)
    page = draw_html(pages, f"runs/{run_id}/instance-2.html")
    assert '<a rel="prev" href="instance-1.html">' in page
    assert '<a rel="next" href="instance-3.html">' in page
    assert "question 1?" in page
    assert 'rel="prev"' not in draw_html(pages, f"runs/{run_id}/instance-1.html")
    assert 'rel="next"' not in draw_html(pages, f"runs/{run_id}/instance-3.html")


def test_lists_and_pages_of_instances_are_not_written_as_files(pages: SitePages, run_id: str):
    drawn = dict(pages.draw_all())
    assert not [path for path in drawn if "/instance-" in path or "instances-right" in path]
    page = drawn[f"runs/{run_id}/instances-1.html"].content.decode()
    assert 'href="instance-' not in page
    assert "instances-right" not in page


def test_planted_identifiers_are_on_no_list_and_no_page_of_an_instance(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = leak(filled, LEAKY)
    pages = open_pages(filled.site)
    for name in ("instances-1", "instances-right-1", "instance-1"):
        for form in ("html", "json"):
            page = pages.draw_page(f"runs/{run_id}/{name}.{form}")
            assert page is not None
            assert [canary for canary in CANARIES if canary.encode() in page.content] == []


def test_revealing_a_list_names_exactly_the_instances_that_were_shown(
    filled: FilledSite, open_pages: OpenPages
):
    scores = [float(number % 2) for number in range(5)]
    run_id = filled.add([case(number, score=score) for number, score in enumerate(scores)])
    pages = open_pages(filled.site, reveal=True)
    pages.draw_page(f"runs/{run_id}/instances-wrong-1.html")
    pages.draw_page(f"runs/{run_id}/instance-3.html")
    assert filled.audited() == [
        f"view run={run_id} instances=0,2,4",
        f"view run={run_id} instances=2-2",
    ]


def test_lists_need_no_texts(filled: FilledSite, open_pages: OpenPages):
    run_id = filled.add([case(0), case(1, score=0.0), unscored(2)])
    with filled.site.store() as store:
        store.purge(0)
    pages = open_pages(filled.site)
    assert list_positions(pages, f"runs/{run_id}/instances-wrong-1.json") == [1]
    assert list_positions(pages, f"runs/{run_id}/instances-unscored-unparsed-1.json") == [2]
    page = draw_html(pages, f"runs/{run_id}/instance-2.html")
    assert "The texts were purged; the scores were kept." in page


def test_a_list_has_at_most_twenty_instances(pages: SitePages, run_id: str):
    assert len(list_positions(pages, f"runs/{run_id}/instances-1.json")) == INSTANCES_PER_PAGE
