"""A site beside an aggregator that serves, as the tests of delivery have it, and one to fill."""

import json
from pathlib import Path

import pytest

from agent.site.directory import Site
from tests.agent.cli.rekeyings import Steward, release
from tests.agent.delivery.conftest import federation, joined_key, joined_once, served, site, wire
from tests.agent.service.conftest import filled
from tests.aggregator.federation import MODELS

__all__ = ["federation", "filled", "joined_key", "joined_once", "served", "site", "wire"]


@pytest.fixture
def key(site: Site, joined_key: Path) -> Path:
    """The steward's key of a site with two registered datasets and one result, all with receipts."""
    release(site, joined_key, MODELS[0].name)
    return joined_key


@pytest.fixture
def steward(key: Path, tmp_path: Path) -> Steward:
    root = json.loads((tmp_path / "invite.json").read_text())["root_keys"][0]
    folder = tmp_path / "stewards-own"
    folder.mkdir()
    return Steward(folder, root)
