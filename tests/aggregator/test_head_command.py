"""The people at the aggregator write down what the log knows of a site that cannot ask for it."""

from pathlib import Path

from click.testing import CliRunner, Result

from aggregator.cli import cli
from aggregator.errors import SettingsError
from aggregator.home import Home
from protocol.site_head import verify_site_head
from tests.aggregator.federation import TestSite, registry_of


def write_head(home: Home, site: str, out: Path) -> Result:
    return CliRunner().invoke(cli, ["--dir", str(home.directory), "head", site, "--out", str(out)])


def test_the_file_is_the_note_that_the_service_would_send(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    registry = registry_of(home)
    assert f"link {site.seq} of epoch 1" in write_head(home, site.id, tmp_path / "head").output
    head = verify_site_head(
        (tmp_path / "head").read_text(), site.id, registry.receipt_key, registry.log_name
    )
    assert (head.epoch, head.seq, head.digest, head.ledger) == (1, site.seq, site.prev, site.ledger)


def test_no_file_is_overwritten_and_no_unknown_site_answered(
    home: Home, site: TestSite, tmp_path: Path
) -> None:
    out = tmp_path / "head"
    unknown = write_head(home, "s-zzzzzzzz", out)
    assert isinstance(unknown.exception, SettingsError)
    assert not out.exists()
    out.write_text("something else")
    assert "is not overwritten" in str(write_head(home, site.id, out).exception)
    assert out.read_text() == "something else"
    assert "cannot be written" in str(
        write_head(home, site.id, tmp_path / "nowhere" / "head").exception
    )
