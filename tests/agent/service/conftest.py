"""One redaction engine for all page tests, and a site that nobody changes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.redaction import Redactor, open_redactor
from agent.redaction.gateway.cases import Clearer, Redacting, open_clearer
from agent.service.pages import SitePages
from agent.site.directory import Site
from tests.agent.service.filled_site import FilledSite, case, failed, filled_site

OpenPages = Callable[..., SitePages]


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return open_redactor()


@pytest.fixture
def redacting(redactor: Redactor) -> Redacting:
    return Redacting(redactor)


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    """An empty site, for the test to fill."""
    return filled_site(tmp_path)


@pytest.fixture(scope="session")
def november(tmp_path_factory: pytest.TempPathFactory) -> FilledSite:
    """Two suites; a run of 45 instances over three pages with a failure; a baseline. Only read."""
    filled = filled_site(tmp_path_factory.mktemp("november"))
    filled.add([case(0), failed(1), *map(case, range(2, 45))])
    filled.add(
        [case(number, score=0.0) for number in range(45)],
        entry="pubmed_qa:model=baseline/first-choice",
        language_model=False,
    )
    filled.add([case(0)], suite="spring.2")
    return filled


@pytest.fixture
def open_pages(redacting: Redacting) -> Iterator[OpenPages]:
    """Open the pages of a site, redacted unless told otherwise; closed after the test."""
    with ExitStack() as stack:

        def open_(site: Site, clearer: Clearer | None = None, *, reveal: bool = False) -> SitePages:
            store = stack.enter_context(site.store())
            if reveal:
                clearer = open_clearer(site, store, reveal=True, purpose="view")
            return SitePages(site.name, store, clearer or redacting)

        yield open_


@pytest.fixture
def pages(november: FilledSite, open_pages: OpenPages) -> SitePages:
    return open_pages(november.site)


@pytest.fixture
def run_id(november: FilledSite) -> str:
    """The run with three pages of instances."""
    with november.site.store() as store:
        return next(run.run_id for run in store.runs.select("november") if "qwen" in run.model)
