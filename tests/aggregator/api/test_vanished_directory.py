"""Somebody removes or replaces an aggregator's files while it serves: nothing more is promised to a site."""

import shutil
import time

import pytest

from aggregator.api.health_routes import RECENT_S
from aggregator.home import DATABASE_FILE
from tests.aggregator.conftest import ServedByProcess
from tests.aggregator.federation import TestSite, registry_of, scores

pytestmark = pytest.mark.usefixtures("on_sqlite")


def read_checks(process: ServedByProcess) -> dict[str, str]:
    """Return what /readyz says once it has looked again."""
    time.sleep(RECENT_S + 0.1)
    answer = process.get("/readyz")
    checks: dict[str, str] = answer.json()["checks"]
    assert (answer.status_code == 503) == ("failed" in checks.values())
    return checks


def test_a_service_without_its_directory_is_not_ready_and_gives_no_receipt(
    process: ServedByProcess, site: TestSite
) -> None:
    envelope = site.sign(site.result(registry_of(process.home), scores(1)))
    assert process.get("/readyz").status_code == 200
    shutil.rmtree(process.home.directory)
    answer = process.post(envelope)
    assert (answer.status_code, answer.json()) == (503, {"code": "unavailable"})
    assert set(read_checks(process).values()) == {"failed"}
    assert process.get("/healthz").status_code == 200
    assert not process.home.directory.exists(), "nothing was made in its place"


def test_a_service_whose_database_was_replaced_gives_no_receipt(
    process: ServedByProcess, site: TestSite
) -> None:
    """It would append to a file that no name leads to any more."""
    envelope = site.sign(site.result(registry_of(process.home), scores(1)))
    assert process.get("/readyz").status_code == 200
    process.home.database.close()
    database = process.home.directory / DATABASE_FILE
    shutil.copy(database, database.with_suffix(".copy"))
    database.with_suffix(".copy").rename(database)
    assert process.post(envelope).status_code == 503
    assert read_checks(process)["database"] == "failed"
    assert "was replaced while it was in use" in process.log.read_text()


def test_a_service_without_its_log_key_is_not_ready(process: ServedByProcess) -> None:
    assert process.get("/readyz").status_code == 200
    (process.home.keys / "log.key").rename(process.home.directory.parent / "log.key")
    assert read_checks(process) == {"database": "ok", "registry": "ok", "log_key": "failed"}
