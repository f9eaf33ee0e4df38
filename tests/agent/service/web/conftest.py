"""A service for each test, with its people."""

from collections.abc import Iterator

import pytest

import agent.cli.main  # noqa: F401 (makes the commands known that jobs consist of)
from agent.store import Account
from tests.agent.delivery.conftest import served, site, wire
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import RunningService, add_people
from tests.end_to_end.conftest import make_site

__all__ = ["make_site", "served", "site", "wire"]


@pytest.fixture
def people(filled: FilledSite) -> dict[str, Account]:
    return add_people(filled.site)


@pytest.fixture
def running(filled: FilledSite, people: dict[str, Account]) -> Iterator[RunningService]:
    del people
    service = RunningService(filled.site)
    yield service
    service.stop()
