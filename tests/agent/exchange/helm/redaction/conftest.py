"""A planted folder and its redacted copy, each made once."""

import shutil
from pathlib import Path

import pytest

from agent.exchange.helm.redaction.name_filter import open_name_filter
from agent.exchange.helm.redaction.redacting import redact_folder
from agent.exchange.helm.redaction.walk import FolderRedactors, Options
from agent.redaction.engine import open_engine
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    SUITE,
    planted,
)
from tests.agent.exchange.helm.redaction.redacted_folders import KEY


@pytest.fixture(scope="session")
def redactors() -> FolderRedactors:
    return FolderRedactors(open_engine("hipaa_safe_harbor"), open_name_filter())


@pytest.fixture(scope="session")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """HELM's folder. For reading only."""
    return planted(tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="session")
def clean(output: Path, redactors: FolderRedactors) -> Path:
    """Its redacted copy. For reading only."""
    copy = output.parent / "clean"
    redact_folder(output, [SUITE], redactors, Options(), KEY, copy_to=copy)
    return copy


@pytest.fixture
def spoilt(clean: Path, tmp_path: Path) -> Path:
    """A redacted copy to spoil."""
    return shutil.copytree(clean, tmp_path / "clean", symlinks=True)
