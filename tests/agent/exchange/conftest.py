"""A site to fill and to import into."""

from pathlib import Path

import pytest

from agent.exchange.helm.leaderboard import import_leaderboard
from tests.agent.service.filled_site import FilledSite, filled_site, graded

DATA = Path(__file__).parent / "data"
RELEASE = DATA / "helm_release"


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    """An empty site, for the test to fill."""
    return filled_site(tmp_path)


@pytest.fixture
def joined(filled: FilledSite) -> FilledSite:
    """Two suites with one run in both, and an imported leaderboard."""
    filled.add(graded(10, 40))
    filled.add(graded(20, 40), entry="med_mcqa:model=a/b")
    filled.add(graded(30, 40), suite="december")
    import_leaderboard(filled.site, RELEASE, "medhelm")
    return filled
