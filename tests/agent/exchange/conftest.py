"""A site to fill and to import into."""

from pathlib import Path

import pytest

from tests.agent.service.filled_site import FilledSite, filled_site

DATA = Path(__file__).parent / "data"


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    """An empty site, for the test to fill."""
    return filled_site(tmp_path)
