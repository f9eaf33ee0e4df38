"""The pages of a run and of its instances tell what was run, what it took, and what is missing."""

import json
import re
from dataclasses import replace

from agent.catalog.deployments import Prices
from agent.exchange.helm.import_runs import import_helm
from agent.redaction.gateway.cases import Redacting
from agent.service.answer_readings import read_stored_answers
from agent.service.pages import SitePages
from agent.vocabulary import Reason
from tests.agent.exchange.conftest import DATA
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, case, failed, graded, unscored
from tests.agent.service.pages_read import draw_html


def test_a_run_page_shows_what_was_changed_and_chosen(filled: FilledSite, open_pages: OpenPages):
    entry = "pubmed_qa:model=a/b,temperature=0.5,instructions=expert"
    changed = filled.add(
        [*graded(2, 4), unscored(4), unscored(5, Reason.CONTEXT_LENGTH)], entry=entry, limit=12
    )
    plain = filled.add(graded(2, 4), entry="pubmed_qa:model=a/c")
    pages = open_pages(filled.site)
    page = draw_html(pages, f"runs/{changed}/index.html")
    assert "temperature, instructions" in page
    assert "12 of 100 in the data, sampled with seed 7" in page
    assert "1 prompt too long, 1 unparsed" in page
    assert "asked for and not sent" in page
    page = draw_html(pages, f"runs/{plain}/index.html")
    assert "Changed by the run entry</th><td>nothing<" in page
    assert "all 100 in the data" in page


def test_pages_of_instances_are_complete_and_end(pages: SitePages, run_id: str):
    seen = []
    for number in (1, 2, 3):
        page = pages.draw_page(f"runs/{run_id}/instances-{number}.json")
        assert page is not None
        seen += [shown["case"]["position"] for shown in json.loads(page.content)["cases"]]
    assert seen == list(range(45))
    assert pages.draw_page(f"runs/{run_id}/instances-4.html") is None


def test_failures_and_purged_texts_are_told_in_words(filled: FilledSite, open_pages: OpenPages):
    run_id = filled.add([case(0), failed(1), unscored(2)])
    pages = open_pages(filled.site)
    assert "No answer: timed out." in draw_html(pages, f"runs/{run_id}/instances-1.html")
    with filled.site.store() as store:
        assert store.purge(0) == 5
    page = draw_html(pages, f"runs/{run_id}/instances-1.html")
    assert page.count("The texts were purged; the scores were kept.") == 2
    assert "unscored: unparsed" in page
    assert "aspirin" not in page


def test_an_imported_run_says_so_on_each_of_its_pages(filled: FilledSite, open_pages: OpenPages):
    import_helm(filled.site, DATA / "helm_output")
    pages = open_pages(filled.site)
    with filled.site.store() as store:
        run_id = store.runs.select("real")[0].run_id
    for path in (f"runs/{run_id}/index.html", f"runs/{run_id}/instances-1.html"):
        assert "Imported from HELM." in draw_html(pages, path)
    assert ">imported</span>" in draw_html(pages, "suites/real/index.html")
    assert "<h2>Usage</h2>" not in draw_html(pages, f"runs/{run_id}/index.html")


def test_a_run_page_says_what_the_run_took_and_cost(filled: FilledSite, redacting: Redacting):
    run_id = filled.add([case(0), case(1)])
    with filled.site.store() as store:
        deployment = store.runs.select()[0].deployment
        page = draw_html(SitePages("s", store, redacting), f"runs/{run_id}/index.html")
        assert "2 answers, 2 requests (0 retries), 20 tokens in, 4 tokens out" in page
        assert "cost" not in page
        priced = SitePages(
            "s", store, redacting, prices={deployment: Prices("EUR", 1_000_000.0, 0.0)}
        )
        assert "cost: 20.00 EUR by tokens" in draw_html(priced, f"runs/{run_id}/index.html")


def test_a_run_shows_its_main_metric_by_subgroup(filled: FilledSite, open_pages: OpenPages):
    cases = [case(n, score=float(n < 2)) for n in range(4)]
    of = [
        replace(c, instance=replace(c.instance, subgroups={"sex": "<f>" if n else "m"}))
        for n, c in enumerate(cases)
    ]
    run_id = filled.add(of)
    page = open_pages(filled.site).draw_page(f"runs/{run_id}/index.html")
    assert page is not None
    text = page.content.decode()
    assert "<h2>Subgroups</h2>" in text
    rows = re.findall(
        r'<td data-heading="Value">(.*?)</td>\s*<td class="number mean" data-heading="Mean">(.*?)</td>',
        text,
    )
    assert rows == [("&lt;f&gt;", "0.333"), ("m", "1.000")]


def test_a_page_marks_the_words_that_were_read_and_names_value_and_rule(
    filled: FilledSite, open_pages: OpenPages
):
    answer = "Margaret Holloway has fever.\n\nThe answer is A, since <b>aspirin</b> lowers it."
    run_id = filled.add([case(0, answer=answer), unscored(1)])
    page = draw_html(open_pages(filled.site), f"runs/{run_id}/instances-1.html")
    (marked,) = re.findall(r'<mark class="read">(.*?)</mark>', page)
    assert "answer is A" in marked or marked == "A"
    assert "Holloway" not in page
    assert "<b>" not in page
    assert re.search(r"Read:</span> <strong[^>]*>A</strong>.*stated answer", page)
    assert page.count('class="reading"') == 1


def test_metrics_that_compare_the_whole_text_are_named_by_their_titles(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = filled.add([case(0, answer="Rest.")], entry="aci_bench:model=qwen/qwen2.5-7b-instruct")
    page = draw_html(open_pages(filled.site), f"runs/{run_id}/instances-1.html")
    (line,) = re.findall(r'<p class="reading">(.*?)</p>', page)
    assert " ".join(re.sub(r"<.*?>", " ", line).split()) == "Read by the rule whole text"
    with filled.site.store() as store:
        run = store.runs.find(run_id)
        assert run is not None
        readings = read_stored_answers(run, store.answers.read_instances(run_id, 0, 1))
    assert readings[0][0].metrics == ("Jury score", "ROUGE-1", "ROUGE-2", "ROUGE-L")


def test_an_answer_read_by_other_rules_is_not_explained_by_todays(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = filled.add([case(0, answer="The answer is A.")], reading_version=1)
    pages = open_pages(filled.site)
    page = draw_html(pages, f"runs/{run_id}/instances-1.html")
    assert "intramural rescore --suite november" in page
    assert "<mark" not in page
    assert 'class="reading"' not in page
    assert "read by version 1" in draw_html(pages, f"runs/{run_id}/index.html")
