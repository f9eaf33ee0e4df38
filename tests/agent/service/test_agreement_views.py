"""Agreement among judges, and of juries with clinicians, stand on pages with the figures of the commands."""

import json
import re
from pathlib import Path

import pytest

from agent.exchange.shown_names import ShownNames
from agent.redaction.gateway.cases import Redacting
from agent.results.judge_agreement import measure_agreement
from agent.service.pages import SitePages
from tests.agent.calibration.graded_site import BENCHMARK, add_graded
from tests.agent.cli.judged_suite import JUDGES, judged_run, judged_site
from tests.agent.cli.test_calibrate import hand_in, make, report
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, filled_site, graded
from tests.agent.service.pages_read import draw_html

AGREEMENT = "suites/november/agreement.html"
FREE = "judge of Dr Anna Kowalska"


def strip(page: str) -> str:
    return " ".join(re.sub(r"<.*?>", " ", page).split())


def test_the_agreement_of_judges_is_that_of_the_command(tmp_path: Path, open_pages: OpenPages):
    filled = judged_site(tmp_path)
    with filled.site.store() as store:
        agreements, biases = measure_agreement(store, "november")
    pages = open_pages(filled.site)
    page = strip(draw_html(pages, AGREEMENT))
    for agreement in agreements:
        assert f"MTSamples {agreement.criterion} {agreement.answers} {agreement.units} " in page
    assert f"{agreements[0].interval.value:.2f}" in page
    assert "llama, qwen, phi" in page
    assert "Each judge compared with the others" in page
    twin = pages.draw_page(AGREEMENT.replace("html", "json"))
    assert twin is not None
    view = json.loads(twin.content)
    assert len(view["agreements"]) == len(agreements)
    assert sum(len(table["lines"]) for table in view["biases"]) == len(biases)


def test_a_suite_without_a_jury_says_so(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(3, 4))
    pages = open_pages(filled.site)
    assert "No benchmark of this suite has a metric that a jury grades" in draw_html(
        pages, AGREEMENT
    )
    assert "no calibration of this suite yet" in draw_html(
        pages, "suites/november/calibration.html"
    )


def test_a_judge_of_free_name_is_a_label_in_exported_pages(tmp_path: Path, redacting: Redacting):
    filled = filled_site(tmp_path)
    judges = [*JUDGES[:2], ["site/phi", "microsoft/phi-4", FREE]]
    judged_run(filled, "microsoft/phi-4", 3, judges=judges)
    judged_run(filled, "google/gemma-3-27b-it", 4, judges=judges)
    with filled.site.store() as store:
        assert FREE in draw_html(SitePages("x", store, redacting), AGREEMENT)
        exported = SitePages("x", store, redacting, names=ShownNames(store))
        drawn = dict(exported.draw_all())
    assert [path for path, page in drawn.items() if FREE.encode() in page.content] == []
    assert re.search(r"judge_[0-9a-f]{8}", drawn[AGREEMENT].content.decode())


@pytest.fixture
def calibrated(tmp_path: Path) -> FilledSite:
    filled = filled_site(tmp_path)
    add_graded(filled)
    _, sheets = make(filled, "--items", "40", "--raters", "2")
    hand_in(filled, sheets)
    return filled


def test_a_calibration_is_that_of_the_report(calibrated: FilledSite, open_pages: OpenPages):
    rows = report(calibrated)
    page = strip(draw_html(open_pages(calibrated.site), "suites/spring/calibration.html"))
    for (criterion, who), row in rows.items():
        words = f"{criterion} {who} {row['n']} "
        assert words in page, words
        if row["icc"] is not None:
            assert f"{words}{row['icc']:.2f}" in page
    assert "may on" in page
    assert BENCHMARK not in page  # its name, not its id
    assert "Dr Number" not in page
