"""One redaction engine for all page tests."""

import pytest

from agent.redaction import open_redactor
from agent.service.clearing import Redacting
from agent.service.pages import SitePages
from tests.agent.service.memory_site import MemorySite, case_record, failed_record, purged_record, run_detail


@pytest.fixture(scope="session")
def redacting() -> Redacting:
    return Redacting(open_redactor())


@pytest.fixture
def site() -> MemorySite:
    """Two suites; a run of 45 instances over three pages, with a failure and a purged record; a baseline."""
    site = MemorySite()
    site.add(run_detail(), [case_record(0), failed_record(1), purged_record(2), *map(case_record, range(3, 45))])
    site.add(run_detail("run-2", model="baseline/first-choice", mean=0.33, interval=(0.2, 0.5)), [case_record(0)] * 45)
    site.add(run_detail("run-3", suite="Fr\u00fchjahr & <b>x</b>", instances=1), [case_record(0)])
    return site


@pytest.fixture
def pages(site: MemorySite, redacting: Redacting) -> SitePages:
    return SitePages(site, redacting)
