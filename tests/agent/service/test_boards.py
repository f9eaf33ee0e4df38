"""Leaderboards show means with their notes, labels and order."""

import json
import re

from agent.catalog.deployments import Prices
from agent.redaction.gateway.cases import open_clearer
from agent.results.summarize import Note, compare_summaries, summarise_suite
from agent.service.pages import SitePages
from agent.service.short_notes import SHORT_NOTES
from agent.vocabulary import Reason
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import (
    MODEL,
    FilledSite,
    case,
    failed,
    graded,
    twin_metrics,
    unscored,
)
from tests.agent.service.pages_read import (
    BENCHMARK,
    SUITE,
    draw_html,
    find_matrix_row,
    find_row,
)


def test_the_leaderboard_shows_means_with_intervals_counts_and_labelled_baselines(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(
        [*graded(30, 40), unscored(40), unscored(41), failed(42)], entry="pubmed_qa:model=a/model"
    )
    filled.add(graded(10, 43), entry="pubmed_qa:model=baseline/first-choice", language_model=False)
    with filled.site.store() as store:
        model, _ = summarise_suite(store, "november")
    page = draw_html(open_pages(filled.site), BENCHMARK)
    mean = model.main.mean
    assert f">{mean.value:.3f}<" in find_row(page, "a/model")
    assert f"{mean.low:.3f} to {mean.high:.3f}" in find_row(page, "a/model")
    assert 'data-heading="Scored">40<' in find_row(page, "a/model")
    assert 'data-heading="Units">40<' in find_row(page, "a/model")
    assert 'data-heading="Unscored">1 timed out, 2 unparsed' in find_row(page, "a/model")
    assert page.index("a/model") < page.index("baseline/first-choice")
    assert "baseline, not a language model" in find_row(page, "baseline/first-choice")
    assert "not a language model" not in find_row(page, "a/model")


def test_the_leaderboard_notes_what_a_reader_of_a_number_should_know(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(
        [*graded(3, 20), *map(unscored, range(20, 25))],
        entry="pubmed_qa:model=a/few",
        scoring="helm",
    )
    filled.add(graded(30, 60), entry="pubmed_qa:model=a/many", ended=False)
    page = open_pages(filled.site).draw_page("suites/november/index.json")
    assert page is not None
    rows = json.loads(page.content)["leaderboard"]["boards"][0]["rows"]
    assert {line["run"]["model"]: line["main"]["notes"] for line in rows} == {
        "a/few": [Note.FEW_UNITS, Note.MANY_UNSCORED, Note.SAMPLE, Note.HELM],
        "a/many": [Note.SAMPLE, Note.NOT_ENDED],
    }
    shown = draw_html(open_pages(filled.site), BENCHMARK)
    for note in (Note.FEW_UNITS, Note.MANY_UNSCORED, Note.SAMPLE, Note.HELM, Note.NOT_ENDED):
        words = SHORT_NOTES[note]
        assert f"<dt>{words}</dt><dd>{note.replace(chr(39), '&#39;')}</dd>" in shown
        few = f">{words}</abbr>" in find_row(shown, "a/few")
        assert few is (note is not Note.NOT_ENDED)


def test_runs_of_one_model_are_told_apart(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(9, 10))
    filled.add(graded(8, 10), entry="pubmed_qa:model=qwen/qwen2.5-7b-instruct,temperature=0.5")
    filled.add(graded(7, 10), server="http://127.0.0.1:10/v1")
    filled.add(graded(6, 10), entry="pubmed_qa:model=a/other")
    page = open_pages(filled.site).draw_page("suites/november/index.json")
    assert page is not None
    apart = [line["apart"] for line in json.loads(page.content)["leaderboard"]["boards"][0]["rows"]]
    with filled.site.store() as store:
        deployments = {
            run.model: run.deployment for run in store.runs.select() if run.name.endswith("0.5")
        }
    first = f"deployment {deployments['qwen/qwen2.5-7b-instruct']}"
    assert apart[0] == [first, "plain"]
    assert apart[1] == [first, "temperature=0.5"]
    assert apart[2][0].startswith("deployment server-")
    assert apart[2][0] != first
    assert apart[3] == []
    assert first in draw_html(open_pages(filled.site), BENCHMARK)


def test_the_suite_page_has_the_mean_win_rates_of_the_command_line(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(graded(9, 10), entry="pubmed_qa:model=a/good")
    filled.add(graded(5, 10), entry="pubmed_qa:model=a/fair")
    filled.add(graded(5, 10), entry="med_qa:model=a/good")
    filled.add(graded(7, 10), entry="med_qa:model=a/fair")
    filled.add(graded(1, 10), entry="med_qa:model=baseline/random", language_model=False)
    with filled.site.store() as store:
        rates = compare_summaries(summarise_suite(store, "november")).rates
    page = draw_html(open_pages(filled.site), SUITE)
    row = find_matrix_row(page, "Mean win rate")
    assert re.findall(r"<strong>(.*?)</strong>", row) == [
        f"{rate:.3f}" for rate in sorted(rates.values(), reverse=True)
    ]
    head = re.sub(r"<wbr>", "", page[page.index("<thead>") : page.index("</thead>")])
    assert head.index("a/good") < head.index("a/fair") < head.index("baseline/random")
    assert head.count(">baseline</span>") == 1


def test_a_run_without_a_mean_comes_last_and_says_why_not_zero(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(
        [failed(number, Reason.SERVER_ERROR) for number in range(3)], entry="pubmed_qa:model=a/dead"
    )
    filled.add(graded(0, 3), entry="pubmed_qa:model=b/poor")
    page = draw_html(open_pages(filled.site), BENCHMARK)
    assert page.index("b/poor") < page.index("a/dead")
    assert ">no score: server error<" in find_row(page, "a/dead")
    assert "3 server error" in find_row(page, "a/dead")
    assert ">0.000<" in find_row(page, "b/poor")


def test_helms_figures_stand_beside_ours(filled: FilledSite, open_pages: OpenPages):
    run_id = filled.add(graded(3, 4), scoring="both", metrics=twin_metrics())
    with filled.site.store() as store:
        store.answers.settle(run_id, [], [(0, "exact_match@helm", 0.0)])
    pages = open_pages(filled.site)
    for path in (BENCHMARK, f"runs/{run_id}/index.html"):
        page = draw_html(pages, path)
        assert page.count("By HELM’s rules</th>") == 1
        assert "0.750" in page
        assert "0.500" in page
    assert "Exact match by HELM’s rules <strong>0.000</strong>" in draw_html(
        pages, f"runs/{run_id}/instances-1.html"
    )


def test_runs_of_parts_of_one_benchmark_are_one_row_that_leads_to_each(
    filled: FilledSite, open_pages: OpenPages
):
    entry = "med_dialog:subset={},model=a/b"
    one = filled.add(graded(1, 4), entry=entry.format("healthcaremagic"))
    cases = [case(number, score=1.0) for number in range(10, 14)]
    two = filled.add(cases, entry=entry.format("icliniq"))
    page = draw_html(open_pages(filled.site), "suites/november/benchmarks/med_dialog.html")
    shown = find_row(page, "a/b")
    assert "<summary>2 runs</summary>" in shown
    assert re.search(r"data-heading=\"Mean\">0\.62\b", shown)  # 5 of 8
    for run_id, subset in ((one, "healthcaremagic"), (two, "icliniq")):
        assert f'<a href="../../../runs/{run_id}/index.html">subset={subset}</a>' in shown


def test_own_benchmarks_have_a_heading_after_medhelms_and_say_whose_data_it_is(
    filled: FilledSite, open_pages: OpenPages
):
    own = filled.site.directory / "benchmarks" / "airways"
    own.mkdir(parents=True)
    (own / "benchmark.yaml").write_text(
        "name: airways\ndescription: invented\ndataset_file: dataset.csv\nprompt_file: prompt.txt\nmax_tokens: 8\n"
        "metrics:\n  - name: exact_match\n",
        "utf-8",
    )
    (own / "prompt.txt").write_text("Airways? {note}\n", "utf-8")
    (own / "dataset.csv").write_text("note,correct_answer\nA cough.,yes\n", "utf-8")
    filled.add([case(0)], entry=f"airways:model={MODEL}")
    filled.add([case(0)])
    page = open_pages(filled.site).draw_page("suites/november/index.html")
    assert page is not None
    text = page.content.decode()
    assert re.findall(r'<th scope="rowgroup" colspan="2"><span>(.*?)</span>', text) == [
        "Medical Research Assistance",
        "Own benchmarks",
    ]
    assert "your own data" in text
    assert ">unknown<" not in text


def test_the_floor_stands_beside_the_mean(filled: FilledSite, open_pages: OpenPages):
    run_id = filled.add([case(0), case(1), case(2), unscored(3)])
    pages = open_pages(filled.site)
    for path in ("suites/november/benchmarks/pubmed_qa", f"runs/{run_id}/index"):
        html, twin = pages.draw_page(f"{path}.html"), pages.draw_page(f"{path}.json")
        assert html is not None
        assert twin is not None
        assert 'data-heading="Floor">0.750<' in html.content.decode()
        assert b'"floor": 0.75' in twin.content


def test_the_board_shows_tokens_and_seconds_and_the_models_by_score_and_cost(
    filled: FilledSite, open_pages: OpenPages
):
    filled.add(graded(30, 40), entry="pubmed_qa:model=a/model")
    filled.add(graded(10, 40), entry="pubmed_qa:model=b/model")
    pages = open_pages(filled.site)
    text = draw_html(pages, "suites/november/costs.html")
    assert '<td class="number" data-heading="Tokens in">400</td>' in text
    assert '<td class="number" data-heading="Seconds per answer">0.50</td>' in text
    assert "states no prices" in text
    assert 'data-heading="Cost"' not in text
    assert 'tabindex="0" role="region" aria-label="Models by score and cost"' in text
    assert "Score by tokens per answer, prompt included: a/model 0.750 for 12.00; b/model" in text
    page = pages.draw_page("suites/november/index.json")
    assert page is not None
    board = json.loads(page.content)["leaderboard"]
    assert [line["tokens_per_answer"] for line in board["usage"]] == [12.0, 12.0]
    assert [point["label"] for point in board["cost_chart"]["points"]] == ["a/model", "b/model"]


def test_the_costs_of_priced_models_are_on_their_board(filled: FilledSite):
    filled.add(graded(30, 40), entry="pubmed_qa:model=a/model")
    filled.add(graded(10, 40), entry="pubmed_qa:model=b/model")
    with filled.site.store() as store:
        (deployment,) = {run.deployment for run in store.runs.select("november")}
        redacting = open_clearer(filled.site, store, reveal=False, purpose="view")
        prices = {deployment: Prices("EUR", 1000.0, 5000.0)}
        pages = SitePages("s", store, redacting, prices=prices)
        text = draw_html(pages, "suites/november/costs.html")
    assert '<td class="number" data-heading="Cost">0.8000 EUR by tokens</td>' in text
    assert (
        '<td class="number" data-heading="Cost of 1,000 answers">20.00 EUR by tokens</td>' in text
    )
    assert "Score by EUR per 1,000 answers, by token prices: a/model 0.750 for 20.00" in text
