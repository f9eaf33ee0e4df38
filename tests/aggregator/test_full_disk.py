"""The centre's disk is full: submissions are put off, nothing is lost and nothing is half written."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from aggregator.cli import cli
from aggregator.errors import SettingsError
from aggregator.home import Home
from tests.aggregator.conftest import ServedByProcess, start, stop
from tests.aggregator.federation import TestSite, registry_of, scores
from tests.aggregator.log_checks import check_log

ROOM = 50_000  # bytes that files may still grow by: some posts
MAX_POSTS = 60

WITH_A_FULL_DISK = """
import resource
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, hard))  # a write beyond it fails, as on a full disk
from aggregator.cli import main
main()
"""


def start_on_a_full_disk(home: Home, log: Path) -> ServedByProcess:
    home.database.close()
    largest = max(path.stat().st_size for path in home.directory.glob("aggregator.sqlite3*"))
    return start(home, log, WITH_A_FULL_DISK.format(size=largest + ROOM))


def post_until_full(served: ServedByProcess, site: TestSite) -> tuple[dict[bytes, str], bytes]:
    """Post links until one is put off; return the receipts of those taken, and that link."""
    registry = registry_of(served.home)
    receipts = {}
    for seed in range(MAX_POSTS):
        envelope = site.sign(site.result(registry, scores(seed)))
        answer = served.post(envelope)
        if answer.status_code != 200:
            assert (answer.status_code, answer.json()) == (503, {"code": "unavailable"})
            assert int(answer.headers["Retry-After"]) >= 1
            return receipts, envelope
        receipts[envelope] = answer.json()["receipt"]
        site.accepted(envelope)
    raise AssertionError("the disk was never full")


@pytest.mark.full
@pytest.mark.usefixtures("on_sqlite")
def test_on_a_full_disk_posts_are_put_off_and_all_others_are_answered(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    before = check_log(home)
    full = start_on_a_full_disk(home, tmp_path / "full.log")
    try:
        receipts, waiting = post_until_full(full, site)
        assert len(receipts) > 1
        assert {full.post(waiting).status_code for _ in range(5)} == {503}
        assert full.get("/healthz").status_code == 200
        assert full.get("/v1/log/checkpoint").status_code == 200
        for envelope, receipt in receipts.items():
            assert full.post(envelope).json()["receipt"] == receipt
    finally:
        stop(full)
    assert check_log(home) == before + len(receipts)

    with_room = start(home, tmp_path / "room.log")
    try:
        for envelope, receipt in receipts.items():
            assert with_room.post(envelope).json()["receipt"] == receipt
        assert with_room.post(waiting).status_code == 200
    finally:
        stop(with_room)
    assert check_log(home) == before + len(receipts) + 1


def test_a_backup_that_does_not_fit_leaves_nothing(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    out = tmp_path / "backup.gz"
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        result = CliRunner().invoke(
            cli, ["--dir", str(home.directory), "backup", "--out", str(out)]
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert isinstance(result.exception, SettingsError)
    assert "cannot be written" in str(result.exception)
    assert list(tmp_path.glob("backup*")) == []
