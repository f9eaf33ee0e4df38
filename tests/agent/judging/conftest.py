"""One empty site for each test of judging."""

from pathlib import Path

import pytest

from agent.site.directory import Site, create_site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")
