"""A site with a benchmark of its own, of one file."""

from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark
from agent.site.directory import Site, create_site
from tests.agent.datasets.manage.given_data import define


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


@pytest.fixture
def own(site: Site) -> Benchmark:
    return define(site.directory / "benchmarks")
