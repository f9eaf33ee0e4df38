"""What a jury gave, on the pages of instances: every seat, redacted, inert, and readable by keyboard and in print."""

import json
import re

import pytest

from agent.metrics import Judge
from agent.service.pages import SitePages
from agent.vocabulary import Reason, Response
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.judged import CRITERIA, JUDGES, add_judged, verdict
from tests.agent.service.leaky_texts import CANARIES, LEAKY, SCRIPTS, Markup
from tests.agent.service.pages_read import draw_html


def instances(pages: SitePages, run_id: str) -> str:
    return re.sub(r"\s+", " ", draw_html(pages, f"runs/{run_id}/instances-1.html"))


def test_every_seat_shows_its_judge_its_grades_its_words_and_why_it_is_empty(
    filled: FilledSite, open_pages: OpenPages
):
    cut = Response('{"accuracy": {"sco', "I weigh it", "length", 1, 1, 0.1)
    run_id = add_judged(
        filled,
        [case(0), case(1)],
        {0: [[verdict(4.5, "As it should be.")], [cut, "no"], Reason.TIMEOUT]},
    )
    page = instances(open_pages(filled.site), run_id)
    assert page.count("<h3>Jury</h3>") == 1
    assert "<strong>llama</strong>" in page
    assert "qwen/qwen3-32b" in page
    assert [f"{name} <strong>4.5</strong>" in page for name in CRITERIA] == [True] * 3
    assert page.count("As it should be.") == 6  # three criteria, and the reply as a whole
    assert "no grade: no verdict" in page
    assert "no grade: timed out" in page
    assert "asked twice" in page
    assert ("First reply of" in page, "Second reply of" in page, "I weigh it" in page) == (
        True,
        True,
        True,
    )
    view = open_pages(filled.site).draw_page(f"runs/{run_id}/instances-1.json")
    assert view is not None
    (first, second) = json.loads(view.content)["cases"]
    assert first["case"]["judgements"][0]["grades"] == dict.fromkeys(CRITERIA, 4.5)
    assert second["case"]["judgements"] == []


def test_planted_identifiers_in_a_judges_words_are_on_no_page_and_in_no_twin(
    filled: FilledSite, open_pages: OpenPages
):
    cases = [case(0, prompt=LEAKY)]
    thought = Response(verdict(2, LEAKY), LEAKY, "stop", 1, 1, 0.1)
    add_judged(
        filled,
        cases,
        {0: [[LEAKY, verdict(3, LEAKY)], [thought], ['{"accuracy": "' + LEAKY, LEAKY]]},
    )
    shown = b"".join(page.content for _, page in open_pages(filled.site).draw_all())
    assert b"[MRN-1]" in shown
    assert [canary for canary in CANARIES if canary.encode() in shown] == []


@pytest.mark.full
def test_script_in_a_judges_words_and_in_its_name_is_inert(
    filled: FilledSite, open_pages: OpenPages
):
    for number, script in enumerate(SCRIPTS):
        judges = [Judge("d", "m/m", script), *JUDGES[1:]]
        run_id = add_judged(
            filled,
            [case(number)],
            {0: [[verdict(3, script)], [script, script]]},
            judges=judges,
            suite=f"s{number}",
        )
        for reveal in (False, True):
            markup = Markup(
                draw_html(open_pages(filled.site, reveal=reveal), f"runs/{run_id}/instances-1.html")
            )
            assert not markup.elements & {
                "script",
                "img",
                "iframe",
                "object",
                "form",
                "style",
                "svg",
            }
            assert not [
                name for name in markup.attributes if name.startswith("on") or name == "style"
            ]
            assert not [target for target in markup.targets if ":" in target]


def test_the_page_of_a_run_says_who_judged_and_by_which_rule(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = add_judged(filled, [case(0)], {0: [[verdict(4)]]})
    page = re.sub(r"\s+", " ", draw_html(open_pages(filled.site), f"runs/{run_id}/index.html"))
    assert "llama, qwen/qwen3-32b, y" in page
    assert "at least 2 of 3 valid verdicts, grades from 1 to 5" in page


def test_the_page_of_a_suite_says_what_each_judge_did_by_which_scale_and_quorum(
    filled: FilledSite, open_pages: OpenPages
):
    add_judged(
        filled,
        [case(0), case(1)],
        {0: [[verdict(4)], ["no verdict", verdict(2)], ["none", "none"]], 1: []},
    )
    page = re.sub(
        r"<[^>]+>|\s+", " ", draw_html(open_pages(filled.site), "suites/november/juries.html")
    )
    page = re.sub(r" +", " ", page)
    assert "1 to 5 2 of 3 verdicts" in page
    judges = page.partition("By judge.")[2]
    assert "llama 4.00 1 of 2 0 1 not judged" in judges
    assert "qwen/qwen3-32b 2.00 1 of 2 1 1 not judged" in judges
