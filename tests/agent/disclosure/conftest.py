"""Wards: sites with invented patients, empty or with one released version."""

import shutil
from pathlib import Path

import pytest

from agent.disclosure.prepare import Gate
from agent.site.directory import Site
from tests.agent.disclosure.patients import ReleasedWard, Ward, gate_of_site, open_ward, patients
from tests.agent.disclosure.ward import (
    site_gate,
)


@pytest.fixture
def ward(tmp_path: Path) -> Ward:
    return open_ward(tmp_path / "site")


@pytest.fixture(scope="module")
def released_once(tmp_path_factory: pytest.TempPathFactory) -> ReleasedWard:
    ward = open_ward(tmp_path_factory.mktemp("released") / "site")
    return ReleasedWard(ward, ward.released(patients(200)))


@pytest.fixture
def released(released_once: ReleasedWard, tmp_path: Path) -> ReleasedWard:
    """A copy of the released ward for one test."""
    site = Site(tmp_path / "site")
    shutil.copytree(released_once.ward.site.directory, site.directory)
    return ReleasedWard(Ward(site, gate_of_site(site)), released_once.first)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)
