"""The steward's folder, new for each test."""

from pathlib import Path

import pytest

from tests.steward.hospital import Steward


@pytest.fixture
def steward(tmp_path: Path) -> Steward:
    return Steward(tmp_path)
