"""A service for each test, with its people."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import agent.cli.main  # noqa: F401 (makes the commands known that jobs consist of)
from agent.cli.submission import submission
from agent.site.directory import Site
from agent.store import Account
from tests.agent.access.quick_passwords import hash_quickly
from tests.agent.delivery.conftest import federation, joined_key, joined_once, served, site, wire
from tests.agent.delivery.whole_site import SUITE, ok
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import RunningService, add_people
from tests.agent.service.web.steward_tool import StewardTool
from tests.end_to_end.conftest import make_site

__all__ = ["federation", "joined_key", "joined_once", "make_site", "served", "site", "wire"]


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords of the people here take no second to hash; tests/agent/access holds the real parameters.

    A service in a process of its own has the real ones, and hashes again whoever signs in.
    """
    hash_quickly(monkeypatch)


@pytest.fixture
def people(filled: FilledSite) -> dict[str, Account]:
    return add_people(filled.site)


@pytest.fixture
def running(filled: FilledSite, people: dict[str, Account]) -> Iterator[RunningService]:
    del people
    service = RunningService(filled.site)
    yield service
    service.stop()


@pytest.fixture
def joined(site: Site, joined_key: Path) -> Iterator[RunningService]:
    """The service of a site in a federation with approved datasets, a suite of two models, and no draft."""
    del joined_key
    add_people(site)
    running = RunningService(site)
    yield running
    running.stop()


@pytest.fixture
def member(joined: RunningService) -> RunningService:
    """The same site with two drafts, which somebody prepared on the command line."""
    ok(joined.site, submission, "prepare", "--suite", SUITE)
    return joined


@pytest.fixture
def steward(joined: RunningService, tmp_path: Path) -> StewardTool:
    """The steward's own tool; `join` made the key and the invite."""
    del joined
    return StewardTool(tmp_path, tmp_path / "invite.json")
